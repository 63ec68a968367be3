"""The message for an exception in the user's code: the frames of that code, and the line to
correct."""

from __future__ import annotations

import sysconfig
import traceback
from pathlib import Path

from lightloom.errors import ConfigError

_OURS = Path(__file__).resolve().parent.parent
_LIBRARIES = {Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "purelib", "platlib")}


def blame(what: str, error: BaseException) -> tuple[str, str]:
    """Returns what happened, and where to correct it."""
    told = traceback.TracebackException.from_exception(error)
    said = list(told.format_exception_only())[-1].strip()
    frames = _users(told.stack)
    if isinstance(error, SyntaxError) and error.filename is not None:
        return f"{what} raised {said}", f"correct line {error.lineno} of {_name(error.filename)}"
    if not frames:
        return f"{what} raised {said}", "correct it"
    last = _written(frames)
    return f"{what} raised {said}", f"correct line {last.lineno} of {_name(last.filename)}"


def with_cause(refused: ConfigError, error: BaseException) -> ConfigError:
    """Returns the error with the exception as its cause and the text of its traceback."""
    refused.__cause__ = error
    refused.trace = trace(error)
    return refused


def trace(error: BaseException) -> str:
    """Returns the traceback of an exception and of its causes, without the frames of Lightloom."""
    told = traceback.TracebackException.from_exception(error)
    link: traceback.TracebackException | None = told
    while link is not None:
        link.stack = traceback.StackSummary.from_list(_users(link.stack))
        link = link.__cause__ or link.__context__
    return "".join(told.format())


def _users(frames: traceback.StackSummary) -> list[traceback.FrameSummary]:
    return [frame for frame in frames if not _ours(frame.filename)]


def _written(frames: list[traceback.FrameSummary]) -> traceback.FrameSummary:
    """The innermost frame of the user's own code: neither generated, as methods of data classes
    are, nor part of a library."""
    files = [frame for frame in frames if not frame.filename.startswith("<")]
    own = [f for f in files if _LIBRARIES.isdisjoint(Path(f.filename).resolve().parents)]
    return (own or files or frames)[-1]


def _ours(filename: str) -> bool:
    # Python imports a file through frames of its own.
    return filename.startswith("<frozen ") or _OURS in Path(filename).parents


def _name(filename: str) -> str:
    return Path(filename).name
