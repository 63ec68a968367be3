"""Passes over all switches in parallel, on a few threads, so that a switch that does not answer
does not delay others."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from queue import SimpleQueue

from lightloom.controller.transaction_log import Transaction

Made = list[Transaction]
Job = Callable[[], Made]


class Passes:
    """The threads that carry out passes.

    They are daemon threads, so that the end of the process does not wait for a switch.
    """

    def __init__(self, workers: int) -> None:
        """Starts the threads; with one worker, jobs run in order in the caller's thread."""
        self.failed: dict[str, BaseException] = {}
        """The error of each switch whose last completed job failed."""
        self._running: dict[str, Future[Made]] = {}
        self._queue: SimpleQueue[tuple[Future[Made], Job]] = SimpleQueue()
        self._is_parallel = workers > 1
        for number in range(workers if self._is_parallel else 0):
            name = f"pass-{number}"
            threading.Thread(target=self._work, name=name, daemon=True).start()

    def run(self, jobs: Mapping[str, Job], wait_s: float | None = None) -> Made:
        """Carries out a job for each switch; returns the transactions of completed jobs.

        Args:
            jobs: by the names of switches. A switch whose earlier job is still running is skipped.
            wait_s: the longest wait for all of them; None: until all are over.

        Raises:
            Exception: the exception of a job, after all others have ended or the wait is over.
        """
        if not self._is_parallel:
            self.failed = {}
            return [one for job in jobs.values() for one in job()]
        for name, job in jobs.items():
            if name not in self._running:
                self._running[name] = Future()
                self._queue.put((self._running[name], job))
        over = wait(self._running.values(), wait_s).done
        ended = {name: one for name, one in self._running.items() if one in over}
        problems = {}
        for name, one in ended.items():
            del self._running[name]
            self.failed.pop(name, None)
            if (problem := one.exception()) is not None:
                problems[name] = problem
        self.failed |= problems
        for problem in problems.values():
            raise problem
        return [made for one in ended.values() for made in one.result()]

    def _work(self) -> None:
        while True:
            future, job = self._queue.get()
            try:
                future.set_result(job())
            except BaseException as problem:
                future.set_exception(problem)
