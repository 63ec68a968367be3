"""Policies in files: invalid ones, and the errors about the exceptions that they raise."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cli_support import lightloom as command
from policy_support import BOOM, DIVIDED, Write, experiment, run

import lightloom


@pytest.mark.parametrize(
    ("policy", "key", "said"),
    [
        ("nowhere.py:Mine", "fabric.policy.file", "there is no file"),
        ("mine.py:", "fabric.policy.file", "names no class in a file"),
        ({"file": "mine.py"}, "fabric.policy.file", 'name the class: "mine.py:Mine"'),
        ("mine.py", "fabric.policy.file", 'name the class: "mine.py:Mine"'),
        ("nowhere.py", "fabric.policy.file", 'write it like "my_policy.py:Threshold"'),
        ("mine.py:Mein", "fabric.policy.file", "did you mean Mine?"),
        ("mine.py:np", "fabric.policy.file", "no class np; it has Mine"),
        ("mine.py:Idle", "fabric.policy.file", "Idle has no method decide; add `def decide"),
        ({"file": "mine.py:Mine", "abvoe": 1}, "fabric.policy", "it takes (above=1)"),
        (
            {"file": "mine.py:Mine", "above": -1},
            "fabric.policy",
            'mine.py:Mine": Mine, made with {"above": -1}, raised ValueError: above 0, please',
        ),
        ({"file": "mine.py:Mine", "kind": "fixed"}, "fabric.policy.file", "it also has a kind"),
        (
            {"file": "mine.py:Mine", "sha256": "0" * 64},
            "fabric.policy.sha256",
            "has changed, its digest",
        ),
    ],
)
def test_files_are_refused_by_name(
    write: Write, tmp_path: Path, policy: Any, key: str, said: str
) -> None:
    members = (
        "    def __init__(self, above=1):\n"
        "        if above < 0: raise ValueError('above 0, please')\n"
    )
    write("return []", head="class Idle: pass", members=members)
    path = tmp_path / "case.toml"
    table = experiment({"policy": policy})
    path.write_text(lightloom.config.experiment.to_toml(table), encoding="utf-8")
    with pytest.raises(lightloom.ConfigError) as refused:
        lightloom.run(path)
    assert refused.value.key == key
    assert said in str(refused.value)


def test_paths_are_relative_to_the_experiment_or_to_where_they_are_set(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("return [(0, 1)]")
    path = tmp_path / "case.toml"
    path.write_text(
        lightloom.config.experiment.to_toml(experiment({"policy": "mine.py:Mine"})),
        encoding="utf-8",
    )
    loaded = lightloom.load(path)
    assert loaded.raw["fabric"][0]["policy"] == f"{tmp_path / 'mine.py'}:Mine"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    changed = loaded.with_overrides(['fabric.policy={file="mine.py:Mine"}'])
    assert changed.raw["fabric"][0]["policy"]["file"] == f"{elsewhere / 'mine.py'}:Mine"


def test_it_is_said_what_the_path_of_a_lost_file_is_relative_to(tmp_path: Path) -> None:
    lost, matrix = "nowhere.py:Mine", tmp_path / "demand.csv"
    matrix.write_text("0,1\n1,0\n", encoding="utf-8")
    with pytest.raises(lightloom.ConfigError) as refused:
        lightloom.load(experiment({"policy": "cthrough"}), [f"fabric.policy={lost}"]).resolved()
    said = "it is relative to the experiment's file, with --set to where you are"
    assert str(refused.value).endswith(said)
    done = command("plan", matrix, "-a", lost, cwd=tmp_path)
    assert (done.returncode, "no file nowhere.py" in done.stderr) == (2, True)
    assert done.stderr.strip().endswith("check the path; it is relative to where you are")


@pytest.mark.parametrize("above", ["1 Mb", 5])
def test_a_value_that_lightloom_cannot_read_is_refused_by_its_key(
    write: Write, tmp_path: Path, above: object
) -> None:
    """The line that returns the value is that of the documentation, so it is not the error."""
    members = "    def __init__(self, above='1 MB', other='2 MB'):\n        bytes_of(above)\n"
    mine = write("return []", head="from lightloom.policies import bytes_of", members=members)
    with pytest.raises(lightloom.ConfigError) as refused:
        run({"file": mine, "other": "3 MB", "above": above})
    problem = refused.value
    assert (problem.key, problem.trace) == ("fabric.policy.above", None)
    assert problem.value == ('"1 Mb"' if above == "1 Mb" else "5")
    assert "GB, MB, KB, B" in str(problem)
    matrix = tmp_path / "demand.csv"
    matrix.write_text("0,1\n1,0\n", encoding="utf-8")
    done = command("plan", matrix, "-a", mine, "--set", f"above={above}", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: above = {problem.value}: ")


def test_a_preset_gives_way_to_a_file(write: Write) -> None:
    """The policy of the preset is a table with keys that do not belong to the file's policy."""
    resolved = lightloom.load(
        experiment({"preset": "rotation", "policy": {"file": write("return []")}})
    ).resolved()
    assert set(resolved["fabric"][0]["policy"]) == {"file", "sha256"}


def test_results_say_which_file_ran_and_run_again(write: Write, tmp_path: Path) -> None:
    import hashlib

    mine = write("return [(0, 5), (1, 2)]")
    result = run(mine)
    source = (tmp_path / "mine.py").read_bytes()
    policy = result.experiment["fabric"][0]["policy"]
    assert policy == {"file": mine, "sha256": hashlib.sha256(source).hexdigest()}
    first = result.save(tmp_path / "first")
    again = lightloom.run(first / "experiment.toml").save(tmp_path / "again")
    for name in ("flows.parquet", "timeseries.parquet", "circuits.parquet", "experiment.toml"):
        assert (first / name).read_bytes() == (again / name).read_bytes()
    write("return [(0, 6)]")
    with pytest.raises(lightloom.ConfigError, match=r"has changed, .*remove sha256"):
        lightloom.run(first / "experiment.toml")


