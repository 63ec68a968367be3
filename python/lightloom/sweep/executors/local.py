"""Simulations in parallel processes of this machine.

Each worker is a new interpreter (`spawn`), so that nothing is shared but the job itself.
Interruption is cooperative: workers check their pipe, which the parent closes (`crew`); `process`
contains the other ways in which they end.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import lightloom
from lightloom.errors import ConfigError, refusal
from lightloom.simulation import interrupts
from lightloom.sweep.executors.crew import Crew, Died, Line
from lightloom.sweep.executors.jobs import ALLOWED_DEATHS, Done, Failed, Job, Summary, Told, unheard


@dataclass(frozen=True)
class Local:
    """An executor that uses processes of this machine."""

    at_once: int = 1
    told: Told = unheard
    """Called with a text about each job that is tried again because its process died."""
    apart: bool = False
    """Whether a single simulation also runs in a process of its own, so that a job that crashes
    ends only that process. (A script without `if __name__ == "__main__":` cannot start one.)"""

    def run_jobs(
        self,
        jobs: Sequence[Job],
        done: Done,
        *,
        first: Sequence[int] | None = None,
        keep_going: bool = False,
    ) -> list[Summary | Failed]:
        """Runs jobs as `Executor.run_jobs` does."""
        return run_jobs(
            jobs,
            self.at_once,
            done,
            first=first,
            keep_going=keep_going,
            told=self.told,
            apart=self.apart,
        )


def run_jobs(
    jobs: Sequence[Job],
    workers: int,
    done: Done = lambda index, summary: None,
    *,
    first: Sequence[int] | None = None,
    keep_going: bool = False,
    told: Told = unheard,
    apart: bool = False,
) -> list[Summary | Failed]:
    """Runs all jobs in `workers` processes, as `Executor.run_jobs` does; in this process if that is
    1 and `apart` is not set. A job whose process died is tried again after all others, with no
    other job in parallel, up to `ALLOWED_DEATHS` times; `told` is called each time."""
    order = list(range(len(jobs)) if first is None else first)
    made: dict[int, Summary | Failed] = {}

    def take(index: int, result: Callable[[], Summary]) -> None:
        made[index] = _outcome(result, keep_going)
        done(index, made[index])

    if min(workers, len(jobs)) <= 1 and not apart:
        for index in order:
            take(index, partial(_run, jobs[index]))
    else:
        with interrupts.noted() as ctrl_c, Crew() as crew:
            for index, answer in _answers(jobs, order, workers, crew, ctrl_c, told):
                take(index, partial(_given, answer))
    return [made[index] for index in range(len(jobs))]


def _answers(
    jobs: Sequence[Job],
    order: Sequence[int],
    workers: int,
    crew: Crew,
    ctrl_c: interrupts.Noted,
    told: Told,
) -> Iterator[tuple[int, Summary | Exception]]:
    """Yields the summary or the exception of each job as it finishes.

    Raises:
        ConfigError: if processes end before they begin any job.
    """
    waiting, again = deque(order), deque[int]()
    deaths, unborn = Counter[int](), 0
    while waiting or again or crew.at_work:
        while waiting and crew.at_work < workers:
            index = waiting.popleft()
            crew.give(index, partial(_work, jobs[index]))
        if again and not crew.at_work:
            crew.dismiss()  # run alone, because others may have used up the memory
            index = again.popleft()
            crew.give(index, partial(_work, jobs[index]))
        for index, came in crew.answers(ctrl_c):
            if not isinstance(came, Died):
                unborn = 0
                yield index, came
            elif not came.begun:
                unborn += 1
                if unborn > ALLOWED_DEATHS:
                    raise _unborn(workers, came)
                (again if deaths[index] else waiting).appendleft(index)
            else:
                unborn = 0
                deaths[index] += 1
                if deaths[index] > ALLOWED_DEATHS:
                    yield index, _lost(deaths[index], came)
                else:
                    again.append(index)
                    told(_again(jobs[index], deaths[index], came))


def _again(job: Job, deaths: int, last: Died) -> str:
    """States that a job is tried again."""
    return (
        f"{job}: its process died ({last}); it is tried again when the others are done, with "
        f"nothing beside it: try {deaths + 1} of {ALLOWED_DEATHS + 1}"
    )


def _lost(deaths: int, last: Died) -> ConfigError:
    """Returns the error for a job whose processes died."""
    why = ", most likely for lack of memory," if last.of_memory else ","
    remedy = "free some, or make it smaller" if last.of_memory else "what it wrote may tell why"
    return ConfigError(
        f"{deaths} processes died of it{why} the last of them ({last}) with nothing beside it; "
        f"{remedy}"
    )


def _unborn(workers: int, last: Died) -> ConfigError:
    limit = f"processes end before they begin ({last})"
    main = 'a script needs `if __name__ == "__main__":`'
    return refusal("--workers", workers, limit, f"use fewer, if memory is short; {main}")


def _outcome(result: Callable[[], Summary], keep_going: bool) -> Summary | Failed:
    """Returns the result of a job. An error in writing the result is not a failure of the job."""
    try:
        return result()
    except OSError:
        raise
    except Exception as problem:
        if not keep_going:
            raise
        return Failed.of(problem)


def _given(answer: Summary | Exception) -> Summary:
    """Returns the summary that a worker sent, or raises its exception."""
    if isinstance(answer, Exception):
        raise answer
    return answer


def _work(job: Job, line: Line) -> Summary:
    """Runs a job in a worker."""

    def heed(*at: Any) -> None:
        line.heed()

    return _run(job, heed)


def _run(job: Job, heed: Callable[..., None] | None = None) -> Summary:
    result = lightloom.run(job.experiment, job.fabric, progress=heed)
    if job.save is not None and job.target is not None:
        job.save(result, job.target)
    return dict(result.summary)
