"""Simulations side by side in processes of this machine.

Each worker is a fresh interpreter (`spawn`), so that nothing is shared but
the job itself. Interruption is cooperative: workers ignore Ctrl-C, which
reaches the whole process group, and look at a flag that the parent sets, so
that a worker never dies between writing a file and giving it its name.
"""

from __future__ import annotations

import multiprocessing
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

import lightloom
from lightloom import interrupts
from lightloom.errors import refusal

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
    stop = context.Event()
    summaries: dict[int, Summary] = {}
    with (
        interrupts.noted() as ctrl_c,
        ProcessPoolExecutor(
            min(workers, len(jobs)), context, initializer=_begin, initargs=(stop,)
        ) as pool,
    ):
        pending: dict[Future[Summary], int] = {}
        try:
            with _interrupts_held():  # submitting is what starts the workers
                pending = {pool.submit(_run, job): index for index, job in enumerate(jobs)}
            while pending:
                for future in ctrl_c.finished(pending):
                    index = pending.pop(future)
                    summaries[index] = future.result()
                    done(index, summaries[index])
        except BrokenProcessPool:
            limit = "a process ended abruptly, most likely for want of memory"
            raise refusal("--workers", workers, limit, "use fewer") from None
        except BaseException:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    return [summaries[index] for index in range(len(jobs))]


def _run_here(index: int, job: Job, done: Callable[[int, Summary], None]) -> Summary:
    summary = _run(job)
    done(index, summary)
    return summary


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Delivers Ctrl-C at the end only. Processes started within inherit this,
    so that none is interrupted while it still imports what `_begin` needs."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(stop: Event) -> None:
    global _stop
    _stop = stop
    sys.stdout = sys.stderr  # what policies print is none of the command's output
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _run(job: Job) -> Summary:
    result = lightloom.run(job.experiment, job.fabric, progress=_heed)
    if job.save is not None and job.target is not None:
        job.save(result, job.target)
    return dict(result.summary)


def _heed(label: str, now_s: float, end_s: float, delivered: float) -> None:
    if _stop is not None and _stop.is_set():
        raise KeyboardInterrupt
