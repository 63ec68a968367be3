"""Output of the commands: tables and results on standard output, progress and errors on standard
error.

This module only prints. Figures that a fabric does not have are printed as a dash. Colour and
progress bars appear on terminals only.
"""

from __future__ import annotations

import errno
import json
import os
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer
from rich.console import Console
from rich.table import Table

from lightloom.errors import ConfigError, brief
from lightloom.storage import signals
from lightloom.storage.errors import WriteError
from lightloom.storage.lock import claim, release_claims
from lightloom.storage.trial import check_folder, check_names
from lightloom.units.formats import seconds

if TYPE_CHECKING:
    from rich.progress import TaskID

Tick = Callable[[str, float, float, float], None]
Count = Callable[[str, int, int], None]

WIDE = 10_000
"""Width [columns] of output that is not wrapped."""
NOTE = "note: "
"""Beginning of a line that limits the meaning of figures."""
DRAWING = "drawing flows"
"""The activity of a run before its first event."""
NARROW = 20
"""Smallest width [columns] of a terminal that is used."""
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Errors of a full disk, a full quota, or a file that is too large."""
EXIT_FAILED = 1
"""Exit code if a switch rejected a change, failed or did not answer, or if a check failed."""
EXIT_REFUSED = 2
EXIT_UNREAD = 141
"""Exit code of a command whose reader has stopped, as shells report SIGPIPE."""


class _Screen(Console):
    """A console whose reader may stop: `unread` then ends the command; Rich would end it at
    once."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def out(*, wide: bool = False) -> Console:
    """Returns standard output, resolved at each use so that redirection works; with `wide`, without
    wrapping if it is not a terminal."""
    made = _Screen(highlight=False, soft_wrap=False, emoji=False)
    if wide and not made.is_terminal and "COLUMNS" not in os.environ:
        made.width = WIDE
    return made


def err() -> Console:
    """Standard error."""
    return Console(stderr=True, highlight=False, soft_wrap=True, emoji=False)


def say(message: str) -> None:
    """Prints one line of text unchanged; on a terminal, a note is wrapped with hanging
    indentation."""
    screen = out()
    if screen.is_terminal and message.startswith(NOTE):
        message = _hanging(message, max(NARROW, screen.width))
    screen.print(message, markup=False, soft_wrap=True)


def _hanging(note: str, width: int) -> str:
    """Wraps a note with hanging indentation."""
    below = " " * len(NOTE)
    return textwrap.fill(
        note, width, subsequent_indent=below, break_on_hyphens=False, break_long_words=False
    )


def print_json(value: Any) -> None:
    """Prints JSON and nothing else."""
    sys.stdout.write(json.dumps(value, indent=2, allow_nan=False) + "\n")
    sys.stdout.flush()


@contextmanager
def aside() -> Iterator[None]:
    """Redirects output in the block, such as that of users' policies, to standard error, because
    standard output is reserved for the command. Main thread only."""
    with redirect_stdout(sys.stderr):
        yield


@contextmanager
def unread() -> Iterator[None]:
    """Ends a command quietly if the reader of its output has stopped."""
    try:
        yield
    except BrokenPipeError:
        _drop_output()
        raise typer.Exit(EXIT_UNREAD) from None


@contextmanager
def guarded() -> Iterator[None]:
    """Prints errors of the user's as one message and exits with their code."""
    try:
        yield
    except ConfigError as problem:
        stop(str(problem), EXIT_REFUSED, problem.trace)
    except BrokenPipeError:
        raise
    except WriteError as problem:
        stop(problem.message, EXIT_REFUSED)
    except OSError as problem:
        if is_unwritten(problem):
            stop_unwritten(problem)
        if isinstance(problem, FileNotFoundError) and not _has_directory():
            stop("the working directory was deleted; change to another", EXIT_REFUSED)
        where = problem.filename or "file"
        reason = (problem.strerror or str(problem)).lower()
        stop(f"{where}: {reason}; check the path and its permissions", EXIT_REFUSED)
    except KeyboardInterrupt:
        _end_by_signal()
    finally:
        release_claims()


def _end_by_signal() -> NoReturn:
    signals.mark_reported()
    err().print(signals.line(), markup=False)
    raise typer.Exit(signals.code()) from None


def is_unwritten(problem: OSError) -> bool:
    """Whether an error means that standard output is full; errors of files have a name."""
    return problem.filename is None and problem.errno in FULL


def stop_unwritten(problem: OSError) -> NoReturn:
    """Ends a command whose standard output is full."""
    _drop_output()
    reason = (problem.strerror or str(problem)).lower()
    stop(f"standard output: {reason}; free some, or send it elsewhere", EXIT_REFUSED)


def _drop_output() -> None:
    """Discards buffered output, which would fail again when Python ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _has_directory() -> bool:
    """Whether the working directory exists."""
    try:
        Path.cwd()
    except FileNotFoundError:
        return False
    return True


def stop(message: str, code: int, trace: str | None = None) -> NoReturn:
    """Ends the command with a message on standard error, below the traceback of an exception in the
    user's code. After a signal, with the message of the signal: cleaning up may have failed because
    the core was removing unfinished files."""
    if signals.struck():
        _end_by_signal()
    console = err()
    if trace is not None:
        console.print(trace.rstrip(), markup=False, highlight=False, soft_wrap=True)
    console.print("[bold red]error:[/] ", end="")
    console.print(brief(message), markup=False)
    raise typer.Exit(code) from None


def check_output(directory: Path) -> Path:
    """Raises an error if an output directory is invalid, before the simulation begins."""
    return check_folder(directory)


def claim_output(directory: Path, files: Iterable[str] = (), folders: Iterable[str] = ()) -> Path:
    """Reserves an output directory until the command ends, so that no other command writes there,
    and checks the names that the command will write, before the simulation begins.

    Raises:
        ConfigError: if another command writes there already, or if one of the names is in use; the
            message has the reason.
    """
    claim(directory)
    check_names(directory, files, folders)
    return directory


@contextmanager
def progress(enabled: bool = True) -> Iterator[Tick]:
    """Shows a bar for each fabric on standard error; nothing if that is not a terminal."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = err()
    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=30),
        TextColumn("{task.percentage:3.0f}%  {task.fields[detail]}", markup=False),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not (enabled and console.is_terminal),
    )
    tasks: dict[str, TaskID] = {}

    def tick(label: str, now_s: float, end_s: float, delivered: float) -> None:
        if label not in tasks:
            for task in bar.tasks:
                task.visible = not task.finished
            tasks[label] = bar.add_task(label, total=1.0, detail="")
        # While a run drains, its end is only a limit; the delivered share shows more.
        reached = max(now_s / end_s if end_s > 0 else 0.0, delivered)
        detail = seconds(now_s) if end_s > 0 or now_s > 0 else DRAWING
        bar.update(tasks[label], completed=min(reached, 1.0), detail=detail)

    with aside(), bar:
        yield tick


def plain_table(gap: int = 2) -> Table:
    """Returns a table without borders, as narrow as its contents, with `gap` between columns."""
    return Table(box=None, pad_edge=False, padding=(0, gap, 0, 0), header_style="bold")
