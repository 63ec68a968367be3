"""The HTTP interface: routes, the client, and the page in a browser."""

import copy
import json
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, get_args

import pytest
from cli_support import ROOT
from controller_support import Reached, Served, matrix
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy.exc import OperationalError

from lightloom.controller import schema
from lightloom.controller.admission import LARGEST, Limiter
from lightloom.controller.answers import AlarmKind
from lightloom.controller.client import Client
from lightloom.controller.database import NO_ROLE
from lightloom.controller.leases import reserve
from lightloom.controller.metrics import exposition
from lightloom.controller.overview import alarms_of, state_of
from lightloom.controller.service import Controller
from lightloom.controller.store import Store
from lightloom.controller.tokens import add_token
from lightloom.errors import ConfigError
from lightloom.switches.ports import Port
from lightloom.switches.protocol import SwitchError


def test_a_dry_run_changes_nothing(reached: Reached) -> None:
    body = {"circuits": [["a", "b"]], "dry_run": True}
    found = reached.ask("PUT", "/switches/east/circuits", body).json()
    assert found["added"] == ["1A-2B", "2A-1B"]
    assert reached.lab.lit() == []
    assert reached.lab.store.intents("east") == []


def test_a_dry_run_of_a_lease_is_what_the_lease_then_does(reached: Reached) -> None:
    lab = reached.lab
    lab.controller.apply("east", [(1, 2), (2, 1)], "op")
    body = {"racks": ["a", "c"], "ends": lab.now + 60}
    path = "/switches/east/leases"
    shown = reached.ask("POST", path, {**body, "dry_run": True}, "plan")
    assert shown.status_code == 200
    keys = ("removed", "added", "kept")
    assert [shown.json()[key] for key in keys] == [["1A-2B", "2A-1B"], ["1A-3B", "3A-1B"], []]
    assert lab.store.rows(schema.lease) == []
    assert reached.ask("POST", path, body, "plan").status_code == 403
    assert reached.ask("POST", path, body, "reserve").status_code == 201
    lab.controller.cycle()
    assert lab.lit() == [(1, 3), (3, 1)]
    again = reached.ask("POST", path, {**body, "racks": ["a", "d"], "dry_run": True})
    assert (again.status_code, "lease 1" in again.text) == (409, True)
    free = {**body, "racks": ["a", "d"], "priority": 7, "dry_run": True}
    assert reached.ask("POST", path, free).json()["added"] == ["1A-4B", "4A-1B"]


def test_a_dry_run_shows_what_the_change_would_do(tmp_path: Path) -> None:
    """Cross-connects without an owner would also be removed, if the file sets this."""
    reached = Reached(tmp_path, unowned="remove")
    reached.lab.switches["east"].change([], [(5, 6), (1, 7)])
    reached.lab.controller.start()
    body = {"cross_connects": ["1A-2B"]}
    shown = reached.ask("PUT", "/switches/east/intent", {**body, "dry_run": True}).json()
    made = reached.ask("PUT", "/switches/east/intent", body).json()["transactions"][0]
    assert shown["removed"] == ["1A-7B", "5A-6B"]
    assert made["plan"]["removed"] == [[1, 7], [5, 6]]
    assert reached.lab.lit() == [(1, 2)]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("intent", {"cross_connects": ["1A-2B", "1A-3B"]}),
        ("intent", {"cross_connects": ["1A-99B"]}),
        ("intent", {"cross_connects": ["1-2"]}),
        ("intent", {"cross": []}),
        ("intent", {"cross_connects": ["1A-2B"], "priority": 101}),
        ("intent", {"cross_connects": ["1A-2B"], "priority": "1"}),
        ("intent", {"cross_connects": ["1A-2B"], "priority": True}),
        ("circuits", {"circuits": [["a", "b"]], "dry_run": "no"}),
        ("circuits", {"circuits": [["a", "nobody"]]}),
        ("circuits", {"circuits": [["a", "b"], ["a", "c"]]}),
    ],
)
def test_bad_requests_change_nothing(reached: Reached, path: str, body: Any) -> None:
    answer = reached.ask("PUT", f"/switches/east/{path}", body)
    assert answer.status_code == 422
    assert reached.lab.lit() == []
    assert reached.ask("PUT", f"/switches/west/{path}", {**body}).status_code == 422


