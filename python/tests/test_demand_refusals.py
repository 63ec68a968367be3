"""Demand that cannot be read: the error states the place, the value and the remedy."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plan_support import a_folder
from typer.testing import CliRunner

from lightloom import ConfigError, control
from lightloom.cli import app

LONG = "src,dst,bytes\n"
NFDUMP = "ts,te,td,sa,da,sp,dp,pr,flg,ipkt,ibyt,opkt,obyt\n"
FLOW = "FLOW,10.0.0.254,1,2,0a,0b,0x0800,0,0,10.0.0.1,10.0.1.2,6,0,64,5,6,0x10,{},482,{}\n"
SERIES = '{"metric": {"src": "a", "dst": "b"}, "values": [[0, "1"], [60, "2"]]}'


def prometheus(*series: str, kind: str = "matrix") -> str:
    result = ", ".join(series)
    return f'{{"status": "success", "data": {{"resultType": "{kind}", "result": [{result}]}}}}'


BAD: dict[str, tuple[str, str, str]] = {
    # The long form
    "no bytes": (
        "d.csv --format long",
        "src,dst,size\na,b,5\n",
        "d.csv:1: no column `bytes`: it has "
        "`src`, `dst`, `size`; name it, or give --columns bytes=size",
    ),
    "no header": (
        "d.csv --format long",
        "a,b,5\n",
        "d.csv:1: no column `src`: it has `a`, `b`, `5`",
    ),
    "bytes twice": ("d.csv", "src,dst,bytes,Bytes\na,b,5,6\n", "d.csv:1: two columns are called"),
    "a hole": ("d.csv", LONG + "a,b,\n", "d.csv:2: bytes = (empty): nothing here; write 0"),
    "a word": (
        "d.csv",
        LONG + "a,b,5\n\n# x\na,b,x\n",
        "d.csv:5: bytes = x: not a number; write a number, or leave",
    ),
    "an amount with its unit": (
        "d.csv",
        LONG + "a,b,5 GB\n",
        'd.csv:2: bytes = 5 GB: not a number; write 5; --unit gives the size of one, like "1 GB"',
    ),
    "thousands": (
        "d.csv",
        LONG + 'a,b,"1,500"\n',
        "d.csv:2: bytes = 1,500: not a number; write 1500",
    ),
    "a comma for a point": (
        "d.csv",
        "src;dst;bytes\na;b;2,5\n",
        "bytes = 2,5: not a number; write 2.5",
    ),
    "a word for an amount": (
        "d.csv",
        LONG + "a,b,lots\n",
        "d.csv:2: bytes = lots: not a number; write a number, or leave the record out",
    ),
    "a second header": (
        "d.csv",
        LONG + LONG,
        "d.csv:2: bytes = bytes: not a number; write a number, or leave the record out",
    ),
    "an amount by another name": (
        "d.csv",
        "src,dst,demand_GB\nrack-7,b,5\n",
        "d.csv:1: no column `bytes`: it has `src`, `dst`, `demand_GB`; name it, or give "
        "--columns bytes=demand_GB --unit GB",
    ),
    "numbered racks by other names": (
        "d.csv",
        "rack_a,rack_b,volume\n0,1,5\n1,0,3\n1,2,0\n",
        "no column `src`: it has `rack_a`, `rack_b`, `volume`; name it, or give "
        "--columns src=NAME,dst=NAME, or --format matrix if they are nodes",
    ),
    "three numbers a line": (
        "d.csv",
        "0,1,500\n1,0,300\n1,2,0\n",
        "d.csv: 3 lines of 3 numbers are a matrix, or records of sources and destinations; say "
        "--format matrix, or begin with src,dst,bytes",
    ),
    "three numbers below unknown words": (
        "d.csv",
        "x,y,z\n0,7,500\n12,0,300\n7,12,0\n",
        "say --format matrix, or give --columns src=x,dst=y,bytes=z",
    ),
    "three numbers in many lines": (
        "d.csv",
        "0,1,500\n1,0,300\n1,2,7\n2,1,8\n",
        "d.csv: 4 lines of 3 numbers are no matrix (as many lines as columns, 0 on the "
        "diagonal); begin with src,dst,bytes if they are records of sources and destinations",
    ),
    "three numbers a row in JSON": (
        "d.json",
        "[[0, 1, 500], [1, 0, 300], [1, 2, 0]]",
        'write {"names": [...], "matrix": [...]}, or begin with src,dst,bytes',
    ),
    "underscores": ("d.csv", LONG + "a,b,1_000\n", "d.csv:2: bytes = 1_000: not a number"),
    "negative": ("d.csv", LONG + "a,b,-5\n", "d.csv:2: bytes = -5: demand is not negative; give 0"),
    "NaN": (
        "d.csv",
        LONG + "a,b,nan\n",
        "d.csv:2: bytes = nan: not a finite number; write the bytes",
    ),
    "infinite": ("d.csv", LONG + "a,b,inf\n", "d.csv:2: bytes = inf: not a finite number"),
    "a large exponent": ("d.csv", LONG + "a,b,1e999999999\n", "bytes = 1e999999999: not a number"),
    "thousands of digits": (
        "d.csv",
        LONG + f"a,b,{'9' * 5000}\n",
        "99…: more than 40 characters; write a number",
    ),
    "too large": (
        "d.csv",
        LONG + f"a,b,{2**62}\na,b,{2**62}\n",
        "d.csv: a to b: 9.223e+18 B do not fit 63 bits; choose a smaller unit",
    ),
    "too large with a unit": ("d.csv --unit TB", LONG + "a,b,9999999\n", "do not fit 63 bits"),
    "too large in all": (
        "d.csv",
        LONG + f"a,b,{2**62}\nb,a,{2**62}\n",
        "d.csv: demand = a total of",
    ),
    "fractions": (
        "d.csv",
        LONG + "a,b,0.25\n",
        "d.csv, a to b: demand[0][1] = 0.25: too small to be",
    ),
    "only zeros": (
        "d.csv",
        LONG + "a,b,0\n",
        "d.csv: demand = only zeros: there is nothing to plan",
    ),
    "only within": ("d.csv", LONG + "a,a,5\n", "d.csv: demand = only zeros: there is nothing"),
    "too few cells": (
        "d.csv",
        LONG + "a,b\n",
        "d.csv:2: 2 cells, where the first line has 3; quote",
    ),
    "too many cells": (
        "d.csv",
        LONG + "hall 1, rack 2,b,5\n",
        "d.csv:2: 4 cells, where the first line has 3; quote what holds a `,`",
    ),
    "no source": ("d.csv", LONG + ",b,5\n", "d.csv:2: no source; name both ends of every record"),
    "no destination": ("d.csv", LONG + 'a," ",5\n', "d.csv:2: no destination; name both ends"),
    "no records": ("d.csv", LONG, "d.csv: no records; give a line for every pair"),
    "nothing": (
        "d.csv --format long",
        "# nothing\n",
        "d.csv: nothing in it; give a line for every",
    ),
    "an open quote": (
        "d.csv",
        LONG + 'a,"b,5\n',
        "d.csv:2: a quote is not closed; quote whole cells",
    ),
    "a quote in a cell": ("d.csv", LONG + 'a,"b"c,5\n', "d.csv:2: ',' expected after '\"'; quote"),
    "no time": (
        "d.csv",
        "time,src,dst,bytes\nnoon,a,b,5\n",
        "d.csv:2: time = noon: not a time; write it",
    ),
    "not UTF-8": ("d.csv --format long", "src,dst,bytes\nå,b,5\n", "d.csv: not UTF-8; save it as"),
    # Options
    "columns of nothing": (
        "d.csv --columns src",
        LONG,
        "--columns = src: `src` names no column; write",
    ),
    "columns of another role": (
        "d.csv --columns from=a",
        LONG,
        "--columns = from=a: `from=a` names",
    ),
    "columns twice": (
        "d.csv --columns src=a,src=b",
        LONG,
        "--columns = src=a,src=b: src comes twice",
    ),
    "columns that are not there": (
        "d.csv --columns bytes=octets",
        LONG + "a,b,5\n",
        "--columns = bytes=octets: d.csv:1 has `src`, `dst`, `bytes`; name",
    ),
    "columns of a matrix": (
        "d.csv --format matrix --columns src=a",
        "0,1\n1,0\n",
        "--columns = src=a: matrix has no columns to name; leave it out",
    ),
    "a format that is none": (
        "d.csv --format netflow",
        LONG,
        "--format = netflow: no such format; use matrix, long, nfdump",
    ),
    "the wrong format": ("d.csv --format nfdump", LONG + "a,b,5\n", "d.csv:1: no column `src`"),
    "no ending": (
        "d.dat",
        LONG,
        "DEMAND = d.dat: its extension names no known format; name a file that "
        "ends in .csv, .tsv, .txt, .json, .jsonl, .npy, .parquet, or give --format",
    ),
    "a rate": (
        "d.csv --unit Gb/s",
        LONG + "a,b,5\n",
        "--unit = Gb/s: a rate, where numbers are amounts",
    ),
    "no unit": (
        "d.csv --unit gigs",
        LONG + "a,b,5\n",
        "--unit = gigs: not a unit of data or of a rate; write one like B, MB, GB",
    ),
    "a number for a unit": ("d.csv --unit 5", LONG + "a,b,5\n", '--unit = "5": `5` has no unit'),
    "nothing for a unit": (
        "d.csv --unit '0 B'",
        LONG + "a,b,5\n",
        "--unit = 0 B: less than a byte",
    ),
    # Exports of flows
    "an address that is cut": (
        "d.csv",
        NFDUMP + "2026-01-01 00:00:00,x,0,10.0.0.1,10.0.0.2\n",
        "d.csv:2: 5 cells, where the first line has 13",
    ),
    "bytes scaled": (
        "d.csv",
        NFDUMP + "2026-01-01 00:00:00,x,0,a,b,1,2,TCP,.,1,1.2 M,0,0\n",
        "d.csv:2: ibyt = 1.2 M: not a number",
    ),
    "bytes that came back": (
        "d.csv",
        NFDUMP + "2026-01-01 00:00:00,x,0,a,b,1,2,TCP,.,1,5,0,-1\n",
        "d.csv:2: obyt = -1: demand is not negative",
    ),
    "a time of a flow": (
        "d.csv",
        NFDUMP + "0000-00-00 00:00:00,x,0,a,b,1,2,TCP,.,1,5,0,1\n",
        "d.csv:2: ts = 0000-00-00 00:00:00: not a time",
    ),
    "a packet of no size": (
        "d.csv",
        FLOW.format("x", 10),
        "d.csv:1: packet size = x: not a number",
    ),
    "a packet of no rate": (
        "d.csv",
        FLOW.format(500, ""),
        "d.csv:1: sampling rate = (empty): nothing here",
    ),
    "half a packet": (
        "d.csv",
        "FLOW,10.0.0.254,1\n",
        "d.csv:1: 3 cells that begin with FLOW, no line",
    ),
    "no line of sflowtool": (
        "d.csv --format sflowtool",
        "a,b,5\n",
        "d.csv:1: 3 cells that begin with a",
    ),
    # JSON
    "no JSON": (
        "d.json",
        '{"a": }',
        "d.json:1:7: not JSON (expecting value); write a list of rows",
    ),
    "no JSON lines": (
        "d.jsonl",
        '{"src": "a", "dst": "b", "bytes": 1}\n{"src"\n',
        "d.jsonl:2:7: not",
    ),
    "JSON of nothing": (
        "d.json",
        "[]",
        "d.json: neither a matrix nor records; write a list of rows",
    ),
    "JSON of both": ("d.json", '[[0, 1], {"src": "a"}]', "d.json: neither a matrix nor records"),
    "ragged JSON": ("d.json", "[[0, 1], [1]]", "d.json: demand = (no array): "),
    "words in JSON": ("d.json", '[[0, "x"], [1, 0]]', "d.json: demand = an array of <U"),
    "NaN in JSON": (
        "d.json",
        "[[0, NaN], [1, 0]]",
        "d.json: NaN is not a finite number; write the bytes",
    ),
    "a key twice": (
        "d.json",
        '{"a": {"b": 1, "b": 2}}',
        "d.json: `b` comes twice in one object; keep",
    ),
    "names of others": (
        "d.json",
        '{"names": ["a"], "matrix": [[0, 1], [1, 0]]}',
        "d.json: 1 name for 2 x 2 numbers; name every node once and give it a row",
    ),
    "names twice": (
        "d.json",
        '{"names": ["a", "a"], "matrix": [[0, 1], [1, 0]]}',
        "d.json: names[1]: `a` names two rows; name every node once",
    ),
    "names that are none": (
        "d.json",
        '{"names": [1, 2], "matrix": [[0, 1], [1, 0]]}',
        "d.json: names: not a list of names",
    ),
    "a negative entry": ("d.json", '{"a": {"b": -1}}', "d.json: a.b = -1: demand is not negative"),
    "text for an amount": (
        "d.json",
        '{"a": {"b": true}}',
        "d.json: a.b = true: not a number; write",
    ),
    "a record without bytes": (
        "d.json",
        '[{"src": "a", "dst": "b", "bytes": 1}, {"src": "a", "dst": "b"}]',
        "d.json: [1]: no `bytes`; give every record what the",
    ),
    "a record without a name": (
        "d.json",
        '[{"src": null, "dst": "b", "bytes": 1}]',
        "d.json: [0]: src = null: no name; write text",
    ),
    "deep JSON": ("d.json", "[" * 100_000, "d.json: not JSON (too deep, or a number too long)"),
    # Prometheus
    "no unit of samples": (
        "d.json",
        prometheus(SERIES),
        "--unit = (missing): samples of Prometheus are "
        "rates or amounts; use B/s for rate(…), B for increase(…)",
    ),
    "an error of Prometheus": (
        "d.json --unit B",
        '{"status": "error", "error": "parse error"}',
        "d.json: Prometheus refused: parse error; mend the query",
    ),
    "an error of Prometheus, and no unit": (
        "d.json",
        '{"status": "error", "errorType": "bad_data", "error": "unknown function"}',
        "d.json: Prometheus refused (bad_data): unknown function; mend the query",
    ),
    "a timeout of Prometheus": (
        "d.json",
        '{"status": "error", "errorType": "timeout", "error": "query timed out"}',
        "d.json: Prometheus refused (timeout): query timed out; ask again, for less",
    ),
    "a scalar": (
        "d.json --unit B",
        prometheus(kind="scalar"),
        "data.resultType = scalar: no series",
    ),
    "no series": ("d.json --unit B", prometheus(), "d.json: no series in it; look at the query"),
    "other labels": (
        "d.json --unit B",
        prometheus(SERIES.replace("src", "instance")),
        "d.json: result[0]: no column `src`: it has `instance`, `dst`",
    ),
    "a pair twice": (
        "d.json --unit B",
        prometheus(SERIES, SERIES),
        "d.json: result[1]: `a` to `b` again, "
        "as in result[0]; add them up in the query: sum by (src, dst)",
    ),
    "a sample of NaN": (
        "d.json --unit B",
        prometheus(SERIES.replace('"2"', '"NaN"')),
        "d.json: result[0].values[1] = NaN: not a finite number",
    ),
    "a sample without quotes": (
        "d.json --unit B",
        prometheus(SERIES.replace('"2"', "2")),
        "d.json: result[0].values[1]: no pair of a time and a value in quotes",
    ),
    "times that fall": (
        "d.json --unit B",
        prometheus(SERIES.replace("60", "-60")),
        "d.json: result[0]: times do not go up",
    ),
    "rates of a moment": (
        "d.json --unit B/s",
        prometheus(SERIES.replace(', [60, "2"]', "")),
        "d.json: rates of one moment, without a step; ask for a range with a step",
    ),
}
ENCODED = {"not UTF-8": "latin-1"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(words: str) -> str:
    """Returns the refusal on one line."""
    done = CliRunner().invoke(
        app, ["plan", *shlex.split(words), "-a", "edmonds", "-o", "plan.json"]
    )
    assert (done.exit_code, done.stdout) == (2, ""), done.output
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert not Path("plan.json").exists()
    return done.stderr


@pytest.mark.parametrize("case", BAD)
def test_malformed_demand_is_refused(case: str, folder: Path) -> None:
    words, text, said = BAD[case]
    path = folder / shlex.split(words)[0]
    path.write_bytes(text.encode(ENCODED.get(case, "utf-8")))
    assert said in refused(words)


MAPS = {
    "no racks": ("host\na\n", "h.csv:1: 1 column, of which no two are called host and rack; name"),
    "three columns": ("a,r1,x\n", "h.csv:1: 3 columns, of which no two are called host and rack"),
    "half a line": (
        "host,rack\na,r1\nb\n",
        "h.csv:3: 1 cell; give every line a host and its rack",
    ),
    "no rack": ("a,r1\nb,\n", "h.csv:2: no rack; give every line a host and its rack"),
    "no host": ("a,r1\n,r2\n", "h.csv:2: no host; give every line a host and its rack"),
    "two racks": (
        "a,r1\na,r2\n",
        "h.csv:2: `a` is in `r2` here, and in `r1` above; list every host",
    ),
    "two ways to write it": ("2001:db8::1,r1\n2001:DB8::0:1,r2\n", "is in `r2` here, and in `r1`"),
    "a prefix twice": ("10.0.0.0/8,r1\n10.0.0.0/8,r2\n", "`10.0.0.0/8` is in `r2` here, and in"),
    "bits beyond a prefix": (
        "10.0.0.5/24,r1\n",
        "h.csv:1: 10.0.0.5/24: has bits set beyond its length; write 10.0.0.0/24",
    ),
    "no prefix": ("10.0.0.0/33,r1\n", "h.csv:1: 10.0.0.0/33: no prefix; write it like 10.1.2.0/24"),
    "nothing": ("host,rack\n", "h.csv: no hosts in it; give a line `address,rack` for each"),
    "other hosts": ("x,r1\ny,r2\n", "d.csv: h.csv names none of its 2 hosts (a, b); list them"),
}


def test_a_map_that_covers_too_little_says_which_hosts_it_lacks(folder: Path) -> None:
    """Tests records and a matrix of the same hosts, of which only a and b have racks."""
    (folder / "h.csv").write_text("host,rack\na,r1\nb,r2\n")
    (folder / "d.csv").write_text(LONG + "a,w,5\nc,y,3\nz,b,2\n")
    rows = [[0] * 6 for _ in range(6)]
    rows[0][5], rows[2][3], rows[4][1] = 5, 3, 2
    names = [*"abcyzw"]
    (folder / "m.json").write_text(json.dumps({"names": names, "matrix": rows}))
    said = (
        "h.csv does not name 4 hosts of its records (w, c, y and 1 more), and with 100 % of "
        "the bytes left out nothing is left between racks; add them there, or their prefixes"
    )
    assert said in refused("d.csv --map h.csv")
    assert "not name 4 hosts" in refused("m.json --map h.csv")


def test_a_map_of_one_rack_leaves_nothing(folder: Path) -> None:
    (folder / "d.csv").write_text(LONG + "a,b,5\n")
    (folder / "h.csv").write_text("a,r1\nb,r1\n")
    assert "by h.csv all of" in refused("d.csv --map h.csv")


@pytest.mark.parametrize("case", MAPS)
def test_malformed_maps_are_refused(case: str, folder: Path) -> None:
    text, said = MAPS[case]
    (folder / "d.csv").write_text(LONG + "a,b,5\n")
    (folder / "h.csv").write_text(text)
    assert said in refused("d.csv --map h.csv")


def test_a_matrix_without_names_has_no_map(folder: Path) -> None:
    np.save(folder / "d.npy", np.array([[0, 1], [1, 0]]))
    (folder / "h.csv").write_text("a,r1\nb,r2\n")
    assert "--map = h.csv: d.npy" in refused("d.npy --map h.csv")
    assert "no.csv: no such file" in refused("d.npy --map no.csv")


PARQUET = {
    "a null": (
        {"src": ["a", "a"], "dst": ["b", "c"], "bytes": [1, None]},
        "row 1: bytes = None: not",
    ),
    "text": (
        {"src": ["a"], "dst": ["b"], "bytes": ["x"]},
        "d.parquet: row 0: bytes = x: not a number",
    ),
    "negative": (
        {"src": ["a"], "dst": ["b"], "bytes": [-1.5]},
        "row 0: bytes = -1.5: demand is not",
    ),
    "no source": ({"src": [None], "dst": ["b"], "bytes": [1]}, "d.parquet: row 0: no source; name"),
    "no time": (
        {"src": ["a"], "dst": ["b"], "bytes": [1], "time": ["x"]},
        "row 0: time = x: not a time",
    ),
}


@pytest.mark.parametrize("case", PARQUET)
def test_malformed_parquet_is_refused(case: str, folder: Path) -> None:
    columns, said = PARQUET[case]
    pq.write_table(pa.table(columns), folder / "d.parquet")
    assert said in refused("d.parquet")


ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 2**64),
    st.floats(),
    st.text(max_size=4),
    st.lists(st.integers(0, 9), max_size=3),
)
VALUES = st.recursive(
    ODD,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["src", "dst", "bytes", "time", "names", "matrix", "a"]), inner
        )
    ),
    max_leaves=12,
)


@settings(max_examples=250, deadline=None, derandomize=True)
@given(VALUES)
def test_any_json_is_demand_or_refused(value: object) -> None:
    with a_folder() as folder:
        path = folder / "d.json"
        path.write_text(json.dumps(value), encoding="utf-8")
        try:
            found = control.read_demand(path)
        except ConfigError as problem:
            assert "\n" not in str(problem)
            assert "; " in str(problem)
        else:
            assert found.matrix.shape[0] == found.matrix.shape[1]


@settings(max_examples=250, deadline=None, derandomize=True)
@given(st.binary(max_size=40) | st.text('src,dt byes0123"\n#;\t.-').map(str.encode), st.booleans())
def test_any_text_is_demand_or_refused(content: bytes, header: bool) -> None:
    with a_folder() as folder:
        path = folder / "d.csv"
        path.write_bytes(LONG.encode() * header + content)
        try:
            control.read_demand(path)
        except ConfigError as problem:
            assert str(problem).startswith(str(path))


def test_a_matrix_may_have_racks_that_are_called_as_columns_of_records(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text("from,to,a\nto,0,3\na,4,0\n", encoding="utf-8")
    assert control.read_demand(path).names == ["to", "a"]
    path.write_text("src,dst,via\n0,3,1\n4,0,1\n1,1,0\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="or --format matrix"):
        control.read_demand(path)  # a plan for records of numbered racks has other fibres
    assert control.read_demand(path, format="matrix").names == ["src", "dst", "via"]
