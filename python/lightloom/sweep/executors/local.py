"""Simulations side by side in processes of this machine.

Each worker is a fresh interpreter (`spawn`), so that nothing is shared but
the job itself. Interruption is cooperative: workers look at a flag that the
parent sets; how else they end is in `process`.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing.synchronize import Event

import lightloom
from lightloom import interrupts
from lightloom.errors import refusal
from lightloom.sweep.executors import process
from lightloom.sweep.executors.jobs import Done, Failed, Job, Summary

_stop: Event | None = None


@dataclass(frozen=True)
class Local:
    """An executor: so many processes of this machine."""

    at_once: int = 1

    def run_jobs(
        self,
        jobs: Sequence[Job],
        done: Done,
        *,
        first: Sequence[int] | None = None,
        keep_going: bool = False,
    ) -> list[Summary | Failed]:
        """As `Executor.run_jobs`."""
        return run_jobs(jobs, self.at_once, done, first=first, keep_going=keep_going)


def run_jobs(
    jobs: Sequence[Job],
    workers: int,
    done: Done = lambda index, summary: None,
    *,
    first: Sequence[int] | None = None,
    keep_going: bool = False,
) -> list[Summary | Failed]:
    """Runs all jobs in so many processes, in this one if that is 1: as
    `Executor.run_jobs`."""
    order = list(range(len(jobs)) if first is None else first)
    made: dict[int, Summary | Failed] = {}
    if workers <= 1 or len(jobs) <= 1:
        for index in order:
            made[index] = _outcome(partial(_run, jobs[index]), keep_going)
            done(index, made[index])
        return [made[index] for index in range(len(jobs))]
    with interrupts.noted() as ctrl_c, _started(min(workers, len(jobs))) as (pool, stop):
        try:
            with process.started():  # submitting is what starts the workers
                pending = {pool.submit(_work, jobs[index]): index for index in order}
            while pending:
                for future in ctrl_c.finished(pending):
                    index = pending.pop(future)
                    made[index] = _outcome(future.result, keep_going)
                    done(index, made[index])
        except BrokenProcessPool:
            ctrl_c.heed_soon()  # a signal to the whole group ended the workers first
            limit = "a process ended abruptly, most likely for want of memory"
            raise refusal("--workers", workers, limit, "use fewer") from None
        except BaseException:
            stop.set()
            process.end(pool)
            raise
    return [made[index] for index in range(len(jobs))]


@contextmanager
def _started(workers: int) -> Iterator[tuple[ProcessPoolExecutor, Event]]:
    """A pool of so many processes, and what tells them to stop."""
    context = multiprocessing.get_context("spawn")
    with process.started():  # with the first of these comes the process that cleans up
        stop = context.Event()
    given = (stop, os.getpid())
    with ProcessPoolExecutor(workers, context, initializer=_begin, initargs=given) as pool:
        yield pool, stop


def _outcome(result: Callable[[], Summary], keep_going: bool) -> Summary | Failed:
    """What came of a job. That a result cannot be written is no failure of its own."""
    try:
        return result()
    except (BrokenProcessPool, OSError):
        raise
    except Exception as problem:
        if not keep_going:
            raise
        return Failed.of(problem)


def _begin(stop: Event, parent: int) -> None:
    global _stop
    _stop = stop
    process.begin(parent)


def _work(job: Job) -> Summary:
    with process.busy():
        return _run(job)


def _run(job: Job) -> Summary:
    result = lightloom.run(job.experiment, job.fabric, progress=_heed)
    if job.save is not None and job.target is not None:
        job.save(result, job.target)
    return dict(result.summary)


def _heed(label: str, now_s: float, end_s: float, delivered: float) -> None:
    if _stop is not None and _stop.is_set():
        raise KeyboardInterrupt
