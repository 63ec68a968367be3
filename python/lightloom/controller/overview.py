"""The state of a controller, as the interface and the dashboard show it."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from typing import Any

from lightloom.controller.deferred import Deferred, waiting
from lightloom.controller.intents import Wanted
from lightloom.controller.jobs import jobs
from lightloom.controller.leases import leases
from lightloom.controller.limits import HOUR_S, Limits
from lightloom.controller.managed import Managed
from lightloom.controller.retries import LOOKED_AT
from lightloom.controller.service import Controller
from lightloom.controller.store import Store
from lightloom.controller.transaction import without_light
from lightloom.controller.transaction_log import Transaction
from lightloom.switches.ports import Pair, name_of

HEAVIEST = 6
"""Number of pairs of racks that are shown with their demand."""
SKEW_S = 2.0
"""Largest time by which the clock may be behind the last record; beyond it, the clock was set back
or differs from that of another controller."""
SHOWN = 20
"""Number of transactions that are shown, beside those that are not over."""


def state_of(controller: Controller) -> dict[str, Any]:
    """All switches, transactions, leases and alarms; does not wait for a change in progress."""
    store, now = controller.store, controller.clock()
    return {
        "name": controller.config.name,
        "role": role_of(controller),
        "active": store.holder(),
        "mode": controller.config.mode,
        "now": now,
        "version": controller.version,
        "switches": [
            {**_switch(one, controller.wanted(one.name)), **_dark(controller, one, now)}
            for one in controller.switches.values()
        ],
        "transactions": [_transaction(one) for one in _shown(store)],
        "leases": [{**vars(one), "active": one.is_active(now)} for one in leases(store, now)],
        "jobs": [{**vars(one), "racks": [*one.racks]} for one in jobs(store, now)],
        "deferred": [deferred_table(controller, one) for one in waiting(store)],
        "alarms": alarms_of(controller),
    }


def role_of(controller: Controller) -> str:
    """Whether a controller is the active one or a standby."""
    return "active" if controller.store.is_active() else "standby"


def mark_of(controller: Controller) -> tuple[Any, ...]:
    """A value that changes with the role and the store, for example by another controller or by a
    request that changes no switch, such as a lease."""
    store = controller.store
    return (role_of(controller), store.holder(), store.last_record())


def deferred_table(controller: Controller, one: Deferred) -> dict[str, Any]:
    """A deferred change in the form of the HTTP interface."""
    table = {key: value for key, value in vars(one).items() if key != "at"}
    why = controller.why_waiting(one)
    return {**table, "pairs": [*one.pairs], "when": one.when, "why": why}


def _switch(one: Managed, wanted: list[Wanted]) -> dict[str, Any]:
    about, lit = one.description, with_light(one)
    dark = dark_of(one, one.lit)
    return {
        "name": one.name,
        "url": one.url,
        "model": "" if about is None else about.model,
        "ports": "" if about is None else str(about.size),
        "read_at": one.read_at,
        "trouble": one.trouble,
        "racks": one.racks.names,
        "lit": [_named(one, pair) for pair in lit],
        "dark": [_named(one, pair) for pair in dark],
        "wanted": [
            {**_named(one, request.pair), "owner": request.owner, "lit": request.pair in lit}
            for request in wanted
        ],
        "advice": None if one.advice is None else [_named(one, pair) for pair in one.advice],
        "held_back": one.held_back,
        "unowned": [name_of(pair) for pair in one.unowned],
        "conflicts": one.conflicts,
        "demand": None if one.demand is None else vars(one.demand),
        "carried": one.share(lit),
        "heaviest": _heaviest(one),
    }


def _dark(controller: Controller, one: Managed, now: float) -> dict[str, float | None]:
    """The policy's budget of dark time, and what it has spent in the last hour."""
    spent = controller.store.dark_s(one.name, now - HOUR_S)
    limit = Limits.of(controller.config.limits).dark_per_hour_s
    return {"dark_spent_s": spent, "dark_limit_s": limit}


def _heaviest(one: Managed) -> list[dict[str, Any]]:
    """The pairs with the largest demand, and whether a circuit connects each of them."""
    if one.demand is None:
        return []
    matrix, names = one.demand.matrix, one.racks.names
    pairs = ((size, a, b) for a, row in enumerate(matrix) for b, size in enumerate(row))
    top = heapq.nlargest(HEAVIEST, (found for found in pairs if found[0] > 0))
    joined = one.racks.ways(with_light(one))
    return [
        {"racks": f"{names[a]} → {names[b]}", "bytes": size, "joined": (a, b) in joined}
        for size, a, b in top
    ]


def _named(one: Managed, pair: Pair) -> dict[str, Any]:
    return {"name": name_of(pair), "pair": pair, "racks": one.racks.named(pair)}


def _shown(store: Store) -> list[Transaction]:
    """The last transactions, and earlier ones that are not over; newest first."""
    found = {one.id: one for one in [*store.transactions(limit=SHOWN), *store.unfinished()]}
    return [found[number] for number in sorted(found, reverse=True)]


