"""Formats of demand: each gives the same bytes between the same racks."""

from __future__ import annotations

import csv
import decimal
import io
import ipaddress
import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plan_support import Pair, a_folder, by_name, named, table
from typer.testing import CliRunner

from lightloom import ConfigError, control
from lightloom.cli import app
from lightloom.control.current import read_circuits
from lightloom.control.day.series import read_day
from lightloom.control.demand.hosts import read_hosts
from lightloom.control.demand.times import time_in, time_of

NAMES = st.lists(
    st.text('ab0.5 #,;|"é', min_size=1, max_size=6).map(str.strip).filter(bool),
    min_size=3,
    max_size=5,
    unique=True,
)
Lines = list[dict[str, Any]]


@st.composite
def records(draw: st.DrawFn) -> tuple[dict[Pair, int], Lines]:
    """Draws demand of powers of two, so that no two sets have the same sum, and lines that add up
    to it in any order."""
    names = draw(NAMES)
    pairs = len(names) * (len(names) - 1)
    demand = table(names, draw(st.permutations([1 << (2 * at) for at in range(pairs)])))
    lines = []
    for (src, dst), amount in demand.items():
        part = draw(st.integers(0, amount))
        for size in (part, amount - part) if draw(st.booleans()) else (amount,):
            lines.append({"src": src, "dst": dst, "bytes": size})
    return demand, draw(st.permutations(lines))


def as_long(folder: Path, lines: Lines, draw: random.Random) -> Path:
    """Writes CSV with its columns in any order, and an additional one."""
    header = ["src", "dst", "bytes", "comment, or not"]
    draw.shuffle(header)
    text = io.StringIO()
    writer = csv.writer(text, delimiter=draw.choice(",;\t"), quoting=csv.QUOTE_ALL)
    writer.writerow(header)
    writer.writerows([line.get(name, "x;y,z") for name in header] for line in lines)
    path = folder / "d.csv"
    path.write_text("# what was measured\r\n\r\n" + text.getvalue(), encoding="utf-8", newline="")
    return path


def as_json(folder: Path, lines: Lines, draw: random.Random) -> Path:
    path = folder / "d.json"
    path.write_text(json.dumps(lines), encoding="utf-8")
    return path


def as_json_lines(folder: Path, lines: Lines, draw: random.Random) -> Path:
    path = folder / "d.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
    return path


def as_parquet(folder: Path, lines: Lines, draw: random.Random) -> Path:
    path = folder / "d.parquet"
    columns = {name: pa.array([line[name] for line in lines]) for name in ("bytes", "dst", "src")}
    pq.write_table(pa.table(columns), path)
    return path


@pytest.mark.parametrize("write", [as_long, as_json, as_json_lines, as_parquet])
@settings(max_examples=40, deadline=None, derandomize=True)
@given(given=records(), seed=st.integers(0, 99))
def test_records_add_up_in_any_order(
    write: Callable[..., Path], given: tuple[dict[Pair, int], Lines], seed: int
) -> None:
    demand, lines = given
    with a_folder() as folder:
        found = control.read_demand(write(folder, lines, random.Random(seed)))
    assert by_name(found) == demand
    assert found.reading is not None
    assert (found.reading.records, found.reading.total) == (len(lines), sum(demand.values()))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    lines=st.lists(
        st.tuples(*[st.integers(0, 4)] * 2, st.integers(0, 900)), min_size=1, max_size=5
    ),
    header=st.sampled_from(["src,dst,volume", "From;To;Demand", "source\tdestination\ttraffic"]),
)
def test_racks_that_are_called_by_numbers_stay_records(
    lines: list[tuple[int, int, int]], header: str
) -> None:
    """The numbers are arbitrary, and include three lines with zeros on a diagonal."""
    sums: dict[Pair, int] = {}
    for a, b, amount in lines:
        if a != b and amount:
            sums[str(a), str(b)] = sums.get((str(a), str(b)), 0) + amount
    delimiter = next(c for c in ",;\t" if c in header)
    text = "".join(delimiter.join(map(str, line)) + "\n" for line in lines)
    with a_folder() as folder:
        path = write(folder, "d.csv", f"{header}\n{text}")
        if sums:
            assert by_name(control.read_demand(path)) == sums
        else:
            with pytest.raises(ConfigError, match="only zeros"):
                control.read_demand(path)


def test_numbers_of_racks_decide_nothing_in_parquet(tmp_path: Path) -> None:
    """Three records have zeros at the places of a matrix's diagonal."""
    lines = {"src": [0, 1, 1], "dst": [1, 0, 2], "traffic": [500, 300, 0]}
    path = tmp_path / "d.parquet"
    pq.write_table(pa.table(lines), path)
    assert by_name(control.read_demand(path)) == {("0", "1"): 500, ("1", "0"): 300}
    pq.write_table(pa.table(lines).rename_columns(["x", "y", "z"]), path)
    with pytest.raises(ConfigError, match="a matrix, or records"):
        control.read_demand(path)


