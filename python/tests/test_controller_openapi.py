"""The HTTP interface compared with its own OpenAPI document: generated valid and invalid requests
(schemathesis), and each error that a route documents."""

import json
from types import SimpleNamespace
from typing import Any

import jsonschema
import pytest
import schemathesis
from controller_support import ROUTES, Reached, general
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)
from sqlalchemy.exc import OperationalError

from lightloom.controller import schema
from lightloom.controller.admission import LARGEST, Limiter
from lightloom.controller.api import app_of
from lightloom.controller.database import NO_ROLE
from lightloom.controller.hooks import HookError
from lightloom.switches.protocol import SwitchError

DOCUMENT: dict[str, Any] = app_of(SimpleNamespace(store=None, clock=None)).openapi()  # type: ignore[arg-type]
CHECKS: Any = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
    unsupported_method,
]
#: An event stream has no end; test_controller_tokens.py tests it.
ENDLESS = "/events"
OPERATIONS = [
    (method, path)
    for path, methods in DOCUMENT["paths"].items()
    for method in methods
    if path != ENDLESS
]
EXAMPLES = 20


def broken_ones() -> list[tuple[str, str]]:
    """Returns the operations whose requests can be invalid."""
    return [
        (method, path)
        for method, path in OPERATIONS
        if {"parameters", "requestBody"} & {*DOCUMENT["paths"][path][method]}
    ]


def fuzz(reached: Reached, method: str, path: str, mode: GenerationMode) -> set[int]:
    """Sends generated requests, and returns the status codes of the answers.

    Half of the valid requests for a switch, a lease or a transaction name an existing one.
    """
    described = schemathesis.openapi.from_asgi("/openapi.json", reached.http.app)
    operation = described[path][method.upper()]
    known = {"switch": "east", "number": 1, "job": "train"}
    later = {"when": 2e9, "ends": 2e9}
    headers = {"Authorization": f"Bearer {reached.tokens['admin']}"}
    statuses = set()

    @settings(max_examples=EXAMPLES, suppress_health_check=[*HealthCheck])
    @given(case=operation.as_strategy(generation_mode=mode, headers=headers), named=st.booleans())
    def send(case: Any, named: bool) -> None:
        if named and mode is GenerationMode.POSITIVE:
            for name in {*known} & {*(case.path_parameters or {})}:
                case.path_parameters[name] = known[name]
            for name in {*later} & {*(case.body if isinstance(case.body, dict) else {})}:
                case.body[name] = later[name]
        answer = case.call(headers=headers)
        statuses.add(answer.status_code)
        case.validate_response(answer, CHECKS, headers=headers)

    send()
    return statuses


@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_valid_requests_have_documented_answers(reached: Reached, method: str, path: str) -> None:
    reached.ask("PUT", "/switches/east/intent", {"cross_connects": ["5A-6B"]})
    reached.ask("POST", "/switches/east/leases", {"racks": ["a", "b"], "ends": 2e9})
    begin_job(reached)
    statuses = fuzz(reached, method, path, GenerationMode.POSITIVE)
    # No generated text is the name of a rack, and no generated matrix has the right number of rows.
    no_name = path.endswith(("/leases", "/demand")) or (method, path) == ("put", "/jobs/{job}")
    assert 200 in statuses or no_name, statuses


@pytest.mark.parametrize(("method", "path"), broken_ones())
def test_broken_requests_are_refused_as_documented(
    reached: Reached, method: str, path: str
) -> None:
    assert 422 in fuzz(reached, method, path, GenerationMode.NEGATIVE)
    assert reached.lab.lit() == []


#: A request that each route accepts.
GOOD = {(method, general(path)): (path, body) for method, path, body, _ in ROUTES}


def conforms(answer: Any, method: str, path: str) -> None:
    """Checks an answer against the document's entry for its status."""
    documented = DOCUMENT["paths"][path][method]["responses"]
    assert str(answer.status_code) in documented, (answer.status_code, answer.text[:300])
    (kind,) = documented[str(answer.status_code)]["content"]
    assert answer.headers["content-type"].startswith(kind)
    described = documented[str(answer.status_code)]["content"][kind]["schema"]
    jsonschema.validate(answer.json(), {**described, "components": DOCUMENT["components"]})


def refusals() -> list[tuple[str, str, int]]:
    """Returns every refusal that the document has for a route."""
    return [
        (method, path, int(status))
        for path, methods in DOCUMENT["paths"].items()
        for method, route in methods.items()
        for status in route["responses"]
        if int(status) >= 400
    ]


