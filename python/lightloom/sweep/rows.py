"""The results of a sweep as rows: one file for each point as it finishes, and one table at the
end."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from lightloom.config import identity
from lightloom.storage.staging import Staging
from lightloom.sweep.executors import Failed
from lightloom.sweep.grid import Point

Summary = dict[str, Any]
Row = dict[str, Any]
#: The folder of a sweep with a one-row file for each point, and its name until the sweep is
#: complete.
ROWS, UNFINISHED = "rows", "rows.unfinished"


class Rows:
    """The rows of a sweep's points."""

    def __init__(self, points: Sequence[Point]) -> None:
        self._as_text = {key for key in (points[0].grid if points else ()) if _mixed(points, key)}

    def of(self, point: Point, found: Summary | Failed) -> Row:
        """Returns a flat row: the point's id, the grid's values, then the summary with nested keys
        joined by dots (`fct.short.p99_us`); for a failed point, its `error`. Grid values of mixed
        types are written as JSON, because a column has a single type."""
        grid = {key: self._cell(key, value) for key, value in point.grid.items()}
        if isinstance(found, Failed):
            which = {"label": point.fabric, "seed": point.seed}
            return {"point": point.id, **grid, **which, "error": found.message}
        return {"point": point.id, **grid, **_flatten(found)}

    def _cell(self, key: str, value: Any) -> Any:
        as_text = key in self._as_text and not isinstance(value, str)
        return json.dumps(value) if as_text else value


class Stream:
    """The data set of a running sweep: a Parquet file for each point that is done. It is separate
    from that of an earlier sweep until it replaces it."""

    def __init__(self, out: Path, rows: Rows) -> None:
        self._out, self._rows = out, rows

    def begin(self, kept: Iterable[tuple[Point, Summary]]) -> None:
        """Removes the rows of an incomplete sweep and adds the points that are kept."""
        with Staging(self._out) as staging:
            for left in sorted((self._out / UNFINISHED).glob("*.parquet")):
                staging.absent(left)
            for point, summary in kept:
                self._stage(staging, point, summary)

    def add(self, point: Point, found: Summary | Failed) -> None:
        """Writes the row of a point."""
        with Staging(self._out) as staging:
            self._stage(staging, point, found)

    def end(self, staging: Staging, points: Iterable[Point]) -> None:
        """Stages the whole data set under its final name, replacing that of an earlier sweep."""
        for left in sorted((self._out / ROWS).glob("*.parquet")):
            staging.absent(left)
        for point in points:
            row = self._out / UNFINISHED / f"{point.id}.parquet"
            staging.double(self._out / ROWS / row.name, row)
            staging.absent(row)

    def _stage(self, staging: Staging, point: Point, found: Summary | Failed) -> None:
        """Writes a row without empty columns, so that its schema agrees with files in which these
        columns have a type."""
        row = {k: v for k, v in self._rows.of(point, found).items() if v is not None}
        staging.parquet(self._out / UNFINISHED / f"{point.id}.parquet", table([row], [point]))


def table(rows: Sequence[Row], points: Iterable[Point]) -> pa.Table:
    """Returns the rows as one table with the columns of all points, because parts, jobs and derived
    settings differ between fabrics. Its metadata state the inputs."""
    names = dict.fromkeys(name for row in rows for name in row)
    made = pa.table({name: [row.get(name) for row in rows] for name in names})
    told = {
        "lightloom.version": identity.build()["version"],
        "lightloom.inputs": json.dumps(digests(points), sort_keys=True),
    }
    return made.replace_schema_metadata(told)


def digests(points: Iterable[Point]) -> dict[str, str | list[str]]:
    """Returns the digest of each file that points read, by the key that names it; all digests if
    the grid varies the file."""
    found: dict[str, dict[str, None]] = {}
    for one in dict.fromkeys(read for point in points for read in point.reads):
        found.setdefault(one.key, {})[one.digest] = None
    return {key: next(iter(of)) if len(of) == 1 else sorted(of) for key, of in found.items()}


def _mixed(points: Sequence[Point], key: str) -> bool:
    """Whether the values of a key have no common type."""
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