def test_demand_of_another_shape_is_refused(reached: Reached) -> None:
    for wrong in ([[0, 1]], [[0] * 4] * 3, [[0, -1, 0, 0]] + [[0] * 4] * 3, [[0, 1e30, 0, 0]] * 4):
        answer = reached.ask("POST", "/switches/east/demand", {"matrix": wrong})
        assert answer.status_code == 422, wrong


def test_too_much_is_refused(reached: Reached) -> None:
    headers = {"Authorization": f"Bearer {reached.tokens['admin']}"}
    headers["Content-Length"] = str(LARGEST + 1)
    answer = reached.http.put("/switches/east/intent", content=b"{}", headers=headers)
    assert answer.status_code == 413
    chunks = reached.http.put("/switches/east/intent", content=iter([b"{}"]), headers=headers)
    assert chunks.status_code in (411, 413)
    far = 10**30
    for path in (f"/transactions/{far}/undo", f"/audit?after={far}", f"/transactions?limit={far}"):
        method = "POST" if "undo" in path else "GET"
        assert reached.ask(method, path).status_code == 422, path
    reached.http.app.state.limiter = Limiter(5)  # type: ignore[attr-defined]
    statuses = [reached.ask("GET", "/transactions").status_code for _ in range(30)]
    assert 429 in statuses


def test_others_leases_are_theirs(reached: Reached) -> None:
    body = {"racks": ["a", "b"], "ends": reached.lab.now + 60}
    made = reached.ask("POST", "/switches/east/leases", body, "admin")
    assert made.status_code == 201
    assert reached.ask("DELETE", f"/leases/{made.json()['id']}", scope="reserve").status_code == 403
    clash = reached.ask("POST", "/switches/east/leases", body, "reserve")
    assert clash.status_code == 409
    assert "admin holds it" in clash.json()["detail"]


def test_an_admin_ends_the_job_of_a_scheduler_that_is_gone(reached: Reached) -> None:
    reached.tokens["other"] = add_token(reached.lab.store, "other", ["reserve"], "test")
    reached.ask("PUT", "/jobs/train", {"racks": ["a"]}, "reserve")
    assert reached.ask("DELETE", "/jobs/train", scope="other").status_code == 409
    assert [job["name"] for job in state_of(reached.lab.controller)["jobs"]] == ["train"]
    assert reached.ask("DELETE", "/jobs/train", scope="admin").json() == {"ended": "train"}
    assert state_of(reached.lab.controller)["jobs"] == []


def test_healthz_names_a_standby_and_a_loop_that_fails(reached: Reached) -> None:
    lab = reached.lab

    def health() -> tuple[str, list[str]]:
        found = reached.http.get("/healthz").json()
        return found["status"], found["unreachable"]

    assert lab.store.take_role("this", 10.0)
    assert health() == ("ok", [])
    lab.controller.switches["east"].trouble = "no answer"
    assert health() == ("degraded", ["east"])
    lab.controller.failure = "ValueError: no"
    assert health() == ("failing", ["east"])
    lab.controller.failure = lab.controller.switches["east"].trouble = None
    lab.now += 11
    assert health() == ("standby", [])
    assert lab.store.take_role("this", 10.0)
    assert health() == ("ok", [])
    lab.store.fence = NO_ROLE
    assert health() == ("standby", [])