def test_a_matrix_may_have_nodes_called_like_columns(tmp_path: Path) -> None:
    text = "from,a,to\na,0,5\nto,3,0\n"
    assert by_name(control.read_demand(write(tmp_path, "d.csv", text))) == {
        ("a", "to"): 5,
        ("to", "a"): 3,
    }


@pytest.mark.parametrize("algorithm", [name for name in control.ALGORITHMS if name != "fixed"])
@settings(max_examples=6, deadline=None, derandomize=True)
@given(given=records(), seed=st.integers(0, 99))
def test_the_order_of_records_does_not_show_in_a_plan(
    algorithm: str, given: tuple[dict[Pair, int], Lines], seed: int
) -> None:
    """This includes ties and rounding, because nodes have the order of their names."""
    _, lines = given
    shuffled = random.Random(seed).sample(lines, len(lines))
    with a_folder() as folder:
        first, second = (
            control.plan(
                control.read_demand(as_long(folder, several, random.Random(seed))), algorithm
            ).text()
            for several in (lines, shuffled)
        )
    assert first == second


@pytest.mark.parametrize("algorithm", ["edmonds", "assignment"])
@settings(max_examples=25, deadline=None, derandomize=True)
@given(given=records())
def test_the_long_form_has_the_circuits_of_the_matrix(
    algorithm: str, given: tuple[dict[Pair, int], Lines]
) -> None:
    """The optimum is unique, so the named circuits are the same."""
    demand, lines = given
    names = sorted({end for pair in demand for end in pair})
    matrix = np.array([[demand.get((a, b), 0) for b in names] for a in names])
    expected = control.plan(control.Demand(matrix, names), algorithm)
    with a_folder() as folder:
        found = control.plan(
            control.read_demand(as_long(folder, lines, random.Random(1))), algorithm
        )
    assert named(found) == named(expected)
    assert found.figures == expected.figures


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def read(folder: Path, name: str, text: str, **told: Any) -> dict[Pair, int]:
    return by_name(control.read_demand(write(folder, name, text), **told))


FOUR = {("a", "b"): 5, ("b", "a"): 7, ("b", "c"): 1}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("d.csv", "src,dst,bytes\na,b,5\nb,a,7\nb,c,1\n"),
        ("d.tsv", "bytes\tDestination\tSource\n5\tb\ta\n7\ta\tb\n1\tc\tb\n"),
        ("d.csv", "octets,to,from,\n5,b,a,\n7,a,b,\n1,c,b,\n"),
        ("d.csv", "time,src,dst,bytes\n0,a,b,2\n300,a,b,3\n0,b,a,7\n0,b,c,1\n"),
        ("d.csv", ",a,b,c\na,0,5,0\nb,7,0,1\nc,0,0,0\n"),
        ("d.json", '{"names": ["a", "b", "c"], "matrix": [[0, 5, 0], [7, 0, 1], [0, 0, 0]]}'),
        ("d.json", '{"a": {"b": 5}, "b": {"a": 7, "c": 1.0}, "c": {}}'),
        (
            "d.json",
            '[{"dst": "b", "src": "a", "bytes": "5"}, {"src": "b", "dst": "a", "bytes": 7}, '
            '{"src": "b", "dst": "c", "bytes": 1}]',
        ),
    ],
)
def test_forms_say_the_same(name: str, text: str, tmp_path: Path) -> None:
    assert read(tmp_path, name, text) == FOUR


def test_rows_of_json_have_no_names(tmp_path: Path) -> None:
    demand = control.read_demand(write(tmp_path, "d.json", "[[0, 5], [7, 0]]"))
    assert (demand.names, demand.matrix.tolist()) == ([], [[0, 5], [7, 0]])


def test_a_matrix_of_these_names_is_asked_for(tmp_path: Path) -> None:
    text = "src,dst,bytes\n0,1,2\n3,0,4\n5,6,0\n"
    demand = control.read_demand(write(tmp_path, "d.csv", text), format="matrix")
    assert demand.names == ["src", "dst", "bytes"]
    assert demand.matrix.tolist() == [[0, 1, 2], [3, 0, 4], [5, 6, 0]]


def test_columns_are_named(tmp_path: Path) -> None:
    text = "from rack,to rack,from,MB\na,b,x,5\nb,a,x,7\nb,c,x,1\n"
    columns = "src=from rack, dst=to rack, bytes=MB"
    found = read(tmp_path, "d.csv", text, columns=columns, unit="MB")
    assert found == {pair: 1_000_000 * amount for pair, amount in FOUR.items()}


# Formats of other tools

