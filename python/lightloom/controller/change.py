"""The difference between lit and requested cross-connects. Pure functions.

If one owner requests the cross-connects of both directions between two racks, they form a circuit:
either both are lit or none is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lightloom.controller.intents import Wanted
from lightloom.switches.ports import Pair, Size, name_of

UNOWNED = "a cross-connect without an owner"
"""The holder of a port that nobody has requested."""
OtherWay = Callable[[Pair], Pair | None]
"""The cross-connect of the reverse direction between the racks of another one; None if there is
none."""
Circuit = Sequence[Wanted]
"""Both directions of a circuit, or one if its owner requests only one."""


@dataclass(frozen=True)
class Conflict:
    """A requested cross-connect that cannot be lit, because another one needs its port."""

    pair: Pair
    owner: str
    holder: str
    """The owner of one of its ports, or of one of its other way's."""
    other: Pair | None = None
    """The other way of its circuit, if that alone is blocked."""
    size: Size | None = None
    """The ports of the switch, if it lacks one of the cross-connect; there is then no holder."""

    def __str__(self) -> str:
        if self.size is not None:
            return f"{name_of(self.pair)} of {self.owner}: the switch has {self.size} ports"
        where = "" if self.other is None else f" of its other way {name_of(self.other)}"
        return f"{name_of(self.pair)} of {self.owner}: a port{where} is held by {self.holder}"


@dataclass(frozen=True)
class Change:
    """The cross-connects that a transaction removes and adds on a switch."""

    removed: Sequence[Pair] = ()
    added: Sequence[Pair] = ()
    kept: Sequence[Pair] = ()
    """Lit and requested; never changed."""
    unowned: Sequence[Pair] = ()
    """Lit without an owner; not changed."""
    conflicts: Sequence[Conflict] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        """Whether the switch has exactly the requested cross-connects."""
        return not self.removed and not self.added

    def plan(self, lit: Iterable[Pair]) -> dict[str, Any]:
        """The change in the form that a transaction stores."""
        return {
            "before": sorted(lit),
            "removed": sorted(self.removed),
            "added": sorted(self.added),
            "kept": sorted(self.kept),
        }


def nowhere(pair: Pair) -> None:
    """No cross-connect has a reverse direction: each one is a circuit."""


def settle(
    wanted: Sequence[Wanted], other_way: OtherWay = nowhere, size: Size | None = None
) -> tuple[dict[Pair, str], list[Conflict]]:
    """The cross-connects to light, with their owners, and the conflicts of those that cannot be
    lit.

    If two circuits need the same port, the first one in `wanted` is lit; the place of a circuit is
    that of its later direction.
    """
    fitting, beyond = _fitting(wanted, size)
    chosen, _, conflicts = _settled(_circuits(fitting, other_way))
    return chosen, [*conflicts, *beyond]


def _circuits(wanted: Sequence[Wanted], other_way: OtherWay) -> list[Circuit]:
    """The circuits of each owner, in order of their last cross-connects."""
    mine = {(one.owner, one.pair): one for one in wanted}
    found: list[Circuit] = []
    begun = set()
    for one in wanted:
        back = other_way(one.pair)
        other = None if back is None else mine.get((one.owner, back))
        if other is None:
            found.append([one])
        elif (one.owner, back) in begun:
            found.append([other, one])
        else:
            begun.add((one.owner, one.pair))
    return found


