"""The lit cross-connects that a request gives up, or whose ports it needs. Pure functions."""

from __future__ import annotations

from collections.abc import Collection

from lightloom.controller.change import OtherWay, nowhere
from lightloom.switches.ports import Pair


def losses(
    lit: Collection[Pair],
    before: Collection[Pair],
    after: Collection[Pair],
    other_way: OtherWay = nowhere,
) -> set[Pair]:
    """The lit cross-connects that may go dark by a request, whatever other owners request: those
    that its owner gives up, those that hold a port of a new one, and their other ways.

    Args:
        lit: cross-connects of the switch.
        before: cross-connects that the owner requests now.
        after: cross-connects that it requests instead.
        other_way: the cross-connect of the reverse direction.

    >>> sorted(losses([(1, 2), (3, 4), (5, 5)], [(1, 2)], [(6, 4)]))
    [(1, 2), (3, 4)]
    """
    there, wanted = {*lit}, {*after}
    added = wanted - there
    a_ports, b_ports = {a for a, _ in added}, {b for _, b in added}
    taken = {pair for pair in there - wanted if pair[0] in a_ports or pair[1] in b_ports}
    ways = {back for pair in taken if (back := other_way(pair)) is not None}
    return taken | (ways & there - wanted) | ({*before} & there - wanted)
