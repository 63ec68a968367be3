"""A request with a key takes effect once, at any crash of its controller, and on either of two
controllers."""

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from controller_support import Lab, Reached
from fastapi.testclient import TestClient
from sqlalchemy import event
from test_controller_passes import Gate

from lightloom.controller import schema
from lightloom.controller.api import app_of
from lightloom.controller.claims import KEEP_S
from lightloom.controller.run import standby_store
from lightloom.controller.service import Controller
from lightloom.controller.store import Store

INTENT = "/switches/east/intent"
LEASES = "/switches/east/leases"
LIT = {"cross_connects": ["1A-2B"]}
DARK: dict[str, Any] = {"cross_connects": []}
ENDS = 1_800_009_000.0


class CrashError(Exception):
    """The process ends before a commit."""


class Process:
    """A controller's process on the store and the switches of a lab."""

    def __init__(self, reached: Reached, url: str) -> None:
        self.lab, self.token = reached.lab, reached.tokens["admin"]
        self.store = Store(url, self.lab.clock)
        opener: Callable[..., Any] = lambda one: self.lab.switches[one.name]  # noqa: E731
        self.controller = Controller(self.lab.config, self.store, self.lab.clock, opener)
        self.http = TestClient(app_of(self.controller), raise_server_exceptions=False)
        self.commits = 0

    def crash_at(self, commit: int) -> None:
        """Ends the process at a commit of a write, which is lost with all later writes."""

        def count(connection: Any) -> None:
            if connection.get_execution_options().get("writes"):
                self.commits += 1
                if self.commits >= commit:
                    raise CrashError

        event.listen(self.store._engine, "commit", count)

    def ask(self, method: str, path: str, body: Any = None, key: str | None = None) -> Any:
        headers = {"Authorization": f"Bearer {self.token}"}
        if key is not None:
            headers["Idempotency-Key"] = key
        return self.http.request(method, path, json=body, headers=headers)


def recorded(store: Store, pairs: list[list[int]]) -> int:
    """Returns the number of requests for exactly these cross-connects in the store."""
    found = [r for r in store.audit() if r["what"] == "intent"]
    return sum(json.loads(record["body"])["pairs"] == pairs for record in found)


Effects = Callable[[Store], int]
REQUESTS: dict[str, tuple[str, str, Any, Any, Effects]] = {
    "circuits": ("PUT", INTENT, LIT, DARK, lambda s: recorded(s, [[1, 2]])),
    "later": (
        "PUT",
        INTENT,
        {**LIT, "when": ENDS},
        DARK,
        lambda s: len(s.rows(schema.deferred)),
    ),
    "lease": (
        "POST",
        LEASES,
        {"racks": ["a", "b"], "ends": ENDS},
        DARK,
        lambda s: len(s.rows(schema.lease)),
    ),
    "undo": ("POST", "/transactions/1/undo", None, LIT, lambda s: recorded(s, [])),
}
"""Method, path, body; the next request of the client; the number of times that the first request
took effect."""


@pytest.mark.parametrize("name", REQUESTS)
def test_a_request_takes_effect_once_wherever_its_controller_crashes(
    tmp_path: Path, name: str
) -> None:
    method, path, body, between, effects = REQUESTS[name]
    for commit in range(1, 40):
        url = f"sqlite:///{tmp_path / f'{commit}.db'}"
        reached = Reached(tmp_path, store=url)
        first = Process(reached, url)
        first.controller.start()
        if name == "undo":
            first.ask("PUT", INTENT, LIT)
        before = effects(first.store)
        first.crash_at(commit)
        is_answered = first.ask(method, path, body, "k").status_code < 300
        second = Process(reached, url)
        second.controller.start()
        # The client sends another request before it repeats the first.
        assert second.ask("PUT", INTENT, between).status_code == 200
        lit = reached.lab.lit()
        had_effect = effects(second.store) > before
        again = second.ask(method, path, body, "k")
        assert again.status_code in (200, 201), again.text
        assert effects(second.store) == before + 1
        if had_effect:
            assert reached.lab.lit() == lit
        third = second.ask(method, path, body, "k")
        assert (third.status_code, third.content) == (again.status_code, again.content)
        assert effects(second.store) == before + 1
        if is_answered:
            assert commit > 2
            return
    pytest.fail("the request never got through")