OLD = """ts,te,td,sa,da,sp,dp,pr,flg,fwd,stos,ipkt,ibyt,opkt,obyt,in,out,sas,das
2026-02-11 09:51:56,2026-02-11 09:52:00,4.0,10.0.0.1,10.0.1.2,5,6,TCP,.A,0,0,10,5000,2,700,1,2,0,0
2026-02-11 09:51:57,2026-02-11 09:52:01,4.0,2001:db8::1,10.0.0.9,5,6,UDP,..,0,0,10,80,0,0,1,2,0,0
Summary
flows,bytes,packets,avg_bps,avg_pps,avg_bpp
2,5080,20,1,1,1
"""
NEW = """firstSeen,duration,proto,srcAddr,srcPort,dstAddr,dstPort,packets,bytes,flows
2026-02-11 09:51:56.123,4.000,TCP,10.0.0.1,5,10.0.1.2,6,10,5000,1
2026-02-11 09:51:57.456,4.000,UDP,2001:db8::1,5,10.0.0.9,6,10,80,1
"""
PMACCT = """SRC_IP,DST_IP,SRC_PORT,DST_PORT,PROTOCOL,PACKETS,BYTES
10.0.0.1,10.0.1.2,5,6,tcp,10,5000
2001:db8::1,10.0.0.9,5,6,udp,10,80
"""
PMACCT_JSON = """{"event_type": "purge", "ip_src": "10.0.0.1", "ip_dst": "10.0.1.2", "bytes": 5000}
{"event_type": "purge", "ip_src": "2001:db8::1", "ip_dst": "10.0.0.9", "bytes": 80}
"""
SFLOW = """CNTR,10.0.0.254,17,6,100000000,0,2147483648,175283006,136405187,2578019,297011,0,3,0,0,0
FLOW,10.0.0.254,1,2,00902773db08,001083265e00,0x0800,0,0,10.0.0.1,10.0.1.2,6,0x00,64,5,6,0x10,500,482,10
FLOW,10.0.0.254,1,2,00902773db08,001083265e00,0x86dd,0,0,2001:db8::1,10.0.0.9,17,0x00,64,5,6,0x00,80,62,1
"""
FORTH = {("r0", "r1"): 5000, ("r2", "r0"): 80}
BACK = {("r1", "r0"): 700}
HOSTS = "prefix,rack\n10.0.0.0/24,r0\n10.0.1.2,r1\n2001:db8::/64,r2\n"


@pytest.mark.parametrize(
    ("name", "text", "expected", "title"),
    [
        ("f.csv", OLD, FORTH | BACK, "nfdump CSV"),
        ("f.csv", NEW, FORTH, "nfdump CSV"),
        ("f.csv", PMACCT, FORTH, "pmacct CSV"),
        ("f.json", PMACCT_JSON, FORTH, "records in JSON"),
        ("f.txt", SFLOW, FORTH, "sflowtool -l"),
    ],
)
def test_exports_of_tools(
    name: str, text: str, expected: dict[Pair, int], title: str, tmp_path: Path
) -> None:
    hosts = write(tmp_path, "hosts.csv", HOSTS)
    demand = control.read_demand(write(tmp_path, name, text), map=hosts)
    assert by_name(demand) == expected
    assert demand.reading is not None
    assert demand.reading.format == title
    # Without a map, addresses are the nodes.
    alone = control.read_demand(tmp_path / name)
    assert "2001:db8::1" in alone.names
    assert alone.matrix.sum() == sum(expected.values())


def prometheus(*series: tuple[str, str, list[tuple[float, str]]]) -> str:
    result = [
        {"metric": {"src": src, "dst": dst, "job": "x"}, "values": [list(v) for v in values]}
        for src, dst, values in series
    ]
    return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": result}})


def test_series_of_prometheus_are_rates_or_amounts(tmp_path: Path) -> None:
    text = prometheus(
        ("a", "b", [(300, "2"), (600, "3.5"), (900, "0")]), ("b", "c", [(300, "1e2"), (900, "4")])
    )
    assert read(tmp_path, "p.json", text, unit="B/s") == {
        ("a", "b"): 5.5 * 300,
        ("b", "c"): 104 * 300,
    }
    assert read(tmp_path, "p.json", text, unit="8 Gb/s") == {
        ("a", "b"): 5.5 * 300 * 10**9,
        ("b", "c"): 104 * 300 * 10**9,
    }
    demand = control.read_demand(tmp_path / "p.json", unit="KB")
    assert by_name(demand) == {("a", "b"): 5500, ("b", "c"): 104_000}
    assert demand.reading is not None
    missing, added = demand.reading.notes
    assert missing.startswith("1 sample is missing")
    assert "(step 300 s)" in missing
    assert "from 1970-01-01T00:00:00 to 1970-01-01T00:15:00" in added


