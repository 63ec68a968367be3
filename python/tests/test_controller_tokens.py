"""Tokens of the HTTP interface: every scope against every route, expiry, revocation, replays."""

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from cli_support import ROOT
from controller_support import ROUTES, Lab, Reached, Served, general

from lightloom.controller import schema
from lightloom.controller.tokens import SCOPES, add_token, client_of, revoke_token
from lightloom.errors import ConfigError

#: Paths that need no token.
OPEN = {"/healthz"}


def test_the_document_names_every_route_and_its_scope(reached: Reached) -> None:
    """Checks that the list of this test, the OpenAPI document and docs/controller.md agree."""
    listed = {(method, general(path)): scope for method, path, _, scope in ROUTES}
    paths = reached.http.get("/openapi.json").json()["paths"]
    known = {
        (method.upper(), path): route.get("x-scope")
        for path, methods in paths.items()
        for method, route in methods.items()
        if path not in OPEN
    }
    assert known == listed
    text = (ROOT / "docs/controller.md").read_text(encoding="utf-8")
    assert {scope for scope in SCOPES if f"| `{scope}` |" in text} == {*listed.values()}


def test_a_token_with_another_scope_is_refused(served: Served) -> None:
    """Tests every scope on every route: the answer is 403 unless the token has the scope of the
    route, or is an admin's."""
    for method, path, body, scope in ROUTES:
        for own in SCOPES:
            with served.stream(method, path, body, served.tokens[own]) as answer:
                may = own in (scope, "admin")
                assert (answer.status_code == 403) == (not may), (method, path, own)
                assert answer.status_code != 401


@pytest.mark.parametrize(
    ("path", "body"),
    [("intent", {"cross_connects": ["1A-2B"]}), ("circuits", {"circuits": [["a", "b"]]})],
)
def test_a_dry_run_needs_the_scope_plan_or_apply(
    reached: Reached, path: str, body: dict[str, Any]
) -> None:
    """With only the scope `plan`, a client can see the effect of a change, but cannot make it."""
    url = f"/switches/east/{path}"
    dry = {own: reached.ask("PUT", url, {**body, "dry_run": True}, own) for own in SCOPES}
    statuses = {own: answer.status_code for own, answer in dry.items()}
    assert statuses == {"read": 403, "reserve": 403, "plan": 200, "apply": 200, "admin": 200}
    assert "1A-2B" in dry["plan"].json()["added"]
    refused = reached.ask("PUT", url, body, "plan")
    assert (refused.status_code, refused.json()["detail"]) == (
        403,
        "the token lacks the scope apply",
    )
    assert reached.lab.lit() == []
    assert reached.lab.store.intents("east") == []


def invalid_tokens(reached: Reached) -> dict[str, str]:
    """Returns invalid headers by their error."""
    store, now = reached.lab.store, reached.lab.now
    expired = add_token(store, "expired", SCOPES, "test", now - 1)
    revoked = add_token(store, "revoked", SCOPES, "test")
    revoke_token(store, "revoked", "test", now)
    good = reached.tokens["admin"]
    return {
        "none": "",
        "empty": "Bearer ",
        "unknown": f"Bearer nobody.{good.partition('.')[2]}",
        "cut": f"Bearer {good[:-1]}",
        "name alone": "Bearer admin",
        "another's secret": f"Bearer read.{good.partition('.')[2]}",
        "its hash": f"Bearer admin.{store.rows(schema.token, name='admin')[0]['hash']}",
        "expired": f"Bearer {expired}",
        "revoked": f"Bearer {revoked}",
        "another scheme": f"Basic {good}",
        "no scheme": good,
    }


def test_without_a_valid_token_nothing_is_shown_or_read(reached: Reached) -> None:
    """Not even a body that is not JSON is parsed, because the token is checked first."""
    for problem, header in invalid_tokens(reached).items():
        headers = {"Authorization": header} if header else {}
        for method, path, body, _ in ROUTES:
            for content in (json.dumps(body), "{"):
                answer = reached.http.request(method, path, content=content, headers=headers)
                assert answer.status_code == 401, (problem, method, path)
                assert answer.headers["www-authenticate"] == "Bearer"
                assert answer.json().keys() == {"detail"}
    assert reached.lab.lit() == []
    assert reached.lab.store.rows(schema.lease) == []


def test_an_unknown_path_needs_a_token_too(reached: Reached) -> None:
    assert reached.http.get("/nothing").status_code == 401
    assert reached.ask("GET", "/nothing").status_code == 404


