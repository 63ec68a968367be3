"""Short pieces of runs, by which the core tells what the whole would take."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from typing import Any, Protocol

from lightloom import _core
from lightloom.config.experiment import Experiment
from lightloom.config.refusal_text import in_words
from lightloom.simulation import traces


@dataclass(frozen=True)
class Reached:
    """How far a trial was."""

    busy_s: float
    """After this time of a processor [s]."""
    time_s: float
    """The simulated time [s]."""
    bytes: int
    """Bytes delivered."""


@dataclass(frozen=True)
class Trial:
    """What the first milliseconds of a run came to, and what there is to do."""

    flows: int
    """All flows of the workload."""
    bytes: int
    """Their bytes."""
    memory_bytes: int
    """What the fabric and its flows take of memory [B], by the core's own estimate."""
    prepared_s: float
    """Time of a processor to draw the flows and to build the fabric [s]."""
    early: Reached
    """How far it was early on: what comes first, such as memory that is touched for the
    first time, is not how it goes on."""
    whole: Reached
    """How far it came."""
    end_s: float | None
    """When the run ends [s]; None where it goes on until everything is delivered."""
    hops: int | None
    """Cells or packets moved over a hop by then; None for fabrics of flows."""
    finished: bool
    """Whether the whole run fitted into the trial."""
    by_byte: float | None = None
    """Mean over bytes of the size of their flow [B]; None where no law gives it."""
    cycle_s: float | None = None
    """In what time circuits meet every pair of racks once, or are decided on again [s]; None where
    they do not change."""
    measured: bool = False
    """Whether the run ends with its window, so that more flows are there than it takes."""


class Lost(Exception):  # noqa: N818 - it is none of what was tried
    """A trial ended the process that it ran in; says how."""


class Try(Protocol):
    """`tried`, in this process or another."""

    def __call__(self, experiment: Experiment, label: str, *, seconds: float) -> Trial:
        """Raises `Lost` where that process ended."""


def tried(experiment: Experiment, label: str, *, seconds: float, threads: int = 1) -> Trial:
    """Runs the fabric of that label for so many seconds of this machine's time; of a
    repeated experiment the first seed.

    Raises:
        ConfigError: if it cannot run.
    """
    pinned = experiment.runnable(label).pinned()
    resolved, index = pinned.resolved(), pinned.index(label)
    columns = traces.columns_for(resolved)
    with in_words():
        made = json.loads(_core.trial(pinned.json(), index, threads, seconds, columns))
    early, whole = Reached(**made.pop("early")), Reached(**made.pop("whole"))
    measured = resolved["run"]["stop"] == "measured"
    return Trial(**made, early=early, whole=whole, measured=measured)


def relaxation_s(experiment: Experiment, label: str) -> float | None:
    """The relaxation time of the slowest queue in a short run of the fabric of that label [s], of a
    repeated experiment in the first seed; None where no theory gives it. A run is made once.

    Raises:
        ConfigError: if it cannot run.
    """
    pinned = experiment.runnable(label).pinned()
    columns = traces.columns_for(pinned.resolved())
    if columns is not None:
        return _relaxation_s(pinned.json(), pinned.index(label), columns)
    return _relaxation_once(pinned.json(), pinned.index(label))


@functools.lru_cache(maxsize=1024)
def _relaxation_once(text: str, index: int) -> float | None:
    return _relaxation_s(text, index, None)


def _relaxation_s(text: str, index: int, columns: dict[str, Any] | None) -> float | None:
    with in_words():
        summary, *_ = _core.run(text, index, 1, None, columns)
    found: float | None = json.loads(summary).get("relaxation_s")
    return found
