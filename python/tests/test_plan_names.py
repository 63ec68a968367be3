"""Names of nodes: rows, columns and circuits belong together by name, in any order.

The matrices consist of distinct powers of two, so that no two sets of entries have the same sum:
there is one optimum, which does not depend on the order.
"""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_support import ROOT, lightloom
from hypothesis import given, settings
from hypothesis import strategies as st
from plan_support import (
    WRITERS,
    Pair,
    Writer,
    a_folder,
    as_csv,
    as_parquet,
    by_name,
    matrix,
    named,
    table,
)
from typer.testing import CliRunner

import lightloom as lightloom_package
from lightloom import control
from lightloom.cli import app
from lightloom.control.cells import split, text_of

EIGHT = ROOT / "examples" / "demand-8.csv"
NAMES = st.lists(
    st.text('ab0.5 #,;|"é', min_size=1, max_size=6).map(str.strip).filter(bool),
    min_size=2,
    max_size=6,
    unique=True,
)


@st.composite
def matrices(draw: st.DrawFn, ties: bool = False) -> tuple[dict[Pair, int], Any, Any]:
    """Draws demand by name, and an order of rows and one of columns."""
    names = draw(NAMES)
    pairs = len(names) * (len(names) - 1)
    if ties:
        amounts = draw(st.lists(st.integers(0, 3), min_size=pairs, max_size=pairs).filter(any))
    else:
        amounts = draw(st.permutations([1 << at for at in range(pairs)]))
    rows, columns = draw(st.permutations(names)), draw(st.permutations(names))
    return table(names, amounts), rows, columns


# Rows and columns in different orders


@settings(max_examples=150, deadline=None, derandomize=True)
@given(matrices(), st.sampled_from(",;\t"), st.sampled_from(["", "from", r"from\to", None]))
def test_csv_is_read_by_name(
    given: tuple[dict[Pair, int], list[str], list[str]], delimiter: str, corner: str | None
) -> None:
    entries, rows, columns = given
    with a_folder() as folder:
        demand = control.read_demand(as_csv(folder, entries, rows, columns, delimiter, corner))
    assert demand.names == columns
    assert by_name(demand) == entries


@settings(max_examples=50, deadline=None, derandomize=True)
@given(matrices())
def test_parquet_is_read_by_name(given: tuple[dict[Pair, int], list[str], list[str]]) -> None:
    entries, rows, columns = given
    with a_folder() as folder:
        demand = control.read_demand(as_parquet(folder, entries, rows, columns))
    assert demand.names == columns
    assert by_name(demand) == entries


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("algorithm", ["edmonds", "assignment"])
@settings(max_examples=40, deadline=None, derandomize=True)
@given(given=matrices())
def test_the_optimum_has_the_same_circuits_in_every_order(
    write: Writer, algorithm: str, given: tuple[dict[Pair, int], list[str], list[str]]
) -> None:
    entries, rows, columns = given
    plain = sorted(columns)
    expected = control.plan(control.Demand(matrix(entries, plain), plain), algorithm)
    with a_folder() as folder:
        found = control.plan(control.read_demand(write(folder, entries, rows, columns)), algorithm)
    assert named(found) == named(expected)
    assert found.figures == expected.figures


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("algorithm", ["edmonds", "assignment", "round-robin"])
@settings(max_examples=40, deadline=None, derandomize=True)
@given(given=matrices(ties=True))
def test_ties_carry_as_much_in_every_order(
    write: Writer, algorithm: str, given: tuple[dict[Pair, int], list[str], list[str]]
) -> None:
    entries, rows, columns = given
    expected = control.plan(matrix(entries, sorted(columns)), algorithm)
    with a_folder() as folder:
        found = control.plan(control.read_demand(write(folder, entries, rows, columns)), algorithm)
    for figure in ("weight", "carried_bytes", "bound", "optimal"):
        assert found.figures[figure] == expected.figures[figure]


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("algorithm", [name for name in control.ALGORITHMS if name != "fixed"])
@settings(max_examples=15, deadline=None, derandomize=True)
@given(given=matrices(ties=True))
def test_the_order_of_rows_makes_no_difference(
    write: Writer, algorithm: str, given: tuple[dict[Pair, int], list[str], list[str]]
) -> None:
    """This holds even if ties and rounding follow the order of the columns."""
    entries, rows, columns = given
    expected = control.plan(control.Demand(matrix(entries, columns), columns), algorithm)
    with a_folder() as folder:
        found = control.plan(control.read_demand(write(folder, entries, rows, columns)), algorithm)
    assert found.text() == expected.text()