def begin_job(reached: Reached) -> None:
    """Starts a job, and a change that is deferred to its checkpoint."""
    reached.ask("PUT", "/jobs/train", {"racks": ["a"]})
    waiting = {"cross_connects": ["5A-7B"], "when": "at checkpoint"}
    reached.ask("PUT", "/switches/east/intent", waiting)


def busy(reached: Reached, path: str) -> None:
    """Lets another client hold the resources that a request needs."""
    begin_job(reached)
    if "/jobs" in path:
        reached.lab.store.change(schema.job, "x", "job", {"name": "train"}, owner="somebody")
        return
    if path.endswith("leases"):
        reached.ask("POST", "/switches/east/leases", {"racks": ["a", "b"], "ends": 2e9})
        return
    reached.ask("PUT", "/switches/east/intent", {"cross_connects": ["5A-6B"]})
    change = {"before": [], "removed": [(7, 8)], "added": [], "kept": []}
    reached.lab.store.plan("east", change, "somebody")
    reached.lab.controller._executor._hook = Locked()


class Locked:
    """A hook whose switch refuses changes."""

    def drain(self, switch: str, pairs: object) -> None:
        raise HookError("locked")

    def enter(self, switch: str, pairs: object) -> None:
        raise HookError("locked")


def unanswered(*_: object, **__: object) -> Any:
    """Fails like a database that is down."""
    raise OperationalError("SELECT", {}, Exception("connection refused"))


