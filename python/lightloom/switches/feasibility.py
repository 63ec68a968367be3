"""Checks whether a switch can carry out a change, before the user is asked to confirm it."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from lightloom.errors import refusal
from lightloom.switches.ports import Pair, Port, Size, ends_of, name_of
from lightloom.switches.protocol import CrossConnect, Reading, difference
from lightloom.switches.states import Status

FREE = (Status.INVALID, Status.PENDING_DELETION)
"""States in which a cross-connect holds no port."""


def check_change(
    size: Size,
    reading: Reading,
    remove: Collection[Pair],
    add: Collection[Pair],
    keys: tuple[str, str] = ("--remove", "--add"),
) -> None:
    """Refuses a change that the switch cannot carry out exactly as the user sees it.

    A switch may replace the cross-connect of a port in use. The user must see every deletion, so
    the change has to list that cross-connect, too.

    Args:
        size: the size of the switch.
        reading: its present cross-connects.
        remove: cross-connects to delete.
        add: cross-connects to create or keep.
        keys: the options from which `remove` and `add` were read.

    Raises:
        ConfigError: naming a port that does not exist, that two cross-connects of `add` use, or
            that a kept cross-connect uses.

    >>> lit = Reading([CrossConnect((1, 2), "1A-2B")])
    >>> check_change(Size(4, 4), lit, [(1, 2)], [(1, 3)])
    """
    for key, pairs in zip(keys, (remove, add), strict=True):
        for pair in pairs:
            _check_exists(key, pair, size)
    gone, new, _ = difference(reading, remove, add)
    held = dict(_holders(reading, {*gone}))
    claimed: dict[Port, Pair] = {}
    for pair in sorted({*add}):
        for port in ends_of(pair):
            other = claimed.setdefault(port, pair)
            if other != pair:
                limit = f"port {port} is in {name_of(other)}, too"
                raise refusal(keys[1], name_of(pair), limit, "use each port once")
    for pair in new:
        for port in ends_of(pair):
            holder = held.get(port)
            if holder is not None and holder.pair != pair:
                limit = f"port {port} is in {name_of(holder.pair)}, which stays"
                raise refusal(keys[1], name_of(pair), limit, _remedy(holder, keys[0]))


def _check_exists(key: str, pair: Pair, size: Size) -> None:
    for port in ends_of(pair):
        if not size.has(port):
            limit = f"port {port} is not on a switch of {size} ports"
            raise refusal(key, name_of(pair), limit, "choose another")


def _holders(reading: Reading, gone: Collection[Pair]) -> Iterator[tuple[Port, CrossConnect]]:
    """Yields the ports in use after the deletions, with their cross-connects."""
    for one in reading.cross_connects:
        if one.status not in FREE and one.pair not in gone:
            for port in ends_of(one.pair):
                yield port, one


def _remedy(holder: CrossConnect, key: str) -> str:
    name = name_of(holder.pair)
    if key != "--remove":
        return "choose another port"
    return f"give --remove {name}, or choose another port"
