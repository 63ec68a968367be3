"""The code that runs in a worker of a cluster: one simulation, from a task with all its input."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import lightloom
from lightloom.errors import ConfigError
from lightloom.sweep.executors import build, travel
from lightloom.sweep.executors.build import Build
from lightloom.sweep.executors.jobs import said

#: States of a task that is still requested, in Dask's terms.
WANTED = ("executing", "long-running", "resumed")


class Unwanted(Exception):  # noqa: N818 - it is no error
    """The client cancelled the task, or has ended."""


@dataclass(frozen=True)
class Task:
    """A simulation; the bytes of its files are separate arguments."""

    build: Build
    """The build of the client; a worker with another build does not run the task."""
    experiment: lightloom.Experiment
    fabric: str
    files: tuple[str, ...]
    """The paths of its files on the client."""
    threads: int = 1
    whole: bool = True
    """Whether the tables of the result are returned."""


@dataclass(frozen=True)
class Answer:
    """The result of a task, or the reason for its failure."""

    worker: str
    build: Build
    result: lightloom.Result | None = None
    failed: str | None = None
    """The message of the exception that ended the simulation."""
    refused: tuple[str | None, ...] | None = None
    """The key, value, limit, remedy and trace of the exception, if it was a `ConfigError`."""

    def problem(self) -> ConfigError:
        """The exception, as the client raises it."""
        if self.refused is None:
            return ConfigError(f"{self.worker}: {self.failed}; its log may tell more")
        made = ConfigError(self.failed or "")
        made.key, made.value, made.limit, made.remedy, made.trace = self.refused
        return made


def carried(content: bytes) -> bytes:
    """Returns the bytes of a file. As a task of its own, a file is sent to the cluster once, and
    again only if the worker that had it died."""
    return content


def simulate(task: Task, *contents: bytes) -> Answer:
    """Runs a task in a worker.

    Raises:
        Unwanted: if the task was cancelled meanwhile.
    """
    worker, scratch, heed = _surroundings()
    own = build.here()
    if own != task.build:
        return Answer(worker, own)
    with tempfile.TemporaryDirectory(prefix="lightloom-", dir=scratch) as name:
        folder = Path(name).resolve()
        try:
            return Answer(worker, own, _simulated(task, contents, folder, heed))
        except ConfigError as problem:
            parts = (problem.key, problem.value, problem.limit, problem.remedy, problem.trace)
            back = tuple(part and travel.without(part, folder) for part in parts)
            return Answer(worker, own, None, travel.without(str(problem), folder), back)
        except Unwanted:
            raise
        except Exception as problem:
            return Answer(worker, own, None, travel.without(said(problem), folder))


def _simulated(
    task: Task, contents: tuple[bytes, ...], folder: Path, heed: Callable[..., None]
) -> lightloom.Result:
    files = dict(zip(task.files, contents, strict=True))
    experiment = travel.unpacked(task.experiment, files, folder)
    heed()
    result = lightloom.run(experiment, task.fabric, threads=task.threads, progress=heed)
    result = replace(result, experiment=travel.returned(result.experiment, folder))
    if task.whole:
        return result
    return replace(
        result,
        flows=result.flows.slice(0, 0),
        timeseries=result.timeseries.slice(0, 0),
        circuits=None,
        controller_log=None,
    )


def _surroundings() -> tuple[str, str, Callable[..., None]]:
    """Returns the worker's address, its temporary folder, and a function that raises `Unwanted`
    after its task was cancelled. The scheduler also cancels the task if the client died."""
    from distributed import get_worker

    worker = get_worker()
    key = worker.get_current_task()

    def heed(*at: object) -> None:
        state = worker.state.tasks.get(key)
        if state is None or state.state not in WANTED:
            raise Unwanted

    return worker.address, worker.local_directory, heed
