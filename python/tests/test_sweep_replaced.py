"""A sweep into the folder of an earlier one, which stays complete until the new one is complete."""

import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from cli_support import CLOS, SMALL, lightloom, write

from lightloom import sweep
from lightloom.results.verification import verify
from lightloom.storage.records import RECORD

OLD = 'base = "e.toml"\nflows = true\n[grid]\n"run.seed" = [1, 2, 3]\n'
#: Both sweeps have seed 3.
NEW = OLD.replace("1, 2, 3", "3, 4, 5")


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """The folder of an earlier sweep, with a file of the user."""
    write(tmp_path / "e.toml", SMALL.replace("flows = 400", "flows = 40"), CLOS)
    run(tmp_path / "out", OLD)
    (tmp_path / "out/points/notes.txt").write_text("mine")
    return tmp_path / "out"


def run(out: Path, text: str, *, resume: bool = False, ends_after: int = 99) -> sweep.Outcome:
    """Runs a sweep, optionally one that Ctrl-C ends after this number of points."""
    write(out.parent / "s.toml", text)

    def done(finished: int, total: int) -> None:
        if finished >= ends_after:
            raise KeyboardInterrupt

    return sweep.run_sweep(sweep.read(out.parent / "s.toml"), out, resume=resume, done=done)


def image(out: Path) -> dict[str, bytes]:
    return {
        path.relative_to(out).as_posix(): path.read_bytes()
        for path in out.rglob("*")
        if path.is_file()
    }


def seeds(folder: Path) -> list[int]:
    """Returns the seeds of a data set of rows."""
    return sorted(int(pq.read_table(path)["seed"][0].as_py()) for path in folder.iterdir())


def names(out: Path) -> list[str]:
    return sorted(folder.name.split("seed=")[-1][0] for folder in (out / "points").glob("*/"))


def whole(out: Path) -> bool:
    return all(one.whole for one in verify(out))


@pytest.mark.parametrize("resume", [False, True])
def test_one_that_is_interrupted_leaves_the_earlier_one_whole(out: Path, resume: bool) -> None:
    before = image(out)
    with pytest.raises(KeyboardInterrupt):
        run(out, NEW, resume=resume, ends_after=2)
    after = image(out)
    changed = {name for name, content in before.items() if after.get(name) != content}
    # The common point is the same except for its running time.
    assert {Path(name).name for name in changed} <= {"summary.json", RECORD}
    assert all(name.startswith("points/clos-seed=3") for name in changed)
    assert seeds(out / "rows") == [1, 2, 3]
    assert seeds(out / "rows.unfinished") == [3, 4]
    assert names(out) == ["1", "2", "3", "4"]
    assert whole(out)


def test_one_that_ends_takes_the_place_of_the_earlier_one(out: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(out, OLD.replace("1, 2, 3", "7, 8"), ends_after=1)
    outcome = run(out, NEW)
    assert outcome.others == 0
    assert seeds(out / "rows") == names_as_numbers(out) == [3, 4, 5]
    assert not (out / "rows.unfinished").exists()
    assert (out / "points/notes.txt").read_text() == "mine"
    assert whole(out)
    table = pq.read_table(out / "sweep.parquet").to_pylist()
    rows = [pq.read_table(path).to_pylist()[0] for path in sorted((out / "rows").iterdir())]
    assert {row["point"] for row in table} == {row["point"] for row in rows}


def names_as_numbers(out: Path) -> list[int]:
    return [int(name) for name in names(out)]


def test_points_that_resume_may_want_again_stay_and_are_counted(out: Path) -> None:
    outcome = run(out, NEW, resume=True)
    assert (outcome.reused, outcome.others) == (1, 2)
    assert names(out) == ["1", "2", "3", "4", "5"]
    assert seeds(out / "rows") == [3, 4, 5]
    assert len(pq.read_table(out / "sweep.parquet")) == 3
    assert run(out, OLD, resume=True).reused == 3
    done = lightloom("sweep", "s.toml", "-o", "out", "--resume", cwd=out.parent)
    assert done.returncode == 0, done.stderr
    assert "out/points also has 2" in done.stdout
    again = lightloom("sweep", "s.toml", "-o", "out", cwd=out.parent)
    assert "earlier grids" not in again.stdout
    assert names(out) == ["1", "2", "3"]


def test_flows_of_the_same_point_stay(out: Path) -> None:
    """A sweep that keeps no flows would remove those of the earlier one, and then be
    interrupted."""
    before = image(out)
    with pytest.raises(KeyboardInterrupt):
        run(out, OLD.replace("flows = true\n", ""), ends_after=1)
    after = image(out)
    assert {name: of for name, of in before.items() if name.endswith("flows.parquet")} == {
        name: of for name, of in after.items() if name.endswith("flows.parquet")
    }
    assert whole(out)
    assert run(out, OLD, resume=True).reused == 3
    # Damaged flows belong to no point: the point is complete without them.
    folder = next((out / "points").glob("*seed=1*"))
    (folder / "flows.parquet").write_bytes(b"spoilt")
    run(out, OLD.replace("flows = true\n", ""))
    assert run(out, OLD.replace("flows = true\n", ""), resume=True).reused == 3
    assert not (folder / "flows.parquet").exists()
    assert whole(out)


def test_rows_are_of_the_record(out: Path) -> None:
    row = next((out / "rows").iterdir())
    row.write_bytes(row.read_bytes() + b"x")
    assert [one.whole for one in verify(out)].count(False) == 1


def test_rows_of_a_disk_without_links_are_copied(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*_: object, **__: object) -> None:
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr("os.link", no_links)
    run(out, NEW)
    assert seeds(out / "rows") == [3, 4, 5]
    assert not (out / "rows.unfinished").exists()
    assert whole(out)
    shutil.rmtree(out)