@pytest.mark.parametrize("write", WRITERS)
def test_rows_are_not_those_of_other_nodes(write: Writer, tmp_path: Path) -> None:
    """Regression: the result was circuits from b to c and from a to d, with a proof that these were
    optimal."""
    entries = {("a", "c"): 9, ("b", "d"): 8, ("c", "b"): 1}
    path = write(tmp_path, entries, ["a", "b", "c", "d"], ["b", "a", "d", "c"])
    found = control.plan(control.read_demand(path), "edmonds")
    assert named(found) == {("a", "c"), ("b", "d")}
    assert found.figures["weight"] == found.figures["bound"] == 17


@pytest.mark.parametrize("write", WRITERS)
def test_the_example_in_another_order(write: Writer, tmp_path: Path) -> None:
    demand = control.read_demand(EIGHT)
    rows, columns = sorted(demand.names), sorted(demand.names, reverse=True)
    path = write(tmp_path, by_name(demand), rows, columns)
    done = lightloom("plan", path, "-a", "edmonds", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "weight = 23,860,000,000" in done.stdout
    shown = [line.split() for line in done.stdout.splitlines()[6:]]
    assert {(min(line[:2]), max(line[:2]), " ".join(line[2:])) for line in shown} == {
        ("gpu-1", "gpu-2", "6.70 GB"),
        ("gpu-0", "gpu-3", "6.66 GB"),
        ("cache", "web", "6.20 GB"),
        ("store-0", "store-1", "4.30 GB"),
    }


@settings(max_examples=100, deadline=None, derandomize=True)
@given(matrices(), st.sampled_from(",;\t"), st.data())
def test_an_entry_is_refused_where_it_stands(
    given: tuple[dict[Pair, int], list[str], list[str]], delimiter: str, data: st.DataObject
) -> None:
    """The place is found in the text, for any order of the rows in the reader."""
    entries, rows, columns = given
    wrong = data.draw(st.sampled_from(sorted(entries)))
    entries = entries | {wrong: -77}
    with a_folder() as folder:
        path = as_csv(folder, entries, rows, columns, delimiter)
        with pytest.raises(lightloom_package.ConfigError) as caught:
            control.read_demand(path)
        lines = path.read_text(encoding="utf-8").splitlines()
    i, j = (columns.index(end) for end in wrong)
    found = re.search(r"d\.csv:(\d+):(\d+): demand\[(\d+)\]\[(\d+)\] = -77: ", str(caught.value))
    assert found is not None
    line, column, *entry = map(int, found.groups())
    assert entry == [i, j]
    assert lines[line - 1][column - 1 :].startswith("-77")


@settings(max_examples=500, deadline=None, derandomize=True)
@given(st.text('ab"7 ,;'), st.sampled_from(",;"))
def test_cells_are_those_of_the_standard_library(line: str, delimiter: str) -> None:
    """Joined as written, the cells give the line; their values are those of the standard
    library."""
    try:
        cells = split(line, delimiter)
    except ValueError:
        with pytest.raises(csv.Error):
            list(csv.reader([line], delimiter=delimiter, skipinitialspace=True, strict=True))
        return
    assert delimiter.join(cells) == line
    said = next(csv.reader([line or " "], delimiter=delimiter, skipinitialspace=True))
    assert [text_of(cell, delimiter) for cell in cells] == [text.strip() for text in said]


# Names on one side, and names that are only numbers in order


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("b,a\n0,1\n2,0\n", ["b", "a"]),
        ("b,0,1\na,2,0\n", ["b", "a"]),
        ('"b, 1";"a"\n0;1\n2;0\n', ["b, 1", "a"]),
        ('"say ""b""",0,1\n  "a" ,2,0\n', ['say "b"', "a"]),
        ('"1","0"\n0,1\n2,0\n', ["1", "0"]),
        # The format of R: without a corner cell, and rows with numbers.
        ('"b","a"\n"b",0,1\n"a",2,0\n', ["b", "a"]),
        ('"","V1","V2"\n"1",0,1\n"2",2,0\n', ["V1", "V2"]),
        ('"","c0","c1"\n"b",0,1\n"a",2,0\n', ["b", "a"]),
        ("\ufeff# x\n\n,b,a\r\nb,0,1\r\na,2,0\r\n", ["b", "a"]),
    ],
)
def test_names_on_one_side_name_both(text: str, names: list[str], tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_bytes(text.encode())
    demand = control.read_demand(path)
    assert (demand.names, demand.matrix.tolist()) == (names, [[0, 1], [2, 0]])


@pytest.mark.parametrize(
    ("rows", "columns", "names"),
    [
        (["b", "a"], ["0", "1"], ["b", "a"]),
        (["b", "a"], ["column_1", "column_2"], ["b", "a"]),
        (["0", "1"], ["b", "a"], ["b", "a"]),
        (None, ["f0", "f1"], []),
        (None, ["b", "a"], ["b", "a"]),
        # Numbers that are not in ascending order are names.
        (None, ["1", "0"], ["1", "0"]),
        (None, ["7", "9"], ["7", "9"]),
    ],
)
def test_names_on_one_side_of_parquet(
    rows: list[str] | None, columns: list[str], names: list[str], tmp_path: Path
) -> None:
    arrays = {columns[0]: [0, 2], columns[1]: [1, 0]}
    path = tmp_path / "d.parquet"
    pq.write_table(pa.table(arrays if rows is None else {"from": rows, **arrays}), path)
    demand = control.read_demand(path)
    assert (demand.names, demand.matrix.tolist()) == (names, [[0, 1], [2, 0]])


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.int64()])
def test_the_index_of_pandas_names_rows(kind: pa.DataType, tmp_path: Path) -> None:
    """The index is the last column, and the metadata state that it is not a data column."""
    rows = pa.array([9, 7] if kind == pa.int64() else ["9", "7"], kind)
    found = pa.table({"7": [1, 0], "9": [0, 2], "__index_level_0__": rows})
    about = {"pandas": json.dumps({"index_columns": ["__index_level_0__"]})}
    pq.write_table(found.replace_schema_metadata(about), tmp_path / "d.parquet")
    demand = control.read_demand(tmp_path / "d.parquet")
    assert (demand.names, demand.matrix.tolist()) == (["7", "9"], [[0, 2], [1, 0]])


