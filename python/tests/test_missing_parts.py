"""Results of which folders were deleted: told by `verify`, refused by name when loaded."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import lightloom
from lightloom import Comparison, ConfigError
from lightloom.results.result import Repeated
from lightloom.results.verification import verify

SMALL = {
    "cluster": {"racks": 2, "servers_per_rack": 2, "server_rate": "10 Gb/s"},
    "workload": {"load": 0.1, "sizes": {"kind": "fixed", "size": "1 KB"}, "flows": 5},
    "run": {"seed": 1, "repeat": 2},
    "fabric": [{"kind": "tree"}, {"kind": "clos"}],
}


def faults(folder: Path) -> dict[str, list[str]]:
    return {one.result: one.faults for one in verify(folder) if one.faults}


def test_folders_of_a_comparison(tmp_path: Path) -> None:
    made = lightloom.compare(SMALL).save(tmp_path / "c")
    assert faults(made) == {}
    shutil.rmtree(made / "seed-1" / "clos")
    assert faults(made) == {"seed-1": ["clos is missing"]}
    with pytest.raises(ConfigError, match=r"seed-1: clos is missing, which it consists of; copy"):
        Comparison.load(made)
    shutil.rmtree(made / "seed-1")
    assert faults(made) == {".": ["seed-1 is missing"]}
    with pytest.raises(ConfigError, match="seed-1 is missing, which it consists of; copy all"):
        Comparison.load(made)


def test_folders_of_seeds(tmp_path: Path) -> None:
    made = lightloom.repeat(SMALL | {"fabric": [{"kind": "tree"}]}).save(tmp_path / "r")
    assert faults(made) == {}
    shutil.rmtree(made / "seed-2")
    assert faults(made) == {".": ["seed-2 is missing"]}
    with pytest.raises(ConfigError, match="seed-2 is missing, which it consists of"):
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
