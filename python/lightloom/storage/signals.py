"""Signals that end a command: SIGINT (Ctrl-C), SIGTERM and SIGHUP.

The first of them raises `Ended` in the main thread, and what it unwinds cleans up; any
further one does nothing. A command that has not ended by itself within its grace, whatever
it does, is ended by a thread of the core, which removes the files that are noted here.

This module is loaded before anything else: it imports little.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar, NoReturn

#: Signal → what a command says of its end.
SAID = {"SIGINT": "interrupted", "SIGTERM": "terminated", "SIGHUP": "hung up"}
LEFT_NOTHING = "nothing unfinished was written"
#: Seconds within which a command is to end by itself.
GRACE_S = 0.6
#: The same of a worker: its parent waits for it.
WORKER_GRACE_S = 0.2


class Ended(KeyboardInterrupt):
    """A signal ends the command."""


class _State:
    """What has happened to this process."""

    first: int | None = None
    """The signal that ends it."""
    reported = False
    """Whether the user knows how it ends."""
    noting: ClassVar[list[Any]] = []
    """Those who note a signal instead of being struck by it, the innermost last."""
    left = LEFT_NOTHING
    """What a signal leaves behind now."""
    watched = False
    """Whether the core says how the command ends, if it ends it."""


def is_ours(handler: object) -> bool:
    """Whether signals are handled here."""
    return handler is strike


def strike(signum: int, frame: object) -> None:
    """The handler."""
    if _State.first is not None:
        return  # it ends already: a second one would strike what cleans up
    _State.first = signum
    if _State.noting:
        _State.noting[-1].pressed = True
    else:
        raise Ended


@contextmanager
def noting(state: Any) -> Iterator[None]:
    """Sets `state.pressed` where a signal would raise."""
    _State.noting.append(state)
    try:
        yield
    finally:
        _State.noting.remove(state)


def leave(signum: int, frame: object) -> None:
    """The handler while modules are loaded: there is nothing to clean up, and an exception may
    strike where it is lost, in a callback of the import."""
    with suppress(OSError):
        os.write(2, f"{line(signal.Signals(signum).name)}\n".encode())
    os._exit(128 + signum)


def handled(by: Any = strike) -> None:
    """Handles the signals that are not ignored, as under nohup; in the main thread."""
    for name in SAID:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, by)


def watched(grace_s: float = GRACE_S, *, silent: bool = False) -> None:
    """Has the core end this process if it does not end by itself after a signal; once
    `handled`. Needs a system with pipes for signals."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        return
    from lightloom import _core

    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    # A pipe of an earlier call stays open: a signal may have been written there just now.
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    _State.watched = not silent
    numbers = {name: getattr(signal, name) for name in SAID}
    caught = {n: s for n, s in numbers.items() if callable(signal.getsignal(s))}
    codes = [(int(s), None if silent else line(n)) for n, s in caught.items()]
    _core.ending_watch(reading, grace_s, codes)


def leaves(what: str = LEFT_NOTHING) -> None:
    """Has a command that a signal ends say what it leaves; in the main thread."""
    if what == _State.left:
        return
    _State.left = what
    if _State.watched:
        watched()  # anew: the core has what it is to say from the beginning


def line(name: str = "") -> str:
    """What a command says that a signal ends, that of its own by default.

    >>> line("SIGTERM")
    'terminated: nothing unfinished was written'
    """
    return f"{SAID[name or signal.Signals(_first()).name]}: {_State.left}"


def code() -> int:
    """The exit code of a command that a signal has ended, as a shell has it."""
    return 128 + _first()


def _first() -> int:
    return int(signal.SIGINT if _State.first is None else _State.first)


def struck() -> bool:
    """Whether a signal ends this process."""
    return _State.first is not None


def mark_reported() -> None:
    """Records that the message to the user follows, and must not be repeated. Called before it,
    since the core may end the process at any time, and would say it again."""
    _State.reported = True
    if core := sys.modules.get("lightloom._core"):
        core.ending_told()


def end() -> NoReturn:
    """Ends the process after a signal. The interpreter is not taken down: threads of the core
    may still compute what is thrown away."""
    import atexit

    if not _State.reported:
        mark_reported()
        with suppress(OSError, ValueError):
            sys.stderr.write(line() + "\n")
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    atexit._run_exitfuncs()
    os._exit(code())


def note(path: Path) -> None:
    """Notes a file or folder that goes if the process is ended by force, until `forget`."""
    from lightloom import _core

    _core.ending_unfinished(path.absolute(), True)


def forget(path: Path) -> None:
    """Notes that it is unfinished no more, or gone."""
    from lightloom import _core

    _core.ending_unfinished(path.absolute(), False)


def note_made(folder: Path) -> None:
    """Notes a folder that was made, and that goes with what is noted where nothing else is in
    it, until `forget_made`."""
    from lightloom import _core

    _core.ending_made(folder.absolute(), True)


def forget_made(folder: Path) -> None:
    """Notes that a folder stays, or is gone."""
    from lightloom import _core

    _core.ending_made(folder.absolute(), False)


@contextmanager
def unfinished(path: Path) -> Iterator[Path]:
    """A file or folder that goes if the block does not end well, by force or not."""
    note(path)
    try:
        yield path
    except BaseException:
        _remove(path)
        raise
    finally:
        forget(path)


def _remove(path: Path) -> None:
    import shutil

    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()


@contextmanager
def naming() -> Iterator[None]:
    """Files get their names: no process is killed meanwhile."""
    from lightloom import _core

    _core.ending_naming(True)
    try:
        yield
    finally:
        _core.ending_naming(False)
