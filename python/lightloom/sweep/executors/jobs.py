"""Jobs and results of executors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

import lightloom
from lightloom.errors import ConfigError

Summary = dict[str, Any]
#: Called with the index of a job and its result.
Done = Callable[[int, "Summary | Failed"], object]
#: Called with a text if a job is tried again, with the reason.
Told = Callable[[str], object]
T = TypeVar("T")
#: Number of workers that may die while running a job before it fails; Dask schedulers have a
#: setting of their own with the same default.
ALLOWED_DEATHS = 3


@dataclass(frozen=True)
class Job:
    """One fabric of one experiment."""

    experiment: lightloom.Experiment
    fabric: str
    target: Path | None = None
    save: Callable[[lightloom.Result, Path], None] | None = None
    """Called with the result and `target`, on the machine of the command."""
    whole: bool = True
    """Whether `save` needs the tables of the result; otherwise only its summary is sent."""
    name: str = ""
    """The name of the job for users."""

    def __str__(self) -> str:
        """The name of the job in messages."""
        if self.name:
            return self.name
        seed = self.experiment.raw.get("run", {}).get("seed")
        return self.fabric if seed is None else f"{self.fabric}, seed {seed}"


@dataclass(frozen=True)
class Failed:
    """A job that failed while other jobs continue."""

    message: str
    trace: str | None = None
    """The traceback, if the error is in the code of a user's policy."""

    @classmethod
    def of(cls, problem: BaseException) -> Failed:
        """Makes the description of an exception."""
        return cls(said(problem), getattr(problem, "trace", None))


class Executor(Protocol):
    """The place of simulations: processes of this machine, or workers of a cluster."""

    @property
    def at_once(self) -> int:
        """The number of simulations that run in parallel, as far as known."""

    def run_jobs(
        self,
        jobs: Sequence[Job],
        done: Done,
        *,
        first: Sequence[int] | None = None,
        keep_going: bool = False,
    ) -> list[Summary | Failed]:
        """Runs all jobs and returns their summaries in the order of the jobs.

        `done` is called as each job finishes; `first` is the order in which jobs begin, as indices.
        If a job fails, jobs that have not begun are cancelled and its exception is raised; with
        `keep_going` its result is `Failed` and the others continue. An OSError from `save` always
        ends the run. If a worker dies, its job is tried again; the job fails after several deaths.

        Raises:
            ConfigError: if a job, or the executor itself, fails.
            KeyboardInterrupt: soon after Ctrl-C; unfinished jobs are stopped.
        """


def unheard(line: str) -> None:
    """Ignores a text."""


def said(problem: BaseException) -> str:
    """The message of an exception; with the name of its type, unless it is an error of the
    user's."""
    text = " ".join(str(problem).split())
    if isinstance(problem, ConfigError):
        return text
    return f"{type(problem).__name__}: {text}" if text else type(problem).__name__
