"""Kinds of parts that can fail, and the `[[fault]]` table of a part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any

from lightloom.units.counts import counted

Table = dict[str, Any]
#: Time of the failure: before the first flow arrives. It is permanent.
AT = "0 s"


@dataclass(frozen=True)
class Kind:
    """A kind of parts."""

    name: str
    """The name of one part."""
    table: Mapping[str, str] = field(hash=False)
    """The common keys of the faults of these parts."""
    keys: Sequence[str] = ()
    """The keys whose numbers identify a part."""
    takes_servers: bool = False
    """Whether the servers below fail with the part, which no network can prevent."""

    def part(self, numbers: Sequence[int]) -> Part:
        """Returns a part by its numbers, in the order of `keys`."""
        return Part(self, tuple(numbers))


#: A laser chip. The core names it by the transceivers that it feeds (Sirius §4.5).
LASER = Kind("laser", {"element": "transceiver"}, ("node", "laser"))
#: All kinds, in the order in which they are shown.
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
    """Elements that the core counts individually and that fail together with a part."""

    key: str
    """The key of a fault that identifies an element."""
    count: int
    """The number of elements."""
    each: int
    """The number of elements that fail with one part; the last part has the remaining ones."""

    def of(self, group: int) -> range:
        """Returns the numbers of the elements of one part.

        >>> Together("uplink", 12, 8).of(1)
        range(8, 12)
        """
        return range(group * self.each, min((group + 1) * self.each, self.count))


@dataclass(frozen=True)
class Part:
    """One part of a kind."""

    kind: Kind
    numbers: tuple[int, ...]
    together: Together | None = None
    """The elements that fail with it, if there are several."""

    @property
    def name(self) -> str:
        """The name of the part in tables.

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
        """The node that contains the part; None for parts between nodes."""
        return self.numbers[0] if self.kind.keys[:1] == ("node",) else None

    def faults(self, label: str) -> list[Table]:
        """Returns the `[[fault]]` tables that make it fail for the whole run, in the fabric of that
        label."""
        numbers = dict(zip(self.kind.keys, self.numbers, strict=True))
        numbers.pop("laser", None)
        fault = {"at": AT, **self.kind.table, **numbers, "fabric": label}
        if self.together is None:
            return [fault]
        return [{**fault, self.together.key: number} for number in self._dying()]

    def _dying(self) -> range:
        """The numbers of the elements that fail with it."""
        return range(0) if self.together is None else self.together.of(self.numbers[-1])


@dataclass(frozen=True)
class Population:
    """All parts of one kind in a fabric."""

    kind: Kind
    shape: tuple[int, ...]
    """For each key of the kind, the number of its values, which begin at 0."""
    together: Together | None = None
    """The elements that fail with each part, if there are several."""

    @property
    def members(self) -> int:
        """The number of parts."""
        return prod(self.shape)

    def parts(self) -> Iterator[Part]:
        """All parts, in the order of their numbers."""
        return (self.part(numbers) for numbers in product(*map(range, self.shape)))

    def part(self, numbers: Sequence[int]) -> Part:
        """Returns the part with these numbers."""
        return Part(self.kind, tuple(numbers), self.together)

    def at(self, place: int) -> Part:
        """Returns the part at an index of that order."""
        numbers = []
        for count in reversed(self.shape):
            place, number = divmod(place, count)
            numbers.append(number)
        return self.part(numbers[::-1])


@dataclass(frozen=True)
class Parts:
    """The parts of a fabric that can fail in its model."""

    populations: Sequence[Population]
    refused: Mapping[str, str] = field(default_factory=dict)
    """Kind → the core's reason why the fabric has no such part."""

    @property
    def why_none(self) -> str:
        """The reason why nothing can fail, which is the one that the core gives for most kinds."""
        reasons = list(self.refused.values())
        return "" if self.populations else max(reasons, key=reasons.count)


def lasers_of(population: Population, share: int) -> Population | None:
    """Returns the laser chips that feed `share` transceivers each; None for other parts, and if
    each transceiver has its own laser."""
    if population.kind.keys != ("node", "uplink") or share < 2:
        return None
    nodes, uplinks = population.shape
    return Population(LASER, (nodes, -(-uplinks // share)), Together("uplink", uplinks, share))