# Refusals

ALIKE = "give rows and columns the same names, or name only rows or only columns"
ONCE = "name every node once"
BAD = {
    "row without column": (
        "x,a,b\nb,1,0\nc,0,1\n",
        f":3:1: `c` names a row, but no column; {ALIKE}",
    ),
    "column without row": (
        'x,a, "b",c\nb,1,0,0\na,0,1,0\n',
        f":1:10: `c` names a column, but no row; {ALIKE}",
    ),
    "other names": (
        "from,in-a,in-b\nout-a,0,1\nout-b,1,0\n",
        f":2:1: `out-a` names a row, but no column; {ALIKE}",
    ),
    "numbers of other nodes": (
        '"","3","4"\n"1",0,1\n"2",1,0\n',
        f":2:1: `1` names a row, but no column; {ALIKE}",
    ),
    "a table all in quotes": (
        # A symmetric matrix, whose first row and column are equal and contain no names.
        '"0","5","6"\n"5","0","7"\n"6","7","0"\n',
        ':2:5: `"0"` is not a number; leave out the quotes',
    ),
    "rows twice": ("x,a,b\n# x\na,0,1\n a,1,0\n", f":4:2: `a` names two rows; {ONCE}"),
    "columns twice": (
        'x;"a;b"; "a;b"\n"a;b";0;1\nb;1;0\n',
        f":1:10: `a;b` names two columns; {ONCE}",
    ),
    "only columns, twice": ("a,a\n0,1\n1,0\n", f":1:3: `a` names two columns; {ONCE}"),
    "only rows, twice": ("a,0,1\na,1,0\n", f":2:1: `a` names two rows; {ONCE}"),
    "a nameless column": ("x,a,,c\na,0,1,1\n", f":1:5: a column without a name; {ONCE}"),
    "a nameless column in quotes": ('x,a,""\na,0,1\nb,1,0\n', ":1:5: a column without a name"),
    "a nameless row": ("x,a,b\na,0,1\n ,1,0\n", f":3:2: a row without a name; {ONCE}"),
    "a nameless first row": (",a,b\n,0,1\nb,1,0\n", f":2:1: a row without a name; {ONCE}"),
    "decimal commas": ("0;1,5;2\n1;0;2,5\n1,5;2;0\n", ":1:3: `1,5` is not a number; write 1.5"),
    "too few names of columns": (
        "x,a\na,0,1\nb,1,0\n",
        ":1:1: 1 name for 2 columns; name every column once",
    ),
    "too many names of columns": (
        "x,a,b,c\na,0,1\nb,1,0\n",
        ":1:1: 3 names for 2 columns; name every column once",
    ),
    "an open quote": ('x,"a,b\na,0,1\n', ":1:1: a quote is not closed; write names like"),
    "an open quote at the end": ('x,a,"b\na,0,1\n', ":1:1: a quote is not closed"),
    "a number in quotes": ('a,0,"7"\nb,1,0\n', ':1:5: `"7"` is not a number; leave out the quotes'),
    "thousands in quotes": ('a,0,"1,500"\nb,1,0\n', ':1:5: `"1,500"` is not a number; write 1500'),
    "a comma for a point": ("x;a;b\na;0;2,5\nb;1;0\n", ":2:5: `2,5` is not a number; write 2.5"),
    "an amount with its unit": (
        "a,0,5 GB\nb,1,0\n",
        ':1:5: `5 GB` is not a number; write 5; --unit gives the size of one, like "1 GB"',
    ),
    "a hole beside a quote": ('x,"a,1",b\n"a,1",0,\n', ":2:9: nothing here; write 0 where"),
    "alike once they are printed": (
        "a\x01,a\x02\n0,1\n1,0\n",
        f":1:4: `a\N{REPLACEMENT CHARACTER}` names two columns; {ONCE}",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_names_that_do_not_fit_are_refused(case: str, tmp_path: Path) -> None:
    text, expected = BAD[case]
    path = tmp_path / "d.csv"
    path.write_text(text, encoding="utf-8")
    done = CliRunner().invoke(app, ["plan", str(path), "-a", "edmonds"])
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: {path}{expected}")
    assert done.stderr.count("\n") == 1


PARQUET = {
    "row without column": (
        ["b", "c"],
        ["a", "b"],
        f": row 1: `c` names a row, but no column; {ALIKE}",
    ),
    "rows twice": (["a", "a"], ["a", "b"], f": row 1: `a` names two rows; {ONCE}"),
    "columns twice": (["a", "b"], ["a", "a"], f": column 1: `a` names two columns; {ONCE}"),
    "only columns, twice": (None, ["a", "a"], f": column 1: `a` names two columns; {ONCE}"),
    "a nameless row": (["a", None], ["a", "b"], f": row 1: a row without a name; {ONCE}"),
    "a nameless column": (None, ["a", ""], f": column 1: a column without a name; {ONCE}"),
    "numbers of other nodes": (["1", "2"], ["0", "1"], ": row 1: `2` names a row, but no column"),
    "a negative entry": (["b", "a"], ["a", "b"], ", row 1, column `b`: demand[0][1] = -2: demand"),
}


@pytest.mark.parametrize("case", PARQUET)
def test_names_that_do_not_fit_are_refused_in_parquet(case: str, tmp_path: Path) -> None:
    rows, columns, expected = PARQUET[case]
    arrays = [pa.array([1, 0]), pa.array([0, -2])]
    found = pa.table(
        arrays if rows is None else [pa.array(rows), *arrays],
        names=columns if rows is None else ["from", *columns],
    )
    pq.write_table(found, tmp_path / "d.parquet")
    with pytest.raises(lightloom_package.ConfigError) as caught:
        control.read_demand(tmp_path / "d.parquet")
    assert str(caught.value).startswith(f"{tmp_path / 'd.parquet'}{expected}")


@pytest.mark.parametrize("names", [["a"], ["a", "a"], ["a", ""], ["a", "b", "c"]])
def test_demand_has_a_name_for_every_node(names: list[str]) -> None:
    with pytest.raises(lightloom_package.ConfigError, match="name every node once"):
        control.Demand(np.array([[0, 1], [1, 0]]), names)
