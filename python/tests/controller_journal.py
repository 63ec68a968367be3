"""The state that controllers have acknowledged to their clients, which the store must contain after
every step."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from controller_reference import Request
from controller_world import CrashError

from lightloom.controller import schema
from lightloom.controller.transaction_log import Transaction
from lightloom.switches.ports import Pair

Rows = Callable[..., list[dict[str, Any]]]
Effect = Callable[[dict[str, Any]], None]
State = dict[str, Any]


def requests_of(rows: Rows, now: float, deferred: Sequence[int], without: str) -> list[Request]:
    """All requests in force at a time, including some deferred ones, without those of one owner."""
    exchanged = [row for number in deferred for row in rows(schema.deferred, id=number)]
    left_out = {f"operator:{row['client']}" for row in exchanged} | {without}
    found = [
        (row["priority"], row["since"], (row["a"], row["b"]), row["owner"])
        for row in rows(schema.intent)
        if row["owner"] not in left_out
    ]
    for row in exchanged:
        rank, owner = 1_000 + row["priority"], f"operator:{row['client']}"
        own = {(old["a"], old["b"]): old["since"] for old in rows(schema.intent, owner=owner)}
        pairs = [(a, b) for a, b in json.loads(row["pairs"])]
        # A cross-connect that its owner requests again keeps its place.
        found += [(rank, own.get(pair, now), pair, owner) for pair in pairs]
    for row in rows(schema.lease):
        ends = row["ends"] if row["released"] is None else min(row["ends"], row["released"])
        if row["begins"] <= now < ends:
            a, b = int(row["rack_a"][1:]), int(row["rack_b"][1:])
            rank, owner = 2_000 + row["priority"], f"lease:{row['id']}"
            found += [(rank, row["begins"], pair, owner) for pair in ((a, b), (b, a))]
    return found


class Journal:
    """The acknowledged state."""

    def __init__(self, rows: Rows, records: Callable[[], int]) -> None:
        """Starts with the contents of the store.

        Args:
            rows: rows of a table.
            records: the number of the last audit record: every write adds one.
        """
        self._rows = rows
        self._records = records
        self._seen = -1
        self.state: State = self.found()
        self.carried: dict[int, int] = {}
        """Number of completed transactions that carried out each deferred request."""
        self.replaced: set[int] = set()
        """The deferred requests that took effect although another one had replaced them."""
        self.adopted: set[Pair] = set()
        self.taken_from_policy: set[Pair] = set()
        self._undoing: tuple[Transaction, str] | None = None
        """The undo in progress that has not yet taken effect: its transaction and its client."""
        self._undone_after = 0
        """Number of undos in the audit log when it began."""

    def found(self) -> State:
        """Returns the state in the store."""
        intents: dict[str, list[Any]] = {}
        for row in self._rows(schema.intent):
            if row["owner"] != "policy":
                entry = [row["a"], row["b"], row["priority"]]
                intents.setdefault(row["owner"], []).append(entry)
        fields = ("rack_a", "rack_b", "owner", "priority", "begins", "ends", "released")
        jobs = ("racks", "begins", "ends")
        return {
            "intents": {owner: sorted(own) for owner, own in intents.items()},
            "leases": {row["id"]: [row[key] for key in fields] for row in self._rows(schema.lease)},
            "deferred": {
                row["id"]: [row["client"], row["pairs"], row["priority"], row["at"], row["outcome"]]
                for row in self._rows(schema.deferred)
            },
            "jobs": {
                row["name"]: None if row["ended"] else [row[key] for key in jobs]
                for row in self._rows(schema.job)
            },
        }

    def observe(self) -> None:
        """Checks that the store contains the acknowledged state and the deferred requests that were
        carried out."""
        if (last := self._records()) == self._seen:
            return
        self._seen = last
        found = self.found()
        self.adopt()
        candidates = [self._carried_out(self.state, found)]
        if candidates[0] != found:
            candidates[0] = self._carried_out_though_replaced(candidates[0])
        if self._undoing is not None:
            # An undo first ends the transaction in progress, and then carries out the changes that
            # are due.
            undone = copy.deepcopy(self.state)
            self._undo(undone, *self._undoing)
            candidates.append(self._carried_out(undone, found))
            self._undo(twice := copy.deepcopy(candidates[0]), *self._undoing)
            candidates.append(twice)
        fitting = [number for number, state in enumerate(candidates) if state == found]
        assert fitting, [(found[key], candidates[0][key]) for key in found]
        self.state = candidates[fitting[0]]
        if fitting[0] > 0 or self._is_undone():
            self.taken_from_policy = self.taken()
            self._undoing = None
        assert all(count <= 1 for count in self.carried.values()), self.carried

    def _carried_out(self, state: State, found: State) -> State:
        """Returns a state in which the deferred requests are completed as in the store."""
        made = copy.deepcopy(state)
        for number, row in found["deferred"].items():
            known = made["deferred"].get(number)
            if known is not None and known[-1] is None and row[-1] == "done":
                known[-1] = "done"
                self._set(made, row[0], json.loads(row[1]), row[2])
        return made

    def _carried_out_though_replaced(self, state: State) -> State:
        """Returns a state in which deferred requests that another one replaced during their change
        have taken effect: their circuits are lit until that one begins."""
        made = copy.deepcopy(state)
        for row in self._rows(schema.transaction, state="done"):
            for number in json.loads(row["plan"]).get("deferred", []):
                who, pairs, priority, _, outcome = made["deferred"][number]
                waits = any(one[0] == who and one[-1] is None for one in made["deferred"].values())
                if outcome == "replaced" and waits and number not in self.replaced:
                    self.replaced.add(number)
                    self._set(made, who, json.loads(pairs), priority)
        return made

    def adopt(self) -> None:
        """Records the cross-connects that the controller has adopted from other clients."""
        self.adopted |= {(row["a"], row["b"]) for row in self._rows(schema.owned)}

    @staticmethod
    def _set(state: State, who: str, pairs: Sequence[Any], priority: int) -> None:
        entries = sorted([a, b, 1_000 + priority] for a, b in pairs)
        if entries:
            state["intents"][f"operator:{who}"] = entries
        else:
            state["intents"].pop(f"operator:{who}", None)

    @contextmanager
    def asked(self, effect: Effect) -> Iterator[None]:
        """A request, whose effect is in the store once it is acknowledged.

        If the controller crashes before, the effect is there completely or not at all.
        """
        before = copy.deepcopy(self.state)
        try:
            yield
        except CrashError:
            after = copy.deepcopy(before)
            effect(after)
            found = self.found()
            assert found in (before, after)
            self.state = found
            raise
        effect(self.state)
        assert self.found() == self.state

    @contextmanager
    def undoing(self, one: Transaction, who: str) -> Iterator[None]:
        """An undo, which removes requests of several owners."""
        self._undoing, self._undone_after = (one, who), len(self._undos())
        try:
            yield
        finally:
            self.observe()
            self._undoing = None

    @property
    def is_undoing(self) -> bool:
        """Whether an undo is in progress."""
        return self._undoing is not None

    def _undos(self) -> list[int]:
        """Returns the undone transactions, from the audit log."""
        records = self._rows(schema.audit, what="undo")
        return [json.loads(record["body"])["transaction"] for record in records]

    def _is_undone(self) -> bool:
        """Whether the undo in progress has taken effect, by the audit log; it may have removed only
        requests of the policy."""
        if self._undoing is None:
            return False
        return self._undoing[0].id in self._undos()[self._undone_after :]

    def taken(self) -> set[Pair]:
        """Returns the cross-connects that undos have removed from the policy's request since its
        last change was carried out."""
        under_way = () if self._undoing is None else self._undoing[0].pairs("added")
        return self.taken_from_policy | {*under_way}

    def _undo(self, state: State, one: Transaction, who: str) -> None:
        added, removed = {*one.pairs("added")}, {*one.pairs("removed")}
        mine = f"operator:{who}"
        rank = state["intents"].get(mine, [[0, 0, 1_000]])[0][2]
        for owner, own in [*state["intents"].items()]:
            left = [entry for entry in own if (entry[0], entry[1]) not in added]
            if owner == mine:
                left = [e for e in left if not any(e[0] == a or e[1] == b for a, b in removed)]
            if left:
                state["intents"][owner] = left
            else:
                del state["intents"][owner]
        if removed:
            own = state["intents"].get(mine, [])
            state["intents"][mine] = sorted([*own, *([a, b, rank] for a, b in removed)])

    def end(self, moved: Transaction) -> None:
        """Records the end of a transaction."""
        if moved.state == "done":
            for number in moved.plan.get("deferred", []):
                self.carried[number] = self.carried.get(number, 0) + 1

    # The effects of requests

    def wanted(self, who: str, pairs: Sequence[Pair], priority: int) -> Effect:
        def effect(state: State) -> None:
            self._set(state, who, pairs, priority)
            self._replace(state, who)

        return effect

    @staticmethod
    def _replace(state: State, who: str) -> None:
        for row in state["deferred"].values():
            if row[0] == who and row[-1] is None:
                row[-1] = "replaced"

    def deferred(self, who: str, pairs: Sequence[Pair], at: float | None) -> Effect:
        def effect(state: State) -> None:
            self._replace(state, who)
            text = json.dumps(sorted({*pairs}))
            state["deferred"][self._next(schema.deferred, state["deferred"])] = [
                who, text, 0, at, None,
            ]  # fmt: skip

        return effect

    def _next(self, table: Any, known: State) -> int:
        """Returns the number of a new row: that in the store if the row exists already."""
        new = {row["id"] for row in self._rows(table)} - known.keys()
        return new.pop() if new else max(known, default=0) + 1

    def withdrawn(self, number: int) -> Effect:
        def effect(state: State) -> None:
            if state["deferred"][number][-1] is None:
                state["deferred"][number][-1] = "withdrawn"

        return effect

    def reserved(
        self, racks: tuple[str, str], who: str, priority: int, begins: float, ends: float
    ) -> Effect:
        def effect(state: State) -> None:
            number = self._next(schema.lease, state["leases"])
            state["leases"][number] = [*racks, who, priority, begins, ends, None]

        return effect

    def released(self, number: int, now: float) -> Effect:
        def effect(state: State) -> None:
            state["leases"][number][-1] = now

        return effect

    def announced(self, name: str, racks: Sequence[str]) -> Effect:
        def effect(state: State) -> None:
            known = state["jobs"].get(name)
            times = [None, None] if known is None else known[1:]
            state["jobs"][name] = [json.dumps([*racks]), *times]

        return effect

    def bounded(self, name: str, begins: float, ends: float) -> Effect:
        def effect(state: State) -> None:
            state["jobs"][name] = [state["jobs"][name][0], begins, ends]

        return effect

    def job_ended(self, name: str) -> Effect:
        def effect(state: State) -> None:
            state["jobs"][name] = None

        return effect