# Exceptions of the user's code


def test_what_it_raises_is_the_cause(write: Write) -> None:
    mine = write(BOOM, members=DIVIDED)
    with pytest.raises(lightloom.ConfigError) as refused:
        run(mine)
    problem = refused.value
    assert isinstance(problem.__cause__, ZeroDivisionError)
    assert problem.value == f'"{mine}" at 20 ms'
    said = "decide() raised ZeroDivisionError: integer division or modulo by zero"
    assert problem.limit == said
    assert problem.remedy == "correct line 6 of mine.py"
    frames = [line for line in str(problem.trace).splitlines() if line.startswith("  File")]
    assert [line.rpartition(" in ")[2] for line in frames] == ["decide", "divided"]
    assert all("mine.py" in line for line in frames)


def test_frames_of_lightloom_are_left_out(write: Write) -> None:
    head = "from lightloom.control import maximum_weight_matching"
    mine = write("return maximum_weight_matching(-demand - 1).pairs", head=head)
    with pytest.raises(lightloom.ConfigError) as refused:
        run(mine)
    assert isinstance(refused.value.__cause__, lightloom.ConfigError)
    frames = [line for line in str(refused.value.trace).splitlines() if "  File" in line]
    assert len(frames) == 1
    assert "mine.py" in frames[0]


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("switch.racks = 3", "FrozenInstanceError"),  # in a generated method
        ("np.linalg.inv(np.zeros((2, 2)))", "LinAlgError"),  # in a library
        ("exec('1 / 0')", "ZeroDivisionError"),
    ],
)
def test_the_line_to_correct_is_one_that_the_user_wrote(
    write: Write, body: str, error: str
) -> None:
    with pytest.raises(lightloom.ConfigError) as refused:
        run(write(body))
    assert error in str(refused.value)
    assert str(refused.value.remedy) == "correct line 7 of mine.py"


@pytest.mark.parametrize(
    ("head", "line", "said"),
    [
        ("import nowhere_at_all", 2, "ModuleNotFoundError: No module named 'nowhere_at_all'"),
        ("1 / 0", 2, "ZeroDivisionError"),
        ("def broken(:", 2, "SyntaxError"),
    ],
)
def test_what_its_file_raises_is_the_cause(write: Write, head: str, line: int, said: str) -> None:
    with pytest.raises(lightloom.ConfigError) as refused:
        run(write("return []", head=head))
    assert refused.value.key == "fabric.policy.file"
    assert said in str(refused.value)
    assert refused.value.remedy == f"correct line {line} of mine.py"
    assert "lightloom/policies" not in str(refused.value.trace)


def test_the_command_shows_the_traceback_and_writes_nothing(write: Write, tmp_path: Path) -> None:
    write(BOOM, members=DIVIDED)
    path = tmp_path / "case.toml"
    two = experiment(
        {"policy": "fixed", "label": "sound"} | {"policy": "cthrough"},
        {"policy": "mine.py:Mine", "label": "mine"},
    )
    path.write_text(lightloom.config.experiment.to_toml(two), encoding="utf-8")
    for arguments in (["run", path, "--fabric", "mine"], ["compare", path]):
        done = command(*arguments, "-o", tmp_path / "out", cwd=tmp_path)
        assert done.returncode == 2
        assert done.stderr.startswith("Traceback (most recent call last):\n  File ")
        assert "in divided\n    return 1 // x" in done.stderr
        error = " ".join(done.stderr.partition("error: ")[2].split())
        assert error.startswith(f'fabric.mine.policy = "{tmp_path / "mine.py"}:Mine" at 20 ms')
        assert "ZeroDivisionError" in error
        assert "lightloom/" not in done.stderr
        assert not (tmp_path / "out").exists()


def test_a_comparison_refuses_before_anything_runs(write: Write) -> None:
    told: list[str] = []
    two = experiment({"policy": "cthrough", "label": "sound"}, {"policy": write("return []") + "s"})
    with pytest.raises(lightloom.ConfigError, match="did you mean Mine"):
        lightloom.compare(two, progress=lambda label, *_: told.append(label))
    assert told == []


def test_it_is_asked_no_more_after_it_has_failed(write: Write, tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    body = f"open({str(asked)!r}, 'a').write('.')\nraise RuntimeError('no')"
    with pytest.raises(lightloom.ConfigError):
        run(write(body))
    assert asked.read_text(encoding="utf-8") == "."


CAUGHT = """
import sys
from policy_support import run
try:
    run(sys.argv[1])
except KeyboardInterrupt:
    print("interrupted")
"""


def test_ctrl_c_while_it_decides(write: Write) -> None:
    """The test runs in a separate process.

    The policy decides until the simulation halts, which may be after the interrupt was caught; the
    policy therefore interrupts only once.
    """
    once = "if left:\n    left.pop()\n    signal.raise_signal(signal.SIGINT)\nreturn []"
    mine = write(once, head="import signal\nleft = [1]")
    line = [sys.executable, "-c", CAUGHT, mine]
    done = subprocess.run(
        line, cwd=Path(__file__).parent, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout == "interrupted\n", done.stderr


def test_exit_is_refused_as_any_other_exception(write: Write) -> None:
    with pytest.raises(lightloom.ConfigError, match="SystemExit") as refused:
        run(write("raise SystemExit(0)"))
    assert isinstance(refused.value.__cause__, SystemExit)
