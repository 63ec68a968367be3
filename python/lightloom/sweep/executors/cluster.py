"""Simulations on a cluster of Dask: a scheduler, and workers that were started elsewhere.

A task has all that it needs (`travel`); workers need the package and nothing else. What they
do is theirs: here they are asked, heard, and left alone at the end.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import lightloom
from lightloom.errors import ConfigError, refusal
from lightloom.simulation import interrupts
from lightloom.sweep.executors import build, deaths, travel
from lightloom.sweep.executors.jobs import Done, Failed, Job, Summary, Told, unheard
from lightloom.sweep.executors.worker import Answer, Task, carried, simulate

if TYPE_CHECKING:
    from distributed import Client, Future

#: Seconds between two looks at what has finished.
POLL_S = 0.05
KEY = "--scheduler"


class Cluster:
    """An executor: the workers of one scheduler. `told` hears of those that die."""

    def __init__(self, client: Client, told: Told = unheard) -> None:
        self._client = client
        self._names: dict[str, str] = {}
        deaths.listen(client, self._names, told)
        self._build = build.here()
        self._files: dict[str, Future] = {}

    @property
    def address(self) -> str:
        """The scheduler's."""
        return str(self._client.scheduler.address)

    @property
    def dashboard(self) -> str | None:
        """Where the scheduler shows what it does, if it does."""
        link = self._client.dashboard_link
        return str(link) if link else None

    @property
    def at_once(self) -> int:
        """Threads of all workers that are there now, of which each runs a simulation."""
        threads: Mapping[str, int] = self._client.nthreads()
        return max(1, sum(threads.values()))

    def run_jobs(
        self,
        jobs: Sequence[Job],
        done: Done,
        *,
        first: Sequence[int] | None = None,
        keep_going: bool = False,
    ) -> list[Summary | Failed]:
        """As `Executor.run_jobs`. A worker's death has its simulations run on others, as often
        as the scheduler allows (`distributed.scheduler.allowed-failures`)."""
        made: dict[int, Summary | Failed] = {}
        with interrupts.noted() as ctrl_c, self._taken_back({}) as pending:
            for rank, index in enumerate(range(len(jobs)) if first is None else first):
                ctrl_c.heed()
                future = self._submit(jobs[index], -rank)
                pending[future.key] = index, future
            for index, answer in self._answers(pending, ctrl_c.heed):
                job = jobs[index]
                if isinstance(answer, ConfigError):
                    if not keep_going:
                        raise answer
                    made[index] = Failed.of(answer)
                else:
                    if job.save is not None and job.target is not None:
                        job.save(answer, job.target)
                    made[index] = dict(answer.summary)
                done(index, made[index])
        return [made[index] for index in range(len(jobs))]

    def simulate(
        self,
        experiment: lightloom.Experiment,
        fabric: str | None = None,
        *,
        threads: int = 1,
        progress: Callable[[str, float, float, float], object] | None = None,
    ) -> lightloom.Result:
        """As `lightloom.run`, on one of the workers."""
        label = experiment.labels[experiment.index(fabric)]

        def heed() -> None:
            if progress is not None:
                progress(label, 0.0, 1.0, 0.0)

        future = self._submit(Job(experiment.runnable(label), label), 0, threads)
        with self._taken_back({future.key: (0, future)}) as pending:
            ((_, answer),) = self._answers(pending, heed)
        if isinstance(answer, ConfigError):
            raise answer
        if progress is not None:
            progress(label, 1.0, 1.0, 1.0)
        return answer

    def _submit(self, job: Job, priority: int, threads: int = 1) -> Future:
        luggage = travel.packed(job.experiment)
        files = [self._sent(path, digest) for path, digest in luggage.files.items()]
        paths = tuple(luggage.files)
        task = Task(self._build, luggage.experiment, job.fabric, paths, threads, job.whole)
        key = f"lightloom-simulate-{uuid4().hex}"
        self._names[key] = str(job)
        return self._client.submit(simulate, task, *files, key=key, priority=priority)

    def _sent(self, path: str, digest: str) -> Future:
        """A file on the cluster, sent when it is first needed."""
        if digest not in self._files:
            key = f"lightloom-file-{digest}-{uuid4().hex}"
            self._files[digest] = self._client.submit(carried, Path(path).read_bytes(), key=key)
        return self._files[digest]

    @contextmanager
    def _taken_back(
        self, pending: dict[str, tuple[int, Future]]
    ) -> Iterator[dict[str, tuple[int, Future]]]:
        """Futures by their keys, of which those that are left at the end are taken back."""
        try:
            yield pending
        finally:
            left = [future for _, future in pending.values()]
            if left and self._client.status == "running":
                self._client.cancel(left, force=True)

    def _answers(
        self, pending: dict[str, tuple[int, Future]], heed: Callable[[], object]
    ) -> Iterator[tuple[int, lightloom.Result | ConfigError]]:
        """What came of each, as it comes; it is out of `pending` by then.

        Raises:
            ConfigError: if the scheduler is gone, or a worker is of another build.
        """
        from distributed import as_completed

        futures = [future for _, future in pending.values()]
        coming = as_completed(
            futures, loop=self._client.loop, with_results=True, raise_errors=False
        )
        del futures
        while pending:
            heed()
            for future, answer in coming.next_batch(block=False):
                if future.status == "lost" and not isinstance(answer, Answer):
                    coming.add(future)  # its worker died: the scheduler has another compute it
                    continue
                index, _ = pending.pop(future.key)
                yield index, self._read(future, answer)
            if self._client.status in ("closed", "closing"):
                raise self._gone()
            time.sleep(POLL_S)

    def _read(self, future: Future, answer: Any) -> lightloom.Result | ConfigError:
        """The result of a task, or what it failed of. A result that is here counts, also if the
        worker that had it has died since."""
        if isinstance(answer, Answer):
            if answer.build != self._build:
                raise other_build(self._build, {answer.worker: answer.build})
            return answer.problem() if answer.result is None else answer.result
        if future.status == "cancelled":
            raise self._gone()
        return _lost(answer[1] if isinstance(answer, tuple) else answer)

    def _gone(self) -> ConfigError:
        limit = "the scheduler is gone, or took the tasks back"
        return refusal(KEY, self.address, limit, "start it again; a sweep goes on with --resume")


def _lost(problem: Any) -> ConfigError:
    """Of a task that ended by no exception of its own: its workers died, or could not read it."""
    from distributed import KilledWorker

    if isinstance(problem, KilledWorker):
        times = problem.allowed_failures + 1
        last = getattr(problem.last_worker, "address", problem.last_worker)
        return ConfigError(
            f"{times} workers died of it, most likely for want of memory, the last of them "
            f"{last}; give workers more, or fewer threads"
        )
    text = " ".join(str(problem).split())
    return ConfigError(f"a worker could not run it: {type(problem).__name__}: {text}; see its log")


def other_build(own: build.Build, found: Mapping[str, object]) -> ConfigError:
    """The refusal of workers that are not of this build; `found` is what each is, or the
    exception that it answered with."""
    worker, answer = next(iter(found.items()))
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    if isinstance(answer, build.Build):
        limit = f"has Lightloom {answer}, and this is {own}"
    else:
        limit = f"has no Lightloom {own.version} that answers ({type(answer).__name__}: {answer})"
    remedy = 'install the same wheel there, as "lightloom[cluster]"'
    return refusal("worker", f"{worker}{more}", limit, remedy)