def _settled(
    circuits: Sequence[Circuit],
) -> tuple[dict[Pair, str], list[Circuit], list[Conflict]]:
    """The cross-connects to light, with their owners; the circuits that are lit; conflicts."""
    a_ports: dict[int, str] = {}
    b_ports: dict[int, str] = {}
    chosen: dict[Pair, str] = {}
    had: list[Circuit] = []
    blocked: list[tuple[Circuit, dict[Pair, str]]] = []
    for circuit in circuits:
        holders = {}
        for pair in (one.pair for one in circuit):
            held = a_ports.get(pair[0]) or b_ports.get(pair[1])
            if held is not None and pair not in chosen:
                holders[pair] = held
        if holders:
            blocked.append((circuit, holders))
            continue
        had.append(circuit)
        for pair, owner, *_ in circuit:
            if pair not in chosen:
                chosen[pair] = a_ports[pair[0]] = b_ports[pair[1]] = owner
    conflicts = [
        one for circuit, holders in blocked for one in _conflicts(circuit, holders, chosen)
    ]
    return chosen, had, conflicts


def _conflicts(
    circuit: Circuit, holders: Mapping[Pair, str], lit: Collection[Pair]
) -> list[Conflict]:
    """The conflicts of a circuit: of each of its ways, unless another owner's request lights it."""
    first = next(iter(holders))
    return [
        Conflict(pair, owner, holders[pair])
        if pair in holders
        else Conflict(pair, owner, holders[first], first)
        for pair, owner, *_ in circuit
        if pair in holders or pair not in lit
    ]


def change_to(
    lit: Collection[Pair],
    wanted: Sequence[Wanted],
    owned: Collection[Pair],
    *,
    remove_unowned: bool = False,
    other_way: OtherWay = nowhere,
    size: Size | None = None,
) -> Change:
    """The change from `lit` to `wanted`.

    Args:
        lit: cross-connects of the switch.
        wanted: in order of priority.
        owned: cross-connects that this controller created.
        remove_unowned: whether to remove cross-connects without an owner.
        other_way: which cross-connect leads back, if any.
        size: the ports of the switch; None if it is not known.

    >>> change_to([(1, 1), (2, 2)], [Wanted((1, 1), "x", 0, 0.0)], [(2, 2)]).removed
    [(2, 2)]
    """
    fitting, beyond = _fitting(wanted, size)
    chosen, circuits, conflicts = _settled(_circuits(fitting, other_way))
    there = {*lit}
    mine = {*owned} if not remove_unowned else there
    drift = there - chosen.keys() - mine
    had, blocked = _without_drift(circuits, there, drift)
    conflicts += [one for circuit, holders in blocked for one in _conflicts(circuit, holders, had)]
    return Change(
        removed=sorted(pair for pair in lit if pair not in had and pair in mine),
        added=sorted(pair for pair in had if pair not in there),
        kept=sorted(pair for pair in lit if pair in had),
        unowned=sorted(pair for pair in lit if pair not in had and pair not in mine),
        conflicts=[*conflicts, *beyond],
    )


def _fitting(
    wanted: Sequence[Wanted], size: Size | None
) -> tuple[Sequence[Wanted], list[Conflict]]:
    """The requests for ports of the switch, and the conflicts of the others, which clients may have
    sent while it did not answer."""
    if size is None:
        return wanted, []
    beyond = {one for one in wanted if one.pair[0] > size.a or one.pair[1] > size.b}
    conflicts = [Conflict(one.pair, one.owner, "", size=size) for one in wanted if one in beyond]
    return [one for one in wanted if one not in beyond], conflicts


def _without_drift(
    circuits: Sequence[Circuit], lit: Collection[Pair], drift: Collection[Pair]
) -> tuple[set[Pair], list[tuple[Circuit, dict[Pair, str]]]]:
    """The cross-connects of circuits at whose ports there is none without an owner; the other
    circuits, with what blocks them."""
    a_held, b_held = {a for a, _ in drift}, {b for _, b in drift}
    had: set[Pair] = set()
    blocked = []
    for circuit in circuits:
        pairs = [one.pair for one in circuit]
        dark = [pair for pair in pairs if pair not in lit]
        holders = {p: UNOWNED for p in dark if p[0] in a_held or p[1] in b_held}
        if holders:
            blocked.append((circuit, holders))
        else:
            had.update(pairs)
    return had, blocked