def test_only_the_event_stream_takes_a_token_from_its_address(served: Served) -> None:
    token = served.tokens["admin"]
    for method, path, body, _ in ROUTES:
        with served.stream(method, f"{path}?token={token}", body) as answer:
            assert (answer.status_code == 401) == (path != "/events"), (method, path)
    with served.stream("GET", "/events?token=admin%00.x") as answer:
        assert answer.status_code == 401


def test_tokens_end(reached: Reached) -> None:
    store = reached.lab.store
    reached.tokens["short"] = add_token(store, "short", ["read"], "test", reached.lab.now + 60)
    assert reached.ask("GET", "/state", scope="short").status_code == 200
    reached.lab.now += 61
    assert reached.ask("GET", "/state", scope="short").status_code == 401
    revoke_token(store, "read", "test", reached.lab.now)
    assert reached.ask("GET", "/state", scope="read").status_code == 401
    with pytest.raises(ConfigError, match="token revoke"):
        add_token(store, "plan", ["read"], "test", now=reached.lab.now)
    with pytest.raises(ConfigError, match="no such token"):
        revoke_token(store, "read", "test", reached.lab.now)
    stored = str(store.rows(schema.token))
    assert not any(text.rpartition(".")[2] in stored for text in reached.tokens.values())


def lines_until_closed(answer: httpx.Response, after: str, then: Callable[[], None]) -> list[str]:
    """Returns the lines of a stream; `then` is called at the first line that begins with
    `after`."""
    found = []
    for line in answer.iter_lines():
        found.append(line)
        if line.startswith(after) and then is not None:
            then()
            after = "never again"
    return found


@pytest.mark.parametrize("end", ["revoked", "expired"])
def test_an_event_stream_ends_with_its_token(served: Served, end: str) -> None:
    lab = served.lab
    token = add_token(lab.store, "watcher", ["read"], "test", lab.now + 1_000)

    def finish() -> None:
        if end == "revoked":
            revoke_token(lab.store, "watcher", "test", lab.now)
        else:
            lab.now += 1_000

    begun = time.monotonic()
    with served.stream("GET", "/events", token=token) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        lines = lines_until_closed(answer, "data:", finish)
    assert time.monotonic() - begun < 30
    data = next(line for line in lines if line.startswith("data:"))
    assert json.loads(data[5:])["switches"][0]["name"] == "east"


@pytest.mark.parametrize("name", ["team.alice", "a@b.example", "x" * 64])
def test_names_of_tokens_may_have_dots(tmp_path: Path, name: str) -> None:
    store = Lab(tmp_path).store
    text = add_token(store, name, ["read"], "test")
    found = client_of(store, text, 0.0)
    assert found is not None
    assert (found.name, found.scopes) == (name, {"read"})
    assert client_of(store, name, 0.0) is None


@pytest.mark.parametrize("name", ["controller", "policy"])
def test_names_of_the_controller_itself_are_refused(tmp_path: Path, name: str) -> None:
    """The controller uses these names for its own changes in the history and in the audit log."""
    with pytest.raises(ConfigError) as problem:
        add_token(Lab(tmp_path).store, name, ["read"], "test")
    assert (problem.value.key, problem.value.value) == ("name", name)


def test_only_who_has_the_secret_learns_that_a_token_has_ended(reached: Reached) -> None:
    headers = invalid_tokens(reached)
    said = {
        problem: reached.http.get("/state", headers={"Authorization": header}).json()["detail"]
        for problem, header in headers.items()
    }
    assert "expired" in said.pop("expired")
    assert "revoked" in said.pop("revoked")
    assert len({*said.values()}) == 1


@pytest.mark.parametrize("name", ["", "a b", "a\n", "é", "x" * 65, "a\0"])
def test_other_names_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match="letters, digits"):
        add_token(Lab(tmp_path).store, name, ["read"], "test")


INTENT = "/switches/east/intent"
CIRCUITS = "/switches/east/circuits"
LEASES = "/switches/east/leases"


def keyed(reached: Reached, method: str, path: str, body: Any, key: str = "k") -> Any:
    return reached.ask(method, path, body, **{"Idempotency-Key": key})


@pytest.mark.parametrize(
    ("path", "body"),
    [(INTENT, {"cross_connects": ["1A-2B"]}), (CIRCUITS, {"circuits": [["a", "b"]]})],
)
def test_a_request_of_a_key_is_carried_out_once(reached: Reached, path: str, body: Any) -> None:
    first = keyed(reached, "PUT", path, body)
    assert len(first.json()["transactions"]) == 1
    reached.ask("PUT", INTENT, {"cross_connects": []})
    again = keyed(reached, "PUT", path, body)
    assert (again.status_code, again.content) == (first.status_code, first.content)
    assert reached.lab.lit() == []


