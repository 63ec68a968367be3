"""Results that a sweep may reuse, and the record of a result's origin."""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import shutil
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from cli_support import CLOS, SMALL, lightloom, write

import lightloom as ll
from lightloom import sweep
from lightloom.config import identity, inputs
from lightloom.results.verification import verify
from lightloom.storage.records import RECORD

TRACE = "src,dst,bytes,arrival_ps\n0,9,1000,0\n1,8,2000,1000\n"
SWEEP = 'base = "e.toml"\nflows = true\n[grid]\n"run.seed" = [1, 2, 3]\n'


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A sweep of three points whose flows are those of a file."""
    head = SMALL.partition("[workload]")[0]
    write(tmp_path / "e.toml", head, '[workload]\ntrace = "t.csv"\n', "[run]\nseed = 1\n", CLOS)
    write(tmp_path / "t.csv", TRACE)
    return write(tmp_path / "s.toml", SWEEP)


def run(study: Path, *, resume: bool = False) -> tuple[sweep.Outcome, list[str]]:
    """Runs the sweep; returns it with the reasons why existing points run again."""
    made, out = sweep.read(study), study.parent / "out"
    said: list[str] = []
    points = sweep.expand(made)
    kept = sweep.find_done(points, out, made, said.append) if resume else {}
    return sweep.run_sweep(made, out, resume=resume, points=points, kept=kept), said


def test_nothing_that_decides_a_point_changes_unseen(
    study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The contents of a trace (with the same length and modification time), the build, and the
    configuration determine a point. The place of the files does not."""
    first, _ = run(study)
    assert run(study, resume=True)[0].reused == 3
    trace = study.parent / "t.csv"
    was = trace.stat()
    trace.write_text(TRACE.replace("2000", "3000"))
    os.utime(trace, ns=(was.st_atime_ns, was.st_mtime_ns + 1))
    again, _ = run(study, resume=True)
    assert again.reused == 0
    assert [s["bytes_offered"] for s in again.summaries] == [4000] * 3
    assert {p.id for p in first.points}.isdisjoint(p.id for p in again.points)
    moved = study.parent / "moved"
    moved.mkdir()
    for name in ("e.toml", "t.csv", "s.toml"):
        shutil.copy(study.parent / name, moved)
    assert [p.digest for p in sweep.expand(sweep.read(moved / "s.toml"))] == [
        p.digest for p in again.points
    ]
    other = {**identity.build(), "core": "sha256:0"}
    monkeypatch.setattr(identity, "build", lambda: other)
    assert run(study, resume=True)[0].reused == 0


@pytest.mark.parametrize("name", [RECORD, "summary.json", "flows.parquet", "experiment.toml"])
def test_a_spoilt_point_runs_again_and_is_named(study: Path, name: str) -> None:
    first, _ = run(study)
    spoilt = first.points[1]
    file = study.parent / "out" / "points" / spoilt.id / name
    file.write_bytes(bytes(range(256)))
    again, said = run(study, resume=True)
    assert again.reused == 2
    assert len(said) == 1
    assert said[0].startswith(f"point {spoilt.id} runs again: ")
    assert name in said[0]
    assert run(study, resume=True)[0].reused == 3  # it was mended


def test_a_point_cut_anywhere_runs_again(study: Path) -> None:
    first, _ = run(study)
    chosen = random.Random(16)
    folder = study.parent / "out" / "points"
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    assert len(files) == 3 * 6
    for file in files:
        content = file.read_bytes()
        file.write_bytes(content[: chosen.randrange(len(content))])
        again, said = run(study, resume=True)
        assert (again.reused, len(said)) == (2, 1), file
    assert [s["bytes_offered"] for s in again.summaries] == [
        s["bytes_offered"] for s in first.summaries
    ]


