"""Transactions of the controller's store: a transaction is written completely or not at all, at any
crash of the controller."""

import contextlib
from pathlib import Path
from typing import Any

import pytest
from controller_support import Lab
from sqlalchemy import event
from sqlalchemy.exc import OperationalError

from lightloom.controller import deferred, schema
from lightloom.controller.database import DeposedError
from lightloom.controller.store import Store

AB = [(1, 2), (2, 1)]
AC = [(1, 3), (3, 1)]


class CrashError(BaseException):
    pass


class Crash:
    """The process ends before the n-th commit of a store."""

    def __init__(self, store: Store, number: int) -> None:
        self._store, self.left = store, number

    def __call__(self, connection: object) -> None:
        self.left -= 1
        if self.left == 0:
            raise CrashError

    def __enter__(self) -> "Crash":
        event.listen(self._store._engine, "commit", self)
        return self

    def __exit__(self, *_: object) -> None:
        event.remove(self._store._engine, "commit", self)


def requests(store: Store) -> Any:
    """Returns the present and the deferred requests of each owner."""
    now = sorted((one.owner, one.pair) for one in store.intents("east"))
    return now, [(one.who, one.at, [*one.pairs]) for one in deferred.waiting(store)]


@pytest.mark.parametrize("request_of", ["apply", "later", "undo"])
def test_a_request_is_stored_whole_or_not_at_all(tmp_path: Path, request_of: str) -> None:
    """A client has a deferred change, and another owner has circuits that an undo removes."""
    for number in range(1, 40):
        lab = Lab(tmp_path)
        controller, at = lab.controller, lab.now + 1e6
        controller.want("east", AB, "ann")
        controller.want("east", [(5, 6)], "bob")
        (made,) = controller.reconcile("east", "ann")
        controller.want_later("east", AC, "ann", 0, at)
        before = requests(lab.store)
        asked = {
            "apply": lambda lab=lab: lab.controller.want("east", [(1, 4)], "ann"),
            "later": lambda lab=lab: lab.controller.want_later("east", AB, "ann", 0, None),
            "undo": lambda lab=lab, made=made: lab.controller.undo(made.id, "ann"),
        }
        after = {
            "apply": ([("operator:ann", (1, 4)), ("operator:bob", (5, 6))], []),
            "later": (before[0], [("ann", None, AB)]),
            "undo": ([], before[1]),
        }
        with Crash(lab.store, number) as crash, contextlib.suppress(CrashError):
            asked[request_of]()
        assert requests(lab.store) in (before, after[request_of])
        if crash.left > 0:
            assert requests(lab.store) == after[request_of]
            return
    pytest.fail("it never ended")


def test_a_token_that_was_not_stored_is_not_held(tmp_path: Path) -> None:
    """Another controller gets the same token; the first controller must not write with it."""
    url = f"sqlite:///{tmp_path / 'c.db'}"
    lab = Lab(tmp_path, url)
    first, second = lab.store, Store(url, lab.clock)
    assert first.take_role("one", 1.0)
    lab.now += 2.0

    def fail(connection: object) -> None:
        raise OperationalError("COMMIT", {}, Exception("disk I/O error"))

    event.listen(first._engine, "commit", fail)
    with pytest.raises(OperationalError):
        first.take_role("one, begun again", 1.0)
    event.remove(first._engine, "commit", fail)
    assert second.take_role("two", 100.0)
    with pytest.raises(DeposedError):
        first.note("one", "event", {})
    assert second.rows(schema.audit) == []
    second.close()
