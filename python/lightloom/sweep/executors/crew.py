"""Processes of this machine that each run one job at a time, so that one that dies names its job.

A worker takes jobs from its pipe and answers there: once when it begins, once with what came of
it. A pipe that its parent closes tells it to stop, and it looks while it simulates. Nothing else
is shared, so a death leaves no lock taken.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import connection
from types import TracebackType
from typing import Any

from lightloom.errors import ConfigError
from lightloom.simulation import interrupts
from lightloom.sweep.executors import process
from lightloom.sweep.executors.jobs import said

#: What a worker is given: called with what it is to look at while it works.
Work = Callable[["Line"], Any]
#: What a process ends with that is refused memory: by the system, or by itself.
_OF_MEMORY = (-signal.SIGABRT, -getattr(signal, "SIGKILL", 9))


@dataclass(frozen=True)
class Died:
    """A worker ended without an answer."""

    code: int | None
    """Its exit code; of a signal the negative number."""
    begun: bool
    """Whether it had begun its job."""

    @property
    def of_memory(self) -> bool:
        """Whether want of memory is the likely reason."""
        return self.code in _OF_MEMORY

    def __str__(self) -> str:
        if self.code is not None and self.code < 0:
            return signal.Signals(-self.code).name
        return f"exit code {self.code}"


class Line:
    """A worker's end of its pipe."""

    def __init__(self, pipe: connection.Connection) -> None:
        self._pipe = pipe

    def heed(self) -> None:
        """Raises KeyboardInterrupt once the parent has closed the pipe: it says nothing
        during a job."""
        try:
            closed = self._pipe.poll()
        except OSError:  # Windows
            closed = True
        if closed:
            raise KeyboardInterrupt

    def serve(self) -> None:
        """Does what is given until the pipe is closed."""
        while True:
            work: Work = self._pipe.recv()
            self._pipe.send(None)
            self._pipe.send_bytes(self._done(work))

    def _done(self, work: Work) -> bytes:
        """What came of a job, as it is sent: a value or an exception."""
        try:
            with process.busy():
                return pickle.dumps((work(self), None))
        except Exception as problem:
            if not isinstance(problem, (ConfigError, OSError)):
                problem.add_note("".join(traceback.format_exception(problem)))
            return pickle.dumps((None, _portable(problem)))


class Crew:
    """Workers; they end with the block."""

    def __init__(self) -> None:
        self._idle: list[_Worker] = []
        self._at_work: dict[int, _Worker] = {}

    @property
    def at_work(self) -> int:
        """How many have a job."""
        return len(self._at_work)

    def give(self, index: int, work: Work) -> None:
        """Has a worker begin a job, a new one if all have one."""
        while self._idle and not self._idle[-1].process.is_alive():
            self._idle.pop().line.close()
        worker = self._idle.pop() if self._idle else _Worker()
        self._at_work[index] = worker
        worker.begin(work)

    def answers(self, ctrl_c: interrupts.Noted) -> Iterator[tuple[int, Any]]:
        """What has come of jobs, by their index, as soon as there is some: values, exceptions,
        and `Died`.

        Raises:
            KeyboardInterrupt: soon after Ctrl-C.
        """
        ctrl_c.heed()
        # A line alone would not do: what a job has started may hold the other end of it.
        lines = {w.line: index for index, w in self._at_work.items()}
        ends = {w.process.sentinel: index for index, w in self._at_work.items()}
        ready = connection.wait([*lines, *ends], interrupts.PATIENCE_S)
        for index in dict.fromkeys((lines | ends)[one] for one in ready):  # type: ignore[index]
            worker = self._at_work[index]
            came = worker.answer()
            if came is None:
                continue
            del self._at_work[index]
            if isinstance(came[0], Died):
                worker.line.close()
                ctrl_c.heed_soon()  # a signal to the whole group ends workers first
            else:
                self._idle.append(worker)
            yield index, came[0]

    def dismiss(self) -> None:
        """Ends those that have no job, and what memory they hold."""
        idle, self._idle = self._idle, []
        _end(idle)

    def __enter__(self) -> Crew:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _end([*self._idle, *self._at_work.values()])


class _Worker:
    """A process, as its parent sees it."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.line, theirs = context.Pipe()
        with theirs, process.started():
            self.process = context.Process(target=_serve, args=(theirs, os.getpid()))
            self.process.start()
        self._begun = False

    def begin(self, work: Work) -> None:
        self._begun = False
        with suppress(OSError):  # if it is gone, that is seen when its answer is looked for
            self.line.send(work)

    def answer(self) -> tuple[Any] | None:
        """What has come of its job; None if nothing has yet."""
        while True:
            # In this order: what it said before it ended counts.
            gone = not self.process.is_alive()
            try:
                if not self.line.poll():
                    return (self._died(),) if gone else None
                received = self.line.recv()
            except (EOFError, OSError):
                return (self._died(),)
            if received is not None:
                value, problem = received
                return (value if problem is None else problem,)
            self._begun = True

    def _died(self) -> Died:
        self.process.join()
        return Died(self.process.exitcode, self._begun)


def _end(workers: list[_Worker]) -> None:
    for worker in workers:
        worker.line.close()
    process.end([worker.process for worker in workers])


def _serve(pipe: connection.Connection, parent: int) -> None:
    """The life of a worker."""
    process.begin(parent)
    with suppress(EOFError, OSError, KeyboardInterrupt):  # the pipe was closed
        Line(pipe).serve()


def _portable(problem: Exception) -> Exception:
    """The exception, or one that says the same, where it does not survive the pipe."""
    try:
        pickle.loads(pickle.dumps(problem))
    except Exception:
        return RuntimeError(said(problem))
    return problem