def test_the_command_says_which_point_runs_again(study: Path) -> None:
    assert lightloom("sweep", "s.toml", "-o", "out", cwd=study.parent).returncode == 0
    record = next((study.parent / "out" / "points").glob(f"*seed=2*/{RECORD}"))
    record.write_text("{}")
    done = lightloom("sweep", "s.toml", "-o", "out", "--resume", cwd=study.parent)
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(f"note: point {record.parent.name} .*record.json .*\n", done.stderr)
    assert "of them from before" in done.stdout


def test_a_summary_is_a_point_without_flows(study: Path) -> None:
    """A remote worker sends only such summaries."""
    write(study, SWEEP.replace("flows = true\n", ""))
    made, out = sweep.read(study), study.parent / "out"
    points = sweep.expand(made)
    summary = {"label": "clos", "build": {"version": "x"}, "inputs": {}}
    sweep.store_point(summary, out / "points" / points[0].id, digest=points[0].digest, flows=False)
    assert sweep.find_done(points, out, made) == {points[0].id: summary}
    with pytest.raises(TypeError, match="summary alone has none"):
        sweep.store_point(summary, out / "x", digest="", flows=True)
    assert not (out / "x").exists()


def test_a_result_names_its_inputs_and_its_build(study: Path, tmp_path: Path) -> None:
    result = ll.run(study.parent / "e.toml")
    digest = hashlib.sha256(TRACE.encode()).hexdigest()
    expected = {"path": "t.csv", "sha256": f"sha256:{digest}", "bytes": len(TRACE)}
    assert result.summary["inputs"] == {"workload.trace": expected}
    result.save(tmp_path / "r")
    footer = pq.read_schema(tmp_path / "r" / "flows.parquet").metadata[b"lightloom.inputs"]
    assert json.loads(footer) == {"workload.trace": f"sha256:{digest}"}
    build = result.summary["build"]
    core = hashlib.sha256(Path(ll._core.__file__).read_bytes()).hexdigest()  # type: ignore[attr-defined]
    assert build["core"] == f"sha256:{core}"
    assert build["version"] == ll.__version__
    again = ll.run(study.parent / "e.toml", threads=2)
    again.save(tmp_path / "again")
    for name in ("flows.parquet", "timeseries.parquet", "experiment.toml"):
        assert (tmp_path / "r" / name).read_bytes() == (tmp_path / "again" / name).read_bytes()


def test_a_sweep_names_all_that_it_was_made_from(study: Path) -> None:
    """For a grid over files, the table has the digests of both files, and `verify` detects a change
    of these, of the base, and of the sweep file."""
    write(study.parent / "u.csv", TRACE.replace("1000", "4000"))
    traces = json.dumps([str(study.parent / name) for name in ("t.csv", "u.csv")])
    write(study, f'base = "e.toml"\n[grid]\n"workload.trace" = {traces}\n')
    outcome, _ = run(study)
    files = {name: study.parent / name for name in ("s.toml", "e.toml", "t.csv", "u.csv")}
    digests = {
        name: "sha256:" + hashlib.sha256(path.read_bytes()).hexdigest()
        for name, path in files.items()
    }
    footer = pq.read_schema(outcome.parquet).metadata
    both = sorted([digests["t.csv"], digests["u.csv"]])
    assert json.loads(footer[b"lightloom.inputs"]) == {"workload.trace": both}
    rows = sorted((outcome.parquet.parent / "rows").glob("*.parquet"))
    each = [json.loads(pq.read_schema(row).metadata[b"lightloom.inputs"]) for row in rows]
    assert sorted(one["workload.trace"] for one in each) == both
    told = json.loads((outcome.parquet.parent / RECORD).read_text())["inputs"]
    assert {one["path"]: one["sha256"] for one in told} == {
        f"../{name}": digest for name, digest in digests.items()
    }
    keys = [one["key"] for one in told]
    assert keys == ["sweep", "base", "workload.trace", "workload.trace"]
    (own,) = (v for v in verify(outcome.parquet.parent) if v.result == ".")
    assert (own.read, own.inputs) == (4, [])
    for name, path in files.items():
        was = path.read_bytes()
        path.write_bytes(was + b"\n")
        (own,) = (v for v in verify(outcome.parquet.parent) if v.result == ".")
        assert own.inputs == [f"../{name} has changed"]
        path.write_bytes(was)


