"""Processes of this machine that each run one job at a time, so that a dead process identifies its
job.

A worker receives jobs through its pipe and answers there: once when it begins, once with the
result. It stops if its parent closes the pipe, which it checks while it simulates. Nothing else is
shared, so that a death leaves no lock held.
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

#: A job of a worker: called with the pipe that it must check while it runs.
Work = Callable[["Line"], Any]
#: Exit codes of a process that ran out of memory: ended by the system, or by itself.
_OF_MEMORY = (-signal.SIGABRT, -getattr(signal, "SIGKILL", 9))


@dataclass(frozen=True)
class Died:
    """A worker ended without an answer."""

    code: int | None
    """The exit code; the negative number of a signal."""
    begun: bool
    """Whether it had begun its job."""

    @property
    def of_memory(self) -> bool:
        """Whether it probably ran out of memory."""
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
        """Raises KeyboardInterrupt if the parent has closed the pipe; it sends nothing during a
        job."""
        if self._pipe.poll():
            raise KeyboardInterrupt

    def serve(self) -> None:
        """Runs the jobs that it receives until the pipe is closed."""
        while True:
            work: Work = self._pipe.recv()
            self._pipe.send(None)
            self._pipe.send_bytes(self._done(work))

    def _done(self, work: Work) -> bytes:
        """Runs a job; returns its pickled value or exception."""
        try:
            with process.busy():
                return pickle.dumps((work(self), None))
        except Exception as problem:
            if not isinstance(problem, (ConfigError, OSError)):
                problem.add_note("".join(traceback.format_exception(problem)))
            return pickle.dumps((None, _portable(problem)))


class Crew:
    """Workers, which end with the block."""

    def __init__(self) -> None:
        self._idle: list[_Worker] = []
        self._at_work: dict[int, _Worker] = {}

    @property
    def at_work(self) -> int:
        """The number of workers that have a job."""
        return len(self._at_work)

    def give(self, index: int, work: Work) -> None:
        """Gives a job to an idle worker, or to a new one."""
        while self._idle and not self._idle[-1].process.is_alive():
            self._idle.pop().line.close()
        worker = self._idle.pop() if self._idle else _Worker()
        self._at_work[index] = worker
        worker.begin(work)

    def answers(self, ctrl_c: interrupts.Noted) -> Iterator[tuple[int, Any]]:
        """Yields the index of each finished job with its value, its exception, or `Died`.

        Raises:
            KeyboardInterrupt: soon after Ctrl-C.
        """
        ctrl_c.heed()
        # The pipe alone is not sufficient, because a process that a job started may hold its other
        # end.
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
                ctrl_c.heed_soon()  # a signal to the whole process group ends the workers first
            else:
                self._idle.append(worker)
            yield index, came[0]

    def dismiss(self) -> None:
        """Ends the idle workers and so releases their memory."""
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
    """A process, as seen by its parent."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.line, theirs = context.Pipe()
        with theirs, process.started():
            self.process = context.Process(target=_serve, args=(theirs, os.getpid()))
            self.process.start()
        self._begun = False

    def begin(self, work: Work) -> None:
        self._begun = False
        with suppress(OSError):  # if the process has ended, `answer` detects it
            self.line.send(work)

    def answer(self) -> tuple[Any] | None:
        """Returns the result of its job in a tuple; None if there is none yet."""
        while True:
            # The order matters: an answer that was sent before the process ended counts.
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
    """The main function of a worker."""
    process.begin(parent)
    with suppress(EOFError, OSError, KeyboardInterrupt):  # the pipe was closed
        Line(pipe).serve()


def _portable(problem: Exception) -> Exception:
    """Returns the exception, or a similar one if it cannot be pickled."""
    try:
        pickle.loads(pickle.dumps(problem))
    except Exception:
        return RuntimeError(said(problem))
    return problem
