"""The difference between the cross-connects that are lit and those that are wanted. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from lightloom.controller.intents import Wanted
from lightloom.switches.ports import Pair, name_of

UNOWNED = "a cross-connect without an owner"
"""The holder of a port that nobody has requested."""


@dataclass(frozen=True)
class Conflict:
    """A cross-connect that is wanted and cannot be had."""

    pair: Pair
    owner: str
    holder: str
    """The owner of one of its ports."""

    def __str__(self) -> str:
        return f"{name_of(self.pair)} of {self.owner}: a port is held by {self.holder}"


@dataclass(frozen=True)
class Change:
    """The cross-connects that a transaction removes and adds on a switch."""

    removed: Sequence[Pair] = ()
    added: Sequence[Pair] = ()
    kept: Sequence[Pair] = ()
    """Lit and wanted: never touched."""
    unowned: Sequence[Pair] = ()
    """Lit without an owner; not changed."""
    conflicts: Sequence[Conflict] = field(default_factory=list)
    away: Sequence[Pair] = ()
    """Lit, and traffic is kept away from it since a stuck transaction."""

    @property
    def is_empty(self) -> bool:
        """Whether the switch is as wanted."""
        return not self.removed and not self.added

    def plan(self, lit: Iterable[Pair]) -> dict[str, Any]:
        """The change as a transaction holds it."""
        return {
            "before": sorted(lit),
            "removed": sorted(self.removed),
            "added": sorted(self.added),
            "kept": sorted(self.kept),
            "away": sorted(self.away),
        }


def settle(wanted: Sequence[Wanted]) -> tuple[dict[Pair, str], list[Conflict]]:
    """The cross-connects to have, with their owners: of two that need one port, the one that
    comes first in `wanted`."""
    a_ports: dict[int, str] = {}
    b_ports: dict[int, str] = {}
    chosen: dict[Pair, str] = {}
    conflicts = []
    for one in wanted:
        if one.pair in chosen:
            continue
        a, b = one.pair
        holder = a_ports.get(a) or b_ports.get(b)
        if holder is not None:
            conflicts.append(Conflict(one.pair, one.owner, holder))
            continue
        chosen[one.pair] = a_ports[a] = b_ports[b] = one.owner
    return chosen, conflicts


def change_to(
    lit: Collection[Pair],
    wanted: Sequence[Wanted],
    owned: Collection[Pair],
    *,
    remove_unowned: bool = False,
) -> Change:
    """The change from `lit` to `wanted`.

    Args:
        lit: cross-connects of the switch.
        wanted: in order of priority.
        owned: cross-connects that this controller created.
        remove_unowned: whether to remove cross-connects without an owner.

    >>> change_to([(1, 1), (2, 2)], [Wanted((1, 1), "x", 0, 0.0)], [(2, 2)]).removed
    [(2, 2)]
    """
    chosen, conflicts = settle(wanted)
    there = {*lit}
    mine = {*owned} if not remove_unowned else there
    removed = [pair for pair in lit if pair not in chosen and pair in mine]
    unowned = [pair for pair in lit if pair not in chosen and pair not in mine]
    a_held = {a for a, _ in unowned}
    b_held = {b for _, b in unowned}
    added = []
    for pair, owner in chosen.items():
        if pair in there:
            continue
        if pair[0] in a_held or pair[1] in b_held:
            conflicts.append(Conflict(pair, owner, UNOWNED))
        else:
            added.append(pair)
    kept = [pair for pair in lit if pair in chosen]
    return Change(sorted(removed), sorted(added), sorted(kept), sorted(unowned), conflicts)