def test_the_step_of_prometheus_is_common_to_all_series(tmp_path: Path) -> None:
    """Samples at 0 and 900 s, and at 0 and 600 s: the grid has steps of 300 s, so that each sample
    of 100 B/s is 30 KB. Four of eight samples of the grid exist."""
    text = prometheus(
        ("r1", "r2", [(0, "100"), (900, "100")]), ("r3", "r4", [(0, "100"), (600, "100")])
    )
    demand = control.read_demand(write(tmp_path, "p.json", text), unit="B/s")
    assert by_name(demand) == {("r1", "r2"): 60_000, ("r3", "r4"): 60_000}
    assert demand.reading is not None
    assert demand.reading.total == 120_000
    (missing,) = (note for note in demand.reading.notes if "missing" in note)
    assert missing.startswith("4 samples are missing")
    assert "(step 300 s)" in missing


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    step=st.integers(1, 900),
    kept=st.lists(st.sets(st.integers(0, 30), min_size=1), min_size=1, max_size=4),
)
def test_series_with_gaps_have_the_step_of_their_grid(step: int, kept: list[set[int]]) -> None:
    """A range of 31 steps, some of which are missing in the series; one series has only the first
    half."""
    several = [{*range(16)} | kept[0], *kept[1:]]
    series = [
        (f"s{at}", "x", [(step * one, "8") for one in sorted(places)])
        for at, places in enumerate(several)
    ]
    with a_folder() as folder:
        path = write(folder, "p.json", prometheus(*series))
        found = by_name(control.read_demand(path, unit="B/s"))
    assert found == {(f"s{at}", "x"): 8 * step * len(one) for at, one in enumerate(several)}


def test_times_of_scrapes_have_no_step(tmp_path: Path) -> None:
    text = prometheus(("a", "b", [(0.003, "5"), (15.014, "1"), (30.001, "1")]))
    with pytest.raises(ConfigError, match=r"15\.011 s and 14\.987"):
        read(tmp_path, "p.json", text, unit="B/s")


STEPS: dict[str, tuple[list[float], int | None]] = {
    "a grid": ([0, 300, 600, 900], 300),
    "a grid with a gap": ([0, 300, 600, 1500], 300),
    "half the commonest distance": ([1000, 1600, 2200, 2500], 300),
    "milliseconds": ([0.5, 30.5, 60.5], 30),
    "late by 5 s": ([1000, 1300, 1605], None),
    "late, in the middle": ([0, 300, 605, 900], None),
    "a divisor that is no distance": ([0, 60, 125], None),
    "of scrapes": ([0, 15, 31, 45], None),
    "hours and an odd minute": ([0, 3600, 7200, 7260], None),
    "two distances, far apart": ([0, 5, 305], None),
}
"""Times [s], and their step [s]."""


@pytest.mark.parametrize("case", STEPS)
def test_a_step_is_the_commonest_distance_or_half_of_it(case: str, tmp_path: Path) -> None:
    """With 1 B/s at each time, the bytes are the number of times × the step.

    A day of the same times as CSV has intervals of that step, by the same rule.
    """
    times, step = STEPS[case]
    text = prometheus(("a", "b", [(when, "1") for when in times]))
    rows = "".join(f"a,b,1,{when}\n" for when in times)
    table = write(tmp_path, "d.csv", f"src,dst,bytes,time\n{rows}")
    if step is None:
        with pytest.raises(ConfigError, match=r"no common step: .*query_range"):
            read(tmp_path, "p.json", text, unit="B/s")
        with pytest.raises(ConfigError, match=r"no common step: .*query_range"):
            read_day([tmp_path / "p.json"], unit="B/s")
        with pytest.raises(ConfigError, match=r"no common step: .*--every"):
            read_day([table])
        return
    assert read(tmp_path, "p.json", text, unit="B/s") == {("a", "b"): step * len(times)}
    for day in (read_day([tmp_path / "p.json"], unit="B/s"), read_day([table])):
        assert {one.seconds for one in day.intervals} == {step}
        assert len(day.intervals) == len(times)


def test_a_step_that_is_said_counts_where_times_have_none(tmp_path: Path) -> None:
    """Three samples of 1 B/s cover 300 s each; no sample covers an hour, because the next one is
    earlier."""
    text = prometheus(("a", "b", [(1000, "1"), (1300, "1"), (1605, "1")]))
    path = write(tmp_path, "p.json", text)
    day = read_day([path], unit="B/s", every="5 min")
    assert [one.seconds for one in day.intervals] == [300] * 3
    assert [one.total for one in day.intervals] == [300] * 3
    with pytest.raises(ConfigError, match="no common step"):
        read_day([path], unit="B/s", every="1 h")


RAW: dict[str, tuple[dict[str, str], bool]] = {
    "by its name": ({"__name__": "flow_bytes_total"}, True),
    "by its type": ({"__name__": "flow_bytes", "__type__": "counter"}, True),
    "a label for the type": ({"type": "Counter"}, True),
    "a rate that is recorded": ({"__name__": "job:flow_bytes_total:rate5m"}, False),
    "a gauge": ({"__name__": "flow_bytes", "__type__": "gauge"}, False),
    "no name": ({}, False),
}
"""Labels of a series besides its ends, and whether they mark it as a counter."""