def _transaction(one: Transaction) -> dict[str, Any]:
    names: Mapping[str, list[str]] = {
        key: [name_of(pair) for pair in one.pairs(key)] for key in ("removed", "added", "kept")
    }
    return {**vars(one), **names}


def _retries(controller: Controller, one: Managed) -> list[str]:
    """The changes that were undone and are tried again: the ports, the reason, and the time."""
    failures = controller.failures(one)
    if one.read_at is None:
        return []
    found = [] if failures.are_none else failures.retries(controller.pending(one))
    return [*map(str, found[:SHOWN]), *_next_checkpoints(controller, one)]


def _next_checkpoints(controller: Controller, one: Managed) -> list[str]:
    """The changes that were undone and wait for the next checkpoint."""
    due = {request.deferred for request in controller.due(one)}
    left = [
        request
        for request in waiting(controller.store, one.name)
        if request.at is None and request.id not in due
    ]
    undone = controller.store.transactions(one.name, ["undone"], LOOKED_AT) if left else []
    texts = []
    for request in left:
        last = next((made for made in undone if request.id in made.plan.get("deferred", ())), None)
        if last is not None:
            said = f"transaction {last.id} was undone: {last.reason}"
            texts.append(
                f"{said}; change {request.id} of {request.who} waits for the next checkpoint"
            )
    return texts


def dark_of(one: Managed, pairs: Iterable[Pair]) -> list[Pair]:
    """The cross-connects that a switch lacks or that carry no light."""
    lit = {*one.lit}
    return [p for p in pairs if p not in lit or without_light([p], one.power) is not None]


def with_light(one: Managed) -> list[Pair]:
    """The cross-connects of a switch, except for those that carry no light."""
    dark = {*dark_of(one, one.lit)}
    return [pair for pair in one.lit if pair not in dark]


def _without_light(one: Managed, wanted: list[Wanted]) -> str | None:
    """The connected circuits that no light leaves, with their racks and owners; None if there is
    none."""
    # The first owner is the one in effect.
    owners = {request.pair: request.owner for request in reversed(wanted)}
    dark = dark_of(one, sorted(owners.keys() & {*one.lit}))
    if not dark:
        return None
    texts = [
        f"{name_of(pair)} ({one.racks.named(pair) or 'no racks'}) of {owners[pair]}"
        for pair in dark[:SHOWN]
    ]
    more = f" and {len(dark) - SHOWN} more" if len(dark) > SHOWN else ""
    return f"{', '.join(texts)}{more}: connected, and no light leaves"


def alarms_of(controller: Controller) -> list[dict[str, Any]]:
    """The conditions that need an operator."""
    found = []
    if controller.failure is not None:
        found.append({"kind": "failed", "switch": "all", "text": controller.failure})
    if (broken := controller.store.checked.broken) is not None:
        text = f"record {broken} of the audit log does not fit the one before it"
        found.append({"kind": "audit", "switch": "all", "text": text})
    ahead = controller.store.last_at() - controller.clock()
    if ahead > SKEW_S:
        text = f"the clock is {ahead:.0f} s behind the latest record in the store; correct it"
        found.append({"kind": "clock", "switch": "all", "text": text})
    for left in controller.store.unfinished():
        if left.reason:
            text = f"transaction {left.id} is {left.state}: {left.reason}; it is tried again"
            found.append({"kind": "hook", "switch": left.switch, "text": text})
        if left.switch not in controller.switches:
            text = f"transaction {left.id} is {left.state}, and no table [[switch]] has this name"
            found.append({"kind": "removed", "switch": left.switch, "text": text})
    now = controller.clock()
    for lease in leases(controller.store, now):
        holder = controller.switches.get(lease.switch)
        gone = [name for name in lease.racks if holder and not holder.racks.has(name)]
        if gone:
            text = f"lease {lease.id} of {lease.owner}: rack {gone[0]} is not in the port map"
            found.append({"kind": "removed", "switch": lease.switch, "text": text})
    for one in controller.switches.values():
        if (why := one.why_unreachable(controller.clock())) is not None:
            found.append({"kind": "unreachable", "switch": one.name, "text": why})
        if one.policy_trouble is not None:
            found.append({"kind": "policy", "switch": one.name, "text": one.policy_trouble})
        if one.unowned and controller.config.unowned == "report":
            text = f"{', '.join(map(name_of, one.unowned))}: they have no owner"
            found.append({"kind": "drift", "switch": one.name, "text": text})
        for text in one.conflicts:
            found.append({"kind": "conflict", "switch": one.name, "text": text})
        if (dark := _without_light(one, controller.wanted(one.name))) is not None:
            found.append({"kind": "dark", "switch": one.name, "text": dark})
        for text in [*one.kept_away.values()]:
            found.append({"kind": "hook", "switch": one.name, "text": text})
        for text in _retries(controller, one):
            found.append({"kind": "retry", "switch": one.name, "text": text})
        for left in controller.store.stuck(one.name)[:1]:
            text = f"transaction {left.id}: {left.reason}"
            found.append({"kind": "stuck", "switch": one.name, "text": text})
    return found
