"""Experiments from Python values, from NumPy values, and from files with a byte order mark."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lightloom
from lightloom.config import experiment

PLAIN: dict[str, Any] = {
    "cluster": {"racks": 2, "servers_per_rack": 2, "server_rate": "10 Gb/s"},
    "workload": {"load": 0.5, "sizes": {"kind": "fixed", "size": "10 KB"}, "flows": 9},
    "run": {"seed": 3},
    "fabric": [{"kind": "tree"}],
}


def with_numpy() -> dict[str, Any]:
    table = copy.deepcopy(PLAIN)
    table["cluster"]["racks"] = np.int32(2)
    table["workload"]["load"] = np.float64(0.5)
    table["workload"]["flows"] = np.array(9)
    table["run"]["seed"] = np.uint64(3)
    table["cluster"]["server_rate"] = np.str_("10 Gb/s")
    table["fabric"] = tuple(table["fabric"])
    return table


def test_numbers_of_numpy_are_numbers() -> None:
    assert experiment.load(with_numpy()).resolved() == experiment.load(PLAIN).resolved()
    first, second = lightloom.run(with_numpy()), lightloom.run(PLAIN)
    assert first.flows.equals(second.flows)


def test_arrays_are_lists_and_paths_are_text(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("src,dst,bytes,arrival_ps\n0,1,5,0\n")
    table = copy.deepcopy(PLAIN) | {"workload": {"trace": path}}
    assert lightloom.run(table).summary["flows_offered"] == 1
    loads = experiment.load(PLAIN | {"compare": {"loads": np.array([0.1, 0.2])}}).raw["compare"]
    assert loads == {"loads": [0.1, 0.2]}


def test_a_byte_order_mark_is_no_part_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "e.toml"
    path.write_text("\ufeff[run]\nseed = 7\n", encoding="utf-8")
    assert experiment.load(path).raw == {"run": {"seed": 7}}


@pytest.mark.parametrize("load", ["50%", "50 %"])
def test_a_percentage_is_a_fraction(load: str) -> None:
    table = copy.deepcopy(PLAIN)
    table["workload"]["load"] = load
    assert experiment.load(table).resolved()["workload"]["load"] == 0.5


def test_ports_have_rates_as_switches_write_them() -> None:
    table = copy.deepcopy(PLAIN)
    table["cluster"]["server_rate"] = "400G"
    assert experiment.load(table).resolved()["cluster"]["server_rate"] == "400 Gb/s"
