"""The HTTP interface: every scope against every route, tokens, keys, the page in a browser."""

import json
import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from cli_support import ROOT
from controller_support import Lab, matrix
from fastapi.testclient import TestClient
from prometheus_client.parser import text_string_to_metric_families
from test_controller_service import free_port

from lightloom.controller.api import LARGEST, Limiter, app_of
from lightloom.controller.client import Client
from lightloom.controller.tokens import SCOPES, add_token, revoke_token
from lightloom.errors import ConfigError

#: Method, path, body, scope.
ROUTES: list[tuple[str, str, Any, str]] = [
    ("GET", "/state", None, "read"),
    ("GET", "/switches/east/diff", None, "read"),
    ("GET", "/transactions", None, "read"),
    ("PUT", "/switches/east/intent", {"cross_connects": ["1A-2B"]}, "apply"),
    ("PUT", "/switches/east/circuits", {"circuits": [["a", "b"]]}, "apply"),
    ("POST", "/transactions/1/undo", None, "apply"),
    ("POST", "/switches/east/demand", {"matrix": matrix((0, 1, 5))}, "plan"),
    ("POST", "/switches/east/leases", {"racks": ["a", "b"], "ends": 2e9}, "reserve"),
    ("DELETE", "/leases/1", None, "reserve"),
    ("GET", "/audit", None, "admin"),
]


class Reached:
    """The interface of a lab, and a token of each scope."""

    def __init__(self, folder: Path, **keys: Any) -> None:
        self.lab = Lab(folder, **keys)
        self.http = TestClient(app_of(self.lab.controller), raise_server_exceptions=False)
        self.tokens = {s: add_token(self.lab.store, s, [s], "test") for s in SCOPES}

    def ask(
        self, method: str, path: str, body: Any = None, scope: str = "admin", **headers: str
    ) -> Any:
        told = {"Authorization": f"Bearer {self.tokens[scope]}", **headers}
        return self.http.request(method, path, json=body, headers=told)


@pytest.fixture
def reached(tmp_path: Path) -> Reached:
    return Reached(tmp_path)


def test_every_route_has_its_scope(reached: Reached) -> None:
    listed = {(m, p.replace("east", "{switch}")) for m, p, _, _ in ROUTES}
    listed = {(m, re.sub(r"/1(?=/|$)", "/{number}", p)) for m, p in listed}
    schema = reached.http.get("/openapi.json").json()["paths"]
    known = {(m.upper(), path) for path, methods in schema.items() for m in methods}
    assert known - {("GET", "/healthz"), ("GET", "/events")} == listed
    for method, path, body, scope in ROUTES:
        for own in SCOPES:
            status = reached.ask(method, path, body, own).status_code
            assert (status == 403) == (own not in (scope, "admin")), (path, own, status)


@pytest.mark.parametrize("token", ["", "nobody.x", "read.wrong", "admin"])
def test_without_a_valid_token_nothing_is_shown(reached: Reached, token: str) -> None:
    for method, path, body, _ in [*ROUTES, ("GET", "/events", None, "read")]:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        answer = reached.http.request(method, path, json=body, headers=headers)
        assert answer.status_code == 401
        assert "www-authenticate" in answer.headers


def test_tokens_end(reached: Reached) -> None:
    store = reached.lab.store
    reached.tokens["short"] = add_token(store, "short", ["read"], "test", reached.lab.now + 60)
    assert reached.ask("GET", "/state", scope="short").status_code == 200
    reached.lab.now += 61
    assert reached.ask("GET", "/state", scope="short").status_code == 401
    revoke_token(store, "read", "test", reached.lab.now)
    assert reached.ask("GET", "/state", scope="read").status_code == 401
    with pytest.raises(ConfigError):
        add_token(store, "admin", ["read"], "test")
    stored = str(store.rows(__import__("lightloom.controller.schema", fromlist=["token"]).token))
    assert not any(text.split(".")[1] in stored for text in reached.tokens.values())


def test_a_request_of_a_key_is_carried_out_once(reached: Reached) -> None:
    body = {"cross_connects": ["1A-2B"]}
    first = reached.ask("PUT", "/switches/east/intent", body, **{"Idempotency-Key": "k"})
    reached.ask("PUT", "/switches/east/intent", {"cross_connects": []})
    again = reached.ask("PUT", "/switches/east/intent", body, **{"Idempotency-Key": "k"})
    assert first.json() == again.json()
    assert reached.lab.lit() == []
    other = {"cross_connects": ["1A-3B"]}
    refused = reached.ask("PUT", "/switches/east/intent", other, **{"Idempotency-Key": "k"})
    assert refused.status_code == 422


def test_a_dry_run_changes_nothing(reached: Reached) -> None:
    body = {"circuits": [["a", "b"]], "dry_run": True}
    found = reached.ask("PUT", "/switches/east/circuits", body).json()
    assert found["added"] == ["1A-2B", "2A-1B"]
    assert reached.lab.lit() == []
    assert reached.lab.store.intents("east") == []


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("intent", {"cross_connects": ["1A-2B", "1A-3B"]}),
        ("intent", {"cross_connects": ["1A-99B"]}),
        ("intent", {"cross_connects": ["1-2"]}),
        ("intent", {"cross": []}),
        ("intent", {"cross_connects": ["1A-2B"], "priority": 101}),
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


def test_the_grafana_dashboard_names_metrics_that_there_are(reached: Reached) -> None:
    text = reached.http.get("/metrics").text
    known = {family.name for family in text_string_to_metric_families(text)}
    board = json.loads((ROOT / "examples/controller/grafana.json").read_text(encoding="utf-8"))
    asked = {
        name
        for panel in board["panels"]
        for target in panel["targets"]
        for name in re.findall(r"lightloom_\w+", target["expr"])
    }
    assert len(asked) > 5
    assert asked <= known


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Reached, str]]:
    reached = Reached(tmp_path)
    port = free_port()
    options = uvicorn.Config(
        reached.http.app,
        host="127.0.0.1",
        port=port,
        log_level="error",
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(options)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield reached, f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join(10)


def test_the_client_in_python(served: tuple[Reached, str]) -> None:
    reached, url = served
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


@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (390, "dark")])
def test_the_dashboard_is_live_and_asks_nobody_else(
    served: tuple[Reached, str], width: int, scheme: Any
) -> None:
    sync = pytest.importorskip("playwright.sync_api")
    import shutil

    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("no Chromium")
    reached, url = served
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
        assert page.locator("#transactions tr").count() == 1
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert not page.locator("form").is_visible()
        browser.close()
    assert errors == []
    assert all(address.startswith(url) for address in asked)
