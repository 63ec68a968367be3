"""Hints about text traces in which the core finds an unknown column."""

from __future__ import annotations

from pathlib import Path

from lightloom.errors import ConfigError, refusal

KEY = "workload.trace"
FIRST = 4096
"""Number of bytes at the beginning of a file that are examined."""


def hinted(problem: ConfigError) -> ConfigError:
    """Returns the error for a header line with a hint if its file uses another separator than
    commas; other errors unchanged."""
    if problem.key != KEY or "column" not in (problem.limit or ""):
        return problem
    line = _heading(Path((problem.value or "").strip('"')))
    for separator, name in ((";", "';'"), ("\t", "tabs")):
        if separator in line and "," not in line:
            limit = f"separated by {name}, but a trace is separated by commas"
            remedy = "write commas, below the heading src,dst,bytes,arrival_ps"
            return refusal(KEY, problem.value, limit, remedy)
    return problem


def _heading(path: Path) -> str:
    """Returns the first line that is not a comment; empty if the file cannot be read."""
    try:
        with path.open("rb") as file:
            text = file.read(FIRST).decode("utf-8-sig", "replace")
    except (OSError, ValueError):
        return ""
    lines = (line.strip() for line in text.splitlines())
    return next((line for line in lines if line and not line.startswith("#")), "")
