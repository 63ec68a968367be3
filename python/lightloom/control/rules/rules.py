"""The rules: pinned circuits, pairs that are kept apart, ports that are down."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from lightloom.errors import refusal

Pinned = tuple[int, int, int]
"""Two racks and a plane."""


@dataclass(frozen=True)
class Rules:
    """Rules that hold for any demand; racks and planes are numbers.

    >>> Rules(pinned=((2, 0, 0),), apart=frozenset({(0, 1)})).pinned_both_ways
    [(0, 2, 0)]
    """

    pinned: tuple[Pinned, ...] = ()
    """Pinned circuits; if circuits are directed, from the first rack to the second."""
    apart: frozenset[tuple[int, int]] = frozenset()
    """Pairs of racks, the lower first, that no circuit may connect in either direction."""
    down: frozenset[tuple[int, int]] = frozenset()
    """Ports that must not be used: rack and plane."""

    def __bool__(self) -> bool:
        return bool(self.pinned or self.apart or self.down)

    @property
    def pinned_both_ways(self) -> list[Pinned]:
        """Pinned circuits, with the lower rack first."""
        return [(min(a, b), max(a, b), plane) for a, b, plane in self.pinned]

    def are_apart(self, a: int, b: int) -> bool:
        """Whether two racks are kept apart."""
        return (min(a, b), max(a, b)) in self.apart

    def taken(self) -> Iterator[tuple[int, int]]:
        """Ports, as rack and plane, that no other circuit can use."""
        yield from self.down
        for a, b, plane in self.pinned:
            yield from ((a, plane), (b, plane))

    def check(self, names: Sequence[str], *, directed: bool, ports: int = 1) -> None:
        """Raises an error for rules that contradict each other.

        Args:
            names: the names of the racks.
            directed: whether circuits are directed.
            ports: the number of ports of a rack on each plane.

        Raises:
            ConfigError: if a pinned circuit connects a pair that is kept apart, is at a port that
                is down, or shares a port with another one.
        """
        used: dict[tuple[str, int, int], int] = {}
        for a, b, plane in self.pinned:
            pair = f"{names[a]}:{names[b]}"
            if self.are_apart(a, b):
                limit = "--forbid keeps these two apart"
                raise refusal("pin", pair, limit, "leave out one of them")
            for rack, end in ((a, "from"), (b, "to")):
                if (rack, plane) in self.down:
                    limit = f"the port of {names[rack]} on plane {plane} is down"
                    raise refusal("pin", pair, limit, "leave out one of them")
                key = (end if directed else "", rack, plane)
                used[key] = used.get(key, 0) + 1
                if used[key] > ports:
                    limit = f"another circuit that is pinned has the port of {names[rack]}"
                    raise refusal("pin", pair, limit, "leave out one of them")

    def as_table(self) -> dict[str, Any]:
        """Returns the form of a plan's JSON."""
        return {
            "pin": [list(pinned) for pinned in self.pinned],
            "forbid": [list(pair) for pair in sorted(self.apart)],
            "down": [list(port) for port in sorted(self.down)],
        }


NONE = Rules()
"""No rules."""
