"""What owners want: operators and the policy by intents in the store, tenants by leases.

Leases come first, then operators, then the policy; within one of these the higher priority comes
first, then the older wish.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lightloom.controller.leases import leases
from lightloom.controller.managed import Managed
from lightloom.controller.store import Store, Transaction, Wanted
from lightloom.errors import refusal
from lightloom.switches.ports import Pair, name_of

POLICY, LEASE, OPERATOR = "policy", "lease", "operator"
PRIORITY = {POLICY: 0, OPERATOR: 1_000, LEASE: 2_000}
"""Added to the priority of a wish by the kind of its owner."""


class Wishes:
    """The wishes in a store."""

    def __init__(self, store: Store, clock: Callable[[], float]) -> None:
        self._store = store
        self._clock = clock

    def replace(self, one: Managed, pairs: Sequence[Pair], who: str, priority: int) -> None:
        """Sets the cross-connects that an operator wants on a switch.

        Raises:
            ConfigError: of a port that is in two of them, or not on the switch.
        """
        check_pairs(one, pairs)
        rank = PRIORITY[OPERATOR] + priority
        self._store.want(one.name, operator(who), pairs, rank, who)

    def fulfil(
        self, one: Managed, number: int, pairs: Sequence[Pair], who: str, priority: int
    ) -> None:
        """Sets what a deferred wish asks for, if it is still open."""
        rank = PRIORITY[OPERATOR] + priority
        self._store.fulfil(number, one.name, operator(who), pairs, rank, who)

    def all(self, one: Managed) -> list[Wanted]:
        """All wishes of a switch, active leases among them, the most important first."""
        return in_order([*self._store.intents(one.name), *self._leased(one)])

    def _leased(self, one: Managed) -> list[Wanted]:
        now, found = self._clock(), []
        for lease in leases(self._store, one.name):
            if lease.is_active(now):
                ends = (one.racks.number(lease.racks[0]), one.racks.number(lease.racks[1]))
                priority = PRIORITY[LEASE] + lease.priority
                owner = f"{LEASE}:{lease.id} ({lease.owner})"
                pairs = one.racks.pairs([ends])
                found += [Wanted(pair, owner, priority, lease.begins) for pair in pairs]
        return found

    def of_policy(self, one: Managed) -> list[Wanted]:
        """The wishes of the policy."""
        return [wish for wish in self._store.intents(one.name) if wish.owner == POLICY]

    def follow(self, one: Managed, pairs: Sequence[Pair]) -> None:
        """Sets the cross-connects that the policy wants on a switch."""
        self._store.want(one.name, POLICY, pairs, PRIORITY[POLICY], POLICY)

    def with_policy(self, one: Managed, pairs: Sequence[Pair]) -> list[Wanted]:
        """All wishes as they would be after `follow`."""
        others = [wish for wish in self.all(one) if wish.owner != POLICY]
        now = self._clock()
        return in_order([*others, *(Wanted(p, POLICY, PRIORITY[POLICY], now) for p in pairs)])

    def preview(self, one: Managed, pairs: Sequence[Pair], who: str, priority: int) -> list[Wanted]:
        """All wishes as they would be after `replace`; nothing is written.

        Raises:
            ConfigError: as `replace`.
        """
        check_pairs(one, pairs)
        return self.exchanged(self.all(one), pairs, who, priority)

    def exchanged(
        self, wanted: Sequence[Wanted], pairs: Sequence[Pair], who: str, priority: int
    ) -> list[Wanted]:
        """Wishes with others of one operator."""
        others = [wish for wish in wanted if wish.owner != operator(who)]
        rank, now = PRIORITY[OPERATOR] + priority, self._clock()
        return in_order([*others, *(Wanted(pair, operator(who), rank, now) for pair in pairs)])

    def revert(self, done: Transaction, who: str) -> None:
        """Withdraws what a transaction added from all owners; an operator wants what it removed."""
        added, removed = {*done.pairs("added")}, {*done.pairs("removed")}
        wishes: dict[str, list[Wanted]] = {operator(who): []}
        for wish in self._store.intents(done.switch):
            wishes.setdefault(wish.owner, []).append(wish)
        for owner, own in wishes.items():
            left = {wish.pair for wish in own} - added
            if owner == operator(who):
                left |= removed
            elif len(left) == len(own):
                continue
            rank = own[0].priority if own else PRIORITY[OPERATOR]
            self._store.want(done.switch, owner, sorted(left), rank, who)


def operator(who: str) -> str:
    """The owner that a client is."""
    return f"{OPERATOR}:{who}"


def in_order(wishes: Sequence[Wanted]) -> list[Wanted]:
    """Wishes, the most important first."""
    return sorted(wishes, key=lambda one: (-one.priority, one.since, one.pair))


def check_pairs(one: Managed, pairs: Sequence[Pair]) -> None:
    """Refuses cross-connects that cannot be lit together.

    Raises:
        ConfigError: of a port that is in two of them, or not on the switch.
    """
    for side in (0, 1):
        seen: set[int] = set()
        for pair in pairs:
            if pair[side] in seen:
                name = f"{pair[side]}{'AB'[side]}"
                limit = "a port is in one cross-connect"
                raise refusal("cross_connects", name, limit, "name each port once")
            seen.add(pair[side])
    if one.description is not None:
        size = one.description.size
        for a, b in pairs:
            if not 1 <= a <= size.a or not 1 <= b <= size.b:
                limit = f"the switch has {size} ports"
                raise refusal("cross_connects", name_of((a, b)), limit, "choose other ports")
