"""`lightloom plan --replay`: replays logs of controllers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import lightloom
from lightloom.cli import app
from lightloom.control.replays import replay
from lightloom.errors import ConfigError

EXPERIMENT = {
    "cluster": {"racks": 4, "servers_per_rack": 2, "server_rate": "1 Gb/s", "nic": "1 Gb/s"},
    "workload": {
        "arrivals": "poisson",
        "load": 0.4,
        "sizes": {"kind": "pareto", "shape": 1.2, "mean": "20 MB"},
        "pattern": "uniform",
        "flows": 200,
    },
    "run": {"seed": 3, "stop": "6 s", "controller_log": True},
    "fabric": [{"kind": "cthrough", "socket_buffer": "1 GB"}],
}


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of c-Through's manager over six seconds."""
    path = tmp_path_factory.mktemp("log") / "controller.jsonl"
    text = lightloom.run(EXPERIMENT).controller_log
    assert text is not None
    path.write_text(text)
    return path


def call(*arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["plan", *map(str, arguments)])
    return done.exit_code, done.output


def test_the_same_policy_never_parts(log: Path) -> None:
    made = replay(log)
    assert made["header"]["policy"]["kind"] == "cthrough"
    assert made["replay"]["parted"] is None
    assert made["replay"]["recorded"] == made["replay"]["replayed"]
    # There is one decision per second, the first after one second; the run ends before the sixth.
    assert len(made["replay"]["recorded"]["decisions"]) == 5
    code, text = call("--replay", log)
    assert code == 0
    assert "they never differ" in text


def test_another_policy_parts_where_it_decides_otherwise(log: Path) -> None:
    made = replay(log, "rotation", day="100 ms")
    parted = made["replay"]["parted"]
    line = log.read_text().splitlines()[parted["line"] - 1]
    # Both policies decide after a second; one then removes circuits, and the other follows its
    # schedule.
    assert parted["at_ps"] == 10**12
    assert "dark" in parted["recorded"]
    assert '"dark"' in line
    assert "follow" in parted["replayed"]
    assert made["replay"]["replayed"]["schedules"] == 1
    code, text = call("--replay", log, "-a", "rotation", "--day", "100 ms")
    assert code == 0
    assert "differ at 1.00 s" in text


def test_what_both_did_is_printed_as_json(log: Path) -> None:
    code, text = call("--replay", log, "-a", "cthrough", "--unrequested", "alone", "--json")
    assert code == 0
    assert set(json.loads(text)["replay"]) == {"parted", "recorded", "replayed"}


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda lines: lines[:-1], "cut off"),
        (lambda lines: [lines[0].replace("controller/1", "controller/9"), *lines[1:]], "reads"),
        (lambda lines: [*lines[:3], lines[3][:-4], *lines[4:]], "line 4"),
        (lambda _: ["fabric,seconds"], "line 1"),
    ],
)
def test_logs_that_cannot_be_played_are_refused_by_line(
    log: Path, tmp_path: Path, damage: object, said: str
) -> None:
    path = tmp_path / "damaged.jsonl"
    path.write_text("\n".join(damage(log.read_text().splitlines())) + "\n")  # type: ignore[operator]
    code, text = call("--replay", path)
    assert code == 2
    assert "damaged.jsonl" in text
    assert said in text.replace("\n", " ")


def test_what_the_log_says_is_not_asked(log: Path) -> None:
    for options, said in (
        (["-a", "hydra", "--planes", "2"], "--planes"),
        (["--unrequested", "keep"], "--unrequested"),
        (["-o", "plan.json"], "-o"),
        (["-a", "cthrogh"], "did you mean"),
    ):
        code, text = call("--replay", log, *options)
        assert (code, said in text) == (2, True), options
    with pytest.raises(ConfigError, match="hops"):
        replay(log, "hydra", hops=99)
    assert call()[0] == 2


