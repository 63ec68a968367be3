"""The check of the audit log: a part in each request, and the whole log in the background."""

import hashlib
import json
import threading
import time
from pathlib import Path

import pytest
from controller_support import Lab, Reached, matrix
from sqlalchemy import event, insert

from lightloom.controller import audit, run, schema
from lightloom.controller.audit import FIRST_HASH, digest
from lightloom.controller.overview import alarms_of
from lightloom.controller.store import Store


def fill(store: Store, count: int) -> None:
    """Writes this number of records at once."""
    rows, previous = [], FIRST_HASH
    for number in range(1, count + 1):
        row = {"at": float(number), "who": "x", "what": "event", "body": "{}", "previous": previous}
        rows.append({**row, "hash": (previous := digest(row))})
    with store._engine.begin() as db:
        db.execute(insert(schema.audit), rows)


def tamper(store: Store, number: int) -> None:
    with store._engine.begin() as db:
        db.exec_driver_sql(f"update audit set body = '[]' where id = {number}")


def test_a_request_reads_a_bounded_part_of_the_log(
    reached: Reached, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log has 25,000 records; after five more requests, the whole log has been checked."""
    store = reached.lab.store
    with store._engine.begin() as db:
        db.execute(schema.audit.delete())
    fill(store, 25_000)
    read: list[int] = []
    usual = Store.audit
    monkeypatch.setattr(
        Store, "audit", lambda self, *given: read.append(len(f := usual(self, *given))) or f
    )
    for _ in range(5):
        read.clear()
        found = reached.ask("GET", "/audit?after=20000").json()
        assert (found["broken_link"], found["checked_at"]) == (None, None)
        assert sum(read) <= 1_000 + audit.STEP
    found = reached.ask("GET", "/audit?after=20000").json()
    assert found["checked_at"] == pytest.approx(reached.lab.now, abs=1)


def test_a_changed_record_is_found_at_once_where_it_is_shown(reached: Reached) -> None:
    store = reached.lab.store
    with store._engine.begin() as db:
        db.execute(schema.audit.delete())
    fill(store, 30_000)
    tamper(store, 21_500)
    assert reached.ask("GET", "/audit?after=21000").json()["broken_link"] == 21_500
    # The first shown record does not match the record before it.
    assert reached.ask("GET", "/audit?after=21500").json()["broken_link"] is None
    with store._engine.begin() as db:
        db.exec_driver_sql("update audit set hash = 'x' where id = 21500")
    assert reached.ask("GET", "/audit?after=21500").json()["broken_link"] == 21_501


def test_a_record_that_is_changed_after_its_check_is_found_by_the_next(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    fill(lab.store, 12_000)
    for _ in range(3):
        assert lab.store.check_on().broken is None
    assert lab.store.checked.whole_at is not None
    tamper(lab.store, 3)
    assert lab.store.check_on().broken == 3
    assert [one["kind"] for one in alarms_of(lab.controller)] == ["audit"]
    assert lab.store.check_on().broken == 3


def test_the_background_checks_the_whole_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "CHECK_S", 0.01)
    store, stop = Store(f"sqlite:///{tmp_path / 'c.db'}", time.time), threading.Event()
    fill(store, 12_000)
    tamper(store, 9_000)
    fails = [True]

    def fail(connection: object) -> None:
        if fails and fails.pop():
            from sqlalchemy.exc import OperationalError

            raise OperationalError("COMMIT", {}, Exception("disk I/O error"))

    event.listen(store._engine, "commit", fail)
    thread = threading.Thread(target=run.check_log, args=(store, stop), daemon=True)
    thread.start()
    until = time.monotonic() + 30
    while store.checked.broken is None and time.monotonic() < until:
        time.sleep(0.01)
    stop.set()
    thread.join(10)
    assert (store.checked.broken, fails) == (9_000, [])
    store.close()


def test_demand_of_a_client_is_recorded_and_refused_demand_is_not(reached: Reached) -> None:
    """It may make a policy change circuits."""
    sent = matrix((0, 1, 5), (2, 3, 7))
    assert reached.ask("POST", "/switches/east/demand", {"matrix": sent}, "plan").is_success
    assert reached.ask("POST", "/switches/east/demand", {"matrix": []}, "plan").status_code == 422
    found = [one for one in reached.lab.store.audit() if one["what"] == "demand"]
    assert [one["who"] for one in found] == ["plan"]
    digest_of = hashlib.sha256(json.dumps(sent).encode()).hexdigest()
    assert json.loads(found[0]["body"]) == {"switch": "east", "bytes": 24, "sha256": digest_of}
    assert reached.lab.store.broken_link() is None