def test_a_standby_says_that_it_is_one(reached: Reached) -> None:
    """A standby states its role in answers with status 200, and refuses requests that it could not
    store."""
    lab, demand = reached.lab, {"matrix": matrix((0, 1, 5))}
    dry = {"circuits": [["a", "b"]], "dry_run": True}
    asked = [
        ("GET", "/state", None),
        ("GET", "/switches/east/diff", None),
        ("PUT", "/switches/east/circuits", dry),
    ]

    def roles() -> set[tuple[str, str]]:
        found = [reached.ask(*request) for request in asked]
        assert [answer.status_code for answer in found] == [200] * 3
        return {(answer.json()["role"], answer.headers["Lightloom-Role"]) for answer in found}

    assert lab.store.take_role("this", 10.0)
    assert roles() == {("active", "active")}
    assert reached.ask("POST", "/switches/east/demand", demand).status_code == 200
    read_at = reached.ask("GET", "/switches/east/diff").json()["read_at"]
    assert read_at == pytest.approx(lab.now, abs=1)
    lab.now += 11
    assert roles() == {("standby", "standby")}
    assert reached.ask("POST", "/switches/east/demand", demand).status_code == 503
    lab.controller.switches["east"].read_at = None
    assert reached.ask("GET", "/switches/east/diff").json()["read_at"] is None
    for path in ("/healthz", "/metrics", "/transactions"):
        assert reached.ask("GET", path).headers["Lightloom-Role"] == "standby"


def test_metrics_are_what_prometheus_reads(reached: Reached) -> None:
    reached.ask("PUT", "/switches/east/circuits", {"circuits": [["a", "b"]]})
    text = reached.http.get("/metrics").text
    samples = {
        (s.name, s.labels.get("state")): s.value
        for family in text_string_to_metric_families(text)
        for s in family.samples
    }
    assert samples["lightloom_cross_connects", None] == 2
    assert samples["lightloom_transactions", "done"] == 1
    assert samples["lightloom_transactions", "stuck"] == 0


def figures(text: str) -> dict[str, float]:
    """Returns the metrics of a switch by their names without `lightloom_`."""
    families = text_string_to_metric_families(text)
    found = {s.name: s.value for f in families for s in f.samples if [*s.labels] == ["switch"]}
    return {name.removeprefix("lightloom_"): value for name, value in found.items()}


@pytest.mark.parametrize("fails", [False, True])
def test_dark_pair_seconds_are_counted(reached: Reached, fails: bool) -> None:
    """A command of 0.2 s changes three cross-connects; a failing one may have changed them too."""
    lab = reached.lab
    lab.controller.apply("east", [(1, 2)], "ann")
    before = figures(reached.http.get("/metrics").text)["dark_pair_seconds_total"]
    times = iter((10.0, 10.2))
    with (
        suppress(SwitchError),
        lab.controller.switches["east"].meters.changing(3, times.__next__),
    ):
        if fails:
            raise SwitchError("no answer")
    after = figures(reached.http.get("/metrics").text)["dark_pair_seconds_total"]
    assert (before > 0, after - before) == (True, pytest.approx(0.6))


def test_a_circuit_of_two_owners_is_counted_once_and_without_light_as_dark(
    reached: Reached,
) -> None:
    controller = reached.lab.controller
    controller.apply("east", [(1, 2), (3, 4)], "ann")
    controller.apply("east", [(1, 2)], "bob")
    counts = figures(reached.http.get("/metrics").text)
    names = ("cross_connects", "cross_connects_wanted", "cross_connects_dark")
    assert [counts[name] for name in names] == [2, 2, 0]
    controller.switches["east"].power = {Port("B", 4): -60.0}
    controller.want("east", [(1, 2), (5, 5)], "bob")
    counts = figures(reached.http.get("/metrics").text)
    assert [counts[name] for name in names] == [1, 3, 2]


def test_a_standby_that_never_read_a_switch_gives_no_metrics_of_it(reached: Reached) -> None:
    lab = reached.lab
    standby = Controller(lab.config, lab.store, lab.clock, lambda _: lab.switches["east"])
    read, unread = (figures(exposition(one).decode()) for one in (lab.controller, standby))
    assert read.keys() - unread.keys() == {
        "cross_connects",
        "cross_connects_dark",
        "cross_connects_unowned",
        "demand_joined",
        "switch_reachable",
    }