def edited(log: Path, tmp_path: Path, *changes: tuple[str, object]) -> Path:
    """The log with values of its first line replaced, by dotted key."""
    first, _, rest = log.read_text().partition("\n")
    header = json.loads(first)
    for key, value in changes:
        *above, last = key.split(".")
        table = header
        for part in above:
            table = table[part]
        table[last] = value
    path = tmp_path / "edited.jsonl"
    path.write_text(f"{json.dumps(header)}\n{rest}")
    return path


@pytest.mark.parametrize(
    ("key", "value", "limit"),
    [
        ("hardware.racks", 400_000, "must be from 2 to 4096"),
        ("hardware.racks", 0, "must be from 2 to 4096"),
        ("hardware.racks", "4", "must be a whole number"),
        ("hardware.planes", 0, "must be from 1 to 128"),
        ("timing.interval_ps", 0, "must be from 1 to"),
        ("timing.interval_ps", -5, "must be from 1 to"),
        ("timing.computation_delay_ps", -5, "must be from 0 to"),
        ("estimation.racks", 4_000_000_000, "hardware.racks is 4"),
        ("estimation.smoothing", -1, "must be above 0 and at most 1"),
        ("estimation.most", 1e40, "must be a whole number"),
        ("policy", "x", "not a table with a kind or a file"),
        ("policy.kind", "x", "no such policy"),
        ("policy.unrequested", "x", "must be one of"),
        ("order", "x", "no order is called x"),
        ("typo", 3, "no such key"),
    ],
)
def test_the_first_line_is_refused_by_key(
    log: Path, tmp_path: Path, key: str, value: object, limit: str
) -> None:
    path = edited(log, tmp_path, (key, value))
    code, text = call("--replay", path)
    assert code == 2, text
    said = text.replace("\n", " ")
    assert f"line 1: {key} = " in said
    assert f"{path}: " in said
    assert limit in said


def test_what_the_switch_of_the_log_cannot_do_is_said_of_the_log(log: Path, tmp_path: Path) -> None:
    path = edited(log, tmp_path, ("hardware.planes", 2))
    code, text = call("--replay", path, "-a", "rotation")
    assert code == 2
    assert f"{path}: line 1: hardware.planes" in text
    assert "hardware.planes = 2: rotation" in text


def test_racks_that_there_are_not_are_refused_in_routes(log: Path, tmp_path: Path) -> None:
    lines = log.read_text().splitlines()
    at = next(n for n, line in enumerate(lines) if '"enter"' in line and '"racks"' in line)
    row = json.loads(lines[at])
    row["action"]["enter"][2]["routes"][0]["racks"] = [0, 99]
    path = tmp_path / "far.jsonl"
    path.write_text("\n".join([*lines[:at], json.dumps(row), *lines[at + 1 :]]) + "\n")
    code, text = call("--replay", path)
    assert code == 2
    assert f"{path}: line {at + 1}: action.route" in text
    assert "racks 0 and 99" in text


def test_another_version_is_noted(log: Path, tmp_path: Path) -> None:
    path = edited(log, tmp_path, ("version", "9.9.9"))
    made = replay(path)
    assert len(made["notes"]) == 1
    assert made["notes"][0].startswith("Lightloom 9.9.9 wrote")
    assert lightloom.__version__ in made["notes"][0]
    code, text = call("--replay", path)
    assert code == 0
    assert "note: Lightloom 9.9.9 wrote" in text
    assert replay(log)["notes"] == []


POLICY = """
class Pair:
    def __init__(self, other=1):
        self.other = other

    def decide(self, demand, switch):
        return [(0, self.other)]
"""


@pytest.fixture
def own(tmp_path: Path) -> tuple[Path, Path]:
    """A policy in a file, and the log of a run with it."""
    policy, path = tmp_path / "pair.py", tmp_path / "controller.jsonl"
    policy.write_text(POLICY)
    fabric = {"kind": "hybrid", "policy": f"{policy}:Pair", "socket_buffer": "1 GB"}
    text = lightloom.run({**EXPERIMENT, "fabric": [fabric]}).controller_log
    assert text is not None
    path.write_text(text)
    return policy, path


