"""Whether a transaction can be undone: no other client may hold a port that this needs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from lightloom.controller.leases import Lease
from lightloom.controller.transaction_log import Transaction
from lightloom.controller.wishes import lease_owner
from lightloom.errors import refusal
from lightloom.switches.ports import Pair
from lightloom.units.dates import utc


def check_free(
    done: Transaction,
    chosen: Mapping[Pair, str],
    unowned: Collection[Pair],
    leases: Sequence[Lease],
) -> None:
    """Refuses to undo a transaction whose ports somebody else holds.

    Args:
        done: the transaction.
        chosen: the cross-connects that would be had once it is undone, and their owners.
        unowned: lit cross-connects without an owner, which the controller does not remove.
        leases: of the switch.

    Raises:
        ConfigError: naming the ports, their holders, and until when each holds them.
    """
    until = {lease_owner(lease): lease.until for lease in leases}
    found = dict.fromkeys(_held(done, chosen, unowned))
    if found:
        texts = [f"port {port}: {_holder(owner, until)}" for port, owner in found]
        remedy = "wait for that, or have its owner give it up"
        raise refusal("transaction", done.id, "; ".join(texts), remedy)


def _holder(owner: str, until: Mapping[str, float]) -> str:
    if owner in until:
        return f"{owner} holds it until {utc(until[owner])}"
    if not owner:
        return "a cross-connect without an owner holds it until it is removed"
    return f"{owner} holds it until that request is withdrawn"


def _held(
    done: Transaction, chosen: Mapping[Pair, str], unowned: Collection[Pair]
) -> Iterator[tuple[str, str]]:
    """The ports in the way and the owners of what is there; "" for none."""
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
