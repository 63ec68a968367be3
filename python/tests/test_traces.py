"""Traces: any file is read, or rejected with an error that names the place, and written traces are
read back."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lightloom
from lightloom.simulation import traces

HOSTS = 8
ANY_HOSTS, MAX_BYTES, MAX_ARRIVAL = 1 << 30, 1 << 53, 1 << 62  # of the core
WHOLE = [t for bits in (8, 16, 32, 64) for t in (getattr(pa, f"{u}int{bits}")() for u in ("", "u"))]
SUFFIXES = ["csv", "cm", "ns", "parquet"]


@contextmanager
def trace_at(name: str) -> Iterator[Path]:
    """A path in a new folder, because Hypothesis calls a test many times."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder) / name


def begun(path: Path) -> pa.Table:
    """Returns the flows of a run of the trace that ends when it begins."""
    unit = {"trace_unit": "ps"} if path.suffix == ".cm" else {}  # some are refused otherwise
    experiment = {
        "cluster": {"hosts": HOSTS, "server_rate": "50 Gb/s"},
        "workload": {"trace": str(path)} | unit,
        "run": {"stop": "1 ns"},
        "fabric": [{"kind": "tree"}],
    }
    return lightloom.run(experiment).flows


def rows(table: pa.Table, *, groups: bool = True) -> list[tuple[Any, ...]]:
    """Returns the flows by arrival; an unnamed group is ""."""
    named = groups and "group" in table.column_names
    group = table["group"].to_pylist() if named else [""] * table.num_rows
    columns = [table[name].to_pylist() for name in traces.COLUMNS]
    found = zip(*columns, [name or "" for name in group], strict=True)
    return sorted(found, key=lambda row: row[3])


def is_flow(row: tuple[Any, ...], hosts: int) -> bool:
    src, dst, size, arrival, group = row
    ends = src != dst and 0 <= src < hosts and 0 <= dst < hosts
    named = not any(ord(c) < 32 or 127 <= ord(c) < 160 for c in group)
    return ends and 1 <= size <= MAX_BYTES and 0 <= arrival <= MAX_ARRIVAL and named


@st.composite
def flows(draw: st.DrawFn) -> pa.Table:
    """Draws valid flows, in columns of any type that can represent them, in any order, with or
    without groups and additional columns."""
    names = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=6)
    row = st.tuples(
        st.integers(0, HOSTS - 1),
        st.integers(1, HOSTS - 1),
        st.integers(1, 127) | st.integers(1, MAX_BYTES),
        st.integers(0, 127) | st.integers(0, MAX_ARRIVAL),
        st.none() | st.sampled_from(["", "ring", ' a, "b" ', "#é", "0->1"]) | names,
    )
    drawn = draw(st.lists(row, min_size=1, max_size=12))
    values = {
        "src": [r[0] for r in drawn],
        "dst": [(r[0] + r[1]) % HOSTS for r in drawn],
        "bytes": [r[2] for r in drawn],
        "arrival_ps": [r[3] for r in drawn],
    }
    columns = {name: pa.array(v, draw(st.sampled_from(fitting(v)))) for name, v in values.items()}
    if draw(st.booleans()):
        group = pa.array([r[4] for r in drawn], pa.string())
        alike = [group, group.dictionary_encode(), group.cast(pa.large_string())]
        columns["group"] = draw(st.sampled_from(alike))
    columns["note"] = pa.array([b"\xff"] * len(drawn))
    return pa.table({name: columns[name] for name in draw(st.permutations(list(columns)))})


def fitting(values: list[int]) -> list[pa.DataType]:
    """Returns the integer types that can represent the values."""
    kinds = []
    for kind in WHOLE:
        signed = not str(kind).startswith("u")
        bits = kind.bit_width - signed
        if all(-(1 << bits) * signed <= v < 1 << bits for v in values):
            kinds.append(kind)
    return kinds


