"""Doubts of a fabric about the figures of a run: traffic for which its model is inaccurate, and
capacity below that of its paper. The fabric derives them in the core, from its resolved table and
the flows; no fabric is named here.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lightloom import _core
from lightloom.errors import ConfigError
from lightloom.results.columns import numbers

if TYPE_CHECKING:
    from lightloom.results.result import Result


@dataclass(frozen=True)
class Doubt:
    """A doubt about the figures of a run."""

    cause: str
    """The property of the run that causes it: `padding`."""
    value: float
    """The measure of that property, such as a share of the bytes."""
    text: str
    """What is doubtful and the remedy, as a sentence without a full stop."""


@dataclass(frozen=True)
class Doubts:
    """The doubts about one run."""

    traffic: tuple[Doubt, ...] = ()
    """Traffic for which the model is inaccurate."""
    capacity: tuple[Doubt, ...] = ()
    """Capacity below that of the paper."""


def doubts_of(result: Result) -> Doubts:
    """Returns the doubts about the figures of one run; none if another version wrote the fabric's
    table, which this one cannot read."""
    experiment, summary = result.experiment, result.summary
    tables = (json.dumps(experiment["fabric"][0]), json.dumps(experiment["cluster"]))
    ends = (result.flows["src"], result.flows["dst"])
    src, dst = (np.ascontiguousarray(numbers(end), np.uint32) for end in ends)
    size = np.ascontiguousarray(numbers(result.flows["bytes"]), np.uint64)
    goodput, load = summary.get("goodput_normalized"), summary.get("load_offered")
    try:
        found = json.loads(_core.doubts_of_run(*tables, src, dst, size, goodput, load))
    except ConfigError:
        return Doubts()
    return Doubts(**{key: tuple(Doubt(**one) for one in doubts) for key, doubts in found.items()})
