"""Simulations on a Dask cluster: a scheduler, and workers that were started elsewhere.

A task contains all its input (`travel`); workers need only the package. The workers are not owned
by the command: it sends tasks, reads results, and leaves the workers running at the end.
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

#: Interval at which finished tasks are collected [s].
POLL_S = 0.05
KEY = "--scheduler"


class Cluster:
    """An executor that uses the workers of one scheduler. `told` is called with a text about each
    worker that dies."""

    def __init__(self, client: Client, told: Told = unheard) -> None:
        self._client = client
        self._names: dict[str, str] = {}
        deaths.listen(client, self._names, told)
        self._build = build.here()
        self._files: dict[str, Future] = {}

    @property
    def address(self) -> str:
        """The address of the scheduler."""
        return str(self._client.scheduler.address)

    @property
    def dashboard(self) -> str | None:
        """The address of the scheduler's dashboard; None without one."""
        link = self._client.dashboard_link
        return str(link) if link else None

    @property
    def at_once(self) -> int:
        """The number of threads of all present workers; each thread runs a simulation."""
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
        """Runs jobs as `Executor.run_jobs` does. If a worker dies, its simulations run on others,
        as often as the scheduler permits (`distributed.scheduler.allowed-failures`)."""
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
        """Simulates as `lightloom.run` does, on one of the workers."""
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
        """A file on the cluster; it is sent when it is first needed."""
        if digest not in self._files:
            key = f"lightloom-file-{digest}-{uuid4().hex}"
            self._files[digest] = self._client.submit(carried, Path(path).read_bytes(), key=key)
        return self._files[digest]

    @contextmanager
    def _taken_back(
        self, pending: dict[str, tuple[int, Future]]
    ) -> Iterator[dict[str, tuple[int, Future]]]:
        """Collects futures by their keys; those that remain at the end are cancelled."""
        try:
            yield pending
        finally:
            left = [future for _, future in pending.values()]
            if left and self._client.status == "running":
                self._client.cancel(left, force=True)

    def _answers(
        self, pending: dict[str, tuple[int, Future]], heed: Callable[[], object]
    ) -> Iterator[tuple[int, lightloom.Result | ConfigError]]:
        """Yields the result of each task when it arrives, and removes it from `pending`.

        Raises:
            ConfigError: if the scheduler is not reachable, or a worker has another build.
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
                    coming.add(future)  # its worker died; the scheduler repeats it on another
                    continue
                index, _ = pending.pop(future.key)
                yield index, self._read(future, answer)
            if self._client.status in ("closed", "closing"):
                raise self._gone()
            time.sleep(POLL_S)

    def _read(self, future: Future, answer: Any) -> lightloom.Result | ConfigError:
        """Returns the result of a task, or its error. A result that has arrived counts even if its
        worker has died since."""
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
    """Returns the error for a task without an exception of its own: its workers died, or could not
    unpickle it."""
    from distributed import KilledWorker

    if isinstance(problem, KilledWorker):
        times = problem.allowed_failures + 1
        last = getattr(problem.last_worker, "address", problem.last_worker)
        return ConfigError(
            f"{times} workers died of it, most likely for lack of memory, the last of them "
            f"{last}; give workers more, or fewer threads"
        )
    text = " ".join(str(problem).split())
    return ConfigError(f"a worker could not run it: {type(problem).__name__}: {text}; see its log")


def other_build(own: build.Build, found: Mapping[str, object]) -> ConfigError:
    """Returns the error for workers with another build; `found` is the build of each, or the
    exception that it raised."""
    worker, answer = next(iter(found.items()))
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    if isinstance(answer, build.Build):
        limit = f"has Lightloom {answer}, and this is {own}"
    else:
        limit = f"has no Lightloom {own.version} that answers ({type(answer).__name__}: {answer})"
    remedy = 'install the same wheel there, as "lightloom[cluster]"'
    return refusal("worker", f"{worker}{more}", limit, remedy)
