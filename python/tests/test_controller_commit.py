"""A connection to PostgreSQL that is cut at a COMMIT: the controller cannot tell whether it took
effect. A request with a key nevertheless takes effect once, and the change is finished."""

from pathlib import Path
from typing import Any

import pytest
from controller_postgres import database as database
from controller_postgres import emptied
from controller_relay import Fate, Relay, Watch
from controller_support import Lab
from fastapi.testclient import TestClient
from sqlalchemy.engine import make_url

from lightloom.controller import schema
from lightloom.controller.api import app_of
from lightloom.controller.database import NO_ROLE
from lightloom.controller.run import Loop, Role
from lightloom.controller.store import Store
from lightloom.controller.tokens import add_token
from lightloom.controller.transaction_log import OVER

INTENT = "/switches/east/intent"
LIT = {"cross_connects": ["1A-2B"]}


class Cutter:
    """Cuts the connection at a COMMIT of a transaction that writes."""

    def __init__(self, fate: Fate) -> None:
        self.fate: Fate = fate
        self.left = 0
        """Number of the commit that is cut, counted down; with 0 no further commit is cut."""

    def watch(self) -> Watch:
        writes = False

        def see(data: bytes) -> Fate:
            nonlocal writes
            writes |= any(word in data for word in (b"INSERT INTO", b"UPDATE ", b"DELETE FROM"))
            if b"COMMIT" not in data or not writes:
                return "pass"
            writes = False
            self.left -= 1
            return self.fate if self.left == 0 else "pass"

        return see


class Site:
    """A controller whose database is behind a relay."""

    def __init__(self, folder: Path, url: str, cutter: Cutter) -> None:
        address = make_url(url)
        assert address.port is not None
        self.relay = Relay(address.port, cutter.watch)
        behind = address.set(port=self.relay.port, query={"sslmode": "disable"})
        self.lab = Lab(folder, behind.render_as_string(hide_password=False))
        self.token = add_token(self.lab.store, "ann", ["admin"], "test")
        self.lab.store.fence = NO_ROLE
        self.role = Role(self.lab.store, 10.0, "one")
        self.loop = Loop(self.lab.controller, self.role, lambda _: None, lambda: self.lab.now)
        self.http = TestClient(app_of(self.lab.controller), raise_server_exceptions=False)

    def turn(self) -> None:
        """Renews the role and runs the loop once; if the commit that took the role was cut, its
        lease must end first."""
        self.lab.now += 11.0
        self.role.renew()
        self.loop.turn()

    def ask(self, body: Any, key: str) -> int:
        headers = {"Authorization": f"Bearer {self.token}", "Idempotency-Key": key}
        return int(self.http.put(INTENT, json=body, headers=headers).status_code)

    def close(self) -> None:
        self.lab.store.close()
        self.relay.close()


def cut_at(folder: Path, url: str, fate: Fate, commit: int) -> bool:
    """Cuts the n-th commit of a change of circuits; returns whether the change has that many
    commits."""
    cutter = Cutter(fate)
    site = Site(folder, emptied(url), cutter)
    seen = Store(url, site.lab.clock)
    cutter.left = commit
    codes = []
    try:
        for _ in range(6):
            site.turn()
            codes.append(site.ask(LIT, "k"))
            if codes[-1] == 200:
                break
        was_cut = cutter.left <= 0
        cutter.left = 0
        assert codes[-1] == 200, codes
        # This holds unless the cut was before the request or after its answer.
        assert {*codes[:-1]} <= {503}
        assert len(codes) <= 3
        site.turn()
        assert site.lab.lit() == [(1, 2)]
        wanted = [r["body"] for r in seen.audit() if r["what"] == "intent"]
        assert len(wanted) == 1
        made = seen.transactions()
        assert {one.state for one in made} <= {*OVER}
        assert [one.state for one in made].count("done") == 1
        ends = [r["what"] for r in seen.audit() if r["what"] in OVER]
        assert len(ends) == len(made)
        assert seen.broken_link() is None
        assert [row["status"] for row in seen.rows(schema.answer)] == [200]
    finally:
        site.close()
        seen.close()
    return was_cut


@pytest.mark.parametrize("fate", ["lose", "swallow"])
def test_a_commit_that_is_cut_makes_nothing_twice(
    database: str, tmp_path: Path, fate: Fate
) -> None:
    for commit in range(1, 30):
        if not cut_at(tmp_path, database, fate, commit):
            # The commits are: the role, the request with its key, five steps, the answer.
            assert commit > 8
            return
    pytest.fail("it never got through")
