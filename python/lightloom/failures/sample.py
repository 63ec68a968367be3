"""The choice of the parts that are tried: all parts of a small kind; of a large kind, those with
most traffic and some that are drawn at random."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lightloom.failures.elements import Part, Population
from lightloom.results.columns import numbers


@dataclass(frozen=True)
class Traffic:
    """The traffic of racks with other racks."""

    of_racks: NDArray[np.float64]
    """The bytes that each rack sends to and receives from other racks."""
    racks_per_pod: int = 1
    """The number of racks below the same aggregation switches."""

    @staticmethod
    def of(flows: pa.Table, racks: int, servers_per_rack: int, racks_per_pod: int = 1) -> Traffic:
        """Computes the traffic from a table of flows with `src` and `dst` (servers) and `bytes`."""
        sources, sinks = (
            numbers(flows.column(name)).astype(np.int64) // servers_per_rack
            for name in ("src", "dst")
        )
        between = sources != sinks
        amount = numbers(flows.column("bytes")).astype(np.float64)[between]
        ends = np.concatenate([sources[between], sinks[between]])
        sums = np.bincount(ends, weights=np.tile(amount, 2), minlength=racks)
        return Traffic(np.asarray(sums, np.float64), racks_per_pod)

    def racks(self) -> list[int]:
        """The racks with traffic, by decreasing traffic."""
        return _busiest(self.of_racks)

    def pods(self) -> list[int]:
        """The pods with traffic, by decreasing traffic."""
        return _busiest(self.of_racks.reshape(-1, self.racks_per_pod).sum(axis=1))


def _busiest(amounts: NDArray[np.float64]) -> list[int]:
    order = np.lexsort((np.arange(amounts.size), -amounts))
    return [int(place) for place in order if amounts[place] > 0]


def chosen(
    population: Population, traffic: Traffic, tries: int, seed: int, label: str
) -> tuple[list[Part], str]:
    """Returns the parts that are tried, and a description of the choice.

    Args:
        tries: the largest number of parts.
            seed, label: they determine, with the kind, which parts are drawn.
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
    """One part of each rack or pod with traffic, by decreasing traffic; empty for a kind whose
    parts serve all racks."""
    kind = population.kind
    if kind.keys[:1] == ("node",):
        others = (0,) * (len(population.shape) - 1)
        return "rack", [population.part((rack, *others)) for rack in traffic.racks()]
    if kind.table.get("tier") == "aggregation":
        each = population.members * traffic.racks_per_pod // traffic.of_racks.size
        return "pod", [population.part((pod * each,)) for pod in traffic.pods()]
    return "", []
