"""Demand and port maps in the formats of other tools, compared with sums by hand."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from cli_support import lightloom

from lightloom import ConfigError, control
from lightloom.control import wiring


@pytest.mark.parametrize("form", ["%.18e", "%d", "%8.1f"])
def test_matrices_of_savetxt(form: str, tmp_path: Path) -> None:
    matrix = np.array([[0, 7, 2, 5], [3, 0, 10**6, 1], [0, 0, 0, 1], [9, 8, 7, 0]])
    np.savetxt(tmp_path / "d.txt", matrix, fmt=form)
    assert (control.read_demand(tmp_path / "d.txt").matrix == matrix).all()


def test_a_bad_entry_between_blanks_has_its_place(tmp_path: Path) -> None:
    (tmp_path / "d.txt").write_text("0  5 1 1\n1  x 2 2\n0 0 0 1\n1 1 1 0\n")
    with pytest.raises(ConfigError, match=r"d\.txt:2:4: `x` is"):
        control.read_demand(tmp_path / "d.txt")


HISTOGRAM = {"metric": {"src": "a", "dst": "b"}, "histograms": [[0, {"count": "3", "sum": "9"}]]}
COUNTER = {"metric": {"instance": "tor-1", "ifName": "eth0"}, "values": [[0, "5"], [60, "6"]]}


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (HISTOGRAM, "a native histogram, which has counts by size and no bytes; ask for its sum"),
        (COUNTER, "counters of an interface, which do not name pairs; export flows"),
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
    with pytest.raises(ConfigError, match="only in control characters"):
        control.read_demand(path)


def counters(sums: dict[str, tuple[int, int]]) -> str:
    """Returns counters of two interfaces per node, each with half of the bytes."""
    result = [
        {
            "metric": {"instance": node, "ifName": f"eth{port}", "__name__": name},
            "values": [[0, "0"], [60, str(amount / 2)]],
        }
        for node, pair in sums.items()
        for name, amount in zip(("ifHCOutOctets", "ifHCInOctets"), pair, strict=True)
        for port in range(2)
    ]
    return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": result}})


def test_gravity_has_the_sums_that_were_counted(tmp_path: Path) -> None:
    """For three nodes the sums determine the matrix except for one value: with s = (6, 4, 2) sent
    and r = (3, 4, 5) received, all entries follow from x = a to b, and proportionality determines
    x."""
    sums = {"a": (6_000_000, 3_000_000), "b": (4_000_000, 4_000_000), "c": (2_000_000, 5_000_000)}
    path = tmp_path / "p.json"
    path.write_text(counters(sums))
    demand = control.read_demand(path, unit="B", estimate="gravity")
    assert demand.names == ["a", "b", "c"]
    matrix = demand.matrix
    assert np.diag(matrix).tolist() == [0, 0, 0]
    assert np.abs(matrix.sum(axis=1) - [out for out, _ in sums.values()]).max() <= 3
    assert np.abs(matrix.sum(axis=0) - [came for _, came in sums.values()]).max() <= 3
    # The odds ratio of the entries off the diagonal is that of a product: 1.
    (_, ab, ac), (ba, _, bc), (ca, cb, _) = matrix.tolist()
    assert ab * bc * ca == pytest.approx(ac * cb * ba, rel=1e-5)


BAD_COUNTERS = {
    "no node": (counters({"a": (1, 1)}).replace("instance", "x"), "B", "no label rack, tor, node"),
    "no direction": (
        counters({"a": (1, 1)}).replace("OutOctets", "Octets"),
        "B",
        "contains in or out",
    ),
    "too much": (counters({"a": (9, 9), "b": (1, 1)}), "B", "`a` sends and receives more than all"),
    "no unit": (counters({"a": (1, 1)}), None, "samples of Prometheus are rates or amounts"),
}


@pytest.mark.parametrize("case", BAD_COUNTERS)
def test_counters_that_say_nothing_are_refused(case: str, tmp_path: Path) -> None:
    text, unit, said = BAD_COUNTERS[case]
    (tmp_path / "p.json").write_text(text)
    with pytest.raises(ConfigError, match=said):
        control.read_demand(tmp_path / "p.json", unit=unit, estimate="gravity")


HOURS = [
    {"a": (6_000, 3_000), "b": (4_000, 4_000), "c": (2_000, 5_000), "d": (1_000, 1_000)},
    {"a": (0, 0), "b": (0, 0), "c": (0, 0), "d": (0, 0)},
    {"a": (1_000, 9_000), "b": (7_000, 1_000), "c": (3_000, 1_000), "d": (2_000, 2_000)},
    {"a": (5_000, 5_000), "b": (5_000, 5_000), "c": (0, 0), "d": (0, 0)},
]
"""Bytes per second that four nodes sent and received in each hour."""
FIRST = 1_763_856_000


def day_of_counters(hours: list[dict[str, tuple[int, int]]], first: int = FIRST) -> str:
    result = [
        {
            "metric": {"instance": node, "direction": way},
            "values": [[first + 3600 * k, str(h[node][at])] for k, h in enumerate(hours)],
        }
        for node in hours[0]
        for at, way in enumerate(("out", "in"))
    ]
    return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": result}})


def test_gravity_of_a_day_is_that_of_each_hour(tmp_path: Path) -> None:
    """An hour has the sums that were counted in it, and equals the result of `read_demand` for this
    hour and an empty one, because a step needs two samples."""
    path = tmp_path / "day.json"
    path.write_text(day_of_counters(HOURS))
    day = control.read_day([path], unit="B/s", estimate="gravity")
    assert day.names == ["a", "b", "c", "d"]
    assert [one.seconds for one in day.intervals] == [3600] * 4
    for k, hour in enumerate(HOURS):
        matrix = day.demand(k).matrix
        sent, received = (3600 * np.array(column) for column in zip(*hour.values(), strict=True))
        assert np.abs(matrix.sum(axis=1) - sent).max() <= 4
        assert np.abs(matrix.sum(axis=0) - received).max() <= 4
        if sent.any():
            path.write_text(day_of_counters([HOURS[1], hour]))
            alone = control.read_demand(path, unit="B/s", estimate="gravity")
            assert (matrix == alone.matrix).all()


def test_gravity_puts_hours_together_before_it_guesses(tmp_path: Path) -> None:
    path = tmp_path / "day.json"
    path.write_text(day_of_counters(HOURS, FIRST + 3600))
    day = control.read_day([path], unit="B/s", estimate="gravity", every="2 h")
    path.write_text(day_of_counters(HOURS[2:], FIRST + 3 * 3600))
    last = control.read_demand(path, unit="B/s", estimate="gravity")
    assert len(day.intervals) == 2
    assert (day.demand(1).matrix == last.matrix).all()


def test_a_day_of_counters_is_played_in_one_command(tmp_path: Path) -> None:
    (tmp_path / "day.json").write_text(day_of_counters(HOURS))
    asked = ("replay-demand", "day.json", "-a", "edmonds", "--unit", "B/s")
    done = lightloom(*asked, "--estimate", "gravity", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "gravity from 32 counters" in " ".join(done.stdout.split())
    for options, said in (
        ((), "--estimate gravity"),
        (("--estimate", "tomo"), "--estimate = tomo: no such way; use gravity"),
        (("--estimate", "gravity", "--map", "m.csv"), "--map = m.csv: an estimate is between"),
    ):
        refused = lightloom(*asked, *options, cwd=tmp_path)
        assert refused.returncode == 2
        assert said in refused.stderr