@pytest.mark.parametrize("case", RAW)
@pytest.mark.parametrize("form", ["range", "instant", "lines", "series in lines"])
def test_a_raw_counter_is_refused(case: str, form: str, tmp_path: Path) -> None:
    """A counter with the values 1, 2 and 3 KB has counted 2 KB, not 6 KB."""
    more, raw = RAW[case]
    labels = {"src": "a", "dst": "b", **more}
    values = [[1000 + 60 * at, str(1000 * (at + 1))] for at in range(3)]
    answers = {
        "range": ("matrix", {"metric": labels, "values": values}),
        "instant": ("vector", {"metric": labels, "value": values[0]}),
    }
    if form in answers:
        kind, series = answers[form]
        data = {"resultType": kind, "result": [series]}
        text = json.dumps({"status": "success", "data": data})
    elif form == "lines":
        rows = [{**labels, "bytes": int(text), "time": when} for when, text in values]
        text = "\n".join(map(json.dumps, rows)) + "\n"
    else:
        text = json.dumps({"metric": labels, "values": values}) + "\n"
    path = write(tmp_path, "p.jsonl" if "lines" in form else "p.json", text)
    if raw:
        with pytest.raises(ConfigError, match=r"a counter, .*increase\(.*rate\("):
            control.read_demand(path, unit="B")
    elif form == "series in lines":
        with pytest.raises(ConfigError, match="series of Prometheus, outside"):
            control.read_demand(path, unit="B")
    else:
        expected = 1000 if form == "instant" else 6000
        assert by_name(control.read_demand(path, unit="B")) == {("a", "b"): expected}


def test_a_counter_of_an_interface_is_refused_raw(tmp_path: Path) -> None:
    series = [
        {"metric": {"instance": "a", "__name__": f"node_network_{way}_bytes_total"},
         "values": [[0, "5"], [60, "7"]]}
        for way in ("receive", "transmit")
    ]  # fmt: skip
    data = {"resultType": "matrix", "result": series}
    path = write(tmp_path, "p.json", json.dumps({"status": "success", "data": data}))
    with pytest.raises(ConfigError, match="a counter, which adds"):
        control.read_demand(path, unit="B", estimate="gravity")


ALONE: dict[str, tuple[str, dict[str, Any]]] = {
    "long": ('{"src": "a", "dst": "b", "bytes": 5}', {}),
    "goflow2": ('{"src_addr": "a", "dst_addr": "b", "bytes": 1, "sampling_rate": 5}', {}),
    "pmacct": ('{"ip_src": "a", "ip_dst": "b", "packets": 1, "bytes": 5}\n', {}),
    "named": ('{"x": "a", "y": "b", "n": 5}', {"columns": "src=x,dst=y,bytes=n"}),
    "with a time": ('{"src": "a", "dst": "b", "bytes": 5, "time": 7}', {}),
    "a map": ('{"a": {"b": 5}}', {}),
    "a map of nodes with these names": ('{"src": {"dst": 5, "bytes": 0}, "dst": {}}', {}),
}


@pytest.mark.parametrize("case", ALONE)
@pytest.mark.parametrize("name", ["d.json", "d.jsonl"])
def test_one_record_alone_is_a_demand(case: str, name: str, tmp_path: Path) -> None:
    text, told = ALONE[case]
    ends = ("src", "dst") if "nodes" in case else ("a", "b")
    assert read(tmp_path, name, text, **told) == {ends: 5}


def test_labels_of_prometheus_are_named(tmp_path: Path) -> None:
    text = prometheus(("a", "b", [(0, "5"), (60, "1")])).replace('"src"', '"from_tor"')
    told = {"unit": "B", "columns": "src=from_tor,dst=dst"}
    assert read(tmp_path, "p.json", text, **told) == {("a", "b"): 6}


def test_a_counter_is_noted(tmp_path: Path) -> None:
    text = prometheus(("a", "b", [(0, "5"), (60, "17"), (120, "17")]))
    demand = control.read_demand(write(tmp_path, "p.json", text), unit="B")
    assert demand.reading is not None
    assert "query increase" in demand.reading.notes[0]


def test_sampled_flows_of_goflow2_count_by_their_rate(tmp_path: Path) -> None:
    """1,500 B with a sampling rate of one in 1,000 are 1.5 MB; a rate of 0 marks unsampled
    flows."""
    rows = [
        {"type": "SFLOW_5", "time_received_ns": 1_700_000_000_123_456_789, "sampling_rate": 1000,
         "bytes": 1500, "packets": 1, "src_addr": "10.0.0.1", "dst_addr": "10.0.0.2"},
        {"type": "SFLOW_5", "time_received_ns": 1_700_000_001_000_000_000, "sampling_rate": 10,
         "bytes": 64, "packets": 1, "src_addr": "10.0.0.1", "dst_addr": "10.0.0.2"},
        {"type": "NETFLOW_V9", "time_received_ns": 1_700_000_002_000_000_000, "sampling_rate": 0,
         "bytes": 77, "packets": 2, "src_addr": "10.0.0.2", "dst_addr": "10.0.0.1"},
    ]  # fmt: skip
    path = write(tmp_path, "g.json", "\n".join(map(json.dumps, rows)) + "\n")
    demand = control.read_demand(path)
    assert by_name(demand) == {
        ("10.0.0.1", "10.0.0.2"): 1_500_000 + 640,
        ("10.0.0.2", "10.0.0.1"): 77,
    }
    assert demand.reading is not None
    assert demand.reading.format == "goflow2 JSON"
    told = "src=src_addr,dst=dst_addr,bytes=bytes"
    assert by_name(control.read_demand(path, columns=told)) == by_name(demand)


