"""Signals that end a command: SIGINT (Ctrl-C), SIGTERM and SIGHUP.

The first signal raises `Ended` in the main thread; the code that it passes through cleans up.
Further signals do nothing. If the command has not ended after its grace period, a thread of the
compiled core removes the files that are noted here and ends the process.

This module is loaded before all others and therefore imports little.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar, NoReturn

#: Signal → the word with which the command reports its end.
SAID = {"SIGINT": "interrupted", "SIGTERM": "terminated", "SIGHUP": "hung up"}
LEFT_NOTHING = "nothing unfinished was written"
#: Time within which a command must end by itself after a signal [s].
GRACE_S = 0.6
#: The same for a worker process, for which its parent waits.
WORKER_GRACE_S = 0.2
#: Time after which an `Ended` that a callback has lost is raised again [s].
LOST_S = 0.01


class Ended(KeyboardInterrupt):
    """A signal ends the command."""


class _State:
    """The signals that this process has received, and how they are handled."""

    first: int | None = None
    """The signal that ends the process."""
    reported = False
    """Whether the message to the user has been written."""
    noting: ClassVar[list[Any]] = []
    """Objects that record a signal instead of letting it raise; the innermost is last."""
    left = LEFT_NOTHING
    """The message about what the command leaves behind if a signal ends it now."""
    watched = False
    """Whether the core writes the message if it ends the process."""


def is_ours(handler: object) -> bool:
    """Whether a signal handler is the one of this module."""
    return handler is strike


def strike(signum: int, frame: object) -> None:
    """Handles a signal: raises `Ended`, or sets `pressed` of the innermost object of `noting`."""
    if _State.first is not None:
        return  # the process is already ending; a second exception would interrupt its clean-up
    _State.first = signum
    if _State.noting:
        _State.noting[-1].pressed = True
    else:
        raise Ended


@contextmanager
def noting(state: Any) -> Iterator[None]:
    """Sets `state.pressed` instead of raising when a signal arrives in the block."""
    _State.noting.append(state)
    try:
        yield
    finally:
        _State.noting.remove(state)


def leave(signum: int, frame: object) -> None:
    """Handles a signal while modules are loaded. There is nothing to clean up then, and an
    exception could be lost in a callback of the import."""
    with suppress(OSError):
        os.write(2, f"{line(signal.Signals(signum).name)}\n".encode())
    os._exit(128 + signum)


def raise_again(lost: Any) -> None:
    """Hook for exceptions that Python cannot raise: those in callbacks, as of weak references and
    of the import system. Raises `Ended` again a moment later and reports all others as usual."""
    if lost.exc_type is not Ended:
        sys.__unraisablehook__(lost)
        return
    left = threading.Event()

    def send() -> None:
        left.wait()
        time.sleep(LOST_S)  # until the main thread has left the callback, too
        number, _State.first = _first(), None
        signal.pthread_kill(threading.main_thread().ident or 0, number)

    threading.Thread(target=send, daemon=True).start()
    left.set()


def handled(by: Any = strike) -> None:
    """Installs the handler for all signals that are not ignored (as under nohup). Main thread
    only."""
    sys.unraisablehook = raise_again
    for name in SAID:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, by)


def watched(grace_s: float = GRACE_S, *, silent: bool = False) -> None:
    """Lets the core end this process if it does not end by itself after a signal. Call `handled`
    first."""
    from lightloom import _core

    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    # The pipe of an earlier call stays open, because a signal may just have been written to it.
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    _State.watched = not silent
    numbers = {name: getattr(signal, name) for name in SAID}
    caught = {n: s for n, s in numbers.items() if callable(signal.getsignal(s))}
    codes = [(int(s), None if silent else line(n)) for n, s in caught.items()]
    _core.ending_watch(reading, grace_s, codes)


def leaves(what: str = LEFT_NOTHING, grace_s: float = GRACE_S) -> None:
    """Sets the message about what the command leaves behind if a signal ends it, and the time
    within which it must then end by itself. Main thread only."""
    if what == _State.left:
        return
    _State.left = what
    if _State.watched:
        watched(grace_s)  # starts again, because the core copies its messages at its start


def line(name: str = "") -> str:
    """Returns the message of a command that a signal ends; by default of the signal that ended it.

    >>> line("SIGTERM")
    'terminated: nothing unfinished was written'
    """
    return f"{SAID[name or signal.Signals(_first()).name]}: {_State.left}"


def code() -> int:
    """The exit code of a command that a signal has ended, as shells define it."""
    return 128 + _first()


def _first() -> int:
    return int(signal.SIGINT if _State.first is None else _State.first)


def struck() -> bool:
    """Whether a signal has ended this process."""
    return _State.first is not None


def mark_reported() -> None:
    """Records that the message to the user follows, so that it is not repeated. Called before the
    message is written, because the core may end the process at any time and would write it
    again."""
    _State.reported = True
    if core := sys.modules.get("lightloom._core"):
        core.ending_told()


def end() -> NoReturn:
    """Ends the process after a signal, without shutting down the interpreter: threads of the core
    may still be computing results that are discarded."""
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


def note(path: Path, *, only_empty: bool = False) -> None:
    """Notes a file or folder to be removed if the process is ended by force, until `forget`; a
    folder perhaps only if it is then empty."""
    from lightloom import _core

    _core.ending_unfinished(path.absolute(), only_empty)


def forget(path: Path) -> None:
    """Cancels `note`: the file or folder is finished or removed."""
    from lightloom import _core

    _core.ending_finished(path.absolute())


@contextmanager
def noted(path: Path) -> Iterator[None]:
    """Notes a file or folder until the end of the block."""
    note(path)
    try:
        yield
    finally:
        forget(path)