def test_errors_of_a_switch_and_the_time_to_plan_are_counted(
    reached: Reached, monkeypatch: pytest.MonkeyPatch
) -> None:
    def counts() -> dict[str, float]:
        families = text_string_to_metric_families(reached.http.get("/metrics").text)
        return {s.name: s.value for f in families for s in f.samples if "switch" in s.labels}

    controller = reached.lab.controller
    for _ in range(3):
        controller.cycle()
    before = counts()
    assert before["lightloom_switch_errors_total"] == 0
    assert before["lightloom_plan_seconds_count"] == 3
    assert before["lightloom_plan_seconds_sum"] > 0

    def refuse(*_: object, **__: object) -> None:
        raise SwitchError("refused")

    monkeypatch.setattr(reached.lab.switches["east"], "change", refuse)
    reached.ask("PUT", "/switches/east/circuits", {"circuits": [["a", "b"]]})
    # The change is requested three times.
    assert counts()["lightloom_switch_errors_total"] == 3
    assert counts()["lightloom_plan_seconds_count"] == 4
    monkeypatch.setattr(reached.lab.switches["east"], "read", refuse)
    controller.cycle()
    assert counts()["lightloom_switch_errors_total"] == 4
    assert counts()["lightloom_plan_seconds_count"] == 4


def test_each_kind_of_alarm_is_answered_and_counted(reached: Reached) -> None:
    lab = reached.lab
    plan: dict[str, Any] = {"before": [], "removed": [], "added": [(1, 2)], "kept": []}
    stuck = lab.store.plan("east", plan, "x")
    lab.store.move(stuck.id, "stuck", "1A does not move")
    left = lab.store.plan("gone", plan, "x")
    lab.store.move(left.id, "verifying", "lit, but the hook does not answer")
    east = lab.controller.switches["east"]
    east.trouble, east.policy_trouble = "no answer", "no decision"
    lab.store.want("east", "operator:x", [(3, 4), (6, 6)], 0, "x")
    undone = lab.store.plan("east", {**plan, "added": [(6, 6)]}, "x")
    lab.store.move(undone.id, "undone", "6A does not move")
    east.lit, east.power = [(3, 4)], {Port("B", 4): -60.0}
    east.unowned, east.conflicts = [(5, 6)], ["1A-2B of x: a port is held by y"]
    lab.controller.failure = "ValueError: no"
    lab.store.checked.broken = 1
    assert "clock" not in {alarm["kind"] for alarm in alarms_of(lab.controller)}
    lab.now -= 3.0
    answer = reached.ask("GET", "/state")
    assert answer.status_code == 200
    kinds = {*get_args(AlarmKind)}
    assert {alarm["kind"] for alarm in answer.json()["alarms"]} == kinds
    counts = {
        s.labels["kind"]: s.value
        for family in text_string_to_metric_families(reached.http.get("/metrics").text)
        for s in family.samples
        if family.name == "lightloom_alarms"
    }
    assert counts == dict.fromkeys(kinds, 1)


@pytest.mark.parametrize("level", [-60.0, -40.0])
def test_a_circuit_without_light_counts_as_dark(reached: Reached, level: float) -> None:
    """One direction lost its light: it is connected, and it carries nothing. Monitors report -40
    dBm as their least power."""
    lab, switch = reached.lab, reached.lab.switches["east"]
    lab.controller.apply("east", [(1, 2), (2, 1)], "ann")
    lab.send(matrix((0, 1, 10**9)))
    usual = switch.power
    switch.power = lambda: {**(usual() or {}), Port("B", 2): level}  # type: ignore[method-assign]
    lab.controller.cycle()
    shown = reached.ask("GET", "/state").json()["switches"][0]
    assert [[one["name"] for one in shown[key]] for key in ("lit", "dark")] == [
        ["2A-1B"],
        ["1A-2B"],
    ]
    assert {one["name"]: one["lit"] for one in shown["wanted"]} == {"1A-2B": False, "2A-1B": True}
    assert {one["racks"]: one["joined"] for one in shown["heaviest"]} == {
        "a → b": False,
        "b → a": True,
    }
    assert shown["carried"] == 0.5
    samples = {
        s.name: s.value
        for family in text_string_to_metric_families(reached.http.get("/metrics").text)
        for s in family.samples
    }
    assert samples["lightloom_cross_connects"] == 1
    assert samples["lightloom_demand_joined"] == 0.5


