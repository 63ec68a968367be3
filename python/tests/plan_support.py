"""Demand matrices with names, written without Lightloom, and read back."""

from __future__ import annotations

import csv
import io
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from lightloom import control

Pair = tuple[str, str]
Writer = Callable[[Path, dict[Pair, int], Sequence[str], Sequence[str]], Path]


def as_csv(
    folder: Path,
    demand: dict[Pair, int],
    rows: Sequence[str],
    columns: Sequence[str],
    delimiter: str = ",",
    corner: str | None = "from",
) -> Path:
    """Writes a table with quoted names and plain numbers."""
    text = io.StringIO()
    writer = csv.writer(
        text, delimiter=delimiter, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n"
    )
    writer.writerow([*([] if corner is None else [corner]), *columns])
    for a in rows:
        writer.writerow([a, *(demand.get((a, b), 0) for b in columns)])
    path = folder / "d.csv"
    path.write_text(text.getvalue(), encoding="utf-8")
    return path


def as_parquet(
    folder: Path, demand: dict[Pair, int], rows: Sequence[str], columns: Sequence[str]
) -> Path:
    arrays = [pa.array([demand.get((a, b), 0) for a in rows]) for b in columns]
    path = folder / "d.parquet"
    pq.write_table(pa.table([pa.array(rows), *arrays], names=["from", *columns]), path)
    return path


WRITERS: list[Writer] = [as_csv, as_parquet]


@contextmanager
def a_folder() -> Iterator[Path]:
    """A folder for one Hypothesis example."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def named(plan: control.Plan) -> set[Pair]:
    """Returns its circuits by the names of their ends; the ends are ordered only if circuits are
    directed."""
    table, names = plan.circuits, plan.demand.names
    assert table is not None
    ends = [(names[a], names[b]) for a, b in zip(table.a, table.b, strict=True)]
    return set(ends) if table.directed else {(min(pair), max(pair)) for pair in ends}


def by_name(demand: control.Demand) -> dict[Pair, int]:
    """Returns its entries above 0, by the names of source and destination."""
    entries = {
        (a, b): int(demand.matrix[i, j])
        for i, a in enumerate(demand.names)
        for j, b in enumerate(demand.names)
    }
    return {pair: amount for pair, amount in entries.items() if amount}


def table(names: Sequence[str], amounts: Sequence[int]) -> dict[Pair, int]:
    pairs = [(a, b) for a in names for b in names if a != b]
    return dict(zip(pairs, amounts, strict=True))


def matrix(demand: dict[Pair, int], names: Sequence[str]) -> np.ndarray:
    return np.array([[demand.get((a, b), 0) for b in names] for a in names])
