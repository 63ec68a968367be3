"""Runs the points of a sweep and gathers their summaries in one table."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import lightloom
from lightloom import signals
from lightloom.sweep.grid import Point, SweepFile, expand
from lightloom.sweep.pool import Job, run_jobs

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
) -> Outcome:
    """Runs every point of `sweep` and writes `points/`, `sweep.json` and
    `sweep.parquet` below `out`. With `resume`, points that are there already
    are read instead of run; a point's name holds a digest of its resolved
    experiment, so what has changed since is run again. `points` are those of the sweep,
    where they are known already.
    """
    points = expand(sweep) if points is None else points
    folders = [out / "points" / point.id for point in points]
    kept = {
        index: _read_summary(folder)
        for index, folder in enumerate(folders)
        if resume and is_there(points[index], out, sweep)
    }
    missing = [index for index in range(len(points)) if index not in kept]
    save = _save_all if sweep.flows else _save_summary
    jobs = [
        Job(points[index].experiment, points[index].fabric, folders[index], save)
        for index in missing
    ]
    finished = len(kept)

    def count(index: int, summary: Summary) -> None:
        nonlocal finished
        finished += 1
        done(finished, len(points))

    done(finished, len(points))
    fresh = dict(zip(missing, run_jobs(jobs, workers, count), strict=True))
    summaries = [kept.get(index) or fresh[index] for index in range(len(points))]
    paths = out / "sweep.json", out / "sweep.parquet"
    _write_json(paths[0], sweep, points, summaries)
    _write_parquet(paths[1], points, summaries)
    return Outcome(points, summaries, len(kept), *paths)


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


def is_there(point: Point, out: Path, sweep: SweepFile) -> bool:
    """Whether `out` holds all that is asked of a point. A directory has its name only once
    it is whole; it may hold less than is asked for now."""
    asked = "flows.parquet" if sweep.flows else "summary.json"
    return (out / "points" / point.id / asked).is_file()


def _save_all(result: lightloom.Result, folder: Path) -> None:
    _whole(folder, result.save)


def _save_summary(result: lightloom.Result, folder: Path) -> None:
    def write(part: Path) -> None:
        part.mkdir(parents=True)
        text = json.dumps(dict(result.summary), indent=2, allow_nan=False)
        (part / "summary.json").write_text(text + "\n", encoding="utf-8")

    _whole(folder, write)


def _whole(folder: Path, write: Callable[[Path], object]) -> None:
    """Fills a directory under another name and then gives it its own."""
    part = folder.with_name(f".{folder.name}.{os.getpid()}")
    shutil.rmtree(part, ignore_errors=True)
    with signals.unfinished(part):
        write(part)
        with signals.naming():
            shutil.rmtree(folder, ignore_errors=True)
            part.rename(folder)


def _read_summary(folder: Path) -> Summary:
    summary: Summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    return summary


def _write_json(
    path: Path, sweep: SweepFile, points: Sequence[Point], summaries: Sequence[Summary]
) -> None:
    document = {
        "base": str(sweep.base),
        "grid": sweep.grid,
        "repeat": sweep.repeat,
        "points": [
            {"point": p.id, "fabric": p.fabric, "seed": p.seed, "grid": p.grid, "summary": s}
            for p, s in zip(points, summaries, strict=True)
        ],
    }
    with signals.unfinished(path.with_name(f".{path.name}.part")) as part:
        part.write_text(json.dumps(document, indent=2, default=str) + "\n", encoding="utf-8")
        part.replace(path)


def _write_parquet(path: Path, points: Sequence[Point], summaries: Sequence[Summary]) -> None:
    table = rows(points, summaries)
    # Parts, jobs and what is in force differ between fabrics: the columns are of all.
    names = dict.fromkeys(name for row in table for name in row)
    columns = {name: [row.get(name) for row in table] for name in names}
    with signals.unfinished(path.with_name(f".{path.name}.part")) as part:
        pq.write_table(pa.table(columns), part)
        part.replace(path)


def _flatten(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, Mapping):
            flat |= _flatten(value, f"{prefix}{key}.")
        else:
            flat[prefix + key] = value
    return flat
