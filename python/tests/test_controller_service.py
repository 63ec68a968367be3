"""The controller on emulated switches: requested circuits are lit, within the limits."""

import hashlib
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

import pytest
from controller_support import PORTS, Lab, matrix
from hypothesis import given
from hypothesis import strategies as st

from lightloom.controller.change import change_to, settle
from lightloom.controller.config import config_of, read_config
from lightloom.controller.database import DeposedError
from lightloom.controller.intents import Wanted
from lightloom.controller.leases import release, reserve
from lightloom.controller.limits import Limits
from lightloom.controller.overview import alarms_of, state_of
from lightloom.controller.racks import Racks
from lightloom.controller.schema import VERSION, meta, transaction
from lightloom.controller.store import Store
from lightloom.errors import ConfigError
from lightloom.switches.design import Design
from lightloom.switches.emulated import EmulatedSwitch
from lightloom.switches.ports import Size
from lightloom.switches.protocol import SwitchError
from lightloom.units.dates import utc

SWITCH = {"name": "x", "url": "scpi://a", "ports": "p.csv"}
LOCAL = ("localhost", "127.0.0.1")
CTHROUGH = {"kind": "cthrough", "unrequested": "alone"}


@given(st.data())
def test_a_change_leads_to_what_is_wanted(data: Any) -> None:
    """For random intents: each port is in one cross-connect, kept ones are not touched, and after
    the change the cross-connects of the highest precedence are lit unless another client holds one
    of their ports."""
    ports = st.integers(1, 5)
    pair = st.tuples(ports, ports)

    def matching(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        for a, b in pairs:
            if all(a != x and b != y for x, y in found):
                found.append((a, b))
        return found

    lit = matching(data.draw(st.lists(pair, max_size=5)))
    owned = {p for p in lit if data.draw(st.booleans())}
    rows = data.draw(st.lists(st.tuples(pair, st.integers(0, 3)), max_size=8))
    wanted = sorted((Wanted(p, f"o{r}", r, 0.0) for p, r in rows), key=lambda w: -w.priority)
    change = change_to(lit, wanted, owned)
    after = ({*lit} - {*change.removed}) | {*change.added}
    assert len({a for a, _ in after}) == len({b for _, b in after}) == len(after)
    assert not {*change.kept} & ({*change.removed} | {*change.added})
    assert {*change.removed} <= owned
    chosen, conflicts = settle(wanted)
    blocked = {c.pair for c in change.conflicts}
    assert {*chosen} - blocked == {*chosen} & after
    assert len(change.conflicts) >= len(conflicts)
    if wanted and not change.unowned:
        assert wanted[0].pair in after


def test_an_operator_gets_circuits_and_undoes_them(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    lab.controller.want("east", [(1, 2), (2, 1)], "ann")
    (made,) = lab.controller.reconcile("east", "ann")
    assert (made.state, lab.lit()) == ("done", [(1, 2), (2, 1)])
    assert [step["state"] for step in made.steps] == [
        "planned",
        "draining",
        "changing",
        "verifying",
        "done",
    ]
    assert lab.controller.reconcile("east", "ann") == []
    lab.controller.want("east", [(1, 2), (2, 1), (3, 4)], "ann")
    (more,) = lab.controller.reconcile("east", "ann")
    assert (more.pairs("added"), more.pairs("kept")) == ([(3, 4)], [(1, 2), (2, 1)])
    lab.controller.undo(more.id, "ann")
    assert lab.lit() == [(1, 2), (2, 1)]


def test_the_audit_log_proves_the_whole_plan_of_a_transaction(tmp_path: Path) -> None:
    """The record contains the added and removed cross-connects, and a hash of the stored plan."""
    lab = Lab(tmp_path)
    for pairs in ([(1, 2)], [(1, 2), (3, 4)], [(3, 5)]):
        lab.controller.want("east", pairs, "ann")
        lab.controller.reconcile("east", "ann")
    planned = [json.loads(r["body"]) for r in lab.store.audit() if r["what"] == "planned"]
    texts = [row["plan"] for row in lab.store.rows(transaction)]
    hashes = [hashlib.sha256(text.encode()).hexdigest() for text in texts]
    assert [body["plan_sha256"] for body in planned] == hashes
    assert [body["added"] for body in planned] == [[[1, 2]], [[3, 4]], [[3, 5]]]
    assert [body["removed"] for body in planned] == [[], [], [[1, 2], [3, 4]]]


def test_a_policy_advises_and_acts(tmp_path: Path) -> None:
    lab = Lab(tmp_path, policy=CTHROUGH)
    lab.send(matrix((0, 1, 5_000_000), (2, 3, 4_000_000), (0, 2, 1_000_000)))
    assert lab.controller.cycle() == []
    one = lab.controller.switches["east"]
    assert one.advice == [(1, 2), (2, 1), (3, 4), (4, 3)]
    assert lab.lit() == []
    acting = Lab(tmp_path, policy=CTHROUGH, mode="act")
    acting.send(matrix((0, 1, 5_000_000), (2, 3, 4_000_000), (0, 2, 1_000_000)))
    assert [made.state for made in acting.controller.cycle()] == ["done"]
    assert acting.lit() == [(1, 2), (2, 1), (3, 4), (4, 3)]
    acting.now += 10
    acting.send(matrix((0, 2, 9_000_000), (1, 3, 9_000_000)))
    acting.controller.cycle()
    assert acting.lit() == [(1, 3), (2, 4), (3, 1), (4, 2)]


def test_hysteresis_is_that_of_the_policy(tmp_path: Path) -> None:
    """A gain of 1 MB does not change lit circuits; a gain of 30 MB does."""
    policy = {**CTHROUGH, "hysteresis": "20 MB"}
    lab = Lab(tmp_path, policy=policy, mode="act")
    lab.send(matrix((0, 1, 50_000_000), (2, 3, 50_000_000)))
    lab.controller.cycle()
    first = lab.lit()
    lab.send(matrix((0, 1, 50_000_000), (2, 3, 50_000_000), (0, 2, 51_000_000), (1, 3, 50_000_000)))
    lab.now += 5
    lab.controller.cycle()
    assert lab.lit() == first
    lab.send(matrix((0, 1, 50_000_000), (2, 3, 50_000_000), (0, 2, 99_000_000), (1, 3, 99_000_000)))
    lab.now += 5
    lab.controller.cycle()
    assert lab.lit() == [(1, 3), (2, 4), (3, 1), (4, 2)]


def test_demand_comes_from_the_newest_file(tmp_path: Path) -> None:
    lab = Lab(tmp_path, policy=CTHROUGH, mode="act")
    text = ",d,c,b,a\nd,0,9,0,0\nc,9,0,0,0\nb,0,0,0,7\na,0,0,7,0\n"
    (tmp_path / "demand/one.csv").write_text(text.replace("9", "9000000").replace("7", "7000000"))
    os.utime(tmp_path / "demand/one.csv", (lab.now, lab.now))
    lab.controller.cycle()
    assert lab.lit() == [(1, 2), (2, 1), (3, 4), (4, 3)]
    (tmp_path / "demand/two.csv").write_text("nonsense")
    os.utime(tmp_path / "demand/two.csv", (lab.now + 5, lab.now + 5))
    lab.controller.cycle()
    assert "two.csv" in (lab.controller.switches["east"].held_back or "")
    assert lab.lit() == [(1, 2), (2, 1), (3, 4), (4, 3)]


class Answers(BaseHTTPRequestHandler):
    """A Prometheus server with one answer, which records its queries."""

    asked: ClassVar[list[str]] = []
    text: ClassVar[str] = ""
    status: ClassVar[int] = 200

    def do_GET(self) -> None:
        self.asked.append(self.path)
        body = self.text.encode()
        self.send_response(self.status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def test_demand_comes_from_prometheus(tmp_path: Path) -> None:
    """Rates of 10 and 30 B/s for five minutes are 3,000 and 9,000 bytes."""

    def series(src: str, dst: str, rate: float) -> dict[str, Any]:
        times = range(1_800_000_000 - 270, 1_800_000_000 + 1, 30)
        return {"metric": {"src": src, "dst": dst}, "values": [[t, str(rate)] for t in times]}

    rows = [series("a", "c", 10), series("c", "a", 10), series("b", "d", 30), series("a", "zz", 5)]
    found = {"status": "success", "data": {"resultType": "matrix", "result": rows}}
    Answers.text = json.dumps(found)
    server = HTTPServer(("127.0.0.1", 0), Answers)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    url = f"http://127.0.0.1:{server.server_port}"
    source = {"url": url, "query": "sum by (src, dst) (rate(x[1m]))"}
    try:
        lab = Lab(tmp_path, policy=CTHROUGH, mode="act", demand={"prometheus": source})
        lab.controller.cycle()
        assert lab.lit() == [(1, 3), (2, 4), (3, 1), (4, 2)]
        seen = lab.controller.switches["east"].demand
        assert seen is not None
        assert (seen.matrix[0][2], seen.matrix[1][3]) == (3_000, 9_000)
        assert seen.source.startswith("prometheus, without 1 rack ")
        assert seen.source.endswith(": zz")
        asked = parse_qs(urlsplit(Answers.asked[-1]).query)
        assert asked["query"] == ["sum by (src, dst) (rate(x[1m]))"]
        assert float(asked["end"][0]) - float(asked["start"][0]) == pytest.approx(300 - 30)
        Answers.text = "nonsense"
        lab.controller.cycle()
        held_back = lab.controller.switches["east"].held_back or ""
        assert held_back.startswith(f"demand.prometheus.url = {url}: ")
        Answers.text = re.sub('"(5|10|30)"', '"0"', json.dumps(found))
        lab.now += 1.0
        lab.controller.cycle()
        seen = lab.controller.switches["east"].demand
        assert seen is not None
        assert seen.matrix == matrix()
        Answers.status, Answers.text = 400, '{"status": "error", "error": "no such function"}'
        lab.controller.cycle()
        assert "no such function" in (lab.controller.switches["east"].held_back or "")
        Answers.status = 200
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
    lab.controller.cycle()
    assert "does not answer" in (lab.controller.switches["east"].held_back or "")
    assert lab.lit() == [(1, 3), (2, 4), (3, 1), (4, 2)]


def test_old_demand_is_not_used(tmp_path: Path) -> None:
    lab = Lab(tmp_path, policy=CTHROUGH, mode="act")
    lab.send(matrix((0, 1, 5_000_000)))
    lab.now += 3_601
    lab.controller.cycle()
    assert lab.lit() == []


@pytest.mark.parametrize(
    "keys", [{"policy": CTHROUGH}, {"mode": "act"}], ids=["advise", "no policy"]
)
def test_circuits_of_a_policy_that_no_longer_acts_are_left_alone(
    tmp_path: Path, keys: dict[str, Any]
) -> None:
    """The circuits stay lit without an owner and are not restored; those of the operator are served
    as before."""
    store = f"sqlite:///{tmp_path / 'store.db'}"
    lab = Lab(tmp_path, store, policy=CTHROUGH, mode="act")
    lab.controller.want("east", [(3, 4), (4, 3)], "ann")
    lab.send(matrix((0, 1, 5_000_000), (2, 3, 4_000_000)))
    lab.controller.cycle()
    assert lab.lit() == [(1, 2), (2, 1), (3, 4), (4, 3)]
    after = Lab(tmp_path, store, **keys)
    after.switches = lab.switches
    after.begin()
    assert after.controller.cycle() == []
    assert after.lit() == [(1, 2), (2, 1), (3, 4), (4, 3)]
    assert after.controller.switches["east"].unowned == [(1, 2), (2, 1)]
    after.switches["east"].change([(1, 2), (2, 1), (3, 4), (4, 3)], [])
    assert [made.state for made in after.controller.cycle()] == ["done"]
    assert after.lit() == [(3, 4), (4, 3)]


def test_a_policy_in_python_decides(tmp_path: Path) -> None:
    code = "class Mine:\n    def decide(self, demand, switch):\n        return [(0, 3)]\n"
    (tmp_path / "mine.py").write_text(code)
    lab = Lab(tmp_path, policy={"file": "mine.py:Mine"}, mode="act")
    lab.send(matrix((0, 1, 5_000_000)))
    lab.controller.cycle()
    assert lab.lit() == [(1, 4), (4, 1)]


def test_a_policy_that_never_answers_leaves_its_switch_usable(tmp_path: Path) -> None:
    code = (
        "import time\nclass Mine:\n    def decide(self, demand, switch):\n        time.sleep(5)\n"
    )
    (tmp_path / "mine.py").write_text(code)
    policy = {"file": "mine.py:Mine"}
    lab = Lab(tmp_path, policy=policy, mode="act", policy_within="200 ms")
    lab.send(matrix((0, 1, 5_000_000)))
    assert lab.controller.cycle() == []
    assert [alarm["kind"] for alarm in alarms_of(lab.controller)] == ["policy"]
    lab.controller.want("east", [(1, 2)], "ann")
    (made,) = lab.controller.reconcile("east", "ann")
    assert (made.state, lab.lit()) == ("done", [(1, 2)])
    started = time.monotonic()
    lab.controller.cycle()
    assert time.monotonic() - started < 5  # the policy is not called again


def test_a_policy_that_raises_changes_nothing(tmp_path: Path) -> None:
    code = "class Mine:\n    def decide(self, demand, switch):\n        raise ValueError('no')\n"
    (tmp_path / "mine.py").write_text(code)
    lab = Lab(tmp_path, policy={"file": "mine.py:Mine"}, mode="act")
    lab.controller.want("east", [(1, 2)], "ann")
    lab.send(matrix((0, 1, 5_000_000)))
    lab.controller.cycle()
    assert lab.lit() == [(1, 2)]
    assert "mine.py" in (lab.controller.switches["east"].held_back or "")
    assert [alarm["kind"] for alarm in alarms_of(lab.controller)] == ["policy"]
    (tmp_path / "mine.py").write_text(code.replace("raise ValueError('no')", "return []"))
    lab.controller.cycle()
    lab.controller.cycle()
    assert alarms_of(lab.controller) == []


@given(
    now=st.floats(0, 200_000),
    start=st.integers(0, 1439),
    end=st.integers(0, 1439),
)
def test_quiet_hours_are_those_of_the_clock(now: float, start: int, end: int) -> None:
    minute = int(now // 60) % 1440
    quiet = Limits(quiet=((start, end),)).is_quiet(now)
    inside = {m % 1440 for m in range(start, end if end >= start else end + 1440)}
    assert quiet == (minute in inside)


def test_limits_hold_a_policy_back() -> None:
    limits = Limits(dwell_s=10, gain=0.1, dark_per_hour_s=1.0)
    lit = [((1, 2), 95.0)]
    assert limits.refusal(100, [(1, 3)], lit, 0.5, 0.0, 0.1) is not None  # lit for 5 s
    assert limits.refusal(106, [(1, 3)], lit, 0.5, 0.0, 0.1) is None
    assert limits.refusal(106, [(1, 3)], lit, 0.09, 0.0, 0.1) is not None
    assert limits.refusal(106, [(1, 3)], lit, 0.5, 0.95, 0.1) is not None
    assert limits.refusal(106, [(1, 3)], lit, 0.5, 0.85, 0.1) is None


def refuse(*args: object, **keys: object) -> None:
    raise SwitchError("refused")


def test_a_policy_s_change_that_failed_is_not_made_in_quiet_hours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The policy advises it again within the limits of that time; until it is carried out it is not
    a request."""
    lab = Lab(tmp_path, policy=CTHROUGH, mode="act", limits={"quiet": ["22:00-06:00"]})
    lab.now = 21 * 3600 + 59 * 60 + 58
    lab.send(matrix((0, 1, 5_000_000)))
    with monkeypatch.context() as broken:
        broken.setattr(lab.switches["east"], "change", refuse)
        assert [one.state for one in lab.controller.cycle()] == ["undone"]
    assert lab.controller.wanted("east") == []
    for _ in range(3):
        lab.now += 600
        lab.send(matrix((0, 1, 5_000_000)))
        assert lab.controller.cycle() == []
    assert lab.controller.switches["east"].held_back == "quiet hours"
    lab.now += 8 * 3600
    lab.send(matrix((0, 1, 5_000_000)))
    assert [one.state for one in lab.controller.cycle()] == ["done"]
    assert (
        lab.lit() == [request.pair for request in lab.controller.wanted("east")] == [(1, 2), (2, 1)]
    )


def test_a_policy_s_change_that_fails_holds_up_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = Lab(tmp_path, policy=CTHROUGH, mode="act")
    lab.send(matrix((0, 1, 5_000_000)))
    usual = lab.switches["east"].change

    def change(remove: object, add: Any, **keys: Any) -> Any:
        if (1, 2) in add:
            raise SwitchError("1A does not move")
        return usual(remove, add, **keys)  # type: ignore[arg-type]

    monkeypatch.setattr(lab.switches["east"], "change", change)
    assert [one.state for one in lab.controller.cycle()] == ["undone"]
    reserve(lab.store, "east", ("c", "d"), "job", 0, lab.now, lab.now + 100)
    lab.controller.cycle()
    lab.controller.cycle()
    assert lab.lit() == [(3, 4), (4, 3)]


@pytest.mark.parametrize("lit", [[], [(1, 2), (2, 1)], [(1, 2)]])
def test_a_policy_of_one_direction_decides_beside_circuits_of_both(
    tmp_path: Path, lit: list[tuple[int, int]]
) -> None:
    """The circuits are those of an operator and, after a restart, its own, which may be
    bidirectional."""
    lab = Lab(tmp_path, policy={"kind": "assignment"}, mode="act")
    lab.controller.want("east", lit, "ann")
    lab.controller.cycle()
    for demand in (matrix(), matrix((2, 3, 10**9)), matrix((2, 3, 10**9), (0, 1, 10**9))):
        lab.begin()
        lab.send(demand)
        lab.controller.cycle()
        assert lab.controller.switches["east"].held_back is None
        lab.now += 1
    assert lab.lit() == [(1, 2), (2, 1), (3, 4), (4, 3)]


@pytest.mark.parametrize("policy", [CTHROUGH, {"kind": "cthrough"}, {"kind": "hydra"}])
@pytest.mark.parametrize("demand", [matrix(), matrix((2, 3, 10**9)), matrix((0, 1, 10**9))])
def test_an_idle_circuit_of_an_operator_stays_the_operator_s(
    tmp_path: Path, policy: Any, demand: list[list[int]]
) -> None:
    """The policy leaves the circuit lit, and requests it only if its racks have demand."""
    lab = Lab(tmp_path, policy=policy, mode="act")
    lab.controller.want("east", [(1, 2), (2, 1)], "ann")
    for _ in range(3):
        lab.send(demand)
        lab.controller.cycle()
        lab.now += 1
    assert {(1, 2), (2, 1)} <= {*lab.lit()}
    owners = {request.owner for request in lab.store.intents("east") if request.pair == (1, 2)}
    is_used = demand[0][1] > 0
    assert owners == ({"operator:ann", "policy"} if is_used else {"operator:ann"})
    lab.controller.want("east", [], "ann")
    lab.controller.reconcile("east", "ann")
    assert ((1, 2) in lab.lit()) == is_used


def test_what_is_blocked_is_no_request_of_a_policy(tmp_path: Path) -> None:
    """When the lease ends in quiet hours, the policy lights no new circuit; its former circuits are
    restored."""
    lab = Lab(tmp_path, policy=CTHROUGH, mode="act", limits={"quiet": ["22:00-06:00"]})
    lab.now = 21 * 3600.0
    lab.send(matrix((0, 1, 5_000_000)))
    lab.controller.cycle()
    assert lab.lit() == [(1, 2), (2, 1)]
    ends = lab.now + 2 * 3600
    reserve(lab.store, "east", ("a", "c"), "job", 0, lab.now, ends)
    lab.now += 10
    lab.send(matrix((0, 1, 5_000_000), (2, 3, 9_000_000)))
    lab.controller.cycle()
    assert lab.lit() == [(1, 3), (3, 1)]
    assert {request.pair for request in lab.store.intents("east")} == {(1, 2), (2, 1)}
    lab.now = ends + 1
    lab.send(matrix((0, 1, 5_000_000), (2, 3, 9_000_000)))
    lab.controller.cycle()
    assert lab.lit() == [(1, 2), (2, 1)]


@pytest.mark.parametrize("broken", [{1}, {5}, {7}, {1, 5}, {1, 7}, {5, 7}, {1, 5, 7}])
def test_a_circuit_that_cannot_be_lit_holds_up_nobody_else_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: set[int]
) -> None:
    """The circuits are those of three owners and a lease; owners whose mirrors are stuck keep their
    former circuits."""
    lab = Lab(tmp_path)
    usual = lab.switches["east"].change
    before = {"ann": (1, 1), "bob": (5, 5), "cat": (7, 7)}
    after = {"ann": (1, 2), "bob": (5, 6), "cat": (7, 8)}
    for name, pair in before.items():
        lab.controller.want("east", [pair], name)
    lab.controller.cycle()

    def change(remove: Any, add: Any, **keys: Any) -> Any:
        if broken & {a for a, b in add if (a, b) not in before.values()}:
            raise SwitchError("a mirror does not move")
        return usual(remove, add, **keys)

    monkeypatch.setattr(lab.switches["east"], "change", change)
    for name, pair in after.items():
        lab.controller.want("east", [pair], name)
    reserve(lab.store, "east", ("c", "d"), "job", 0, lab.now, lab.now + 1000)
    # The attempts are the whole change, and a part for each owner: two of these per iteration.
    for _ in range(3):
        lab.controller.cycle()
        lab.now += 1
    expected = [(3, 4), (4, 3)]
    expected += [before[n] if before[n][0] in broken else after[n] for n in before]
    assert lab.lit() == sorted(expected)


def test_two_owners_whose_circuits_fail_do_not_hold_up_a_third_that_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the failing circuits are known, each new circuit of the third owner is lit at its first
    attempt, and the others are still tried again with increasing pauses."""
    lab = Lab(tmp_path)
    usual = lab.switches["east"].change
    tried: list[tuple[int, float]] = []

    def change(remove: Any, add: Any, **keys: Any) -> Any:
        bad = {a for a, _ in add} & {1, 2}
        if bad:
            tried.extend((a, lab.now) for a in bad)
            raise SwitchError("a mirror does not move")
        return usual(remove, add, **keys)

    monkeypatch.setattr(lab.switches["east"], "change", change)
    lab.controller.want("east", [(1, 1)], "ann")
    lab.controller.want("east", [(2, 2)], "bob")
    for _ in range(4):
        lab.controller.cycle()
        lab.now += 1
    waited = []
    for at in range(200):
        pair = (5, 5 + at % 4)
        lab.controller.want("east", [pair], "cat")
        for cycles in range(1, 5):
            lab.controller.cycle()
            lab.now += 1
            if lab.lit() == [pair]:
                waited.append(cycles)
                break
    assert len(waited) == 200
    assert sum(cycles == 1 for cycles in waited) >= 180
    for port in (1, 2):
        times = [now for a, now in tried if a == port]
        # Three requests per attempt; the pauses double, from 2 s on.
        assert 15 <= len(times) <= 3 * 12
        assert times[-1] > times[0] + 100


def test_what_nobody_needs_is_removed_beside_changes_that_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A circuit that conflicts with a failing one stays lit; another one without a request is
    removed."""
    lab = Lab(tmp_path)
    usual = lab.switches["east"].change
    lab.controller.want("east", [(1, 1), (3, 3)], "ann")
    lab.controller.cycle()

    def change(remove: Any, add: Any, **keys: Any) -> Any:
        if (1, 2) in add:
            raise SwitchError("a mirror does not move")
        return usual(remove, add, **keys)

    monkeypatch.setattr(lab.switches["east"], "change", change)
    lab.controller.want("east", [(1, 2)], "ann")
    for _ in range(3):
        lab.controller.cycle()
        lab.now += 1
    assert lab.lit() == [(1, 1)]


def test_an_undo_gives_up_own_requests_that_need_the_same_port(tmp_path: Path) -> None:
    """The first of two changes is undone: the circuit that it removed is restored."""
    lab = Lab(tmp_path)
    for pairs in ([(1, 1)], [(1, 2)], [(1, 3), (4, 4)]):
        lab.controller.want("east", pairs, "ann")
        (made,) = lab.controller.reconcile("east", "ann")
    lab.controller.undo(made.id - 1, "ann")
    assert lab.lit() == [(1, 1), (4, 4)]
    assert lab.controller.switches["east"].conflicts == []


def test_leases_come_before_operators_and_end(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    lab.controller.want("east", [(1, 3), (3, 1)], "ann")
    lab.controller.reconcile("east", "ann")
    made = reserve(lab.store, "east", ("a", "b"), "job", 0, lab.now + 10, lab.now + 20)
    lab.controller.cycle()
    assert lab.lit() == [(1, 3), (3, 1)]
    lab.now += 11
    lab.controller.cycle()
    assert lab.lit() == [(1, 2), (2, 1)]
    with pytest.raises(ConfigError, match="job holds it"):
        reserve(lab.store, "east", ("b", "c"), "other", 0, lab.now, lab.now + 5)
    reserve(lab.store, "east", ("b", "c"), "urgent", 5, lab.now, lab.now + 3)
    lab.controller.cycle()
    assert lab.lit() == [(2, 3), (3, 2)]
    lab.now += 4
    lab.controller.cycle()
    assert lab.lit() == [(1, 2), (2, 1)]
    release(lab.store, made.id, "job", lab.now)
    lab.controller.cycle()
    assert lab.lit() == [(1, 3), (3, 1)]


def test_what_nobody_asked_for_is_reported_or_removed(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    lab.switches["east"].change([], [(5, 6), (1, 7)])
    lab.controller.want("east", [(1, 2)], "ann")
    assert lab.controller.cycle() == []
    kinds = {alarm["kind"] for alarm in alarms_of(lab.controller)}
    assert kinds == {"drift", "conflict"}
    assert lab.lit() == [(1, 7), (5, 6)]
    lab.config = lab.config.model_copy(update={"unowned": "remove"})
    lab.begin().cycle()
    assert lab.lit() == [(1, 2)]


def test_two_controllers_of_a_store_never_both_write(tmp_path: Path) -> None:
    """The first controller sleeps longer than its lease: the second takes over, and the first
    cannot write."""
    url = f"sqlite:///{tmp_path / 'shared.db'}"
    now = [1_000.0]
    first, second = Store(url, lambda: now[0]), Store(url, lambda: now[0])
    assert first.take_role("one", 10)
    assert not second.take_role("two", 10)
    first.want("east", "operator:x", [(1, 2)], 0, "x")
    now[0] += 11
    assert second.take_role("two", 10)
    second.want("east", "operator:y", [(3, 4)], 0, "y")
    with pytest.raises(DeposedError):
        first.want("east", "operator:x", [(5, 6)], 0, "x")
    assert not first.take_role("one", 10)
    assert {w.pair for w in second.intents("east")} == {(1, 2), (3, 4)}
    now[0] += 11
    assert first.take_role("one", 10)
    with pytest.raises(DeposedError):
        second.note("two", "event", {})
    assert first.broken_link() is None


def test_a_record_that_was_changed_breaks_the_chain(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    lab.controller.want("east", [(1, 2)], "ann")
    lab.controller.want("east", [(2, 1)], "ann")
    assert lab.store.broken_link() is None
    with lab.store._engine.begin() as db:
        db.exec_driver_sql("update audit set body = '{}' where id = 1")
    assert lab.store.broken_link() == 1


def test_a_store_of_a_newer_version_is_refused_and_not_changed(tmp_path: Path) -> None:
    """Nor does it get the tables, columns and indexes that the newer version no longer has."""
    url = f"sqlite:///{tmp_path / 'new.db'}"
    store = Store(url, time.time)
    with store._engine.begin() as db:
        db.execute(meta.update().values(value=str(VERSION + 1)))
        for change in ("drop index job_ended", "drop table deferred"):
            db.exec_driver_sql(change)
        db.exec_driver_sql("alter table job drop column until")
    tables = "select name, sql from sqlite_master"
    with store._engine.begin() as db:
        before = {*db.exec_driver_sql(tables).all()}
    with pytest.raises(ConfigError, match="newer Lightloom"):
        Store(url, time.time)
    with store._engine.begin() as db:
        assert {*db.exec_driver_sql(tables).all()} == before


@pytest.mark.parametrize(
    ("keys", "key"),
    [
        ({"modus": "act"}, "modus"),
        ({"mode": "go"}, "mode"),
        ({"interval": "0 s"}, "interval"),
        ({"interval": "1 ms"}, "interval"),
        ({"listen": "0.0.0.0:8400"}, "listen"),
        ({"listen": "8400"}, "listen"),
        ({"limits": {"quiet": ["22-6"]}}, "limits.quiet"),
        ({"limits": {"gains": 1}}, "limits.gains"),
        ({"policy": "cthruogh"}, "policy"),
        ({"lease": "0 s"}, "lease"),
        ({"lease": "200 ms"}, "lease"),
        ({"switch": [dict(SWITCH, name=name) for name in "xy"]}, "switch[1].url"),
        ({"switch": [dict(SWITCH, name=n, url=f"scpi://{n}:1") for n in LOCAL]}, "switch[1].url"),
        ({"switch": []}, "switch"),
        ({"switch": [{"name": "x", "url": "http://a", "ports": "p.csv"}]}, "switch[0].url"),
        ({"switch": [{"name": "x y", "url": "scpi://a", "ports": "p.csv"}]}, "switch.0.name"),
        ({"lease": "1 ms"}, "lease"),
        ({"demand": {"older": "0 s"}}, "demand.older"),
        ({"hook": "ftp://a"}, "hook"),
        ({"store": "mysql://a/b"}, "store"),
        ({"policy": {"kind": "fixed", "schedule": {}}}, "policy"),
        ({"policy": "bvn"}, "policy"),
    ],
)
def test_what_a_configuration_cannot_be_is_refused(keys: dict[str, Any], key: str) -> None:
    table = {"switch": [{"name": "x", "url": "scpi://a", "ports": "p.csv"}], **keys}
    with pytest.raises(ConfigError) as problem:
        config_of(table)
    assert key in (problem.value.key or "") or key in str(problem.value)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("scpi://127.0.0.1", "scpi://localhost:5025"),
        ("gnmi://Host?tls=off", "gnmi://host:9339"),
        ("file:a.json", "file:./a.json"),
    ],
)
def test_two_switches_at_one_address_are_refused(first: str, second: str) -> None:
    """Otherwise the circuits of each would be drift for the other."""
    one = {"name": "x", "url": first, "ports": "p.csv"}
    with pytest.raises(ConfigError) as problem:
        config_of({"switch": [one, {**one, "name": "y", "url": second}]})
    assert (problem.value.key, problem.value.value) == ("switch[1].url", second)
    config_of({"switch": [one, {**one, "name": "y", "url": "scpi://127.0.0.1:1"}]})


def test_a_port_map_that_the_switch_disagrees_with_is_refused(tmp_path: Path) -> None:
    (tmp_path / "wide.csv").write_text(PORTS + "e,9,9\n")
    lab = Lab(tmp_path)
    with pytest.raises(ConfigError, match="8x8"):
        Racks(tmp_path / "wide.csv").check(lab.switches["east"].machine.design.size, "east")


def free_port() -> int:
    """Returns a port that no process uses, and that the kernel assigns to no connection in the
    meantime."""
    chance = random.SystemRandom()
    while True:
        port = chance.randrange(20_000, 32_768)
        with socket.socket() as made, suppress(OSError):
            made.bind(("127.0.0.1", port))
            return port


def begun(*words: str, **keys: Any) -> subprocess.Popen[str]:
    line = [sys.executable, "-m", "lightloom", *words]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    return subprocess.Popen(line, **pipes, **keys)


@pytest.mark.parametrize(
    "face",
    [
        "scpi",
        "gnmi",
        *(pytest.param(face, marks=pytest.mark.long) for face in ("netconf", "tl1", "ssh")),
    ],
)
def test_a_controller_that_is_killed_amid_a_change_finishes_it(tmp_path: Path, face: str) -> None:
    """Real processes: SIGKILL while the switch settles, then a restart."""
    port, http = free_port(), free_port()
    scheme = "sonic" if face == "ssh" else face
    (tmp_path / "ports.csv").write_text(PORTS)
    (tmp_path / "switch.toml").write_text(
        f'ports = "8x8"\n[timing]\nsettle = "4 s"\n[faces.{face}]\nport = {port}\n'
    )
    (tmp_path / "c.toml").write_text(
        f'interval = "300 ms"\nlease = "4 s"\nlisten = "127.0.0.1:{http}"\n'
        f'[[switch]]\nname = "east"\nurl = "{scheme}://127.0.0.1:{port}"\nports = "ports.csv"\n'
    )
    switch = begun("switch", "serve", str(tmp_path / "switch.toml"))
    first = second = client = None
    try:
        add = begun("controller", "token", "add", str(tmp_path / "c.toml"), "t", "--scope", "admin")
        token = add.communicate(timeout=30)[0].strip()
        first = begun("controller", "serve", str(tmp_path / "c.toml"))
        store = Store(read_config(tmp_path / "c.toml").store_url, time.time)
        wait(lambda: bool(store.rows(meta)) and answers(http) and store.holder() is not None)
        environment = {**os.environ, "LIGHTLOOM_CONTROLLER_TOKEN": token}
        url = f"http://127.0.0.1:{http}"
        words = ("circuits", "apply", "east", "--circuit", "a:b", "--url", url)
        client = begun(*words, env=environment)
        wait(lambda: any(t.state == "changing" for t in store.transactions()))
        first.send_signal(signal.SIGKILL)
        first.wait(10)
        assert client.wait(30) == 2
        assert [t.state for t in store.transactions()] == ["changing"]
        second = begun("controller", "serve", str(tmp_path / "c.toml"))
        wait(lambda: [t.state for t in store.transactions()] == ["done"])
        shown = begun("circuits", "get", "--json", "--url", url, env=environment)
        state = json.loads(shown.communicate(timeout=30)[0])
        assert [c["name"] for c in state["switches"][0]["lit"]] == ["1A-2B", "2A-1B"]
        assert store.broken_link() is None
    finally:
        for process in (switch, first, second, client):
            if process is not None and process.poll() is None:
                process.kill()
                process.wait(10)


def test_a_controller_that_is_stopped_amid_a_change_finishes_it_and_leaves_the_role(
    tmp_path: Path,
) -> None:
    """Regression: the controller was killed after 0.6 s, with an open change, and held the role
    until its lease ended."""
    port, http = free_port(), free_port()
    (tmp_path / "ports.csv").write_text(PORTS)
    (tmp_path / "switch.toml").write_text(
        f'ports = "8x8"\n[timing]\nsettle = "4 s"\n[faces.scpi]\nport = {port}\n'
    )
    (tmp_path / "c.toml").write_text(
        f'interval = "300 ms"\nlease = "60 s"\nlisten = "127.0.0.1:{http}"\n'
        f'[[switch]]\nname = "east"\nurl = "scpi://127.0.0.1:{port}"\nports = "ports.csv"\n'
    )
    switch = begun("switch", "serve", str(tmp_path / "switch.toml"))
    serving = client = None
    try:
        add = begun("controller", "token", "add", str(tmp_path / "c.toml"), "t", "--scope", "admin")
        token = add.communicate(timeout=30)[0].strip()
        serving = begun("controller", "serve", str(tmp_path / "c.toml"))
        store = Store(read_config(tmp_path / "c.toml").store_url, time.time)
        wait(lambda: bool(store.rows(meta)) and answers(http) and store.holder() is not None)
        url = f"http://127.0.0.1:{http}"
        words = ("circuits", "apply", "east", "--circuit", "a:b", "--url", url)
        client = begun(*words, env={**os.environ, "LIGHTLOOM_CONTROLLER_TOKEN": token})
        wait(lambda: any(t.state == "changing" for t in store.transactions()))
        serving.send_signal(signal.SIGTERM)
        said = serving.communicate(timeout=40)[0]
        assert serving.returncode == 143
        assert "standby" not in said
        assert client.wait(30) == 0
        assert [t.state for t in store.transactions()] == ["done"]
        assert store.holder() is None
    finally:
        for process in (switch, serving, client):
            if process is not None and process.poll() is None:
                process.kill()
                process.wait(10)


def answers(port: int) -> bool:
    with socket.socket() as made:
        return made.connect_ex(("127.0.0.1", port)) == 0


def wait(condition: Any, limit_s: float = 30.0) -> None:
    until = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.05)


def test_what_was_lit_before_is_adopted_by_who_wants_it(tmp_path: Path) -> None:
    """The circuit stays lit, and is removed when no client requests it any more; a circuit that no
    client ever requested stays."""
    lab = Lab(tmp_path)
    lab.switches["east"].change([], [(5, 6), (7, 8)])
    lab.controller.want("east", [(5, 6)], "ann")
    assert lab.controller.cycle() == []
    lab.controller.want("east", [], "ann")
    lab.controller.cycle()
    assert lab.lit() == [(7, 8)]
    assert lab.controller.switches["east"].unowned == [(7, 8)]


def test_a_switch_that_left_the_configuration_amid_a_change_is_named(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    change = {"before": [], "removed": [], "added": [(1, 2)], "kept": []}
    lab.store.move(lab.store.plan("west", change, "ann").id, "changing")
    assert [(one["kind"], one["switch"]) for one in alarms_of(lab.controller)] == [
        ("removed", "west")
    ]


def test_a_span_of_less_than_two_steps_is_refused(tmp_path: Path) -> None:
    source = {"url": "http://x", "query": "x", "span": "1 min", "step": "40 s"}
    with pytest.raises(ConfigError) as problem:
        Lab(tmp_path, demand={"prometheus": source})
    assert problem.value.key == "demand.prometheus.span"


@pytest.mark.parametrize("policy", [CTHROUGH, {"kind": "hydra"}])
def test_light_that_leads_one_way_does_not_concern_a_policy_of_both_ways(
    tmp_path: Path, policy: dict[str, Any]
) -> None:
    """The circuits are those of an operator, and of another client, which the policy adopts with
    the reverse direction."""
    lab = Lab(tmp_path, policy=policy, mode="act")
    lab.controller.want("east", [(5, 6)], "ann")
    lab.switches["east"].change([], [(3, 4)])
    for a, b in ((0, 1), (2, 3)):
        lab.now += 10
        lab.send(matrix((a, b, 50_000_000)))
        lab.controller.cycle()
        assert lab.controller.switches["east"].held_back is None
        assert {(a + 1, b + 1), (b + 1, a + 1)} <= {*lab.lit()}


def test_a_one_way_circuit_of_an_operator_does_not_stop_the_policy(tmp_path: Path) -> None:
    lab = Lab(tmp_path, policy=CTHROUGH, mode="act")
    lab.controller.want("east", [(3, 4)], "ann")
    lab.controller.cycle()
    lab.send(matrix((0, 1, 50_000_000)))
    lab.controller.cycle()
    assert lab.lit() == [(1, 2), (2, 1), (3, 4)]


def test_a_policy_of_one_way_circuits_keeps_them_over_a_restart(tmp_path: Path) -> None:
    """`assignment` decides on a permutation, and receives its lit circuits in the next decision."""
    lab = Lab(tmp_path, policy="assignment", mode="act")
    rows = [[0, 9, 0, 0], [0, 0, 9, 0], [0, 0, 0, 9], [9, 0, 0, 0]]
    for _ in range(3):
        lab.send([[10**6 * size for size in row] for row in rows])
        lab.controller.cycle()
        assert lab.lit() == [(1, 2), (2, 3), (3, 4), (4, 1)]
        lab.now += 10
        lab.begin()
    assert [one.state for one in lab.store.transactions()] == ["done"]


@pytest.mark.parametrize("priority", [100, 99])
def test_the_remedies_of_a_refused_lease_help(tmp_path: Path, priority: int) -> None:
    """Two leases follow each other, and a third one ends too late before another lease."""
    lab = Lab(tmp_path)
    t = float(round(lab.now))
    add = partial(reserve, lab.store, "east")
    for begins, ends in ((t, t + 100.5), (t + 100.5, t + 200.5), (t + 220, t + 300)):
        add(("a", "b"), "ann", priority, begins, ends)
    for begins, ends, free in (
        (t + 50, t + 60, t + 201),
        (t + 50, t + 70, t + 300),
        (t + 210, t + 230, t + 300),
    ):
        with pytest.raises(ConfigError) as refused:
            add(("a", "c"), "bob", 0, begins, ends)
        by_rank = "" if priority == 100 else ", or use a priority above 99"
        assert refused.value.remedy == f"begin at {utc(free)} or later{by_rank}"
    assert add(("a", "c"), "bob", 0, t + 201, t + 211).owner == "bob"


def test_a_lease_of_a_rack_that_left_the_port_map_is_named(tmp_path: Path) -> None:
    """All other requests are served."""
    lab = Lab(tmp_path)
    reserve(lab.store, "east", ("c", "d"), "job", 0, lab.now, lab.now + 1000)
    (tmp_path / "ports.csv").write_text(PORTS.replace("d,4,4", "x,4,4"))
    lab.begin()
    lab.controller.want("east", [(1, 2)], "ann")
    assert [one.state for one in lab.controller.cycle()] == ["done"]
    assert lab.lit() == [(1, 2)]
    (alarm,) = state_of(lab.controller)["alarms"]
    assert (alarm["kind"], alarm["switch"]) == ("removed", "east")
    assert "of job: rack d" in alarm["text"]


def test_the_alarm_of_a_clock_that_went_back_stays_until_it_is_right(tmp_path: Path) -> None:
    """Records with the wrong time are written in the meantime."""
    lab = Lab(tmp_path)
    lab.controller.want("east", [(1, 2)], "ann")
    lab.now -= 600.0
    for pair in ((1, 3), (1, 4)):
        lab.controller.want("east", [pair], "ann")
        lab.controller.cycle()
        assert [one["kind"] for one in alarms_of(lab.controller)] == ["clock"]
    lab.now += 600.0
    assert alarms_of(lab.controller) == []


@pytest.mark.parametrize("is_silent", [True, False])
def test_a_switch_of_another_size_is_named_and_holds_up_no_other(
    tmp_path: Path, is_silent: bool
) -> None:
    """The other switch appears after the first one did not answer for a time, or between two
    readings."""
    lab = Lab(tmp_path)
    usual = lab.switches["east"]
    lab.switches["east"] = Silent()  # type: ignore[assignment]
    if is_silent:
        lab.controller.cycle()
    lab.switches["east"] = EmulatedSwitch(Design(size=Size(2, 2)))
    for _ in range(2):
        assert lab.controller.cycle() == []
        (alarm,) = alarms_of(lab.controller)
        assert alarm["kind"] == "unreachable"
        assert "2x2" in alarm["text"]
    lab.switches["east"] = usual
    lab.controller.cycle()
    assert alarms_of(lab.controller) == []


class Silent:
    """A switch that does not answer."""

    def __getattr__(self, name: str) -> Any:
        raise SwitchError("no answer")


def test_a_conflict_says_until_when(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    lab.now = 1_800_000_000.0
    reserve(lab.store, "east", ("a", "b"), "job", 0, lab.now, 1_800_000_600.0)
    lab.controller.want("east", [(5, 5)], "bob")
    lab.controller.cycle()
    lab.controller.want("east", [(1, 3), (5, 6)], "ann")
    lab.controller.cycle()
    texts = [one["text"] for one in alarms_of(lab.controller) if one["kind"] == "conflict"]
    assert [text.rpartition(" until ")[2] for text in texts] == [
        "2027-01-15T08:10:00Z",
        "that request is withdrawn",
    ]


def test_a_policy_in_python_is_named_as_in_an_experiment(tmp_path: Path) -> None:
    code = "class Mine:\n    def decide(self, demand, switch):\n        return [(0, 3)]\n"
    (tmp_path / "mine.py").write_text(code)
    lab = Lab(tmp_path, policy="mine.py:Mine", mode="act")
    lab.send(matrix((0, 1, 5_000_000)))
    lab.controller.cycle()
    assert lab.lit() == [(1, 4), (4, 1)]