@settings(deadline=None)
@pytest.mark.parametrize("suffix", SUFFIXES)
@given(table=flows())
def test_what_is_written_reads_back(suffix: str, table: pa.Table) -> None:
    groups = suffix in ("csv", "parquet")  # the other formats have no groups
    with trace_at(f"t.{suffix}") as path:
        back = traces.read(traces.write(table, path))
        assert rows(back) == rows(table, groups=groups)
        assert back["arrival_ps"].to_pylist() == sorted(table["arrival_ps"].to_pylist())
        again = traces.write(back, path.with_name(f"again.{suffix}"))
        assert again.read_bytes() == path.read_bytes()
        assert len(list(path.parent.iterdir())) == 2
        if groups:
            assert traces.read(path).equals(back)


@settings(deadline=None)
@given(table=flows(), through=st.lists(st.sampled_from(SUFFIXES), min_size=2, max_size=4))
def test_formats_say_the_same(table: pa.Table, through: list[str]) -> None:
    with trace_at("t") as path:
        found = table
        for suffix in through:
            found = traces.read(traces.write(found, path, format=suffix), format=suffix)
        assert rows(found, groups=False) == rows(table, groups=False)


@settings(deadline=None)
@given(table=flows())
def test_any_integers_that_hold_flows_run(table: pa.Table) -> None:
    with trace_at("t.parquet") as path:
        pq.write_table(table, path)
        assert rows(traces.read(path)) == rows(table)
        assert rows(begun(path)) == rows(table)


def some(kind: pa.DataType) -> st.SearchStrategy[int]:
    signed = not str(kind).startswith("u")
    top = 1 << (kind.bit_width - signed)
    return st.integers(0, HOSTS) | st.integers(-top * signed, top - 1)


KINDS: list[tuple[pa.DataType, st.SearchStrategy[Any]]] = [
    *((kind, some(kind)) for kind in WHOLE),
    (pa.float64(), st.floats()),
    (pa.bool_(), st.booleans()),
    (pa.null(), st.none()),
    (pa.string(), st.sampled_from(["", "1", "a", "\n", "\x85"])),
    (pa.binary(), st.sampled_from([b"a", b"\xff"])),
    (pa.timestamp("ns"), st.integers(0, 9)),
    (pa.decimal128(20), st.integers(0, 9)),
    (pa.list_(pa.int64()), st.lists(st.integers(0, 9), max_size=2)),
    (pa.struct([("src", pa.int64())]), st.fixed_dictionaries({"src": st.integers(0, 9)})),
    (pa.dictionary(pa.int32(), pa.string()), st.sampled_from(["", "a"])),
]


@st.composite
def columns(draw: st.DrawFn) -> pa.Table:
    """Draws columns that may form a trace: mostly integers, mostly without nulls, mostly complete
    and without duplicates."""
    length = draw(st.integers(0, 4))
    names = [name for name in traces.COLUMNS if draw(st.integers(0, 19))]
    names += draw(st.lists(st.sampled_from([*traces.COLUMNS, "group", "other"]), max_size=1))
    made = []
    for name in names:
        odd = draw(st.integers(0, 9)) == 0 or name == "group"
        kind, values = draw(st.sampled_from(KINDS if odd else KINDS[: len(WHOLE)]))
        if draw(st.integers(0, 9)) == 0:
            values = st.none() | values
        made.append(pa.array(draw(st.lists(values, min_size=length, max_size=length)), kind))
    return pa.Table.from_arrays(made, names)


def is_trace(table: pa.Table, hosts: int) -> bool:
    """Whether columns form a trace by the documentation, which does not define groups that are not
    text."""
    present = [table.column_names.count(name) for name in traces.COLUMNS]
    if present != [1, 1, 1, 1] or table.column_names.count("group") > 1 or not table.num_rows:
        return False
    numbers = [table[name] for name in traces.COLUMNS]
    if any(not pa.types.is_integer(c.type) or c.null_count for c in numbers):
        return False
    return all(is_flow(row, hosts) for row in rows(table))


def read_or_refused(path: Path, reader: Any) -> pa.Table | None:
    """Returns the table that a reader makes of a file; a refusal must name the file."""
    try:
        return reader(path)
    except lightloom.ConfigError as refused:
        assert str(refused).startswith("workload.trace = "), refused
        assert str(path) in str(refused), refused
        assert refused.limit, refused
        assert refused.remedy, refused
        return None


