"""The state of a controller, as the interface and the dashboard show it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lightloom.controller.deferred import Deferred, waiting
from lightloom.controller.jobs import jobs
from lightloom.controller.leases import leases
from lightloom.controller.managed import Managed
from lightloom.controller.store import Transaction, Wanted
from lightloom.switches.ports import Pair, name_of

if TYPE_CHECKING:
    from lightloom.controller.service import Controller

SHOWN = 20
"""So many transactions are shown."""


def state_of(controller: Controller) -> dict[str, Any]:
    """All switches, transactions, leases and alarms."""
    store, now = controller.store, controller.clock()
    return {
        "name": controller.config.name,
        "mode": controller.config.mode,
        "now": now,
        "version": controller.version,
        "switches": [
            _switch(one, controller.wanted(one.name)) for one in controller.switches.values()
        ],
        "transactions": [_transaction(one) for one in store.transactions(limit=SHOWN)],
        "leases": [
            {**vars(one), "active": one.is_active(now)} for one in leases(store) if one.until > now
        ],
        "jobs": [{**vars(one), "racks": [*one.racks]} for one in jobs(store)],
        "deferred": [deferred_table(one) for one in waiting(store)],
        "alarms": alarms_of(controller),
    }


def deferred_table(one: Deferred) -> dict[str, Any]:
    """A change that waits, as the interface shows it."""
    table = {key: value for key, value in vars(one).items() if key != "at"}
    return {**table, "pairs": [*one.pairs], "when": one.when}


def _switch(one: Managed, wanted: list[Wanted]) -> dict[str, Any]:
    lit, about = {*one.lit}, one.description
    return {
        "name": one.name,
        "url": one.url,
        "model": "" if about is None else about.model,
        "ports": "" if about is None else str(about.size),
        "read_at": one.read_at,
        "trouble": one.trouble,
        "racks": one.racks.names,
        "lit": [_named(one, pair) for pair in one.lit],
        "wanted": [
            {**_named(one, wish.pair), "owner": wish.owner, "lit": wish.pair in lit}
            for wish in wanted
        ],
        "advice": None if one.advice is None else [_named(one, pair) for pair in one.advice],
        "held_back": one.held_back,
        "unowned": [name_of(pair) for pair in one.unowned],
        "conflicts": one.conflicts,
        "demand": None if one.demand is None else vars(one.demand),
        "carried": one.share(one.lit),
    }


def _named(one: Managed, pair: Pair) -> dict[str, Any]:
    return {"name": name_of(pair), "pair": pair, "racks": one.racks.named(pair)}


def _transaction(one: Transaction) -> dict[str, Any]:
    names: Mapping[str, list[str]] = {
        key: [name_of(pair) for pair in one.pairs(key)] for key in ("removed", "added", "kept")
    }
    return {**vars(one), **names}


def alarms_of(controller: Controller) -> list[dict[str, Any]]:
    """What needs an operator."""
    found = []
    if controller.failure is not None:
        found.append({"kind": "failed", "switch": "all", "text": controller.failure})
    for one in controller.switches.values():
        if one.trouble is not None:
            found.append({"kind": "unreachable", "switch": one.name, "text": one.trouble})
        if one.unowned and controller.config.unowned == "report":
            text = f"{', '.join(map(name_of, one.unowned))}: they have no owner"
            found.append({"kind": "drift", "switch": one.name, "text": text})
        for text in one.conflicts:
            found.append({"kind": "conflict", "switch": one.name, "text": text})
        last = controller.store.transactions(one.name, limit=1)
        if last and last[0].state == "stuck":
            text = f"transaction {last[0].id}: {last[0].reason}"
            found.append({"kind": "stuck", "switch": one.name, "text": text})
    return found
