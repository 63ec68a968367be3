"""Requests of owners: intents of operators and of the policy in the store, and leases of tenants.

Leases have precedence over operators, and operators over the policy; within each of these the
higher priority comes first, then the older request.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from lightloom.controller.change import UNOWNED, Conflict
from lightloom.controller.claims import Claim
from lightloom.controller.deferred import Deferred
from lightloom.controller.intents import Wanted
from lightloom.controller.leases import Lease, leases
from lightloom.controller.managed import Managed
from lightloom.controller.store import Store
from lightloom.controller.transaction_log import Transaction
from lightloom.errors import refusal
from lightloom.switches.ports import Pair, name_of
from lightloom.units.dates import utc

POLICY, LEASE, OPERATOR = "policy", "lease", "operator"
PRIORITY = {POLICY: 0, OPERATOR: 1_000, LEASE: 2_000}
"""Amount that is added to the priority of a request, by the kind of its owner."""


@dataclass(frozen=True)
class Due:
    """A request that takes effect when the switch has its cross-connects."""

    owner: str
    who: str
    """The client that requested it, or the policy."""
    pairs: Sequence[Pair]
    """All cross-connects that this owner then requests."""
    priority: int
    deferred: int | None = None
    """Number of the deferred request; None if it is not deferred."""
    at_checkpoint: bool = False
    """Whether it stops no job that is not at a boundary."""

    @classmethod
    def of_client(cls, one: Deferred) -> Due:
        """A deferred request of an operator."""
        rank = PRIORITY[OPERATOR] + one.priority
        return cls(operator(one.who), one.who, one.pairs, rank, one.id, one.at is None)

    @classmethod
    def of_policy(cls, pairs: Sequence[Pair], at_checkpoint: bool) -> Due:
        """The circuits that the policy requests."""
        return cls(POLICY, POLICY, pairs, PRIORITY[POLICY], None, at_checkpoint)

    def table(self) -> dict[str, Any]:
        """The request in the form that a transaction stores."""
        return {**asdict(self), "pairs": sorted({*self.pairs})}


class Requests:
    """The requests in a store."""

    def __init__(self, store: Store, clock: Callable[[], float]) -> None:
        self._store = store
        self._clock = clock

    def replace(
        self,
        one: Managed,
        pairs: Sequence[Pair],
        who: str,
        priority: int,
        claim: Claim | None = None,
    ) -> None:
        """Sets the cross-connects that an operator requests on a switch, which replaces the
        client's deferred request.

        Raises:
            ConfigError: if a port is in two of them, or is not on the switch.
        """
        check_pairs(one, pairs)
        rank = PRIORITY[OPERATOR] + priority
        self._store.want_now(one.name, operator(who), pairs, rank, who, claim)

    def fulfil(self, one: Managed, due: Sequence[Due]) -> None:
        """Puts requests into effect whose cross-connects the switch has."""
        if due:
            self._store.fulfil(one.name, [request.table() for request in due])

    def with_(self, one: Managed, due: Sequence[Due]) -> list[Wanted]:
        """All requests of a switch as they are after some others have taken effect."""
        wanted, now = self.all(one), self._clock()
        for request in due:
            others = [other for other in wanted if other.owner != request.owner]
            since = {own.pair: own.since for own in wanted if own.owner == request.owner}
            made = [
                Wanted(pair, request.owner, request.priority, since.get(pair, now))
                for pair in request.pairs
            ]
            wanted = in_order([*others, *made])
        return wanted

    def all(self, one: Managed) -> list[Wanted]:
        """All requests of a switch, including active leases, in order of precedence."""
        intents, leased = self._store.intents(one.name), self._leased(one)
        return in_order([*intents, *leased]) if leased else intents

    def leases_for(self, one: Managed, pairs: Sequence[Pair]) -> list[Lease]:
        """The active leases that request some of these cross-connects."""
        return [lease for lease, own in self._active(one) if not {*own}.isdisjoint(pairs)]

    def _leased(self, one: Managed) -> list[Wanted]:
        return [
            Wanted(pair, lease_owner(lease), PRIORITY[LEASE] + lease.priority, lease.begins)
            for lease, pairs in self._active(one)
            for pair in pairs
        ]

    def _active(self, one: Managed) -> list[tuple[Lease, Sequence[Pair]]]:
        """The active leases of a switch, with their cross-connects."""
        now, racks = self._clock(), one.racks
        return [
            (lease, racks.pairs([(racks.number(lease.racks[0]), racks.number(lease.racks[1]))]))
            for lease in leases(self._store, now, one.name)
            if lease.is_active(now) and all(map(racks.has, lease.racks))
        ]

    def told(self, one: Managed, conflicts: Sequence[Conflict]) -> list[str]:
        """Descriptions of conflicts: the request, the owner that holds the port, and until when."""
        ends = {
            lease_owner(lease): lease.until
            for lease in leases(self._store, self._clock(), one.name)
        }
        until = {UNOWNED: "it is removed"}
        for owner, at in ends.items():
            until[owner] = utc(at)
        other = "that request is withdrawn"
        return [
            f"{found} until {until.get(found.holder, other)}" if found.size is None else f"{found}"
            for found in conflicts
        ]

    def of_owner(self, one: Managed, owner: str) -> list[Wanted]:
        """The requests of an owner that is not a lease."""
        return [request for request in self._store.intents(one.name) if request.owner == owner]

    def preview(self, one: Managed, pairs: Sequence[Pair], who: str, priority: int) -> list[Wanted]:
        """All requests as they would be after `replace`; nothing is written.

        Raises:
            ConfigError: as `replace`.
        """
        check_pairs(one, pairs)
        rank = PRIORITY[OPERATOR] + priority
        return self.with_(one, [Due(operator(who), who, pairs, rank)])

    def preview_lease(
        self, one: Managed, racks: tuple[str, str], who: str, priority: int
    ) -> list[Wanted]:
        """All requests as they would be with an active lease; nothing is written."""
        pairs = one.racks.pairs([(one.racks.number(racks[0]), one.racks.number(racks[1]))])
        rank, now = PRIORITY[LEASE] + priority, self._clock()
        made = [Wanted(pair, f"{LEASE} ({who})", rank, now) for pair in pairs]
        return in_order([*self.all(one), *made])

    def revert(self, done: Transaction, who: str, claim: Claim | None = None) -> None:
        """Withdraws the cross-connects that a transaction added from all owners' requests.

        An operator requests those that it removed, and its requests that need a port of these end.
        """
        self._store.want_each(done.switch, self._reverted(done, who), who, done.id, claim)

    def after_revert(self, one: Managed, done: Transaction, who: str) -> list[Wanted]:
        """All requests as they would be after `revert`; nothing is written."""
        changed, before, now = self._reverted(done, who), self.all(one), self._clock()
        since = {(request.owner, request.pair): request.since for request in before}
        others = [request for request in before if request.owner not in changed]
        made = [
            Wanted(pair, owner, rank, since.get((owner, pair), now))
            for owner, (pairs, rank) in changed.items()
            for pair in pairs
        ]
        return in_order([*others, *made])

    def _reverted(self, done: Transaction, who: str) -> dict[str, tuple[list[Pair], int]]:
        added, removed = {*done.pairs("added")}, {*done.pairs("removed")}
        requests: dict[str, list[Wanted]] = {operator(who): []}
        for request in self._store.intents(done.switch):
            requests.setdefault(request.owner, []).append(request)
        changed = {}
        for owner, own in requests.items():
            left = {request.pair for request in own} - added
            if owner == operator(who):
                left = _without_ports_of(left, removed) | removed
            if left != {request.pair for request in own}:
                rank = own[0].priority if own else PRIORITY[OPERATOR]
                changed[owner] = (sorted(left), rank)
        return changed


def _without_ports_of(pairs: set[Pair], others: set[Pair]) -> set[Pair]:
    """The cross-connects that share no port with some others."""
    a_ports, b_ports = {a for a, _ in others}, {b for _, b in others}
    return {pair for pair in pairs if pair[0] not in a_ports and pair[1] not in b_ports}


def lease_owner(lease: Lease) -> str:
    """The name of a lease as an owner."""
    return f"{LEASE}:{lease.id} ({lease.owner})"


def operator(who: str) -> str:
    """The name of a client as an owner."""
    return f"{OPERATOR}:{who}"


def in_order(requests: Sequence[Wanted]) -> list[Wanted]:
    """Requests in order of precedence."""
    return sorted(requests, key=lambda one: (-one.priority, one.since, one.pair))


def check_pairs(one: Managed, pairs: Sequence[Pair]) -> None:
    """Refuses cross-connects that cannot be lit together.

    Raises:
        ConfigError: if a port is in two of them, or is not on the switch.
    """
    for side in (0, 1):
        seen: set[int] = set()
        for pair in pairs:
            if pair[side] in seen:
                name = f"{pair[side]}{'AB'[side]}"
                limit = "a port is in one cross-connect"
                raise refusal("cross_connects", name, limit, "name each port once")
            seen.add(pair[side])
    if (size := one.size) is not None:
        for a, b in pairs:
            if not 1 <= a <= size.a or not 1 <= b <= size.b:
                limit = f"the switch has {size} ports"
                raise refusal("cross_connects", name_of((a, b)), limit, "choose other ports")
