"""Queries of the controller's store in each iteration take no longer after a long history."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from controller_support import Lab
from sqlalchemy import event

from lightloom.controller import schema
from lightloom.controller.deferred import waiting
from lightloom.controller.jobs import jobs
from lightloom.controller.leases import leases
from lightloom.controller.overview import SHOWN, state_of
from lightloom.controller.store import Store
from lightloom.controller.transaction_log import OPEN, OVER

HISTORY = 20_000
LATE = 1_799_999_990.0
"""Only the last of the other rows is later [s since 1970]."""
STEP = 100
"""Number of instructions of SQLite's virtual machine between two counts."""


class Counted(Store):
    """A store that counts the instructions of its database."""

    counts = 0

    def count(self) -> None:
        def tick() -> int:
            self.counts += 1
            return 0

        def connect(connection: Any, record: object) -> None:
            connection.set_progress_handler(tick, STEP)

        self._engine.dispose()
        event.listen(self._engine, "connect", connect)

    def cost(self, act: Callable[[], Any]) -> int:
        """Returns the approximate number of instructions of a request."""
        self.counts = 0
        act()
        return STEP * self.counts


def row(number: int, state: str, at: float) -> dict[str, Any]:
    plan = {"before": [], "removed": [], "added": [[number % 8 + 1, 1]], "kept": [[2, 2]] * 40}
    return {
        "switch": "east",
        "state": state,
        "who": "x",
        "plan": json.dumps(plan),
        "reason": "why" if state in ("undone", "stuck") else "",
        "created": at,
        "updated": at + 0.5,
        "steps": "[]",
        "dark_s": 0.25,
        "dark_until": at + 0.5,
    }


def lease(at: float) -> dict[str, Any]:
    racks = {"rack_a": "a", "rack_b": "b"}
    return {"switch": "east", **racks, "owner": "x", "priority": 0, "begins": at, "ends": at + 99}


def job(at: float) -> dict[str, Any]:
    return {"name": f"{at}", "owner": "x", "racks": "[]", "until": at + 99}


def change(at: float) -> dict[str, Any]:
    outcome = None if at > LATE else "done"
    about = {"client": "x", "pairs": "[]", "priority": 0, "outcome": outcome}
    return {"switch": "east", **about, "created": at}


@pytest.fixture
def store(tmp_path: Path) -> Counted:
    lab = Lab(tmp_path)
    made = Counted(f"sqlite:///{tmp_path / 'c.db'}", lab.clock)
    states = ["undone", *["done"] * (HISTORY - 4), "stuck", "undone", "changing"]
    rows = [row(n, state, lab.now - HISTORY + n) for n, state in enumerate(states)]
    with made._engine.begin() as db:
        db.execute(schema.transaction.insert(), rows)
        stuck = {"switch": "east", "port": "1A", "number": HISTORY - 2}
        db.execute(schema.stuck_port.insert().values(**stuck))
        for table, row_of in ((schema.lease, lease), (schema.job, job), (schema.deferred, change)):
            times = [lab.now - 2 * HISTORY + n for n in range(HISTORY)]
            db.execute(table.insert(), [*map(row_of, times), row_of(lab.now)])
    made.count()
    return made


REQUESTS: dict[str, tuple[Callable[[Store, float], Any], Any]] = {
    "unfinished": (lambda s, _: [t.id for t in s.unfinished("east")], [HISTORY]),
    "of all": (lambda s, _: [t.id for t in s.unfinished()], [HISTORY]),
    "undone": (
        lambda s, _: [t.id for t in s.transactions("east", ["undone"], limit=50)],
        [HISTORY - 1, 1],
    ),
    "stuck": (lambda s, _: [t.id for t in s.stuck("east")], [HISTORY - 2]),
    "done": (
        lambda s, _: [t.id for t in s.transactions("east", ["done"], limit=1)],
        [HISTORY - 3],
    ),
    "leases": (lambda s, now: [one.id for one in leases(s, now, "east")], [HISTORY + 1]),
    "jobs": (lambda s, now: len(jobs(s, now)), 1),
    "waiting": (lambda s, _: [one.id for one in waiting(s, "east")], [HISTORY + 1]),
    "dark": (lambda s, now: s.dark_s("east", now - 10.5), 2.5),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_a_request_of_each_pass_reads_little_of_a_long_history(store: Counted, name: str) -> None:
    ask, expected = REQUESTS[name]
    now = store.transactions(limit=1)[0].created + 1
    found = ask(store, now)
    assert found == (pytest.approx(expected) if name == "dark" else expected)
    assert store.cost(lambda: ask(store, now)) < HISTORY / 4


def test_what_is_unfinished_is_what_is_not_over(store: Counted) -> None:
    reference = [t.id for t in store.transactions(states=OPEN, limit=HISTORY)]
    assert [t.id for t in store.unfinished()] == reference
    counts = store.outcomes("east")
    assert {state: count for state, (count, _) in counts.items()} == {
        "done": HISTORY - 4,
        "undone": 2,
        "stuck": 1,
        "changing": 1,
    }
    assert {*counts} <= {*OPEN, *OVER}
    assert sum(seconds for _, seconds in counts.values()) == pytest.approx(HISTORY / 2)


def test_an_open_transaction_is_shown_after_many_later_ones(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    change: dict[str, Any] = {"before": [], "removed": [], "added": [], "kept": []}
    lab.store.plan("east", change, "ann")
    with lab.store._engine.begin() as db:
        rows = [row(n, "done", lab.now) | {"id": n} for n in range(2, 2 + SHOWN)]
        db.execute(schema.transaction.insert(), rows)
    shown = [one["id"] for one in state_of(lab.controller)["transactions"]]
    assert shown == [*range(1 + SHOWN, 0, -1)]
