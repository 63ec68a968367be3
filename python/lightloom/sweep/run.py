"""Runs the points of a sweep and gathers their summaries in one table."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from lightloom.config import identity, inputs
from lightloom.results.files import RESULT_FILES
from lightloom.storage import signals
from lightloom.storage.records import RECORD
from lightloom.storage.staging import Staging
from lightloom.sweep.executors import Executor, Failed, Job, Local
from lightloom.sweep.grid import Point, SweepFile, expand
from lightloom.sweep.points import find_done, other_points, say_left, store_point
from lightloom.sweep.rows import ROWS, UNFINISHED, Rows, Stream, table

Summary = dict[str, Any]
#: A point, and its result.
Found = tuple[Point, Summary | Failed]
#: Stages pages that show a sweep beside its results.
Show = Callable[[Sequence[Found], Staging], object]


@dataclass(frozen=True)
class Outcome:
    """A completed sweep: the results of its points, and the files."""

    points: list[Point]
    """The points that were simulated, in the order of the grid."""
    summaries: list[Summary]
    """The summary of each point."""
    failed: list[tuple[Point, Failed]]
    """The points that failed."""
    reused: int
    others: int
    """The number of points of earlier grids in the folder, which the files do not include."""
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
    kept: Mapping[str, Summary] | None = None,
    costs: Sequence[float] | None = None,
    show: Show = lambda each, staging: None,
) -> Outcome:
    """Runs every point of `sweep` and writes `points/`, `rows/`, `sweep.json` and `sweep.parquet`
    below `out`. With `resume`, points whose record states that they are done are read instead. The
    digest of a point covers its resolved experiment, the contents of all files that it reads, and
    the build; so a point runs again if any of these has changed.

    Until all points are done, the files of an earlier sweep stay unchanged, and rows are in
    `rows.unfinished/`. Then the new files replace them; without `resume`, points that belong only
    to an earlier grid are removed.

    Args:
        executor: where points run. Default: `workers` processes of this machine.
        points: the points of the sweep, if already known.
        kept: the result of `find_done`, if already known.
        costs: the forecast time of each point that must run; the longest begin first.
        show: stages pages; they get their final names together with the results. A page of an
            earlier sweep that is not made again is removed.
    """
    points = expand(sweep) if points is None else points
    if kept is None:
        kept = find_done(points, out, sweep) if resume else {}
    found: dict[int, Summary | Failed] = {
        index: kept[point.id] for index, point in enumerate(points) if point.id in kept
    }
    reused = len(found)
    missing = [index for index in range(len(points)) if index not in found]
    jobs = [_job(points[index], out, flows=sweep.flows) for index in missing]
    rows = Rows(points)
    stream = Stream(out, rows)

    def take(index: int, came: Summary | Failed) -> None:
        found[missing[index]] = came
        if not isinstance(came, Failed):
            say_left(out)
        stream.add(points[missing[index]], came)
        done(len(found), len(points))

    done(len(found), len(points))
    stream.begin((point, kept[point.id]) for point in points if point.id in kept)
    first = None if costs is None else longest_first(costs)
    (executor or Local(workers)).run_jobs(jobs, take, first=first, keep_going=True)
    each = [(point, found[index]) for index, point in enumerate(points)]
    paths = out / "sweep.json", out / "sweep.parquet"
    earlier = other_points(points, out)
    with Staging(out) as staging:
        stream.end(staging, points)
        for file in () if resume else (file for files in earlier.values() for file in files):
            staging.absent(file)
        staging.text(paths[0], _document(sweep, each))
        staging.parquet(paths[1], table([rows.of(*one) for one in each], points))
        show(each, staging)
        read = [*sweep.files, *(one for point in points for one in point.reads)]
        told = {"build": identity.build(), "inputs": inputs.recorded(read, out)}
        staging.record(out, told)
    signals.leaves()
    whole = [(point, came) for point, came in each if not isinstance(came, Failed)]
    failed = [(point, came) for point, came in each if isinstance(came, Failed)]
    others = len(earlier) if resume else 0
    return Outcome([p for p, _ in whole], [s for _, s in whole], failed, reused, others, *paths)


def names(points: Sequence[Point], *, flows: bool) -> tuple[list[str], list[str]]:
    """Returns the files and folders that a sweep of these points writes, relative to its folder."""
    kept = RESULT_FILES if flows else ("summary.json", RECORD)
    files = ["sweep.json", "sweep.parquet", RECORD]
    for point in points:
        files += [f"{folder}/{point.id}.parquet" for folder in (ROWS, UNFINISHED)]
        files += [f"points/{point.id}/{name}" for name in kept]
    return files, [ROWS, UNFINISHED, "points"]


def longest_first(costs: Sequence[float]) -> list[int]:
    """Returns the order in which jobs with these costs begin: the longest first, so that none
    begins last; equal ones keep their order.

    >>> longest_first([1.0, 3.0, 2.0, 3.0])
    [1, 3, 2, 0]
    """
    return sorted(range(len(costs)), key=lambda index: -costs[index])


def _job(point: Point, out: Path, *, flows: bool) -> Job:
    """Returns the job that runs a point and stores it."""
    save = partial(store_point, digest=point.digest, flows=flows)
    return Job(point.experiment, point.fabric, out / "points" / point.id, save, flows, point.id)


def _document(sweep: SweepFile, each: Sequence[Found]) -> str:
    """Returns the sweep as JSON."""
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
    return json.dumps(document, indent=2, default=str) + "\n"


def _said(came: Summary | Failed) -> dict[str, Any]:
    return {"error": came.message} if isinstance(came, Failed) else {"summary": came}