def test_a_lease_of_a_key_is_reserved_once(reached: Reached) -> None:
    """Without the key the second request is refused, because it conflicts with the lease of the
    first."""
    body = {"racks": ["a", "b"], "ends": reached.lab.now + 60}
    first = keyed(reached, "POST", LEASES, body)
    again = keyed(reached, "POST", LEASES, body)
    assert first.status_code == again.status_code == 201
    assert first.content == again.content
    assert len(reached.lab.store.rows(schema.lease)) == 1
    assert reached.ask("POST", LEASES, body).status_code == 409


def test_an_undo_of_a_key_is_carried_out_once(reached: Reached) -> None:
    reached.ask("PUT", INTENT, {"cross_connects": ["1A-2B"]})
    first = keyed(reached, "POST", "/transactions/1/undo", None)
    reached.ask("PUT", INTENT, {"cross_connects": ["1A-2B"]})
    again = keyed(reached, "POST", "/transactions/1/undo", None)
    assert first.content == again.content
    assert reached.lab.lit() == [(1, 2)]


def test_a_key_is_of_one_request_and_of_one_client(reached: Reached) -> None:
    reached.tokens["other"] = add_token(reached.lab.store, "bob", ["admin"], "test")
    body = {"cross_connects": ["1A-2B"]}
    assert keyed(reached, "PUT", INTENT, body).status_code == 200
    for method, path, other in (
        ("PUT", INTENT, {"cross_connects": ["1A-3B"]}),
        ("PUT", INTENT, {**body, "priority": 1}),
        ("PUT", CIRCUITS, {"circuits": []}),
        ("POST", "/transactions/1/undo", None),
    ):
        refused = keyed(reached, method, path, other)
        assert (refused.status_code, refused.json()["key"]) == (422, "Idempotency-Key")
    assert reached.lab.lit() == [(1, 2)]
    theirs = reached.ask("PUT", INTENT, {"cross_connects": []}, "other", **{"Idempotency-Key": "k"})
    assert theirs.json()["transactions"] == []


def test_a_refused_request_leaves_its_key_free(reached: Reached) -> None:
    body = {"racks": ["a", "b"], "ends": reached.lab.now + 60}
    reached.ask("POST", LEASES, body)
    assert keyed(reached, "POST", LEASES, body).status_code == 409
    reached.ask("DELETE", "/leases/1")
    assert keyed(reached, "POST", LEASES, body).status_code == 201


def test_replays_at_the_same_time_are_carried_out_once(served: Served) -> None:
    """Eight clients send one request at the same time, while the first is still being carried
    out."""
    switch = served.lab.switches["east"]
    read = switch.read

    def slow() -> Any:
        time.sleep(0.05)
        return read()

    switch.read = slow  # type: ignore[method-assign]
    bodies: list[bytes] = []

    def send() -> None:
        token, headers = served.tokens["admin"], {"Idempotency-Key": "k"}
        with served.stream("PUT", INTENT, {"cross_connects": ["1A-2B"]}, token, headers) as answer:
            assert answer.status_code == 200
            bodies.append(answer.read())

    threads = [threading.Thread(target=send) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(bodies) == 8
    assert len({*bodies}) == 1
    assert [t.state for t in served.lab.store.transactions()] == ["done"]
    wanted = [r for r in served.lab.store.audit() if r["what"] == "intent"]
    assert len(wanted) == 1


def test_a_name_whose_token_is_not_valid_any_more_gets_a_new_one(tmp_path: Path) -> None:
    """The client keeps its circuits with the new secret; a valid token is not replaced."""
    lab = Lab(tmp_path)
    first = add_token(lab.store, "ann", ["apply"], "test", expires=lab.now + 100)
    with pytest.raises(ConfigError, match="token revoke"):
        add_token(lab.store, "ann", ["read"], "test", now=lab.now)
    lab.now += 101
    second = add_token(lab.store, "ann", ["read"], "test", now=lab.now)
    assert client_of(lab.store, first, lab.now) is None
    found = client_of(lab.store, second, lab.now)
    assert found is not None
    assert (found.name, found.may("read"), found.may("apply")) == ("ann", True, False)
    revoke_token(lab.store, "ann", "test", lab.now)
    third = add_token(lab.store, "ann", ["apply"], "test", now=lab.now)
    assert client_of(lab.store, second, lab.now) is None
    assert client_of(lab.store, third, lab.now) is not None
    assert not any("hash" in json.loads(record["body"]) for record in lab.store.audit())
