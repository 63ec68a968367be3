"""What a sweep found as rows: one file for each point as it comes, and the table at the end."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from lightloom.sweep.executors import Failed
from lightloom.sweep.grid import Point

Summary = dict[str, Any]
Row = dict[str, Any]
#: The folder of a sweep that has a file of one row for each point.
ROWS = "rows"


class Rows:
    """The rows of a sweep's points."""

    def __init__(self, points: Sequence[Point]) -> None:
        self._as_text = {key for key in (points[0].grid if points else ()) if _mixed(points, key)}

    def of(self, point: Point, found: Summary | Failed) -> Row:
        """A flat row: the point's id, the grid's values, then the summary with nested keys
        joined by dots (`fct.short.p99_us`); of one that failed its `error`. Grid values of
        mixed types are written as JSON, since a column has one type."""
        grid = {key: self._cell(key, value) for key, value in point.grid.items()}
        if isinstance(found, Failed):
            which = {"label": point.fabric, "seed": point.seed}
            return {"point": point.id, **grid, **which, "error": found.message}
        return {"point": point.id, **grid, **_flatten(found)}

    def _cell(self, key: str, value: Any) -> Any:
        as_text = key in self._as_text and not isinstance(value, str)
        return json.dumps(value) if as_text else value


class Stream:
    """The data set of a sweep under way: a Parquet file for each point that is done."""

    def __init__(self, folder: Path, rows: Rows) -> None:
        self.folder, self._rows = folder / ROWS, rows

    def begin(self, kept: Iterable[tuple[Point, Summary]]) -> None:
        """Clears what an earlier sweep left, and adds what is kept of it."""
        shutil.rmtree(self.folder, ignore_errors=True)
        for point, summary in kept:
            self.add(point, summary)

    def add(self, point: Point, found: Summary | Failed) -> None:
        """Writes the row of a point, without the columns that it has nothing in: so files
        that others have something in agree with it."""
        row = self._rows.of(point, found)
        self.folder.mkdir(parents=True, exist_ok=True)
        write(
            self.folder / f"{point.id}.parquet", [{k: v for k, v in row.items() if v is not None}]
        )


def write(path: Path, table: Sequence[Row]) -> None:
    """Writes rows as one table with the columns of all of them: parts, jobs and what is in
    force differ between fabrics."""
    part = path.with_name(f".{path.name}.part")
    names = dict.fromkeys(name for row in table for name in row)
    pq.write_table(pa.table({name: [row.get(name) for row in table] for name in names}), part)
    part.replace(path)


def _mixed(points: Sequence[Point], key: str) -> bool:
    """Whether the values of a key have no type in common."""
    cells = [point.grid[key] for point in points]
    return len({type(cell) for cell in cells}) > 1 or isinstance(cells[0], (list, dict))


def _flatten(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, Mapping):
            flat |= _flatten(value, f"{prefix}{key}.")
        else:
            flat[prefix + key] = value
    return flat
