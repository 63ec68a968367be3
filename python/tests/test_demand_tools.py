"""Demand and port maps as other tools write them: sums that are worked out by hand."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from lightloom import ConfigError, control
from lightloom.control import wiring


@pytest.mark.parametrize("form", ["%.18e", "%d", "%8.1f"])
def test_matrices_of_savetxt(form: str, tmp_path: Path) -> None:
    matrix = np.array([[0, 7, 2, 5], [3, 0, 10**6, 1], [0, 0, 0, 1], [9, 8, 7, 0]])
    np.savetxt(tmp_path / "d.txt", matrix, fmt=form)
    assert (control.read_demand(tmp_path / "d.txt").matrix == matrix).all()


def test_a_bad_entry_between_blanks_has_its_place(tmp_path: Path) -> None:
    (tmp_path / "d.txt").write_text("0  5 1 1\n1  x 2 2\n0 0 0 1\n1 1 1 0\n")
    with pytest.raises(ConfigError, match=r"d\.txt:2:4: `x` is not a number"):
        control.read_demand(tmp_path / "d.txt")


HISTOGRAM = {"metric": {"src": "a", "dst": "b"}, "histograms": [[0, {"count": "3", "sum": "9"}]]}
COUNTER = {"metric": {"instance": "tor-1", "ifName": "eth0"}, "values": [[0, "5"], [60, "6"]]}


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (HISTOGRAM, "a native histogram, which has counts by size and no bytes; ask for its sum"),
        (COUNTER, "counters of an interface: what it carries, not between whom; export flows"),
    ],
)
def test_what_has_no_pairs_is_refused(entry: dict[str, object], said: str, tmp_path: Path) -> None:
    data = {"resultType": "matrix", "result": [entry]}
    (tmp_path / "p.json").write_text(json.dumps({"status": "success", "data": data}))
    with pytest.raises(ConfigError, match=said):
        control.read_demand(tmp_path / "p.json", unit="B/s")


SHEET = """Server;Room;OCS in;OCS out;Label
web;1;1;2;SN-1
cache;2;3A;4B;SN-2
"""


def test_port_maps_of_spreadsheets(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text(SHEET)
    columns = "rack=Server, a=OCS in, b=ocs OUT, transceiver=Label"
    ports = wiring.read_port_map(tmp_path / "p.csv", columns=columns)
    found = [(p.rack, p.plane, p.a, p.b, p.transceiver) for p in ports]
    assert found == [("web", 0, 1, 2, "SN-1"), ("cache", 0, 3, 4, "SN-2")]
    assert ports.ignored == ["Room"]
    for wrong, said in (
        ("rack=Host", "port_columns = rack=Host: .*p.csv has `Server`, `Room`, .*; name one of"),
        ("host=Server", "`host=Server` names no column; write rack=NAME,a=NAME,b=NAME"),
    ):
        with pytest.raises(ConfigError, match=said):
            wiring.read_port_map(tmp_path / "p.csv", columns=wrong)


def test_names_that_differ_in_control_characters_are_not_one_node(tmp_path: Path) -> None:
    rows = [{"src": "a\x01", "dst": "b", "bytes": 5}, {"src": "a\x02", "dst": "b", "bytes": 7}]
    path = tmp_path / "d.json"
    path.write_text(json.dumps(rows[:1]))
    assert control.read_demand(path).matrix.sum() == 5
    path.write_text(json.dumps(rows))
    with pytest.raises(ConfigError, match="is two names that differ in control characters alone"):
        control.read_demand(path)
