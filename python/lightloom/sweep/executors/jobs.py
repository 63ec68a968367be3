"""What executors are given and what they give back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

import lightloom
from lightloom.errors import ConfigError

Summary = dict[str, Any]
#: Told the index of a job, and what came of it.
Done = Callable[[int, "Summary | Failed"], object]
#: Told in a line that a job is tried again, and why.
Told = Callable[[str], object]
T = TypeVar("T")
#: Workers that may die of a job until it is given up with the next; a scheduler of Dask has a
#: number of its own, by default the same.
ALLOWED_DEATHS = 3


@dataclass(frozen=True)
class Job:
    """One fabric of one experiment."""

    experiment: lightloom.Experiment
    fabric: str
    target: Path | None = None
    save: Callable[[lightloom.Result, Path], None] | None = None
    """Told the result and `target`, on the machine that the command runs on."""
    whole: bool = True
    """Whether `save` needs the tables of the result; else its summary is enough to send."""
    name: str = ""
    """What users call it."""

    def __str__(self) -> str:
        """What it is called where it is spoken of."""
        if self.name:
            return self.name
        seed = self.experiment.raw.get("run", {}).get("seed")
        return self.fabric if seed is None else f"{self.fabric}, seed {seed}"


@dataclass(frozen=True)
class Failed:
    """A job that came to nothing, where the others go on."""

    message: str
    trace: str | None = None
    """Where it arose, in the code of a user's policy."""

    @classmethod
    def of(cls, problem: BaseException) -> Failed:
        """What is to be said of an exception."""
        return cls(said(problem), getattr(problem, "trace", None))


class Executor(Protocol):
    """Where simulations run: processes of this machine, or workers of a cluster."""

    @property
    def at_once(self) -> int:
        """How many simulations run side by side, as far as is known."""

    def run_jobs(
        self,
        jobs: Sequence[Job],
        done: Done,
        *,
        first: Sequence[int] | None = None,
        keep_going: bool = False,
    ) -> list[Summary | Failed]:
        """Runs all jobs and returns their summaries in the order of the jobs.

        `done` hears of each as it finishes; `first` is the order in which they begin, by
        index. A job that fails stops those that have not begun, and its exception is raised;
        with `keep_going` it is `Failed`, and the others go on. What `save` raises (OSError)
        always ends it. A job whose worker dies is tried again, and has failed when more than
        a few have died of it.

        Raises:
            ConfigError: if a job fails, or where the executor itself does.
            KeyboardInterrupt: soon after Ctrl-C; what has not finished is stopped.
        """


def unheard(line: str) -> None:
    """Ignores a line."""


def said(problem: BaseException) -> str:
    """The message of an exception; one that a user did not cause also has its name."""
    text = " ".join(str(problem).split())
    if isinstance(problem, ConfigError):
        return text
    return f"{type(problem).__name__}: {text}" if text else type(problem).__name__
