"""Short pieces of runs, by which the core tells what the whole would take."""

from __future__ import annotations

import json
from dataclasses import dataclass

from lightloom import _core, traces
from lightloom.config import Experiment
from lightloom.words import in_words


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
    """Time to draw the flows and to build the fabric [s]."""
    kernel_s: float
    """Time that the trial took in the kernel [s]."""
    reached_s: float
    """The simulated time that it reached [s]."""
    end_s: float | None
    """When the run ends [s]; None where it goes on until everything is delivered."""
    bytes_delivered: int
    """Bytes delivered by then."""
    hops: int | None
    """Cells or packets moved over a hop by then; None for fabrics of flows."""
    finished: bool
    """Whether the whole run fitted into the trial."""


def tried(experiment: Experiment, label: str, *, seconds: float, threads: int = 1) -> Trial:
    """Runs the fabric of that label for so many seconds of this machine's time; of a
    repeated experiment the first seed.

    Raises:
        ConfigError: if it cannot run.
    """
    pinned = experiment.runnable(label).pinned()
    columns = traces.columns_for(pinned.resolved()["workload"])
    index = pinned.index(label)
    with in_words():
        return Trial(**json.loads(_core.trial(pinned.json(), index, threads, seconds, columns)))
