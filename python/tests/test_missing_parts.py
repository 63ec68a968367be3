"""Results with deleted folders: `verify` reports them, and loading them raises an error that names
them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

import lightloom
from lightloom import Comparison, ConfigError
from lightloom.cli import app
from lightloom.results.result import Repeated
from lightloom.results.verification import verify

SMALL = {
    "cluster": {"racks": 2, "servers_per_rack": 2, "server_rate": "10 Gb/s"},
    "workload": {"load": 0.1, "sizes": {"kind": "fixed", "size": "1 KB"}, "flows": 5},
    "run": {"seed": 1, "repeat": 2},
    "fabric": [{"kind": "tree"}, {"kind": "clos"}],
}


def missing(folder: Path) -> dict[str, list[str]]:
    found = {one.result: one for one in verify(folder) if not one.whole}
    assert all(not one.faults for one in found.values())
    return {name: one.missing for name, one in found.items()}


def first_line(folder: Path) -> str:
    done = CliRunner().invoke(app, ["verify", str(folder)])
    line = done.stdout.splitlines()[0]
    assert (done.exit_code == 0) == line.endswith("all whole")
    return line


def test_folders_of_a_comparison(tmp_path: Path) -> None:
    made = lightloom.compare(SMALL).save(tmp_path / "c")
    assert missing(made) == {}
    # The results are those of the comparison, of two seeds, and of two fabrics for each seed.
    assert first_line(made) == "7 results, all whole"
    shutil.rmtree(made / "seed-1" / "clos")
    assert missing(made) == {"seed-1": ["seed-1/clos"]}
    assert first_line(made) == "7 results: 1 missing (seed-1/clos), 1 incomplete (seed-1), 5 whole"
    (made / "seed-2" / "tree" / "flows.parquet").write_bytes(b"")
    kinds = "1 missing (seed-1/clos), 1 damaged (seed-2/tree), 1 incomplete (seed-1)"
    assert first_line(made) == f"7 results: {kinds}, 4 whole"
    with pytest.raises(ConfigError, match=r"seed-1: clos is missing"):
        Comparison.load(made)
    shutil.rmtree(made / "seed-1")
    assert first_line(made) == (
        "5 results: 1 missing (seed-1), 1 damaged (seed-2/tree), 1 incomplete (.), 2 whole"
    )
    with pytest.raises(ConfigError, match="seed-1 is missing"):
        Comparison.load(made)


def test_folders_of_seeds(tmp_path: Path) -> None:
    made = lightloom.repeat(SMALL | {"fabric": [{"kind": "tree"}]}).save(tmp_path / "r")
    assert missing(made) == {}
    shutil.rmtree(made / "seed-2")
    assert missing(made) == {".": ["seed-2"]}
    with pytest.raises(ConfigError, match="seed-2 is missing"):
        Repeated.load(made)


@pytest.mark.parametrize("name", ["flows.parquet", "timeseries.parquet", "summary.json"])
def test_a_file_of_a_result(tmp_path: Path, name: str) -> None:
    made = lightloom.compare(SMALL | {"run": {"seed": 1}}).save(tmp_path / "c")
    file = made / "clos" / name
    file.write_bytes(b"PAR1")
    with pytest.raises(ConfigError, match=name):
        Comparison.load(made)
    file.unlink()
    with pytest.raises(ConfigError, match=name):
        Comparison.load(made)
