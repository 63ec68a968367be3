"""The rules: circuits that are pinned, pairs that are kept apart, ports that are down."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from lightloom.errors import refusal

Pinned = tuple[int, int, int]
"""Two racks and a plane."""


@dataclass(frozen=True)
class Rules:
    """What holds whatever the demand; racks and planes by number.

    >>> Rules(pinned=((2, 0, 0),), apart=frozenset({(0, 1)})).pinned_both_ways
    [(0, 2, 0)]
    """

    pinned: tuple[Pinned, ...] = ()
    """Circuits that are there: where circuits have a direction, from the first rack to the
    second."""
    apart: frozenset[tuple[int, int]] = frozenset()
    """Pairs of racks that no circuit joins, in neither direction; the lower first."""
    down: frozenset[tuple[int, int]] = frozenset()
    """Ports that are not to be used: rack and plane."""

    def __bool__(self) -> bool:
        return bool(self.pinned or self.apart or self.down)

    @property
    def pinned_both_ways(self) -> list[Pinned]:
        """Circuits that are there, the lower rack first."""
        return [(min(a, b), max(a, b), plane) for a, b, plane in self.pinned]

    def are_apart(self, a: int, b: int) -> bool:
        """Whether no circuit joins two racks."""
        return (min(a, b), max(a, b)) in self.apart

    def taken(self) -> Iterator[tuple[int, int]]:
        """Ports, as rack and plane, that no other circuit can have."""
        yield from self.down
        for a, b, plane in self.pinned:
            yield from ((a, plane), (b, plane))

    def check(self, names: Sequence[str], *, directed: bool, ports: int = 1) -> None:
        """Refuses rules that contradict each other.

        Args:
            names: what racks are called.
            directed: whether circuits lead one way.
            ports: of a rack on each plane.

        Raises:
            ConfigError: of `pin`: of a pair that is kept apart, at a port that is down, or
                at one that another has.
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
        """As a plan in JSON has them."""
        return {
            "pin": [list(pinned) for pinned in self.pinned],
            "forbid": [list(pair) for pair in sorted(self.apart)],
            "down": [list(port) for port in sorted(self.down)],
        }


NONE = Rules()
"""None at all."""