SAMPLED = {
    "long.csv": "src,dst,bytes,sampling_rate\na,b,10,100\na,b,5,1\n",
    "long.json": '[{"src": "a", "dst": "b", "bytes": 10, "sampling_rate": 100}, '
    '{"src": "a", "dst": "b", "bytes": 5, "sampling_rate": 1}]',
}


@pytest.mark.parametrize("name", SAMPLED)
def test_a_sampling_rate_multiplies_its_record(name: str, tmp_path: Path) -> None:
    assert read(tmp_path, name, SAMPLED[name]) == {("a", "b"): 1005}


def test_decimals_of_parquet(tmp_path: Path) -> None:
    """The values are 2^53 + 1, which no float represents, and hundredths."""
    large = decimal.Decimal(2**53 + 1)
    kind = pa.decimal128(20, 2)
    table = pa.table({
        "from": ["a", "b"],
        "a": pa.array([decimal.Decimal(0), large], kind),
        "b": pa.array([decimal.Decimal(7), decimal.Decimal(0)], kind),
    })  # fmt: skip
    pq.write_table(table, tmp_path / "m.parquet")
    found = by_name(control.read_demand(tmp_path / "m.parquet"))
    assert found == {("a", "b"): 7, ("b", "a"): 2**53 + 1}
    cents = pa.array([decimal.Decimal("0.25"), large], kind)
    pq.write_table(
        pa.table({"src": ["a", "b"], "dst": ["b", "a"], "bytes": cents}), tmp_path / "l.parquet"
    )
    found = by_name(control.read_demand(tmp_path / "l.parquet", unit="KB"))
    assert found == {("a", "b"): 250, ("b", "a"): (2**53 + 1) * 1000}


# Hosts and racks

ADDRESSES = st.integers(0, 255).map(lambda low: ipaddress.ip_address(f"10.0.0.{low}"))


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    st.dictionaries(
        st.tuples(ADDRESSES, st.integers(24, 32)).map(
            lambda pair: ipaddress.ip_network(f"{pair[0]}/{pair[1]}", strict=False)
        ),
        st.sampled_from("rst"),
        min_size=1,
        max_size=8,
    ),
    ADDRESSES,
    st.randoms(),
)
def test_the_longest_prefix_counts(
    prefixes: dict[Any, str], address: Any, draw: random.Random
) -> None:
    """This holds for any order of the lines; the reference tries every prefix."""
    lines = [f"{prefix},{rack}" for prefix, rack in prefixes.items()]
    draw.shuffle(lines)
    with a_folder() as folder:
        found = read_hosts(write(folder, "h.csv", "\n".join(lines) + "\n")).rack_of(str(address))
    fits = [prefix for prefix in prefixes if address in prefix]
    best = max(fits, key=lambda prefix: prefix.prefixlen, default=None)
    assert found == (None if best is None else prefixes[best])


def test_names_count_before_prefixes_and_racks_for_themselves(tmp_path: Path) -> None:
    text = "rack,os,host\nr1,x,db-1\nr2,x,10.0.0.0/8\nr3,x,10.0.0.7\nr4,x,2001:DB8:0::1\n"
    hosts = read_hosts(write(tmp_path, "h.csv", text))
    assert [hosts.rack_of(host) for host in ("db-1", "10.0.0.7", "10.9.0.7", "r3", "r9")] == [
        *("r1", "r3", "r2", "r3"),
        None,
    ]
    assert hosts.rack_of("2001:db8::1") == "r4"


def test_a_matrix_of_hosts_becomes_one_of_racks(tmp_path: Path) -> None:
    draw = np.random.default_rng(5)
    racks = {f"h{at}": f"rack-{at % 11}" for at in range(40)}
    hosts = [*racks, "stranger"]
    matrix = draw.integers(0, 1000, (41, 41))
    np.fill_diagonal(matrix, 0)
    rows = ["," + ",".join(hosts)]
    rows += [f"{host}," + ",".join(map(str, row)) for host, row in zip(hosts, matrix, strict=True)]
    path = write(tmp_path, "d.csv", "\n".join(rows) + "\n")
    listed = write(tmp_path, "h.csv", "".join(f"{h},{r}\n" for h, r in racks.items()))
    demand = control.read_demand(path, map=listed)
    expected: dict[Pair, int] = {}
    within = unknown = 0
    for i, a in enumerate(hosts):
        for j, b in enumerate(hosts):
            ends, amount = (racks.get(a), racks.get(b)), int(matrix[i, j])
            if ends[0] is None or ends[1] is None:
                unknown += amount
            elif ends[0] == ends[1]:
                within += amount
            else:
                expected[ends[0], ends[1]] = expected.get((ends[0], ends[1]), 0) + amount
    assert by_name(demand) == expected
    assert demand.names == [f"rack-{at}" for at in range(11)]
    reading = demand.reading
    assert reading is not None
    assert (reading.within, reading.unknown, reading.total) == (within, unknown, matrix.sum())
    assert reading.strangers == ("stranger",)