@settings(deadline=None, max_examples=200)
@given(table=columns())
def test_any_columns_run_or_are_refused_by_name(table: pa.Table) -> None:
    with trace_at("t.parquet") as path:
        pq.write_table(table, path)
        for reader, hosts in ((traces.read, ANY_HOSTS), (begun, HOSTS)):
            found = read_or_refused(path, reader)
            if "group" in table.column_names:
                group = table.column_names.index("group")
                if not pa.types.is_string(table.column(group).type):
                    continue
            assert (found is not None) == is_trace(table, hosts)
            assert found is None or rows(found) == rows(table)


@settings(deadline=None)
@pytest.mark.parametrize("suffix", SUFFIXES)
@given(table=flows(), data=st.data())
def test_damaged_files_run_or_are_refused_by_name(
    suffix: str, table: pa.Table, data: st.DataObject
) -> None:
    with trace_at(f"t.{suffix}") as path:
        content = bytearray(traces.write(table, path).read_bytes())
        places = st.integers(0, len(content) - 1)
        for at, value in data.draw(st.lists(st.tuples(places, st.integers(0, 255)), max_size=3)):
            content[at] = value
        end = data.draw(st.just(len(content)) | places)
        path.write_bytes(content[:end])
        found = read_or_refused(path, traces.read)
        assert found is None or all(is_flow(row, ANY_HOSTS) for row in rows(found))
        run = read_or_refused(path, begun)
        if run is not None and "endless" in run.column_names:  # a size became 0
            assert found is None
            assert suffix == "cm"
        else:
            assert run is None or (found is not None and rows(run) == rows(found))


@settings(deadline=None)
@given(table=columns(), suffix=st.sampled_from(SUFFIXES))
def test_what_is_no_trace_is_not_written(table: pa.Table, suffix: str) -> None:
    if "group" in table.column_names:
        table = table.remove_column(table.column_names.index("group"))
    with trace_at(f"t.{suffix}") as path:
        path.write_bytes(b"before")
        written = read_or_refused(path, lambda path: traces.write(table, path))
        assert (written is not None) == is_trace(table, ANY_HOSTS)
        assert written is not None or path.read_bytes() == b"before"
        assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_where_nothing_can_be_written_is_said(tmp_path: Path, suffix: str) -> None:
    table = pa.table({"src": [0], "dst": [1], "bytes": [1], "arrival_ps": [0]})
    (tmp_path / "file").touch()
    path = tmp_path / "file" / f"t.{suffix}"
    with pytest.raises(lightloom.ConfigError, match="director") as refused:
        traces.write(table, path)
    assert str(refused.value).startswith(f'path = "{path}": ')
    assert traces.write(table, tmp_path / "none" / f"t.{suffix}").is_file()


def test_a_folder_is_no_parquet_trace(tmp_path: Path) -> None:
    folder = tmp_path / "t.parquet"
    folder.mkdir()
    pq.write_table(pa.table({"src": [0]}), folder / "part.parquet")
    with pytest.raises(lightloom.ConfigError, match="is a directory"):
        traces.read(folder)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "src;dst;bytes;arrival_ps\n0;1;9;0\n",
            "separated by ';', but a trace is separated by commas; write commas, below the heading",
        ),
        ("src\tdst\tbytes\tarrival_ps\n", "separated by tabs, but a trace is separated by commas"),
        (
            "# ours\nsource,dst,size,start_us\n0,1,9,0.5\n",
            "`source` is not a column, `size` is not a column, `start_us` is not a column, has no "
            "column src, has no column bytes, has no column arrival_ps; set "
            'workload.trace_columns = { src = "source", bytes = "size", arrival = "start_us" }',
        ),
        ("src,dst,bytes,start\n0,1,9,0\n", 'set workload.trace_columns = { arrival = "start" }'),
        ("src,dst,byts,arrival_ps\n", 'did you mean "bytes"?'),
    ],
)
def test_a_heading_of_another_kind_is_told_what_it_lacks(
    text: str, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8")
    for reads in (traces.read, begun):
        with pytest.raises(lightloom.ConfigError) as problem:
            reads(path)
        assert said in str(problem.value)
        assert problem.value.key == "workload.trace"
