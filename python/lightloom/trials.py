"""Short pieces of runs, by which the core tells what the whole would take."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, replace

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
    """Time of a processor to draw the flows and to build the fabric [s]."""
    kernel_s: float
    """Time of a processor that the trial took in the kernel [s]."""
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
    measured: bool = False
    """Whether the run ends with its window, so that more flows are there than it takes."""


def tried(experiment: Experiment, label: str, *, seconds: float, threads: int = 1) -> Trial:
    """Runs the fabric of that label for so many seconds of this machine's time; of a
    repeated experiment the first seed.

    Raises:
        ConfigError: if it cannot run.
    """
    pinned = experiment.runnable(label).pinned()
    resolved, index = pinned.resolved(), pinned.index(label)
    columns = traces.columns_for(resolved["workload"])
    begun, busy = time.perf_counter(), time.thread_time()
    with in_words():
        made = Trial(**json.loads(_core.trial(pinned.json(), index, threads, seconds, columns)))
    elapsed = time.perf_counter() - begun
    # Of one thread, whatever else the machine did meanwhile does not count.
    share = min(1.0, (time.thread_time() - busy) / elapsed) if threads == 1 else 1.0
    return replace(
        made,
        prepared_s=made.prepared_s * share,
        kernel_s=made.kernel_s * share,
        measured=resolved["run"]["stop"] == "measured",
    )