def test_the_grafana_dashboard_names_metrics_that_there_are(reached: Reached) -> None:
    text = reached.http.get("/metrics").text
    known = {s.name for family in text_string_to_metric_families(text) for s in family.samples}
    board = json.loads((ROOT / "examples/controller/grafana.json").read_text(encoding="utf-8"))
    asked = {
        name
        for panel in board["panels"]
        for target in panel["targets"]
        for name in re.findall(r"lightloom_\w+", target["expr"])
    }
    assert len(asked) > 7
    assert asked <= known


def test_the_client_in_python(served: Served) -> None:
    reached, url = served, served.url
    client = Client(url, reached.tokens["admin"])
    made = client.apply("east", circuits=[("a", "b")])
    assert made["transactions"][0]["state"] == "done"
    lease = client.reserve("east", ("a", "c"), reached.lab.now + 60)
    watched = client.watch()
    assert len(next(watched)["leases"]) == 1
    client.release(lease["id"])
    client.send_demand("east", matrix((0, 1, 5)))
    assert client.history("east")[0]["id"] == 1
    client.undo(1)
    assert reached.lab.lit() == []
    with pytest.raises(ConfigError, match="no such switch"):
        client.diff("west")
    with pytest.raises(ConfigError, match="does not answer"):
        Client("http://127.0.0.1:9", "x").state()


