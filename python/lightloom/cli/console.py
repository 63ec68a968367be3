"""What the commands say: tables and results on standard output, progress and
refusals on standard error.

Nothing here decides anything; figures that a fabric does not have print as
a dash. Colour and progress bars appear on terminals only.
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
from lightloom.storage import WriteError, check_folder, check_names, claim, release_claims, signals
from lightloom.units.formats import seconds

if TYPE_CHECKING:
    from rich.progress import TaskID

Tick = Callable[[str, float, float, float], None]
Count = Callable[[str, int, int], None]

WIDE = 10_000
"""Columns [count] of a line that is not wrapped."""
NOTE = "note: "
"""What a line begins with that says how figures are to be taken."""
DRAWING = "drawing flows"
"""What a run does before its first instant."""
NARROW = 20
"""Columns [count] below which no terminal's width is heeded."""
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Errors of a full disk, quota or file."""
EXIT_FAILED = 1
"""A switch refused, failed or did not answer; or a check failed."""
EXIT_REFUSED = 2
EXIT_UNREAD = 141
"""As a shell shows a command that SIGPIPE has ended, by a reader that went away."""


class _Screen(Console):
    """Whose reader may go away: `unread` ends the command then, Rich would end it here."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def out(*, wide: bool = False) -> Console:
    """Standard output, resolved when used so that redirection is honoured; for rows of
    text as `wide` as they are where no terminal's width holds."""
    made = _Screen(highlight=False, soft_wrap=False, emoji=False)
    if wide and not made.is_terminal and "COLUMNS" not in os.environ:
        made.width = WIDE
    return made


def err() -> Console:
    """Standard error."""
    return Console(stderr=True, highlight=False, soft_wrap=True, emoji=False)


def say(message: str) -> None:
    """Prints one line of text as it is; a note on a terminal is broken at its width, and hangs."""
    screen = out()
    if screen.is_terminal and message.startswith(NOTE):
        message = _hanging(message, max(NARROW, screen.width))
    screen.print(message, markup=False, soft_wrap=True)


def _hanging(note: str, width: int) -> str:
    """A note in lines of so many columns, those after the first below its text."""
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
    """What is printed meanwhile, as by policies of users, goes to standard error:
    standard output is the command's alone. To be entered by the main thread only."""
    with redirect_stdout(sys.stderr):
        yield


@contextmanager
def unread() -> Iterator[None]:
    """Ends a command whose reader went away, quietly."""
    try:
        yield
    except BrokenPipeError:
        _drop_output()
        raise typer.Exit(EXIT_UNREAD) from None


@contextmanager
def guarded() -> Iterator[None]:
    """Turns what a user can get wrong into one message and an exit code."""
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
    """Whether standard output has no room: files that cannot be written are named."""
    return problem.filename is None and problem.errno in FULL


def stop_unwritten(problem: OSError) -> NoReturn:
    """Ends a command whose standard output has no room."""
    _drop_output()
    reason = (problem.strerror or str(problem)).lower()
    stop(f"standard output: {reason}; free some, or send it elsewhere", EXIT_REFUSED)


def _drop_output() -> None:
    """Leaves out what is still buffered, which would fail once more when Python ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _has_directory() -> bool:
    """Whether the working directory is there."""
    try:
        Path.cwd()
    except FileNotFoundError:
        return False
    return True


def stop(message: str, code: int, trace: str | None = None) -> NoReturn:
    """Ends the command with a message on standard error, below the traceback of what a
    user's own code raised. After a signal, whose unwinding may fail as the core removes what
    is unfinished, with what that signal says."""
    if signals.struck():
        _end_by_signal()
    console = err()
    if trace is not None:
        console.print(trace.rstrip(), markup=False, highlight=False, soft_wrap=True)
    console.print("[bold red]error:[/] ", end="")
    console.print(brief(message), markup=False)
    raise typer.Exit(code) from None


def check_output(directory: Path) -> Path:
    """Refuses an output directory that cannot be one, before anything runs."""
    return check_folder(directory)


def claim_output(directory: Path, files: Iterable[str] = (), folders: Iterable[str] = ()) -> Path:
    """Takes an output directory until the command ends, so that no other writes there, and
    tries the names that the command will write in it, before anything is simulated.

    Raises:
        ConfigError: if another writes there already, or something is in the way of a name; it
            says which.
    """
    claim(directory)
    check_names(directory, files, folders)
    return directory


@contextmanager
def progress(enabled: bool = True) -> Iterator[Tick]:
    """A bar per fabric on standard error; silent when that is no terminal."""
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
        # While a run drains its end is only a limit: what is delivered tells more.
        reached = max(now_s / end_s if end_s > 0 else 0.0, delivered)
        detail = seconds(now_s) if end_s > 0 or now_s > 0 else DRAWING
        bar.update(tasks[label], completed=min(reached, 1.0), detail=detail)

    with aside(), bar:
        yield tick


def plain_table(gap: int = 2) -> Table:
    """A table without borders, as narrow as its contents, with `gap` between columns."""
    return Table(box=None, pad_edge=False, padding=(0, gap, 0, 0), header_style="bold")
