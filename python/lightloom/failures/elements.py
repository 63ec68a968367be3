"""Kinds of parts that can die, and how a `[[fault]]` table names one of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any

from lightloom.units.counts import counted

Table = dict[str, Any]
#: When a part dies: before the first flow arrives. It stays dead.
AT = "0 s"


@dataclass(frozen=True)
class Kind:
    """Parts that are of one sort."""

    name: str
    """What one is called."""
    table: Mapping[str, str] = field(hash=False)
    """What a fault of each has."""
    keys: Sequence[str] = ()
    """Keys whose numbers identify the parts."""
    takes_servers: bool = False
    """Whether the servers below die with it, which no network can help."""

    def part(self, numbers: Sequence[int]) -> Part:
        """One of them, by its numbers in the order of `keys`."""
        return Part(self, tuple(numbers))


#: A laser chip, which the core knows by the transceivers that it feeds (Sirius §4.5).
LASER = Kind("laser", {"element": "transceiver"}, ("node", "laser"))
#: What the core is asked for, in the order in which it is shown.
KINDS = (
    Kind("core switch", {"element": "switch", "tier": "core"}, ("switch",)),
    Kind("aggregation switch", {"element": "switch", "tier": "aggregation"}, ("switch",)),
    Kind("grating", {"element": "grating"}, ("grating",)),
    Kind("transceiver", {"element": "transceiver"}, ("node", "uplink")),
    Kind("plane", {"element": "plane"}, ("plane",)),
    Kind("optical port", {"element": "optical-port"}, ("node", "plane")),
    Kind("controller", {"element": "controller"}),
    Kind("node", {"element": "node"}, ("node",), takes_servers=True),
)


@dataclass(frozen=True)
class Together:
    """What the core knows one by one and dies together with a part."""

    key: str
    """By which a fault tells them apart."""
    count: int
    """How many there are."""
    each: int
    """How many die with one part; the last part takes the rest."""

    def of(self, group: int) -> range:
        """Their numbers in one group.

        >>> Together("uplink", 12, 8).of(1)
        range(8, 12)
        """
        return range(group * self.each, min((group + 1) * self.each, self.count))


@dataclass(frozen=True)
class Part:
    """One part."""

    kind: Kind
    numbers: tuple[int, ...]
    together: Together | None = None
    """What dies with it, where that is several."""

    @property
    def name(self) -> str:
        """How it is called in tables.

        >>> KINDS[3].part([5, 2]).name, KINDS[0].part([1]).name, KINDS[5].part([5, 0]).name
        ('transceiver 2 of node 5', 'core switch 1', 'optical port of node 5 to plane 0')
        """
        named = dict(zip(self.kind.keys, self.numbers, strict=True))
        match named:
            case {"node": node, "uplink": uplink}:
                return f"{self.kind.name} {uplink} of node {node}"
            case {"node": node, "plane": plane}:
                return f"{self.kind.name} of node {node} to plane {plane}"
            case {"node": node, "laser": laser}:
                fed = counted(len(self._dying()), "transceiver")
                return f"{self.kind.name} {laser} of node {node} with its {fed}"
        return " ".join([self.kind.name, *map(str, self.numbers)])

    @property
    def node(self) -> int | None:
        """The node that it belongs to; None of parts between nodes."""
        return self.numbers[0] if self.kind.keys[:1] == ("node",) else None

    def faults(self, label: str) -> list[Table]:
        """The `[[fault]]`s with which it is dead throughout, in the fabric of that label."""
        numbers = dict(zip(self.kind.keys, self.numbers, strict=True))
        numbers.pop("laser", None)
        fault = {"at": AT, **self.kind.table, **numbers, "fabric": label}
        if self.together is None:
            return [fault]
        return [{**fault, self.together.key: number} for number in self._dying()]

    def _dying(self) -> range:
        """Numbers of the parts that fail with it."""
        return range(0) if self.together is None else self.together.of(self.numbers[-1])


@dataclass(frozen=True)
class Population:
    """All parts of a kind that a fabric has."""

    kind: Kind
    shape: tuple[int, ...]
    """How many numbers each key of the kind takes, counted from 0."""
    together: Together | None = None
    """What dies with each, where that is several."""

    @property
    def members(self) -> int:
        """How many parts."""
        return prod(self.shape)

    def parts(self) -> Iterator[Part]:
        """All of them, in order of their numbers."""
        return (self.part(numbers) for numbers in product(*map(range, self.shape)))

    def part(self, numbers: Sequence[int]) -> Part:
        """The part of these numbers."""
        return Part(self.kind, tuple(numbers), self.together)

    def at(self, place: int) -> Part:
        """The part at a place of that order."""
        numbers = []
        for count in reversed(self.shape):
            place, number = divmod(place, count)
            numbers.append(number)
        return self.part(numbers[::-1])


@dataclass(frozen=True)
class Parts:
    """What of a fabric can die in its model."""

    populations: Sequence[Population]
    refused: Mapping[str, str] = field(default_factory=dict)
    """Kind → why the fabric has none, in the core's words."""

    @property
    def why_none(self) -> str:
        """Why nothing can die, where that is so: what the core says of most kinds."""
        reasons = list(self.refused.values())
        return "" if self.populations else max(reasons, key=reasons.count)


def lasers_of(population: Population, share: int) -> Population | None:
    """The laser chips that feed so many transceivers each; None of other parts, and where each
    transceiver has its own."""
    if population.kind.keys != ("node", "uplink") or share < 2:
        return None
    nodes, uplinks = population.shape
    return Population(LASER, (nodes, -(-uplinks // share)), Together("uplink", uplinks, share))