def test_a_request_that_was_cut_off_may_have_been_taken() -> None:
    """The connection ends after the request, and no process listens at the second address."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

        def end_it() -> None:
            link, _ = server.accept()
            link.recv(65_536)
            link.close()

        thread = threading.Thread(target=end_it)
        thread.start()
        with pytest.raises(ConfigError) as cut:
            Client(f"http://127.0.0.1:{port}", "x").release(1)
        thread.join(10)
    with pytest.raises(ConfigError) as refused:
        Client(f"http://127.0.0.1:{port}", "x").release(1)
    said = ["circuits history" in str(problem.value) for problem in (cut, refused)]
    assert said == [True, False]


def show_the_rest(reached: Served) -> None:
    """Creates demand, 1.5 s of dark time in this hour, a change in progress, a deferred change, a
    job and a lease."""
    lab = reached.lab
    lab.config.limits.dark_per_hour = "30 s"
    lab.send([[0, 3 * 10**9, 4 * 10**9, 0], [0] * 4, [0] * 4, [0] * 4])
    store, now = lab.store, lab.now
    reached.ask("PUT", "/jobs/train", {"racks": ["a"], "accelerators": 8})
    lab.controller.cycle()
    lab.controller.want_later("east", [(1, 3)], "bob", 0, None)
    reserve(store, "east", ("c", "d"), "ann", 0, now + 60, now + 600)
    change = {"before": [], "removed": [], "added": [(7, 8)], "kept": []}
    one = store.transactions(limit=1)[0]
    store.change(schema.transaction, "x", "x", {"id": one.id}, dark_s=1.5, dark_until=now)
    store.move(store.plan("east", change, "ann").id, "draining")
    store.change(schema.transaction, "x", "x", {"state": "draining"}, created=now, updated=now)
    lab.controller._tell()


@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (390, "dark")])
def test_the_dashboard_is_live_and_asks_nobody_else(
    served: Served, width: int, scheme: Any
) -> None:
    sync = pytest.importorskip("playwright.sync_api")
    import shutil

    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("no Chromium")
    reached, url = served, served.url
    asked: list[str] = []
    errors: list[str] = []
    with sync.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(url)
        page.keyboard.type(reached.tokens["read"])
        page.keyboard.press("Enter")
        page.wait_for_selector("article")
        assert "No circuits" in page.inner_text("article")
        reached.lab.controller.want("east", [(1, 2)], "ann")
        reached.lab.controller.reconcile("east", "ann")
        page.wait_for_selector("svg line.lit", state="attached")
        reached.lab.controller.switches["east"].power = {Port("B", 2): -60.0}
        reached.lab.controller._tell()
        page.wait_for_selector("svg line.dark", state="attached")
        assert "0 lit, 1 wanted, 1 not lit; 1 connected without light" in page.inner_text("article")
        reached.lab.controller.switches["east"].power = {}
        assert page.locator("#transactions tr").count() == 1
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert not page.locator("form").is_visible()
        show_the_rest(reached)
        # A state of the store between two of these writes may be shown first.
        page.wait_for_selector("[aria-current=step]:text-is('draining')")
        rows = page.locator(".demand li").all_inner_texts()
        assert rows == ["a → c: 4.00 GB, no circuit", "a → b: 3.00 GB, circuit"]
        assert "1.50 of 30 s" in page.inner_text("article")
        assert "at checkpoint" in page.inner_text("#waiting")
        assert "8 accelerators" in page.inner_text("#jobs")
        said = page.inner_text("#leases")
        assert re.search("c – d: lease 1 of ann, priority 0, from .* until ", said)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        browser.close()
    assert errors == []
    assert all(address.startswith(url) for address in asked)


def test_the_page_comes_back_after_a_refusal_and_says_why_a_token_is_none(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database does not answer for a moment, so that the stream is refused with 503."""
    sync = pytest.importorskip("playwright.sync_api")
    import shutil

    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("no Chromium")
    usual, is_down = served.lab.store._read, True

    @contextmanager
    def read() -> Iterator[Any]:
        if is_down:
            raise OperationalError("SELECT", {}, Exception("connection refused"))
        with usual() as db:
            yield db

    with sync.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(served.url)
        monkeypatch.setattr(served.lab.store, "_read", read)
        page.keyboard.type(served.tokens["read"])
        with page.expect_response(lambda answer: "/events" in answer.url) as refused:
            page.keyboard.press("Enter")
        assert refused.value.status == 503
        page.wait_for_selector("#link.bad")
        is_down = False
        page.wait_for_selector("#link.good")
        other = browser.new_page()
        other.goto(served.url)
        other.keyboard.type(served.tokens["plan"])
        other.keyboard.press("Enter")
        other.wait_for_selector("#problem:text('lacks the scope read')")
        assert other.locator("form").is_visible()
        browser.close()


def states(stream: Iterator[str]) -> Iterator[dict[str, Any]]:
    """Returns the states of an event stream."""
    for line in stream:
        if line.startswith("data:"):
            yield json.loads(line[5:])


def test_the_stream_of_a_standby_says_who_is_active_and_follows_it(served: Served) -> None:
    """Another controller of the store writes; then this controller takes over."""
    lab, token = served.lab, served.tokens["read"]
    other = copy.copy(lab.store)
    other.fence = None
    assert other.take_role("rack9:77", 1e6)
    lab.store.fence = NO_ROLE
    with served.stream("GET", "/events", token=token) as answer:
        seen = states(answer.iter_lines())
        first = next(seen)
        assert (first["role"], first["active"]) == ("standby", "rack9:77")
        assert first["switches"][0]["wanted"] == []
        other.want("east", "operator:ann", [(1, 2)], 0, "ann")
        assert [one["name"] for one in next(seen)["switches"][0]["wanted"]] == ["1A-2B"]
        plan: dict[str, Any] = {"before": [], "removed": [], "added": [(1, 2)], "kept": []}
        other.plan("east", plan, "ann")
        assert next(seen)["transactions"][0]["state"] == "planned"
        lab.now += 2e6
        third = next(seen)
        assert (third["role"], third["active"]) == ("standby", None)
        assert lab.store.take_role("here:1", 1e6)
        fourth = next(seen)
        assert (fourth["role"], fourth["active"]) == ("active", "here:1")


