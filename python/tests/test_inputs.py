"""Files that an experiment reads: a saved experiment gives the same bytes wherever it is moved, or
reports the files that are missing or changed."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from cli_support import lightloom as command
from hypothesis import given, settings
from hypothesis import strategies as st

import lightloom
from lightloom.config import inputs
from lightloom.config.experiment import to_toml
from lightloom.results.result import Comparison, Repeated, Result

Table = dict[str, Any]

CLUSTER = {"racks": 4, "server_rate": "10 Gb/s"}
TRACE = "src,dst,bytes,arrival_ps\n0,1,90000,0\n1,2,40000,70\n3,0,2500,900000\n"
SCHEDULE = {
    "format": "lightloom-plan/1",
    "schedule": {
        "ports": 4,
        "night_ps": 11_500_000,
        "slots": [{"permutation": [1, 2, 3, 0], "day_ps": 188_500_000}],
    },
}
POLICY = "class Ring:\n    def decide(self, demand, switch):\n        return [(0, 1), (2, 3)]\n"
DRAWN: Table = {"arrivals": "at-once", "sizes": {"kind": "fixed", "size": "40 KB"}, "flows": 30}
HYBRID = {"kind": "hybrid", "interval": "1 ms", "settle": "10 us", "policy": "ring.py:Ring"}
MORDIA = {"kind": "mordia", "policy": {"kind": "fixed", "schedule": "turns.json"}}
#: Readers of files: the name and the content of each file, and the tables that name it.
READERS: dict[str, tuple[str, str, Table]] = {
    "trace": ("t.csv", TRACE, {"workload": {"trace": "t.csv"}}),
    "cm": (
        "t.cm",
        "Nodes 4\nConnections 1\n0->1 start 0.0 size 900\n",
        {"workload": {"trace": "t.cm"}},
    ),
    "sizes": (
        "sizes.csv",
        "1000,0.5\n20000,1\n",
        {
            "workload": {
                **DRAWN,
                "sizes": {"kind": "cdf", "file": "sizes.csv", "interpolation": "linear"},
            }
        },
    ),
    "arrivals": (
        "times.csv",
        "arrival_us\n0\n5.5\n9\n",
        {"workload": {"arrivals": {"kind": "file", "file": "times.csv"}, "sizes": DRAWN["sizes"]}},
    ),
    "matrix": (
        "matrix.csv",
        "0,1,2,0\n0,0,1,1\n5,0,0,1\n1,1,1,0\n",
        {"workload": {**DRAWN, "pattern": {"kind": "matrix", "file": "matrix.csv"}}},
    ),
    "policy": ("ring.py", POLICY, {"workload": DRAWN, "fabric": [HYBRID]}),
    "schedule": ("turns.json", json.dumps(SCHEDULE), {"workload": DRAWN, "fabric": [MORDIA]}),
    "mordia": (
        "turns.json",
        json.dumps(SCHEDULE),
        {"workload": DRAWN, "fabric": [{"kind": "mordia", "schedule": "turns.json"}]},
    ),
}
#: Values that differ between equal runs.
OF_TIME = ("kernel_s", "wall_s", "peak_rss_bytes")


def experiment(folder: Path, reader: str, **more: Any) -> Path:
    """Writes the experiment of a reader, with its file next to it."""
    name, content, tables = READERS[reader]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(content, encoding="utf-8")
    table = {"cluster": CLUSTER, "run": {"stop": "5 ms"}, "fabric": [{"kind": "tree"}], **tables}
    path = folder / "it.toml"
    path.write_text(to_toml({**table, **more}), encoding="utf-8")
    return path


def figures(folder: Path) -> Table:
    """Returns the summary without values that differ between equal runs."""
    found: Table = json.loads((folder / "summary.json").read_text())
    return {key: value for key, value in found.items() if key not in OF_TIME}


def assert_same(first: Path, second: Path) -> None:
    for name in ("flows.parquet", "timeseries.parquet"):
        assert (first / name).read_bytes() == (second / name).read_bytes()
    assert figures(first) == figures(second)


def digest(path: Path) -> str:
    return "sha256:" + hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("reader", READERS)
def test_a_folder_that_is_moved_whole_runs_again(
    reader: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lightloom.run(experiment(tmp_path / "here", reader)).save(tmp_path / "here/out/first")
    saved = (tmp_path / "here/out/first/experiment.toml").read_text()
    assert f'"../../{READERS[reader][0]}' in saved
    assert str(tmp_path) not in saved
    shutil.move(tmp_path / "here", tmp_path / "there")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    first = Path("../there/out/first")
    lightloom.run(first / "experiment.toml").save("again")
    assert_same(first, Path("again"))
    # An experiment that is read back can be run, and is written with paths of its own place.
    lightloom.run(Result.load(first).experiment).save(tmp_path / "third")
    assert_same(first, tmp_path / "third")


@pytest.mark.parametrize("reader", READERS)
def test_copied_inputs_go_with_the_folder(reader: str, tmp_path: Path) -> None:
    path = experiment(tmp_path / "here", reader)
    done = command("run", path, "-o", "out", "--copy-inputs", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "out/inputs" in done.stdout
    name = READERS[reader][0]
    assert (tmp_path / "out/inputs" / name).read_text() == READERS[reader][1]
    shutil.rmtree(tmp_path / "here")
    (tmp_path / "a").mkdir()
    shutil.move(tmp_path / "out", tmp_path / "a/sent")
    done = command("run", "a/sent/experiment.toml", "-o", "again", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert_same(tmp_path / "a/sent", tmp_path / "again")
    # The output folder is the same, so that inputs are their own copies.
    done = command("run", "a/sent/experiment.toml", "-o", "a/sent", "--copy-inputs", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert_same(tmp_path / "a/sent", tmp_path / "again")


def test_digests_stand_beside(tmp_path: Path) -> None:
    path = experiment(tmp_path, "trace")
    result = lightloom.run(path)
    assert result.experiment["inputs"] == {"workload.trace": digest(tmp_path / "t.csv")}
    assert lightloom.load(path).resolved()["inputs"] == result.experiment["inputs"]
    origin = json.loads(result.flows.schema.metadata[b"lightloom.experiment"])
    assert origin["workload"]["trace"] == "t.csv"
    assert origin["inputs"] == result.experiment["inputs"]
    drawn = {"cluster": CLUSTER, "workload": DRAWN, "fabric": [{"kind": "tree"}]}
    assert "inputs" not in lightloom.load(drawn).resolved()


def refused(*arguments: object, cwd: Path) -> str:
    done = command(*arguments, cwd=cwd)
    assert done.returncode == 2, done.stdout
    assert not (cwd / "again").exists()
    return done.stderr.strip().replace("\n", " ")


def test_a_file_that_is_missing_or_another_is_refused(tmp_path: Path) -> None:
    lightloom.run(experiment(tmp_path, "trace")).save(tmp_path / "out")
    trace = tmp_path / "t.csv"
    wanted = digest(trace)[:19]
    run = ("run", "out/experiment.toml", "-o", "again")
    trace.write_text(TRACE.replace("2500", "2501"))
    said = refused(*run, cwd=tmp_path)
    assert said.startswith(f'error: workload.trace = "{trace}": ')
    assert said.index(f"{digest(trace)[:19]}…") < said.index(f"{wanted}…")
    assert '"workload.trace" from [inputs]' in said
    trace.rename(tmp_path / "moved.csv")
    said = refused(*run, cwd=tmp_path)
    assert said.startswith(f'error: workload.trace = "{trace}": cannot be')
    assert f"{wanted}…" in said
    assert said.endswith("--set workload.trace=PATH")
    done = command(*run, "--set", "workload.trace=moved.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    moved = lightloom.load(tmp_path / "again/experiment.toml").raw["inputs"]
    assert moved == {"workload.trace": digest(tmp_path / "moved.csv")}


def test_digests_that_are_none_are_refused(tmp_path: Path) -> None:
    good = f"sha256:{'0' * 64}"
    for table, said in (
        ({"workload.trace": "1234"}, 'inputs."workload.trace" = "1234": is not "sha256:" and 64'),
        ({"workload.trace": 7}, 'inputs."workload.trace" = 7: is not "sha256:" and 64'),
        ({"workload.trace": good[:-1]}, 'is not "sha256:" and 64 hexadecimal digits; correct it'),
        ({"workload.tracy": good}, f'inputs."workload.tracy" = "{good}": names no file that is re'),
        ({"workload.sizes.file": good}, "names no file that is read; remove it, or correct"),
        (good, f'inputs = "{good}": is not a table of digests; write [inputs] and lines like'),
    ):
        path = experiment(tmp_path, "trace", inputs=table)
        assert said in refused("run", path, "-o", "again", cwd=tmp_path)


def test_who_names_another_file_means_it(tmp_path: Path) -> None:
    path = experiment(tmp_path, "sizes")
    lightloom.run(path).save(tmp_path / "out")
    saved = lightloom.load(tmp_path / "out/experiment.toml")
    assert set(saved.raw["inputs"]) == {"workload.sizes.file"}
    assert "inputs" not in saved.with_overrides(["workload.sizes=web-search"]).raw
    (tmp_path / "other.csv").write_text("500,1\n")
    other = f"workload.sizes.file={tmp_path / 'other.csv'}"
    assert "inputs" not in saved.with_overrides([other]).raw
    assert saved.with_overrides(["run.seed=9"]).raw["inputs"] == saved.raw["inputs"]


def test_comparisons_and_seeds_share_their_copies(tmp_path: Path) -> None:
    fabrics = [{"kind": "tree"}, {"kind": "clos"}]
    path = experiment(
        tmp_path / "here", "sizes", fabric=fabrics, run={"repeat": 2, "stop": "drain"}
    )
    done = command("compare", path, "-o", "out", "--copy-inputs", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    shutil.rmtree(tmp_path / "here")
    (tmp_path / "out").rename(tmp_path / "sent")
    assert [p.name for p in (tmp_path / "sent/inputs").iterdir()] == ["sizes.csv"]
    for below in (".", "seed-1", "seed-2", "seed-1/tree", "seed-2/clos"):
        folder = tmp_path / "sent" / below
        places = list(inputs.places(lightloom.load(folder / "experiment.toml").raw))
        assert [place.path for place in places] == [tmp_path / "sent/inputs/sizes.csv"]
    made = lightloom.compare(tmp_path / "sent/experiment.toml")
    made.save(tmp_path / "again")
    for below in ("seed-1/tree", "seed-2/clos"):
        assert_same(tmp_path / "sent" / below, tmp_path / "again" / below)
    assert Comparison.load(tmp_path / "sent").experiment["inputs"] == made.experiment["inputs"]
    lightloom.repeat(path.parent.parent / "sent/experiment.toml", "tree").save(
        tmp_path / "seeds", copy_inputs=True
    )
    shutil.rmtree(tmp_path / "sent")
    assert len(Repeated.load(tmp_path / "seeds").results) == 2
    assert lightloom.run(tmp_path / "seeds/seed-2/experiment.toml").summary["seed"] == 2


def test_a_folder_taken_out_says_which_copies_it_needs(tmp_path: Path) -> None:
    """With the copies in their places, the run has the same results."""
    path = experiment(tmp_path / "here", "trace", run={"repeat": 2, "stop": "5 ms"})
    lightloom.repeat(path).save(tmp_path / "out", copy_inputs=True)
    shutil.rmtree(tmp_path / "here")
    shutil.copytree(tmp_path / "out/seed-2", tmp_path / "alone/seed-2")
    expected = tmp_path / "alone/inputs"
    run = ("run", "seed-2/experiment.toml", "-o", "again")
    said = refused(*run, cwd=tmp_path / "alone")
    assert f'"{expected}"' in said
    assert "--copy-inputs" in said
    assert said.endswith("--set workload.trace=PATH")
    shutil.copytree(tmp_path / "out/inputs", expected)
    done = command(*run, cwd=tmp_path / "alone")
    assert done.returncode == 0, done.stderr
    assert_same(tmp_path / "out/seed-2", tmp_path / "alone/again")


def test_cases_have_copies_each(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "here/other.csv").write_text(TRACE.replace("2500", "9500"))
    cases = [{"label": "a"}, {"label": "b", "set": {"workload.trace": "other.csv"}}]
    path = experiment(tmp_path / "here", "trace", compare={"case": cases})
    done = command("compare", path, "-o", "out", "--copy-inputs", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    shutil.rmtree(tmp_path / "here")
    for case, name in (("a", "t.csv"), ("b", "other.csv")):
        assert [p.name for p in (tmp_path / "out" / case / "inputs").iterdir()] == [name]
        assert lightloom.compare(tmp_path / "out" / case / "experiment.toml").results


def test_files_of_one_name_are_kept_apart(tmp_path: Path) -> None:
    for folder, content in (("a", "1000,0.5\n20000,1\n"), ("b", "0,1\n1,0\n")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.csv").write_text(content)
    workload = {
        **DRAWN,
        "sizes": {"kind": "cdf", "file": "a/x.csv", "interpolation": "linear"},
        "pattern": {"kind": "matrix", "file": "b/x.csv"},
    }
    table = {"cluster": {"racks": 2, "server_rate": "1 Gb/s"}, "workload": workload}
    path = tmp_path / "it.toml"
    path.write_text(to_toml({**table, "fabric": [{"kind": "tree"}]}))
    lightloom.run(path).save(tmp_path / "out", copy_inputs=True)
    files = sorted(p for p in (tmp_path / "out/inputs").rglob("*") if p.is_file())
    assert len(files) == 2
    assert {digest(file) for file in files} == {digest(tmp_path / f / "x.csv") for f in "ab"}
    for folder in "ab":
        shutil.rmtree(tmp_path / folder)
    lightloom.run(tmp_path / "out/experiment.toml").save(tmp_path / "again")
    assert_same(tmp_path / "out", tmp_path / "again")


def test_a_file_that_changed_meanwhile_is_not_copied(tmp_path: Path) -> None:
    result = lightloom.run(experiment(tmp_path, "trace"))
    assert inputs.changed(result.experiment) == []
    (tmp_path / "t.csv").write_text(TRACE.replace("2500", "2501"))
    assert inputs.changed(result.experiment) == ["workload.trace"]
    result.save(tmp_path / "out", copy_inputs=True)
    assert not (tmp_path / "out/inputs").exists()
    assert "../t.csv" in (tmp_path / "out/experiment.toml").read_text()


def test_json_alone_has_nowhere_to_copy_to(tmp_path: Path) -> None:
    path = experiment(tmp_path, "trace")
    said = refused("run", path, "--json", "--copy-inputs", cwd=tmp_path)
    assert said.startswith("error: --copy-inputs = (set): --json ")


folders = st.lists(st.sampled_from(["a", "b b", "ü", "..", "."]), max_size=4).map("/".join)


@settings(max_examples=200, deadline=None)
@given(trace=folders, saved=folders, moved=folders)
def test_paths_come_back_wherever_everything_moves(trace: str, saved: str, moved: str) -> None:
    """A path that is written relative to a folder and read from it is unchanged; if both have
    moved, it has moved with them."""
    root = Path("/one/two/three/four/five")
    file = (root / trace / "t.csv").resolve()
    raw = {"workload": {"trace": str(file)}, "fabric": [{"kind": "tree"}]}
    before = json.dumps(raw)
    written = inputs.relative(raw, root / saved, {})
    assert json.dumps(raw) == before
    assert not Path(written["workload"]["trace"]).is_absolute()
    back = json.loads(json.dumps(written))
    inputs.anchor(back, root / saved)
    assert back == raw
    base = Path("/other") / Path(moved.replace("..", "c")) / "two/three/four/five"
    inputs.anchor(written, base / saved)
    if file.is_relative_to("/one"):
        assert written["workload"]["trace"] == str((base / trace / "t.csv").resolve())


def test_every_reader_has_one_place(tmp_path: Path) -> None:
    for reader, (name, _, _) in READERS.items():
        raw = lightloom.load(experiment(tmp_path / reader, reader)).raw
        assert [place.path for place in inputs.places(raw)] == [tmp_path / reader / name]
