"""Simulations side by side in processes of this machine.

Each worker is a fresh interpreter (`spawn`), so that nothing is shared but
the job itself. Interruption is cooperative: workers look at a flag that the
parent sets; how else they end is in `worker`.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

import lightloom
from lightloom import interrupts
from lightloom.errors import refusal
from lightloom.sweep import worker

Summary = dict[str, Any]
_stop: Event | None = None


@dataclass(frozen=True)
class Job:
    """One fabric of one experiment; `save` is told the result in the worker."""

    experiment: lightloom.Experiment
    fabric: str
    target: Path | None = None
    save: Callable[[lightloom.Result, Path], None] | None = None


def run_jobs(
    jobs: Sequence[Job],
    workers: int,
    done: Callable[[int, Summary], None] = lambda index, summary: None,
) -> list[Summary]:
    """Runs all jobs and returns their summaries in the order of the jobs.

    `done` hears of each as it finishes. The first job that fails stops those
    that have not begun, and its exception is raised.
    """
    if workers <= 1 or len(jobs) <= 1:
        return [_run_here(index, job, done) for index, job in enumerate(jobs)]
    context = multiprocessing.get_context("spawn")
    with worker.started():  # with the first of these comes the process that cleans up
        stop = context.Event()
    summaries: dict[int, Summary] = {}
    with (
        interrupts.noted() as ctrl_c,
        ProcessPoolExecutor(
            min(workers, len(jobs)), context, initializer=_begin, initargs=(stop, os.getpid())
        ) as pool,
    ):
        pending: dict[Future[Summary], int] = {}
        try:
            with worker.started():  # submitting is what starts them
                pending = {pool.submit(_work, job): index for index, job in enumerate(jobs)}
            while pending:
                for future in ctrl_c.finished(pending):
                    index = pending.pop(future)
                    summaries[index] = future.result()
                    done(index, summaries[index])
        except BrokenProcessPool:
            ctrl_c.heed_soon()  # a signal to the whole group ended the workers first
            limit = "a process ended abruptly, most likely for want of memory"
            raise refusal("--workers", workers, limit, "use fewer") from None
        except BaseException:
            stop.set()
            worker.end(pool)
            raise
    return [summaries[index] for index in range(len(jobs))]


def _run_here(index: int, job: Job, done: Callable[[int, Summary], None]) -> Summary:
    summary = _run(job)
    done(index, summary)
    return summary


def _begin(stop: Event, parent: int) -> None:
    global _stop
    _stop = stop
    worker.begin(parent)


def _work(job: Job) -> Summary:
    with worker.busy():
        return _run(job)


def _run(job: Job) -> Summary:
    result = lightloom.run(job.experiment, job.fabric, progress=_heed)
    if job.save is not None and job.target is not None:
        job.save(result, job.target)
    return dict(result.summary)


def _heed(label: str, now_s: float, end_s: float, delivered: float) -> None:
    if _stop is not None and _stop.is_set():
        raise KeyboardInterrupt
