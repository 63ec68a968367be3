"""The change from one plan to another: circuits to break, make and keep, and the dark time of each
pair of racks.

Two circuits are equal if they connect the same racks, by name, on the same plane and, if ports are
known, the same ports. Circuits that stay are never changed. All circuits to break are broken before
any is made, so that no port is ever in two circuits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from lightloom.control.differences.old_plan import OldPlan
from lightloom.control.ports.lights import Action, Light, Row


class Changed(NamedTuple):
    """A circuit, and its action in the change."""

    action: Action
    """"break", "make" or "keep"."""
    a: str
    """The name of one rack; the sending one if circuits are directed."""
    b: str
    """The name of the other rack."""
    plane: int
    """The number of the switch."""
    bytes: int
    """Bytes that the new demand has for the circuit, in its direction or in both."""


class Pair(NamedTuple):
    """Two racks that have a circuit before or after the change; in order if circuits are
    directed."""

    a: str
    """The name of one rack; the sending one if circuits are directed."""
    b: str
    """The name of the other rack."""
    bytes: int
    """Bytes that the racks have for each other, in that direction or in both."""
    dark_ps: int | None
    """Time for which no circuit connects the racks [ps]: 0 if a circuit stays; the time that the
    switch needs if a circuit is made or moves to other ports; None if no circuit is made."""
    dark_bytes: int | None
    """Bytes of the demand that would have moved in this time; all of them if no circuit is made;
    None if the duration of the demand is not given."""


@dataclass(frozen=True, eq=False)
class Change:
    """The difference between two plans."""

    old: OldPlan
    """The circuits before the change."""
    lights: Sequence[tuple[Light, Action]]
    """Every direction of light, with its action."""
    directed: bool
    """Whether circuits are listed for each direction."""
    demand: Mapping[tuple[str, str], int]
    """Demand of the new plan by names of racks [bytes]."""
    came: Sequence[str]
    """Racks of the demand that the old plan does not have."""
    went: Sequence[str]
    """Racks of the old plan that the demand does not have."""
    switch_ps: int
    """Time from a command until a new circuit carries light [ps]."""
    over_ps: int | None
    """The duration of the demand [ps]; None if it is not given."""

    def rows(self) -> list[Row]:
        """Returns the rows for files: circuits to break, make and keep."""
        return [Row(light, action) for light, action in self.lights]

    @property
    def circuits(self) -> list[Changed]:
        """The circuits, with the two directions of an undirected circuit as one."""
        found = []
        there: Counter[tuple[Action, int, str, str]] = Counter()
        for light, action in self.lights:
            back = (action, light.plane, light.destination, light.source)
            if not self.directed and there[back]:
                there[back] -= 1
                continue
            there[action, light.plane, light.source, light.destination] += 1
            ends = light.source, light.destination
            found.append(Changed(action, *ends, light.plane, self._bytes(*ends)))
        return found

    @property
    def pairs(self) -> list[Pair]:
        """All pairs of racks that have a circuit before or after the change."""
        found: dict[tuple[str, str], dict[tuple[str, str], set[Action]]] = {}
        for light, action in self.lights:
            ends, back = (light.source, light.destination), (light.destination, light.source)
            key = back if not self.directed and back in found else ends
            now: Action = "break" if self._is_dark(light) else action
            found.setdefault(key, {}).setdefault(ends, set()).add(now)
        return [self._pair(*ends, [*ways.values()]) for ends, ways in found.items()]

    @property
    def joined(self) -> tuple[int, int]:
        """The new demand between racks that a circuit connects before and after the change [bytes]:
        each direction once, without regard to the capacity of circuits. A circuit without light
        before the change counts neither before nor, if it stays, after the change."""
        of: dict[Action, set[tuple[str, str]]] = {"break": set(), "make": set(), "keep": set()}
        for light, action in self.lights:
            if self._is_dark(light):
                continue
            of[action].add((light.source, light.destination))
        before, after = of["break"] | of["keep"], of["make"] | of["keep"]
        return self._sum(before), self._sum(after)

    def add_to(self, table: dict[str, Any]) -> None:
        """Adds the change as the key `diff` of a plan's JSON."""
        before, after = self.joined
        table["diff"] = {
            "old": self.old.file,
            "dark_ps": self.switch_ps,
            "over_ps": self.over_ps,
            "came": list(self.came),
            "went": list(self.went),
            "old_bytes": before,
            "new_bytes": after,
            "circuits": [circuit._asdict() for circuit in self.circuits],
            "pairs": [pair._asdict() for pair in self.pairs],
        }

    def _is_dark(self, light: Light) -> bool:
        """Whether its cross-connect existed before and carries no light."""
        return light.ports in self.old.dark

    def _bytes(self, a: str, b: str) -> int:
        there = self.demand.get((a, b), 0)
        return there if self.directed else there + self.demand.get((b, a), 0)

    def _sum(self, pairs: set[tuple[str, str]]) -> int:
        return sum(self.demand.get(pair, 0) for pair in pairs)

    def _pair(self, a: str, b: str, ways: Sequence[set[Action]]) -> Pair:
        """Returns the pair; its dark time is that of the direction that is dark for longer."""
        times = [0 if "keep" in way else self.switch_ps if "make" in way else None for way in ways]
        known = [time for time in times if time is not None]
        dark = max(known) if len(known) == len(times) else None
        amount = self._bytes(a, b)
        lost: int | None = amount
        if dark == 0:
            lost = 0
        elif dark is not None:
            lost = None if self.over_ps is None else min(amount, amount * dark // self.over_ps)
        return Pair(a, b, amount, dark, lost)