def test_racks_without_traffic_are_nodes(tmp_path: Path) -> None:
    hosts = write(tmp_path, "h.csv", "a,r1\nb,r2\nc,r10\n")
    demand = control.read_demand(write(tmp_path, "d.csv", "src,dst,bytes\na,b,5\n"), map=hosts)
    assert demand.names == ["r1", "r2", "r10"]
    # A node that only a record of 0 bytes names is also a node.
    found = control.read_demand(write(tmp_path, "d.csv", "src,dst,bytes\na,b,5\nz,z,0\n"))
    assert found.names == ["a", "b", "z"]


# Messages

runner = CliRunner()


def plan(*words: object, given: bytes | None = None) -> tuple[int, str, str]:
    done = runner.invoke(app, ["plan", *map(str, words)], input=given)
    return done.exit_code, done.stdout, done.stderr


def test_what_was_left_out_is_told(tmp_path: Path) -> None:
    hosts = write(tmp_path, "h.csv", "a,r1\nb,r2\nb2,r2\n")
    path = write(tmp_path, "d.csv", "src,dst,bytes\na,b,60\nb,b2,30\na,w,7\nv,w,3\n")
    code, out, _ = plan(path, "-a", "edmonds", "--map", hosts, "--unit", "MB")
    assert code == 0
    said = " ".join(out.split())
    assert "d.csv: 2 nodes, 1 pair, 60.0 MB" in said
    assert "long form, 4 records" in said
    assert "(30.0 MB) within racks" in said
    assert "10.0 % of the" in said
    assert "not name (w, v)" in said
    code, out, err = plan(path, "-a", "edmonds", "--map", hosts, "--json")
    assert code == 0
    assert json.loads(out)["read"] == {
        "format": "long form",
        "unit": "1 B",
        "records": 4,
        "map": str(hosts),
        "bytes": 100,
        "within_racks_bytes": 30,
        "unknown_hosts_bytes": 10,
        "unknown_hosts": 2,
    }
    assert err.count("note: ") == 2
    code, out, err = plan(path, "-a", "edmonds", "--map", hosts, "--strict")
    assert (code, out) == (2, "")
    assert f"d.csv:4: w = (no rack): {hosts} " in err


@pytest.mark.parametrize("told", [[], ["--format", "long"]])
def test_standard_input(told: Sequence[str], tmp_path: Path) -> None:
    given = b"src,dst,bytes\na,b,5\nb,a,7\nb,c,1\n"
    code, out, _ = plan("-", "-a", "edmonds", *told, given=given)
    assert (code, out.splitlines()[0]) == (0, "standard input: 3 nodes, 3 pairs, 13 B")


@pytest.mark.parametrize("kind", ["npy", "parquet", "json", "matrix"])
def test_standard_input_is_recognised(kind: str) -> None:
    held = io.BytesIO()
    if kind == "npy":
        np.save(held, np.array([[0, 5], [7, 0]]))
    elif kind == "parquet":
        pq.write_table(pa.table({"a": [0, 7], "b": [5, 0]}), held)
    else:
        held.write(b"[[0, 5], [7, 0]]" if kind == "json" else b"a,b\n0,5\n7,0\n")
    code, out, _ = plan("-", "-a", "edmonds", given=held.getvalue())
    assert (code, out.splitlines()[0]) == (0, "standard input: 2 nodes, 2 pairs, 12 B")


def test_fractions_are_added_up_exactly(tmp_path: Path) -> None:
    """Ten times a tenth is one, in any order; with floats it would be 0.9999999999999999."""
    lines = ["src,dst,bytes", *["a,b,0.1"] * 10, *["b,a,0.7"] * 10]
    found = read(tmp_path, "d.csv", "\n".join(lines), unit="1 GB")
    assert found == {("a", "b"): 10**9, ("b", "a"): 7 * 10**9}


def test_times_in_names() -> None:
    at = time_of("2026-11-23T02:45:00Z")
    for name in (
        "2026-11-23T02:45:00Z",
        "d-20261123T024500Z",
        "nfcapd.202611230245",
        "x_2026-11-23_02-45",
    ):
        assert time_in(name) == at, name
    assert time_in("2026-11-23") == time_of("2026-11-23 00:00")
    assert time_in("rack-2026") is None


# Plans as objects


