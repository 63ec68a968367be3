"""Runs the points of a sweep and gathers their summaries in one table."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import lightloom
from lightloom.sweep.executors import Executor, Failed, Job, Local
from lightloom.sweep.grid import Point, SweepFile, expand
from lightloom.sweep.rows import Rows, Stream, write

Summary = dict[str, Any]


@dataclass(frozen=True)
class Outcome:
    """A sweep that came to its end: what its points came to, and the files."""

    points: list[Point]
    """Those that were simulated, in the order of the grid."""
    summaries: list[Summary]
    """The summary of each."""
    failed: list[tuple[Point, Failed]]
    """Points that came to nothing."""
    every: list[Point]
    """All points, in the order of the grid."""
    reused: int
    json: Path
    parquet: Path


def run_sweep(
    sweep: SweepFile,
    out: Path,
    *,
    workers: int = 1,
    executor: Executor | None = None,
    resume: bool = False,
    done: Callable[[int, int], None] = lambda finished, total: None,
    points: list[Point] | None = None,
    costs: Sequence[float] | None = None,
) -> Outcome:
    """Runs every point of `sweep` and writes `points/`, `rows/`, `sweep.json` and
    `sweep.parquet` below `out`. With `resume`, points that are there already
    are read instead of run; a point's name holds a digest of its resolved
    experiment, so what has changed since is run again.

    Args:
        executor: where points run; so many `workers` of this machine unless given.
        points: those of the sweep, where they are known already.
        costs: of those that have to be run, what each will take: the longest begin first.
    """
    points = expand(sweep) if points is None else points
    folders = [out / "points" / point.id for point in points]
    found: dict[int, Summary | Failed] = {
        index: _read_summary(folder)
        for index, folder in enumerate(folders)
        if resume and is_there(points[index], out, sweep)
    }
    reused = len(found)
    missing = [index for index in range(len(points)) if index not in found]
    save = partial(store_point, whole=sweep.flows)
    jobs = [
        Job(points[index].experiment, points[index].fabric, folders[index], save, sweep.flows)
        for index in missing
    ]
    rows = Rows(points)
    stream = Stream(out, rows)

    def take(index: int, came: Summary | Failed) -> None:
        found[missing[index]] = came
        stream.add(points[missing[index]], came)
        done(len(found), len(points))

    done(len(found), len(points))
    stream.begin((points[i], kept) for i, kept in found.items() if not isinstance(kept, Failed))
    first = None if costs is None else longest_first(costs)
    (executor or Local(workers)).run_jobs(jobs, take, first=first, keep_going=True)
    each = [(point, found[index]) for index, point in enumerate(points)]
    paths = out / "sweep.json", out / "sweep.parquet"
    _write_json(paths[0], sweep, each)
    write(paths[1], [rows.of(*one) for one in each])
    whole = [(point, came) for point, came in each if not isinstance(came, Failed)]
    failed = [(point, came) for point, came in each if isinstance(came, Failed)]
    return Outcome([p for p, _ in whole], [s for _, s in whole], failed, points, reused, *paths)


def longest_first(costs: Sequence[float]) -> list[int]:
    """The order in which what costs so much begins, so that nothing long begins last; equals
    stay as they are.

    >>> longest_first([1.0, 3.0, 2.0, 3.0])
    [1, 3, 2, 0]
    """
    return sorted(range(len(costs)), key=lambda index: -costs[index])


def is_there(point: Point, out: Path, sweep: SweepFile) -> bool:
    """Whether `out` holds all that is asked of a point. A directory has its name only once
    it is whole; it may hold less than is asked for now."""
    asked = "flows.parquet" if sweep.flows else "summary.json"
    return (out / "points" / point.id / asked).is_file()


def store_point(result: lightloom.Result, folder: Path, *, whole: bool) -> None:
    """Writes what is kept of a point: all of its result, or the summary alone."""

    def write(part: Path) -> None:
        part.mkdir(parents=True)
        text = json.dumps(dict(result.summary), indent=2, allow_nan=False)
        (part / "summary.json").write_text(text + "\n", encoding="utf-8")

    _whole(folder, result.save if whole else write)


def _whole(folder: Path, write: Callable[[Path], object]) -> None:
    """Fills a directory under another name and then gives it its own."""
    part = folder.with_name(f".{folder.name}.{os.getpid()}")
    shutil.rmtree(part, ignore_errors=True)
    try:
        write(part)
        shutil.rmtree(folder, ignore_errors=True)
        part.rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _read_summary(folder: Path) -> Summary:
    summary: Summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    return summary


def _write_json(
    path: Path, sweep: SweepFile, each: Sequence[tuple[Point, Summary | Failed]]
) -> None:
    document = {
        "base": str(sweep.base),
        **({"set": sweep.set} if sweep.set else {}),
        "grid": sweep.grid,
        "repeat": sweep.repeat,
        "points": [
            {"point": p.id, "fabric": p.fabric, "seed": p.seed, "grid": p.grid, **_said(came)}
            for p, came in each
        ],
    }
    part = path.with_name(f".{path.name}.part")
    part.write_text(json.dumps(document, indent=2, default=str) + "\n", encoding="utf-8")
    part.replace(path)


def _said(came: Summary | Failed) -> dict[str, Any]:
    return {"error": came.message} if isinstance(came, Failed) else {"summary": came}
