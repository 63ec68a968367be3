"""What a trace in text looks like where the core finds a column that it does not know."""

from __future__ import annotations

import re
from pathlib import Path

from lightloom.errors import ConfigError, refusal

KEY = "workload.trace"
FIRST = 4096
"""Of a file that is looked at [bytes]."""
PICOSECONDS = {"ns": 1_000, "us": 1_000_000, "ms": 1_000_000_000, "s": 1_000_000_000_000}
_TIMES = re.compile(r"(?:arrival|start|time|timestamp|t)(?:[_ (]*(ns|us|µs|ms|s|sec|seconds)\)?)?")
_SPELT = {"µs": "us", "sec": "s", "seconds": "s"}


def hinted(problem: ConfigError) -> ConfigError:
    """The refusal of a heading with what its file has instead: another separator, or
    arrivals in another unit. Itself of anything else."""
    if problem.key != KEY or "column" not in (problem.limit or ""):
        return problem
    line = _heading(Path((problem.value or "").strip('"')))
    for separator, name in ((";", "';'"), ("\t", "tabs")):
        if separator in line and "," not in line:
            limit = f"separated by {name}, and a trace is by commas"
            remedy = "write commas, below the heading src,dst,bytes,arrival_ps"
            return refusal(KEY, problem.value, limit, remedy)
    cells = [cell.strip().strip('"') for cell in line.split(",")]
    if "arrival_ps" in cells:
        return problem
    found = [(cell, match) for cell in cells if (match := _TIMES.fullmatch(cell.lower()))]
    return _of_time(problem, *found[0]) if found else problem


def _of_time(problem: ConfigError, cell: str, match: re.Match[str]) -> ConfigError:
    unit = _SPELT.get(match[1] or "", match[1] or "")
    limit = f"column `{cell}`, where arrivals are in `arrival_ps`, whole picoseconds"
    remedy = "call it so, and write it in picoseconds"
    if unit:
        remedy = f"call it so, and multiply its values by {PICOSECONDS[unit]:,}"
    return refusal(KEY, problem.value, limit, remedy)


def _heading(path: Path) -> str:
    """The first line that is no comment; empty where the file cannot be read."""
    try:
        with path.open("rb") as file:
            text = file.read(FIRST).decode("utf-8-sig", "replace")
    except (OSError, ValueError):
        return ""
    lines = (line.strip() for line in text.splitlines())
    return next((line for line in lines if line and not line.startswith("#")), "")
