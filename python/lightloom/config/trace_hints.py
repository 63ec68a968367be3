"""What a trace in text looks like where the core finds a column that it does not know."""

from __future__ import annotations

from pathlib import Path

from lightloom.errors import ConfigError, refusal

KEY = "workload.trace"
FIRST = 4096
"""The part of a file that is examined [bytes]."""


def hinted(problem: ConfigError) -> ConfigError:
    """The refusal of a heading whose file has another separator than commas; itself of
    anything else."""
    if problem.key != KEY or "column" not in (problem.limit or ""):
        return problem
    line = _heading(Path((problem.value or "").strip('"')))
    for separator, name in ((";", "';'"), ("\t", "tabs")):
        if separator in line and "," not in line:
            limit = f"separated by {name}, and a trace is by commas"
            remedy = "write commas, below the heading src,dst,bytes,arrival_ps"
            return refusal(KEY, problem.value, limit, remedy)
    return problem


def _heading(path: Path) -> str:
    """The first line that is no comment; empty where the file cannot be read."""
    try:
        with path.open("rb") as file:
            text = file.read(FIRST).decode("utf-8-sig", "replace")
    except (OSError, ValueError):
        return ""
    lines = (line.strip() for line in text.splitlines())
    return next((line for line in lines if line and not line.startswith("#")), "")