def test_the_stream_shows_requests_that_change_no_switch(served: Served) -> None:
    """No pass of the loop comes in between: leases, jobs and their checkpoints, and withdrawals."""
    lab, token = served.lab, served.tokens["admin"]
    lab.controller.want_later("east", [(1, 2)], "admin", 0, 2e9)
    steps: list[tuple[str, str, Any, str, int]] = [
        ("POST", "/switches/east/leases", {"racks": ["a", "b"], "ends": 2e9}, "leases", 1),
        ("PUT", "/jobs/train", {"racks": ["a"]}, "jobs", 1),
        ("DELETE", "/leases/1", None, "leases", 0),
        ("DELETE", "/jobs/train", None, "jobs", 0),
        ("DELETE", "/deferred/1", None, "deferred", 0),
    ]
    with served.stream("GET", "/events", token=token) as answer:
        seen = states(answer.iter_lines())
        next(seen)
        for method, path, body, key, count in steps:
            assert served.ask(method, path, body).status_code < 300
            assert len(next(seen)[key]) == count


def test_a_store_that_does_not_answer_is_named(
    reached: Reached, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Simulates a database that is restarted."""

    def fail(*_: object, **__: object) -> None:
        raise OperationalError("SELECT", {}, Exception("connection refused"))

    for name in ("transactions", "rows", "_read"):
        with monkeypatch.context() as down:
            down.setattr(reached.lab.store, name, fail)
            answer = reached.ask("GET", "/transactions")
            assert (answer.status_code, answer.json()["key"]) == (503, "store"), name
            assert "connection refused" in answer.json()["limit"]
    assert reached.ask("GET", "/transactions").status_code == 200


def test_a_standby_names_the_active_controller_when_it_refuses(reached: Reached) -> None:
    store = reached.lab.store
    store.fence = NO_ROLE
    answer = reached.ask("PUT", "/switches/east/intent", {"cross_connects": ["1A-2B"]})
    assert (answer.status_code, answer.json()["limit"]) == (503, "no controller is active")
    assert copy.copy(store).take_role("rack9:77", 100.0)
    answer = reached.ask("PUT", "/switches/east/intent", {"cross_connects": ["1A-2B"]})
    found = answer.json()
    assert (answer.status_code, found["key"], found["value"]) == (503, "role", "standby")
    assert found["limit"] == "rack9:77 is active"


def test_an_address_that_is_none_is_refused() -> None:
    for url in ("nonsense", "127.0.0.1:8400", "ftp://x"):
        with pytest.raises(ConfigError) as problem:
            Client(url, "token")
        assert (problem.value.key, problem.value.value) == ("url", url)


@pytest.mark.parametrize(
    ("path", "body", "key", "value"),
    [
        ("circuits", {"circuits": [["a", "a"]]}, "circuits", "a:a"),
        ("circuits", {"circuits": [["a", "b"], ["c", "a"]]}, "circuits", "a"),
        ("circuits", {"circuits": [["a", "b"], ["b", "a"]]}, "circuits", "b"),
        ("intent", {"cross_connects": ["1-2"]}, "cross_connects[0]", "1-2"),
    ],
)
def test_circuits_that_cannot_be_are_named(
    reached: Reached, path: str, body: Any, key: str, value: str
) -> None:
    answer = reached.ask("PUT", f"/switches/east/{path}", body)
    found = answer.json()
    assert (answer.status_code, found["key"], found["value"]) == (422, key, value)
    if path == "intent":
        assert found["remedy"] == "write 1A-29B"


def test_the_history_of_an_unknown_switch_is_refused(reached: Reached) -> None:
    assert reached.ask("GET", "/transactions?switch=east").json() == []
    answer = reached.ask("GET", "/transactions?switch=zz")
    assert (answer.status_code, answer.json()["key"]) == (422, "switch")


def test_times_in_refusals_are_written_as_times(reached: Reached) -> None:
    """1,800,000,000 s since 1970 is 2027-01-15T08:00:00Z."""
    lab = reached.lab
    lab.now = 1_800_000_000.0
    ended = {"racks": ["a", "b"], "ends": lab.now - 60}
    backwards = {"racks": ["a", "b"], "begins": lab.now + 60, "ends": lab.now + 30}
    wanted = {"cross_connects": ["1A-2B"], "when": lab.now - 60}
    refused = [
        reached.ask("POST", "/switches/east/leases", ended).json(),
        reached.ask("POST", "/switches/east/leases", backwards).json(),
        reached.ask("PUT", "/switches/east/intent", wanted).json(),
    ]
    reached.ask("PUT", "/jobs/train", {"racks": ["a"]})
    times = {"begins": backwards["begins"], "ends": backwards["ends"]}
    refused.append(reached.ask("PUT", "/jobs/train/boundary", times).json())
    assert [(one["key"], one["value"]) for one in refused] == [
        ("ends", "2027-01-15T07:59:00Z"),
        ("ends", "2027-01-15T08:00:30Z"),
        ("when", "2027-01-15T07:59:00Z"),
        ("ends", "2027-01-15T08:00:30Z"),
    ]
    lease = {"racks": ["a", "b"], "ends": 1_800_000_600.0}
    assert reached.ask("POST", "/switches/east/leases", lease).status_code == 201
    refused = [reached.ask("POST", "/switches/east/leases", lease).json()]
    assert "until 2027-01-15T08:10:00Z" in refused[0]["limit"]


def test_what_is_of_another_client_names_the_remedy(reached: Reached) -> None:
    wanted = {"cross_connects": ["1A-2B"], "when": 2e9}
    reached.ask("PUT", "/switches/east/intent", wanted)
    reached.tokens["other"] = add_token(reached.lab.store, "other", ["apply"], "test")
    answer = reached.ask("DELETE", "/deferred/1", scope="other")
    assert answer.status_code == 403
    assert answer.json()["detail"].startswith("change = 1: ")


def test_the_name_of_a_job_is_checked_before_it_is_sent(served: Served) -> None:
    client = Client(served.url, served.tokens["admin"])
    for name in ("a/b", "", "x" * 129):
        with pytest.raises(ConfigError) as problem:
            client.announce_job(name, ["a", "b"])
        assert problem.value.key == "job"


@pytest.mark.parametrize(
    "url",
    [
        "mysql://u:secret@x/y",
        "postgres://u:secret@x/y",
        "postgresql+psycopg://u:secret@127.0.0.1:1/y",
    ],
)
def test_a_store_that_cannot_be_opened_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(ConfigError) as problem:
        Store(url, time.time)
    assert problem.value.key == "store"
    assert "secret" not in str(problem.value)


def test_a_request_answers_with_its_own_transaction(
    reached: Reached, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An iteration of the loop that begins after the request is stored waits for its end."""
    controller, want = reached.lab.controller, reached.lab.store.want_now
    loop = threading.Thread(target=controller.cycle)

    def stored(*given: Any) -> None:
        want(*given)
        loop.start()
        loop.join(0.5)

    monkeypatch.setattr(reached.lab.store, "want_now", stored)
    answer = reached.ask("PUT", "/switches/east/intent", {"cross_connects": ["1A-2B"]})
    loop.join(10)
    assert [(t["who"], t["state"]) for t in answer.json()["transactions"]] == [("admin", "done")]


def test_the_client_sends_keys_of_leases_and_undos(served: Served) -> None:
    client = Client(served.url, served.tokens["admin"])
    client.apply("east", cross_connects=["1A-1B"])
    ends = served.lab.now + 600
    leases = [client.reserve("east", ("b", "c"), ends, ends - 60, key="k") for _ in range(2)]
    assert [one["id"] for one in leases] == [1, 1]
    undone = [client.undo(1, key="u") for _ in range(2)]
    assert undone[0] == undone[1]
    assert [one["state"] for one in undone[0]] == ["done"]