def test_of_two_controllers_one_carries_out_the_request_of_a_key(tmp_path: Path) -> None:
    """The first controller is stopped during the change.

    The client sends another request to the second controller, and then repeats the first request to
    both.
    """
    url = f"sqlite:///{tmp_path / 'c.db'}"
    reached = Reached(tmp_path, store=url)
    lab, switch = reached.lab, reached.lab.switches["east"]
    one, two = Process(reached, url), Process(reached, url)
    assert one.store.take_role("one", 10.0)
    two.store.fence = 0
    gate = Gate(switch.change)
    switch.change = gate  # type: ignore[method-assign]
    answers: list[int] = []
    asked = threading.Thread(
        target=lambda: answers.append(one.ask("PUT", INTENT, LIT, "k").status_code), daemon=True
    )
    asked.start()
    assert gate.waiting.wait(30)
    assert two.ask("PUT", INTENT, LIT, "k").status_code == 503
    lab.now += 20.0
    assert two.store.take_role("two", 1e9)
    switch.change = gate.act  # type: ignore[method-assign]
    two.controller.start()
    gate.opened.set()
    asked.join(30)
    assert lab.lit() == [(1, 2)]
    assert two.ask("PUT", INTENT, DARK).status_code == 200
    found = two.ask("PUT", INTENT, LIT, "k")
    assert (answers, found.status_code) == ([503], 200)
    assert one.ask("PUT", INTENT, LIT, "k").content == found.content
    assert two.ask("PUT", INTENT, LIT, "k").content == found.content
    assert (lab.lit(), recorded(two.store, [[1, 2]])) == ([], 1)


def test_a_key_is_kept_for_a_day(tmp_path: Path) -> None:
    reached = Reached(tmp_path)
    lab, headers = reached.lab, {"Idempotency-Key": "k"}
    assert reached.ask("PUT", INTENT, LIT, **headers).status_code == 200
    lab.now += KEEP_S - 60
    assert reached.ask("PUT", INTENT, DARK, **headers).status_code == 422
    assert reached.ask("PUT", INTENT, LIT, **{"Idempotency-Key": "other"}).status_code == 200
    lab.now += 120
    assert reached.ask("PUT", INTENT, DARK, **headers).status_code == 200
    assert lab.lit() == []
    assert {row["key"] for row in lab.store.rows(schema.answer)} == {"other", "k"}
    lab.now += KEEP_S
    reached.ask("PUT", INTENT, LIT, **{"Idempotency-Key": "third"})
    assert [row["key"] for row in lab.store.rows(schema.answer)] == ["third"]


def test_a_store_of_version_3_gets_what_keys_need(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'c.db'}"
    store = Store(url, lambda: 1e9)
    with store._engine.begin() as db:
        db.exec_driver_sql("DROP INDEX idempotency_at")
        db.exec_driver_sql("ALTER TABLE idempotency DROP COLUMN made")
        db.exec_driver_sql("UPDATE meta SET value = '3' WHERE key = 'version'")
        row = "'k', 'ann', 'hash', 200, '{}', 1e9"
        db.exec_driver_sql(f"INSERT INTO idempotency VALUES ({row})")
    store.close()
    lab = Lab(tmp_path, url)
    (old,) = lab.store.rows(schema.answer)
    assert (old["made"], old["status"]) == (None, 200)
    assert lab.store.rows(schema.meta, key="version")[0]["value"] == str(schema.VERSION)
    assert standby_store(url).rows(schema.answer) == [old]
