"""Errors for TOML that cannot be parsed: the position, and the line as it should be written."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from lightloom.errors import ConfigError

_PLACE = re.compile(r"(.*) \(at line (\d+), column (\d+)\)", re.DOTALL)
_OPENING, _CLOSING = "=[{,", ",]}#"
_TRUTH = ("true", "false")
_LONGEST = 120
"""Longest line that an error shows [characters]."""


def refused(path: Path, text: str, problem: tomllib.TOMLDecodeError) -> ConfigError:
    """Returns the error for a file, `file:line:column: what`, from tomllib's `what (at line L,
    column C)`.

    Args:
        path: the file's name in messages.
        text: the contents of the file.
    """
    place = _PLACE.fullmatch(str(problem))
    if place is None:  # the position is "(at end of document)"
        return ConfigError(f"{path}: {problem}; correct the file")
    what, line, column = place.group(1), int(place.group(2)), int(place.group(3))
    mended = _mended(text, line, column)
    remedy = "correct the line" if mended is None else mended
    return ConfigError(f"{path}:{line}:{column}: {what[:1].lower()}{what[1:]}; {remedy}")


def _mended(text: str, line: int, column: int) -> str | None:
    """Returns the remedy for a value without quotes, or for `True`; None for other errors."""
    lines = text.split("\n")
    written = lines[line - 1]
    start = max(written.rfind(mark, 0, column - 1) for mark in _OPENING) + 1
    ends = (written.find(mark, column - 1) for mark in _CLOSING)
    end = min((found for found in ends if found >= 0), default=len(written))
    value = written[start:end].strip()
    if (start == 0 and "=" in written) or len(written) > _LONGEST:
        return None
    if value.lower() in _TRUTH:
        new, remedy = value.lower(), "write it in lower case"
    elif re.search(r"[^\W\d_]|%", value) and not re.search("[\"'\\\\]", value):
        new, remedy = f'"{value}"', "put the text in quotes"
    else:
        return None
    at = written.index(value, start)
    lines[line - 1] = written[:at] + new + written[at + len(value) :]
    if not _is_read_beyond("\n".join(lines), line, at + len(new)):
        return None
    return f"{remedy}: {lines[line - 1].strip()}"


def _is_read_beyond(text: str, line: int, column: int) -> bool:
    """Whether the text is valid TOML at least up to that position."""
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        place = _PLACE.fullmatch(str(problem))
        return place is None or (int(place.group(2)), int(place.group(3))) > (line, column)
    except (ValueError, RecursionError):
        return False
    return True
