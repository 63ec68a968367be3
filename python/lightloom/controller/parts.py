"""The parts of a change: its circuits, the removals that no new circuit needs, and the requests
that are carried out whole.

After a failure a change is tried in parts, so that a circuit that cannot be lit does not delay
others. Pure functions.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import replace

from lightloom.controller.change import Change
from lightloom.switches.ports import Pair, Port

Part = Hashable
"""A circuit with all its cross-connects, a removal that no new cross-connect needs, or a request
that is carried out whole."""
Ports = frozenset[Port]


class Parts:
    """A change, and its parts."""

    def __init__(
        self,
        change: Change,
        order: Iterable[Pair],
        part_of: Callable[[Pair], Part] = lambda pair: pair,
        removed_by: Callable[[Pair], Collection[Part]] = lambda _: (),
    ) -> None:
        """Divides the change into parts.

        Args:
            change: the whole change.
            order: cross-connects, the most important first.
            part_of: the circuit of a cross-connect, or the request that contains it.
            removed_by: the requests that remove a cross-connect, if they are parts.
        """
        self._change = change
        added, spare = {*change.added}, {*_spare(change.added, change.removed)}
        self._adds = {pair: part_of(pair) for pair in order if pair in added}
        found: dict[Part, list[Pair]] = {}
        for pair, part in self._adds.items():
            found.setdefault(part, []).append(pair)
        self._removals: dict[Part, list[Pair]] = {}
        for pair in change.removed:
            alone: list[Part] = [("removed", part_of(pair))] if pair in spare else []
            for part in removed_by(pair) or alone:
                self._removals.setdefault(part, []).append(pair)
        first = sorted(found, key=lambda part: part not in self._removals)
        self._ports: dict[Part, Ports] = {}
        for part in dict.fromkeys([*first, *self._removals]):
            pairs = found.get(part, [])
            self._ports[part] = _ports([*pairs, *_spare(pairs, self._removals.get(part, []))])

    @property
    def all(self) -> list[Part]:
        """All parts, the most important first: the new circuits, then the removals that none needs.
        Of the circuits, requests that also remove something come first, as a checkpoint for which
        they waited may soon be over."""
        return [*self._ports]

    def ports(self, parts: Iterable[Part]) -> Ports:
        """The ports at which some parts switch light on or off."""
        return frozenset().union(*(self._ports[part] for part in parts))

    def of(self, parts: Collection[Part]) -> Change:
        """The change of some parts: the cross-connects that they add, and the removal of those that
        hold a port of these. All others stay.

        >>> whole = Change(removed=[(1, 1), (2, 2), (5, 5)], added=[(1, 2), (3, 3)])
        >>> parts = Parts(whole, whole.added)
        >>> parts.of([(3, 3)]).removed, parts.of([(3, 3)]).added
        ([], [(3, 3)])
        >>> parts.of([(1, 2)]).removed, parts.of([("removed", (5, 5))]).removed
        ([(1, 1), (2, 2)], [(5, 5)])
        """
        added = [pair for pair, part in self._adds.items() if part in parts]
        stays = {*_spare(added, self._change.removed)}
        own = {pair for part in parts for pair in self._removals.get(part, [])}
        removed = [pair for pair in self._change.removed if pair not in stays or pair in own]
        return replace(self._change, added=added, removed=removed)


def changed_ports(added: Sequence[Pair], removed: Sequence[Pair]) -> Ports:
    """The ports of the added cross-connects, and of removed ones that share no port with them."""
    return _ports([*added, *_spare(added, removed)])


def _spare(added: Iterable[Pair], removed: Iterable[Pair]) -> list[Pair]:
    """The removed cross-connects that share no port with added ones."""
    ports = _ports(added)
    return [pair for pair in removed if not ports & _ports([pair])]


def _ports(pairs: Iterable[Pair]) -> Ports:
    return frozenset(Port(side, pair[at]) for pair in pairs for at, side in enumerate("AB"))
