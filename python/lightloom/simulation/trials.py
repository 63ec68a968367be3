"""Short trials, from which the time of whole runs is forecast."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from typing import Any, Protocol

from lightloom import _core
from lightloom.config.experiment import Experiment
from lightloom.config.refusal_text import in_words
from lightloom.simulation import trace_input


@dataclass(frozen=True)
class Reached:
    """The progress of a trial at one moment."""

    busy_s: float
    """Processor time so far [s]."""
    time_s: float
    """Simulated time so far [s]."""
    bytes: int
    """Bytes delivered so far."""


@dataclass(frozen=True)
class Trial:
    """The first milliseconds of a run, and the size of the whole run."""

    flows: int
    """Number of flows of the workload."""
    bytes: int
    """Bytes of these flows."""
    memory_bytes: int
    """Memory of the fabric and its flows [B], as the core estimates it."""
    prepared_s: float
    """Processor time to draw the flows and to build the fabric [s]."""
    early: Reached
    """The progress early in the trial. The beginning is not representative, because memory is
    touched for the first time."""
    whole: Reached
    """The progress at the end of the trial."""
    end_s: float | None
    """End of the run [s]; None if it ends when all flows are delivered."""
    hops: int | None
    """Hops of cells or packets in the trial; None for fabrics that simulate flows."""
    finished: bool
    """Whether the whole run fitted into the trial."""
    by_byte: float | None = None
    """Mean over bytes of the size of their flow [B]; None if the size distribution has no such
    mean."""
    cycle_s: float | None = None
    """Period in which circuits connect every pair of racks once, or at which circuits are decided
    [s]; None if circuits do not change."""
    measured: bool = False
    """Whether the run ends with its window, before all its flows have arrived."""


class Lost(Exception):  # noqa: N818 - it is not an error of the trial
    """A trial ended the process that it ran in; the message states how."""


class Try(Protocol):
    """A function as `tried`, which may run the trial in another process."""

    def __call__(self, experiment: Experiment, label: str, *, seconds: float) -> Trial:
        """Runs a trial; raises `Lost` if its process ended."""


def tried(experiment: Experiment, label: str, *, seconds: float, threads: int = 1) -> Trial:
    """Runs the fabric of that label for `seconds` of processor time; the first seed if the
    experiment repeats.

    Raises:
        ConfigError: if the experiment is invalid.
    """
    pinned = experiment.runnable(label).pinned()
    resolved, index = pinned.resolved(), pinned.index(label)
    columns = trace_input.columns_for(resolved)
    with in_words():
        made = json.loads(_core.trial(pinned.json(), index, threads, seconds, columns))
    early, whole = Reached(**made.pop("early")), Reached(**made.pop("whole"))
    measured = resolved["run"]["stop"] == "measured"
    return Trial(**made, early=early, whole=whole, measured=measured)


def relaxation_s(experiment: Experiment, label: str) -> float | None:
    """Returns the relaxation time of the slowest queue in a short run of the fabric of that label
    [s], with the first seed; None if no theory gives it. Each run is made once and cached.

    Raises:
        ConfigError: if the experiment is invalid.
    """
    pinned = experiment.runnable(label).pinned()
    columns = trace_input.columns_for(pinned.resolved())
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