def test_one_input_of_all_points_has_one_digest(study: Path) -> None:
    """The footer of each point's flows has the same digest."""
    outcome, _ = run(study)
    footers = [
        json.loads(pq.read_schema(path).metadata[b"lightloom.inputs"])
        for path in (outcome.parquet, *outcome.parquet.parent.glob("points/*/flows.parquet"))
    ]
    assert len(footers) == 4
    assert footers == [{"workload.trace": inputs.digest_of(study.parent / "t.csv")}] * 4


def test_sources_that_simulate_are_of_the_build_and_others_are_not() -> None:
    files = {*identity._sources()}
    assert {"api.py", "config/experiment.py", "policies/files.py", "simulation/curves.py"} <= files
    assert not any(name.startswith(("cli/", "report/")) for name in files)
    assert {path.name for path in identity._PACKAGE.iterdir()} >= identity.SHOWING


def test_verify_sees_what_became_of_a_result(study: Path, tmp_path: Path) -> None:
    folder = tmp_path / "results"
    assert lightloom("run", "e.toml", "-o", folder / "r", cwd=study.parent).returncode == 0
    assert lightloom("sweep", "s.toml", "-o", folder / "s", cwd=study.parent).returncode == 0

    def seen() -> tuple[int, dict[str, dict[str, Any]]]:
        done = lightloom("verify", folder, "--json", cwd=tmp_path)
        return done.returncode, {one["result"]: one for one in json.loads(done.stdout)}

    code, found = seen()
    assert (code, len(found)) == (0, 5)
    assert {one["build"] for one in found.values()} == {"same"}
    assert all(one["whole"] and not one["inputs"] for one in found.values())
    assert found["r"]["read"] == 1

    trace = study.parent / "t.csv"
    trace.write_text(TRACE + "2,7,1,1\n")
    code, found = seen()
    assert code == 0  # the results are complete
    assert "has changed" in found["r"]["inputs"][0]
    trace.unlink()
    assert "is missing" in seen()[1]["r"]["inputs"][0]

    flows = folder / "r" / "flows.parquet"
    content = bytearray(flows.read_bytes())
    content[len(content) // 2] ^= 1
    flows.write_bytes(content)
    code, found = seen()
    assert code == 1
    assert found["r"]["faults"] == ["flows.parquet has other contents"]
    (folder / "s" / "sweep.parquet").unlink()
    (folder / "r" / RECORD).unlink()
    code, found = seen()
    assert found["s"]["faults"] == ["sweep.parquet is missing"]
    assert found["r"]["faults"] == [f"it has no {RECORD}"]
    table = lightloom("verify", folder, cwd=tmp_path)
    assert table.returncode == 1
    assert table.stdout.splitlines()[0] == "5 results: 2 damaged (r, s), 3 whole"


def test_verify_refuses_what_holds_no_result(tmp_path: Path) -> None:
    for folder, why in ((tmp_path, "there is no result in it"), (tmp_path / "x", "no such dir")):
        done = lightloom("verify", folder, cwd=tmp_path)
        assert done.returncode == 2
        assert why in done.stderr
    assert verify(tmp_path) == []


def test_inputs_are_of_the_fabric_that_reads_them(tmp_path: Path) -> None:
    """The digests are those with which the experiment was made, not those of files that have
    changed since."""
    trace = write(tmp_path / "t.csv", TRACE)
    raw = {"workload": {"trace": str(trace)}, "inputs": {"workload.trace": "sha256:made-with"}}
    assert inputs.digests(raw) == {"workload.trace": "sha256:made-with"}
    assert inputs.digests({"workload": {"trace": str(tmp_path / "none")}}) == {}