def demand_of(names: str, seed: int) -> control.Demand:
    matrix = np.random.default_rng(seed).integers(1, 10**9, (len(names), len(names)))
    np.fill_diagonal(matrix, 0)
    return control.Demand(matrix, [*names])


def turned(demand: control.Demand, order: str) -> control.Demand:
    at = [demand.names.index(name) for name in order]
    return control.Demand(demand.matrix[np.ix_(at, at)], [*order])


@settings(max_examples=10, deadline=None, derandomize=True)
@given(st.permutations("abcd"), st.integers(0, 50))
def test_a_plan_is_followed_by_name(order: list[str], seed: int) -> None:
    demand = demand_of("abcd", seed)
    other = turned(demand, "".join(order))
    matched = control.plan(demand, "edmonds")
    again = control.plan(other, "fixed", circuits=matched)
    assert (named(again), again.figures["weight"]) == (named(matched), matched.figures["weight"])
    even = control.Demand(np.ones((4, 4), np.int64) - np.eye(4, dtype=np.int64), order)
    kept = control.plan(even, "edmonds", up=matched)
    assert (named(kept), kept.details["kept"]) == (named(matched), 2)
    turns = control.plan(demand, "mordia", period="1 ms", night="1 us")
    replayed = control.plan(other, "fixed", schedule=turns)
    assert replayed.figures["carried_bytes"] == turns.figures["carried_bytes"]


@settings(max_examples=10, deadline=None, derandomize=True)
@given(st.permutations("abcdef"), st.integers(0, 50))
def test_circuits_of_hydra_are_wired_by_name(order: list[str], seed: int) -> None:
    """The circuits are read from the file of a plan and from the plan, with their planes, in any
    order."""
    demand = demand_of("abcdef", seed)
    made = control.plan(demand, "hydra", planes=2)
    other = turned(demand, "".join(order))
    with a_folder() as folder:
        listed = read_circuits(made.save(folder / "plan.json"), other, on_planes=True)
    for circuits in (listed, made):
        again = control.plan(other, "fixed", planes=2, circuits=circuits)
        assert on_planes(again) == on_planes(made)


def on_planes(plan: control.Plan) -> set[tuple[str, ...]]:
    """Returns circuits by the names of their ends, and their planes."""
    table, names = plan.circuits, plan.demand.names
    assert table is not None
    planes = [0] * len(table) if table.plane is None else table.plane
    rows = zip(table.a, table.b, planes, strict=True)
    return {(*sorted((names[a], names[b])), str(plane)) for a, b, plane in rows}


def test_a_plan_of_other_nodes_is_refused() -> None:
    old = control.plan(demand_of("abcd", 1), "edmonds")
    turns = control.plan(demand_of("abcd", 1), "rotation", day="1 ms")
    cases = [
        ("edmonds", {"up": old}, demand_of("abce", 1), "d: no node of the demand"),
        (
            "edmonds",
            {"up": old},
            control.Demand(demand_of("abcd", 1).matrix),
            "the demand does not",
        ),
        (
            "edmonds",
            {"up": turns},
            demand_of("abcd", 1),
            "up = a plan of rotation: a schedule without",
        ),
        ("fixed", {"schedule": old}, demand_of("abcd", 1), "permanent circuits, no schedule"),
        ("fixed", {"schedule": turns}, demand_of("abce", 1), "'d' is in one only"),
    ]
    for algorithm, options, demand, said in cases:
        with pytest.raises(ConfigError, match=said):
            control.plan(demand, algorithm, **options)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(st.permutations("abcdef"), st.integers(0, 1000))
def test_hydra_makes_the_same_circuits_in_every_order(order: list[str], seed: int) -> None:
    """No two pairs have equal demand, so only the number of a plane depends on the order of
    racks."""
    demand = demand_of("abcdef", seed)
    plans = [
        control.plan(one, "hydra", planes=2, need="circuit", stop_at_ports=True)
        for one in (demand, turned(demand, "".join(order)))
    ]
    assert plans[0].figures == plans[1].figures
    circuits = [[*zip(plan.circuits.a, plan.circuits.b, strict=True)] for plan in plans]  # type: ignore[union-attr]
    names = [plan.demand.names for plan in plans]
    first, second = (
        sorted(sorted((called[a], called[b])) for a, b in pairs)
        for called, pairs in zip(names, circuits, strict=True)
    )
    assert first == second


@pytest.mark.parametrize("algorithm", ["solstice", "eclipse", "mordia"])
@settings(max_examples=15, deadline=None, derandomize=True)
@given(st.permutations("abcdef"), st.integers(0, 1000))
def test_bounds_of_schedules_hang_on_no_order(algorithm: str, order: list[str], seed: int) -> None:
    """The decomposition of a matrix has ties; a bound has none."""
    demand = demand_of("abcdef", seed)
    options = {} if algorithm == "solstice" else {"period": "1 ms"}
    both = (demand, turned(demand, "".join(order)))
    first, second = (control.plan(one, algorithm, **options).figures for one in both)
    assert first["bound"] == second["bound"]
