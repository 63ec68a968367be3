"""The points of a sweep on the disk: each has a folder with a record of its files and its digest.

A point is done if its record has its digest and every file matches the record, which gets its final
name last. All other points run again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import lightloom
from lightloom.config import identity, inputs
from lightloom.storage import records, signals
from lightloom.storage.lock import release_left
from lightloom.storage.records import RECORD
from lightloom.storage.staging import Staging
from lightloom.sweep.grid import Point, SweepFile

Summary = dict[str, Any]
Told = Callable[[str], object]


def store_point(
    result: lightloom.Result | Mapping[str, Any], folder: Path, *, digest: str, flows: bool
) -> None:
    """Writes a point and its record into its folder.

    Args:
        result: the run, from any process; without `flows` its summary is sufficient.
        folder: the folder of the point.
        digest: the digest of the point.
        flows: whether flows, time series and the other files of a result are kept. Existing ones of
            the same point always stay.

    Raises:
        WriteError: if the system rejects a file; the earlier files are then unchanged.
    """
    with Staging(folder) as staging:
        if isinstance(result, lightloom.Result):
            summary = result.summary
            read = inputs.located(result.experiment, folder)
        else:
            summary, read = dict(result), []
        if flows:
            if not isinstance(result, lightloom.Result):
                raise TypeError("flows = True: a summary alone has none; give the result")
            result.stage(staging, folder)
        else:
            staging.json(folder / "summary.json", dict(summary))
        kept = not flows and _has_flows(folder, digest)
        build = summary.get("build", identity.build())
        told = {"digest": digest, "flows": flows or kept, "build": build, "inputs": read}
        staging.record(folder, told, keep=kept)


def say_left(out: Path) -> None:
    """Sets the message of a command that a signal ends: points of its sweep were kept."""
    folder = out / "points"
    signals.leaves(f"points that are done stay in {folder}, and --resume goes on from there")


def _has_flows(folder: Path, digest: str) -> bool:
    """Whether an earlier sweep kept all files of the same point, which are those of this run."""
    before = records.read(folder)
    if isinstance(before, str) or before.told.get("digest") != digest:
        return False
    return bool(before.told.get("flows")) and next(records.faults(folder, before), None) is None


def other_points(points: Sequence[Point], out: Path) -> dict[str, list[Path]]:
    """Returns the files of other points in the folder, by id.

    Files without a record belong to no point.
    """
    own = {point.id for point in points}
    found = {}
    for folder in sorted((out / "points").glob("*/")):
        record = records.read(folder)
        if folder.name not in own and not isinstance(record, str) and "digest" in record.told:
            found[folder.name] = [folder / name for name in (*record.files, RECORD)]
    return found


def find_done(
    points: Sequence[Point], out: Path, sweep: SweepFile, told: Told = lambda line: None
) -> dict[str, Summary]:
    """Returns the summaries of points that are done, by id; `told` is called with the reason for
    others whose folder exists."""
    release_left(sorted((out / "points").glob("*/")))
    found = {}
    for point in points:
        folder = out / "points" / point.id
        if not folder.is_dir():
            continue
        summary = _read(point, folder, sweep)
        if isinstance(summary, str):
            told(f"point {point.id} runs again: {summary}")
        else:
            found[point.id] = summary
    return found


def _read(point: Point, folder: Path, sweep: SweepFile) -> Summary | str:
    """Returns the summary of a point that is done, or the reason why it is not."""
    record = records.read(folder)
    if isinstance(record, str):
        return record
    if record.told.get("digest") != point.digest:
        return f"{RECORD} is of another configuration, input or build"
    asked = ["summary.json", *(["flows.parquet", "timeseries.parquet"] if sweep.flows else [])]
    missing = next((name for name in asked if name not in record.files), None)
    if missing is not None:
        return f"{missing} was not kept"
    fault = next(records.faults(folder, record), None)
    if fault is not None:
        return fault
    try:
        summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return "summary.json cannot be read"
    return summary if isinstance(summary, dict) and summary else "summary.json is no summary"