def provoked(reached: Reached, method: str, general: str, status: int) -> Any:
    """Returns the answer to a request that must be refused."""
    path, body = GOOD[method.upper(), general]
    token, headers, content = reached.tokens["admin"], {}, json.dumps(body).encode()
    if status == 400:
        content = b'{"racks": ['
    elif status == 401:
        token = "nobody.x"
    elif status == 403:
        needed = DOCUMENT["paths"][general][method]["x-scope"]
        token = reached.tokens["plan" if needed == "read" else "read"]
    elif status == 409:
        busy(reached, path)
        # The token has only the scope of the route, because an admin may end jobs and leases of
        # other clients.
        token = reached.tokens[DOCUMENT["paths"][general][method]["x-scope"]]
    elif status == 411:
        headers = {"Transfer-Encoding": "chunked"}
    elif status == 413:
        headers = {"Content-Length": str(LARGEST + 1)}
    elif status == 422:
        path = path.replace("/1", "/0").replace("east", "west").replace("train", "no job")
        path += "?limits=1" if path in ("/transactions", "/audit") else ""
    elif status == 429:
        reached.http.app.state.limiter = Limiter(0)  # type: ignore[attr-defined]
    elif status == 503 and method == "get":
        reached.lab.store.rows = unanswered  # type: ignore[method-assign]
    elif status == 503:
        reached.ask("PUT", "/switches/east/intent", {"cross_connects": []})
        reached.ask("PUT", "/switches/east/intent", {"cross_connects": ["5A-6B"]})
        reached.ask("POST", "/switches/east/leases", {"racks": ["c", "d"], "ends": 2e9})
        begin_job(reached)
        reached.lab.store.fence = NO_ROLE
    headers |= {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    return reached.http.request(method.upper(), path, content=content, headers=headers)


@pytest.mark.parametrize(("method", "path", "status"), refusals())
def test_each_documented_refusal_is_what_a_client_gets(
    reached: Reached, method: str, path: str, status: int
) -> None:
    answer = provoked(reached, method, path, status)
    assert answer.status_code == status, answer.text[:300]
    conforms(answer, method, path)


def test_a_switch_that_does_not_answer_is_no_fault_of_the_client(reached: Reached) -> None:
    def fail() -> Any:
        raise SwitchError("scpi://east: connection refused")

    reached.lab.switches["east"].read = fail  # type: ignore[method-assign]
    answer = reached.ask("PUT", "/switches/east/intent", {"cross_connects": ["1A-2B"]})
    assert answer.status_code == 503
    assert "connection refused" in answer.json()["detail"]
    conforms(answer, "put", "/switches/{switch}/intent")


#: Values that a JSON parser, a number type or a database might not handle, by their property.
ODD_VALUES = {
    "not a number": b"NaN",
    "infinite": b"1e999",
    "infinite below": b"-Infinity",
    "huge": b"1e308",
    "below 0": b"-1",
    "many digits": b"9" * 5_000,
    "half a surrogate pair": b'"\\ud800"',
    "a zero character": b'"a\\u0000"',
    "no UTF-8": b'"\xff"',
    "true": b"true",
    "a number as text": b'"2000000000"',
    "long": b'"' + b"x" * 1_000_000 + b'"',
    "null": b"null",
    "an object": b'{"\\ud800": 1}',
    "deep": b"[" * 900 + b"]" * 900,
}
#: Whole bodies.
ODD_BODIES = {
    "too deep": b"[" * 50_000,
    "a key of its own": b'{"\\ud800": 1}',
    "null": b"null",
    "nothing": b"",
    "cut": b'{"racks": ["a"',
}
#: Bodies that are valid except for one value.
BODIES = {
    ("put", "intent"): b'{"cross_connects": [%s]}',
    ("put", "circuits"): b'{"circuits": [["a", %s]]}',
    ("post", "demand"): b'{"matrix": [[0, %s, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]}',
    ("post", "leases"): b'{"racks": ["a", "b"], "ends": %s}',
}


@pytest.mark.parametrize(("method", "name"), BODIES)
def test_odd_bodies_are_refused_by_name(reached: Reached, method: str, name: str) -> None:
    path = f"/switches/{{switch}}/{name}"
    url, token = path.replace("{switch}", "east"), reached.tokens["admin"]
    odd = {key: BODIES[method, name] % value for key, value in ODD_VALUES.items()} | ODD_BODIES
    for problem, content in odd.items():
        for kind in ("application/json", "text/plain", "application/octet-stream"):
            headers = {"Authorization": f"Bearer {token}", "Content-Type": kind}
            answer = reached.http.request(method, url, content=content, headers=headers)
            assert answer.status_code in (400, 422), (problem, kind, answer.text[:300])
            conforms(answer, method, path)
            assert len(answer.text) < 5_000, (problem, kind)
    assert reached.lab.lit() == []
    assert reached.lab.store.rows(schema.lease) == []
    assert reached.lab.controller.collector.latest("east", racks_of(reached), 0.0) is None


@pytest.mark.parametrize(
    "body",
    [
        {"racks": ["a", "a"], "ends": 2e9},
        {"racks": ["a", "b"], "begins": 1, "ends": 2},
        {"racks": ["a", "b"], "begins": 1_900_000_001, "ends": 1_900_000_000},
        {"racks": ["a", "b", "c"], "ends": 2e9},
    ],
)
def test_leases_that_join_nothing_are_refused(reached: Reached, body: Any) -> None:
    answer = reached.ask("POST", "/switches/east/leases", body)
    assert answer.status_code == 422
    conforms(answer, "post", "/switches/{switch}/leases")
    assert reached.lab.store.rows(schema.lease) == []


def racks_of(reached: Reached) -> Any:
    return reached.lab.controller.switches["east"].racks


def test_a_record_that_was_changed_is_documented(reached: Reached) -> None:
    with reached.lab.store._engine.begin() as db:
        db.exec_driver_sql("update audit set who = 'nobody' where id = 2")
    answer = reached.ask("GET", "/audit")
    assert answer.json()["broken_link"] == 2
    conforms(answer, "get", "/audit")


@pytest.mark.parametrize("length", ["-1", "²", "9" * 5_000, "1e3", str(LARGEST + 1)])
def test_a_length_that_is_none_is_refused(reached: Reached, length: str) -> None:
    token = reached.tokens["admin"]
    headers = {"Authorization": f"Bearer {token}", "Content-Length": length.encode("latin-1")}
    answer = reached.http.put("/switches/east/intent", content=b"{}", headers=headers)
    assert answer.status_code == 413


def test_a_refusal_names_the_entry_and_the_limit(reached: Reached) -> None:
    rows = [[0] * 4, [0, 0, -5, 0], [0] * 4, [0] * 4]
    found = reached.ask("POST", "/switches/east/demand", {"matrix": rows}).json()
    assert (found["key"], found["value"]) == ("matrix[1][2]", "-5")
    assert "or equal to 0" in found["limit"]
    found = reached.ask("PUT", "/switches/east/intent", {"cross": []}).json()
    assert found["detail"] == "cross_connects = (missing): it is needed; send it"
    found = reached.ask("GET", "/transactions?swich=east").json()
    assert found["detail"] == "swich = east: no such key; leave it out"
