"""Which members of a kind are tried: all of a few, of many those that carry most and some that
are drawn."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lightloom.failures.elements import Part, Population


@dataclass(frozen=True)
class Traffic:
    """What racks send to and hear from others."""

    of_racks: NDArray[np.float64]
    """Of each rack [B]."""
    racks_per_pod: int = 1
    """Racks below the same aggregation switches."""

    @staticmethod
    def of(flows: pa.Table, racks: int, servers_per_rack: int, racks_per_pod: int = 1) -> Traffic:
        """That of flows, a row each, with `src` and `dst` (servers) and `bytes`."""
        sources, sinks = (
            flows.column(name).to_numpy().astype(np.int64) // servers_per_rack
            for name in ("src", "dst")
        )
        between = sources != sinks
        amount = flows.column("bytes").to_numpy().astype(np.float64)[between]
        ends = np.concatenate([sources[between], sinks[between]])
        sums = np.bincount(ends, weights=np.tile(amount, 2), minlength=racks)
        return Traffic(np.asarray(sums, np.float64), racks_per_pod)

    def racks(self) -> list[int]:
        """Racks that have traffic, that with most first."""
        return _busiest(self.of_racks)

    def pods(self) -> list[int]:
        """Pods that have traffic, that with most first."""
        return _busiest(self.of_racks.reshape(-1, self.racks_per_pod).sum(axis=1))


def _busiest(amounts: NDArray[np.float64]) -> list[int]:
    order = np.lexsort((np.arange(amounts.size), -amounts))
    return [int(place) for place in order if amounts[place] > 0]


def chosen(
    population: Population, traffic: Traffic, tries: int, seed: int, label: str
) -> tuple[list[Part], str]:
    """The members that are tried, and by what they were chosen.

    Args:
        tries: so many at most.
        seed, label: which members are drawn depends on these and on the kind.
    """
    members = population.members
    if members <= tries:
        return list(population.parts()), "all"
    most = (tries + 1) // 2
    of, first = _first(population, traffic)
    taken = dict.fromkeys(first[:most] or [population.at(0)])
    why = _of_each(of, len(taken)) if first else "the first"
    drawn = tries - len(taken)
    draw = random.Random(f"{seed}/{label}/{population.kind.name}")
    while len(taken) < tries:
        taken.setdefault(population.at(draw.randrange(members)))
    return list(taken), f"{why}, {drawn} drawn by seed {seed}" if drawn else why


def _of_each(of: str, count: int) -> str:
    return f"one of each of the {count} busiest {of}s" if count > 1 else f"one of the busiest {of}"


def _first(population: Population, traffic: Traffic) -> tuple[str, list[Part]]:
    """A part of each rack or pod that has traffic, the busiest first; none of a kind whose
    members serve all."""
    kind = population.kind
    if kind.keys[:1] == ("node",):
        others = (0,) * (len(population.shape) - 1)
        return "rack", [population.part((rack, *others)) for rack in traffic.racks()]
    if kind.table.get("tier") == "aggregation":
        each = population.members * traffic.racks_per_pod // traffic.of_racks.size
        return "pod", [population.part((pod * each,)) for pod in traffic.pods()]
    return "", []