def test_a_policy_whose_file_has_changed_is_not_called_the_same(
    own: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    policy, path = own
    made = replay(path)
    assert (made["is_recorded"], made["notes"], made["replay"]["parted"]) == (True, [], None)
    policy.write_text(POLICY.replace("other=1", "other=2"))
    now = hashlib.sha256(policy.read_bytes()).hexdigest()
    for algorithm in (None, f"{policy}:Pair"):
        made = replay(path, algorithm)
        assert made["policy"]["sha256"] == now
        assert made["is_recorded"] is False
        assert made["replay"]["parted"]["replayed"] == "light 2: 0-2"
        was = made["header"]["policy"]["sha256"]
        (note,) = made["notes"]
        assert note.startswith(f"{policy}:Pair is another")
        assert note.endswith(f"({was[:12]}…, now {now[:12]}…)")
    code, text = call("--replay", path)
    assert code == 0
    assert "another than the one" in text
    assert "replayed: pair.py:Pair as it" in text
    # Another class, or other options, were not recorded.
    policy.write_text(POLICY)
    made = replay(path, f"{policy}:Pair", other=3)
    assert (made["is_recorded"], made["notes"]) == (False, [])


def test_light_is_told_as_a_mean_and_a_share(own: tuple[Path, Path]) -> None:
    """One circuit, with two of four ports, is lit until the end of the log."""
    _, path = own
    entries = [json.loads(line) for line in path.read_text().splitlines()[1:-1]]
    step = next(e["action"]["light"][0] for e in entries if "light" in e.get("action", {}))
    begun = next(e["at_ps"] for e in entries if e.get("input") == {"done": step})
    end = entries[-1]["at_ps"]
    made = replay(path)
    assert made["span_ps"] == end
    assert made["decision"] is None
    code, text = call("--replay", path)
    assert code == 0
    (lit,) = [line for line in text.splitlines() if line.startswith("circuits lit, on average")]
    assert lit.split()[-1] == f"{(end - begun) / end:.4g}"
    (dark,) = [line for line in text.splitlines() if line.startswith("port-time in the dark")]
    assert dark.split()[-2:] == [f"{100 - 50 * (end - begun) / end:.1f}", "%"]


def test_the_decision_in_which_they_part_is_told(own: tuple[Path, Path]) -> None:
    policy, path = own
    first = next(line for line in path.read_text().splitlines() if '"light"' in line)
    assert json.loads(first)["action"]["light"][1]["circuits"] == [[0, 1, 0]]
    policy.write_text(POLICY.replace("[(0, self.other)]", "None"))
    made = replay(path)
    found, parted = made["decision"], made["replay"]["parted"]
    assert (found["at_ps"], parted["at_ps"]) == (10**12, 10**12)
    assert (found["recorded"]["dark"], found["recorded"]["light"]) == ([], [[0, 1, 0]])
    assert found["replayed"] == {"joined_bytes": 0}
    code, text = call("--replay", path)
    assert code == 0
    assert "decision at 1.00 s, " in text
    assert "  recorded  lights 0-1; " in text
    assert "  replayed  keeps what is" in text
    assert "with 0 B of" in text


def test_what_schedules_cannot_be_compared_by_is_left_out(log: Path) -> None:
    code, text = call("--replay", log, "-a", "rotation", "--day", "100 ms")
    assert code == 0
    last = {line[:29].strip(): line.split() for line in text.splitlines() if line}
    assert last["circuits made"][-1] == "-"
    assert last["taken down"][-1] == "-"
    assert last["demand between joined racks"][-4:] == ["100.0", "%", "in", "turn"]
    assert last["circuits lit, on average"][-2:] == ["one", "way"]
    assert "one" not in last["circuits lit, on average"][:-2]
    assert "in turn: a schedule" in text
    _, text = call("--replay", log)
    assert "in turn" not in text


def test_refusals_of_a_policy_name_it(log: Path, own: tuple[Path, Path], tmp_path: Path) -> None:
    policy, path = own
    bad = tmp_path / "bad.py"
    bad.write_text("class Bad:\n    def decide(self, demand, switch):\n        return {}['a']\n")
    lost = f"{tmp_path}/none.py:Bad"
    for algorithm, said in (
        (f"{bad}:Bad", f'--algorithm = "{bad}:Bad" at 1 s: decide() raised KeyError'),
        (f"{bad}:Good", f'--algorithm = "{bad}:Good": bad.py has no class Good'),
        (lost, f'--algorithm = "{lost}": there is no file'),
    ):
        code, text = call("--replay", log, "-a", algorithm)
        assert code == 2
        assert said in text
    policy.write_text(POLICY.replace("(0, self.other)", "(0, 9)"))
    code, text = call("--replay", path)
    assert code == 2
    assert f"{path}: line 1: policy = " in text
    assert f'"{policy}:Pair" at 1 s: ' in text
    assert "decide() = [(0, 9)]: " in text


def test_options_without_effect_are_refused(log: Path, own: tuple[Path, Path]) -> None:
    policy, path = own
    for options, said in (
        (["--unit", "1 MB"], "--unit = 1 MB: a replay has the demand of its log"),
        (["--picture", "x.svg"], "--picture = x.svg"),
        (["demand.csv"], "DEMAND = demand.csv"),
        (["-a", f"{policy}:Pair", "--planes", "2"], "--planes = 2: not the policy's own"),
        (["-a", f"{policy}:Pair", "--hysteresis", "x.json"], "--hysteresis = x.json: not the"),
        (["--set", "other=2"], '--set = "other=2": the log\'s own policy has its options'),
        (["--circuits", "x.json"], "--circuits = x.json: the log's own policy has its options"),
    ):
        code, text = call("--replay", path, *options)
        assert (code, said in text) == (2, True), text


def test_circuits_of_a_file_are_lit(log: Path, tmp_path: Path) -> None:
    listed = tmp_path / "list.json"
    listed.write_text("[[0, 2]]")
    code, text = call("--replay", log, "-a", "fixed", "--circuits", listed)
    assert code == 0
    assert "light 2: 0-2" in text
    assert "circuits lit, on average" in text
    listed.write_text("[[0, 9]]")
    code, text = call("--replay", log, "-a", "fixed", "--circuits", listed)
    assert code == 2
    assert "--circuits[0] = (0, 9)" in text
    assert "0 to 3" in text


ODD: list[object] = [None, True, "", "x", -5, -1, 0, 1, 2, 99, 400_000, 2**32, 2**62, 2**63, 2**64]
ODD += [0.5, 1e300, [], {}, [0, 1], [[0, 99, 5]], {"kind": "hydra"}]


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_an_edited_log_is_played_or_refused(log: Path, tmp_path: Path, data: st.DataObject) -> None:
    lines = log.read_text().splitlines()
    at = data.draw(st.sampled_from([0] * len(lines) + list(range(len(lines)))), "line")
    value = json.loads(lines[at])
    table, key = data.draw(st.sampled_from(list(places(value))), "place")
    if data.draw(st.booleans(), "replaced"):
        table[key] = data.draw(st.sampled_from(ODD), "value")
    else:
        del table[key]
    lines[at] = json.dumps(value)
    path = tmp_path / "edited.jsonl"
    path.write_text("\n".join(lines) + "\n")
    other = data.draw(st.sampled_from([[], ["-a", "rotation"], ["-a", "hydra"]]), "other")
    done = CliRunner().invoke(app, ["plan", "--replay", str(path), *other])
    assert done.exit_code in (0, 2), done.exception
    if done.exit_code == 2:
        assert "error: " in done.output
        assert f"{path}: line " in done.output or "error: --" in done.output


def places(value: object) -> Iterator[tuple[object, object]]:
    """Returns every table and list in a value, with each of its keys."""
    keys = value if isinstance(value, dict) else range(len(value) if type(value) is list else 0)
    for key in list(keys):
        yield value, key
        yield from places(value[key])  # type: ignore[index]
