"""Runs the points of a sweep and gathers their summaries in one table."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from lightloom import identity
from lightloom.sweep.grid import Point, SweepFile, expand
from lightloom.sweep.points import find_done, store_point
from lightloom.sweep.pool import Job, run_jobs
from lightloom.writing import Staging

Summary = dict[str, Any]


@dataclass(frozen=True)
class Outcome:
    """A finished sweep: its points, the summary of each, and the files."""

    points: list[Point]
    summaries: list[Summary]
    reused: int
    json: Path
    parquet: Path


def run_sweep(
    sweep: SweepFile,
    out: Path,
    *,
    workers: int = 1,
    resume: bool = False,
    done: Callable[[int, int], None] = lambda finished, total: None,
    points: list[Point] | None = None,
    kept: Mapping[str, Summary] | None = None,
) -> Outcome:
    """Runs every point of `sweep` and writes `points/`, `sweep.json` and
    `sweep.parquet` below `out`. With `resume`, points whose record says that they are done
    are read instead of run; a point's digest is of its resolved experiment, of the contents of
    all files that this reads, and of the build, so what has changed since is run again.
    `points` are those of the sweep and `kept` what `find_done` found, where they are known
    already.
    """
    points = expand(sweep) if points is None else points
    if kept is None:
        kept = find_done(points, out, sweep) if resume else {}
    missing = [point for point in points if point.id not in kept]
    jobs = [
        Job(
            point.experiment,
            point.fabric,
            out / "points" / point.id,
            partial(store_point, digest=point.digest, flows=sweep.flows),
        )
        for point in missing
    ]
    finished = len(points) - len(missing)

    def count(index: int, summary: Summary) -> None:
        nonlocal finished
        finished += 1
        done(finished, len(points))

    done(finished, len(points))
    ran = run_jobs(jobs, workers, count)
    fresh = {point.id: summary for point, summary in zip(missing, ran, strict=True)}
    summaries = [dict(kept.get(point.id) or fresh[point.id]) for point in points]
    paths = out / "sweep.json", out / "sweep.parquet"
    with Staging(out) as staging:
        staging.text(paths[0], _document(sweep, points, summaries))
        staging.parquet(paths[1], _table(points, summaries))
        staging.record(out, {"build": identity.build(), "inputs": []})
    return Outcome(points, summaries, len(points) - len(missing), *paths)


def rows(points: Sequence[Point], summaries: Sequence[Summary]) -> list[dict[str, Any]]:
    """A flat row per point: its id, the grid's values, then the summary with
    nested keys joined by dots (`fct.short.p99_us`). Grid values of mixed types
    are written as JSON, since a column has one type."""
    table: list[dict[str, Any]] = []
    for point, summary in zip(points, summaries, strict=True):
        table.append({"point": point.id, **point.grid, **_flatten(summary)})
    for key in points[0].grid if points else ():
        cells = [row[key] for row in table]
        if len({type(cell) for cell in cells}) > 1 or isinstance(cells[0], (list, dict)):
            for row in table:
                row[key] = row[key] if isinstance(row[key], str) else json.dumps(row[key])
    return table


def _document(sweep: SweepFile, points: Sequence[Point], summaries: Sequence[Summary]) -> str:
    """The sweep as JSON."""
    document = {
        "base": str(sweep.base),
        "grid": sweep.grid,
        "repeat": sweep.repeat,
        "points": [
            {"point": p.id, "fabric": p.fabric, "seed": p.seed, "grid": p.grid, "summary": s}
            for p, s in zip(points, summaries, strict=True)
        ],
    }
    return json.dumps(document, indent=2, default=str) + "\n"


def _table(points: Sequence[Point], summaries: Sequence[Summary]) -> pa.Table:
    """A row per point."""
    table = rows(points, summaries)
    # Parts, jobs and what is in force differ between fabrics: the columns are of all.
    names = dict.fromkeys(name for row in table for name in row)
    return pa.table({name: [row.get(name) for row in table] for name in names})


def _flatten(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, Mapping):
            flat |= _flatten(value, f"{prefix}{key}.")
        else:
            flat[prefix + key] = value
    return flat
