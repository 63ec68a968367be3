"""Whether a transaction can be undone: no other client may hold a port that this needs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from lightloom.controller.leases import Lease
from lightloom.controller.requests import lease_owner
from lightloom.controller.transaction_log import Transaction
from lightloom.errors import LONG, refusal
from lightloom.switches.ports import Pair
from lightloom.units.counts import counted
from lightloom.units.dates import utc

SHOWN = 16
"""Largest number of named ports of an owner."""


def check_free(
    done: Transaction,
    chosen: Mapping[Pair, str],
    unowned: Collection[Pair],
    leases: Sequence[Lease],
) -> None:
    """Refuses to undo a transaction whose ports another owner holds.

    Args:
        done: the transaction.
        chosen: the cross-connects that would be lit after the undo, with their owners.
        unowned: lit cross-connects without an owner, which the controller does not remove.
        leases: leases of the switch.

    Raises:
        ConfigError: naming the ports, their owners, and the time until which each owner holds them.
    """
    until = {lease_owner(lease): lease.until for lease in leases}
    ports: dict[str, list[str]] = {}
    for port, owner in dict.fromkeys(_held(done, chosen, unowned)):
        ports.setdefault(owner, []).append(port)
    if ports:
        limit = _limited([_holder(own, owner, until) for owner, own in ports.items()])
        remedy = "wait until then, or ask its owner to withdraw it"
        raise refusal("transaction", done.id, limit, remedy)


def _limited(texts: Sequence[str]) -> str:
    """As many texts as a message can hold, and the number of the others."""
    for count in range(len(texts), 0, -1):
        left = len(texts) - count
        more = [f"{counted(left, 'other owner')} of further ports"] if left else []
        if len(found := "; ".join([*texts[:count], *more])) <= LONG:
            return found
    return texts[0]


def _holder(ports: Sequence[str], owner: str, until: Mapping[str, float]) -> str:
    several = len(ports) > 1
    more = f" and {len(ports) - SHOWN} more" if len(ports) > SHOWN else ""
    named = f"port{'s' if several else ''} {', '.join(ports[:SHOWN])}{more}"
    holds = f"holds {'them' if several else 'it'} until"
    if owner in until:
        return f"{named}: {owner} {holds} {utc(until[owner])}"
    if not owner:
        return f"{named}: a cross-connect without an owner {holds} it is removed"
    return f"{named}: {owner} {holds} that request is withdrawn"


def _held(
    done: Transaction, chosen: Mapping[Pair, str], unowned: Collection[Pair]
) -> Iterator[tuple[str, str]]:
    """The blocked ports with the owners of their cross-connects; "" for no owner."""
    there = {**dict.fromkeys(unowned, ""), **chosen}
    for pair in done.pairs("removed"):
        for other, owner in there.items():
            if other != pair:
                yield from ((port, owner) for port in _shared(pair, other))
    for pair in done.pairs("added"):
        if pair in chosen:
            yield from ((port, chosen[pair]) for port in _shared(pair, pair))


def _shared(one: Pair, other: Pair) -> list[str]:
    """The ports that two cross-connects share."""
    return [f"{a}{side}" for side, a, b in zip("AB", one, other, strict=True) if a == b]
