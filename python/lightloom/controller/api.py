"""The HTTP interface of a controller."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import AsyncIterator, Callable
from typing import Annotated, Any

from fastapi import (
    APIRouter,
    Depends,
    FastAPI,
    Header,
    HTTPException,
    Path,
    Query,
    Request,
    Response,
)
from fastapi.responses import HTMLResponse, JSONResponse
from pydantic import BaseModel, ConfigDict, Field
from sse_starlette import EventSourceResponse

import lightloom
from lightloom.controller import schema
from lightloom.controller.demand import checked
from lightloom.controller.leases import release, reserve
from lightloom.controller.metrics import exposition
from lightloom.controller.page import page
from lightloom.controller.service import Controller
from lightloom.controller.store import DeposedError
from lightloom.controller.tokens import Client, client_of
from lightloom.errors import ConfigError
from lightloom.switches.ports import Pair, name_of, pair_of

LARGEST = 32 << 20
"""No request body is larger [B]."""
KEEP_S = 15.0
"""An event stream says so often that it is alive."""


class Body(BaseModel):
    """A request."""

    model_config = ConfigDict(extra="forbid")


class Intent(Body):
    """Cross-connects that an operator wants; all others of this operator are given up."""

    cross_connects: list[str] = Field(max_length=2048)
    priority: int = Field(0, ge=0, le=100)
    dry_run: bool = False


class Circuits(Body):
    """The same by racks: each circuit leads both ways."""

    circuits: list[tuple[str, str]] = Field(max_length=1024)
    priority: int = Field(0, ge=0, le=100)
    dry_run: bool = False


class Reservation(Body):
    """Two racks to be joined from one time to another [s since 1970]."""

    racks: tuple[str, str]
    begins: float | None = None
    ends: float
    priority: int = Field(0, ge=0, le=100)


class Demand(Body):
    """Racks × racks [bytes]."""

    matrix: list[list[float]] = Field(max_length=1024)


class Limiter:
    """At most so many requests of a client in a second."""

    def __init__(self, most: int = 100) -> None:
        self._most = most
        self._counts: dict[tuple[str, int], int] = {}

    def check(self, name: str, now: float) -> None:
        """Refuses a client that sends too much."""
        key = (name, int(now))
        if len(self._counts) > 10_000:
            self._counts.clear()
        self._counts[key] = self._counts.get(key, 0) + 1
        if self._counts[key] > self._most:
            raise HTTPException(429, "too many requests; wait a second")


def _controller(request: Request) -> Controller:
    found: Controller = request.app.state.controller
    return found


Ours = Annotated[Controller, Depends(_controller)]


def _client(
    request: Request,
    controller: Ours,
    authorization: Annotated[str | None, Header()] = None,
    token: str | None = None,
) -> Client:
    # An event stream of a browser cannot send a header: its address has the token.
    text = (authorization or "").removeprefix("Bearer ").strip() or token or ""
    found = client_of(controller.store, text, controller.clock()) if text else None
    if found is None:
        challenge = {"WWW-Authenticate": "Bearer"}
        raise HTTPException(401, "no valid token: Authorization: Bearer TOKEN", challenge)
    request.app.state.limiter.check(found.name, time.time())
    return found


def _allowed(scope: str) -> Callable[..., Client]:
    def check(found: Annotated[Client, Depends(_client)]) -> Client:
        if not found.may(scope):
            raise HTTPException(403, f"the token lacks the scope {scope}")
        return found

    return check


Reader = Annotated[Client, Depends(_allowed("read"))]
Planner = Annotated[Client, Depends(_allowed("plan"))]
Tenant = Annotated[Client, Depends(_allowed("reserve"))]
Operator = Annotated[Client, Depends(_allowed("apply"))]
Admin = Annotated[Client, Depends(_allowed("admin"))]
Key = Annotated[str | None, Header(alias="Idempotency-Key", max_length=128)]

Number = Annotated[int, Path(ge=1, le=2**31 - 1)]
Limit = Annotated[int, Query(ge=1, le=1000)]

routes = APIRouter()


def app_of(controller: Controller) -> FastAPI:
    """The interface of a controller."""
    app = FastAPI(
        title="Lightloom controller",
        version=lightloom.__version__,
        docs_url=None,
        redoc_url=None,
    )
    app.state.controller = controller
    app.state.limiter = Limiter()
    app.include_router(routes)
    app.add_exception_handler(ConfigError, _refused)
    app.add_exception_handler(DeposedError, _deposed)
    app.middleware("http")(_bounded)
    return app


def _refused(request: Request, problem: Exception) -> JSONResponse:
    assert isinstance(problem, ConfigError)
    body = {"detail": str(problem), "key": problem.key, "value": problem.value}
    body |= {"limit": problem.limit, "remedy": problem.remedy}
    return JSONResponse(body, 409 if _is_conflict(problem) else 422)


def _deposed(request: Request, problem: Exception) -> JSONResponse:
    return JSONResponse({"detail": str(problem)}, 503)


async def _bounded(request: Request, follow: Any) -> Any:
    if "transfer-encoding" in request.headers:
        return JSONResponse({"detail": "send a Content-Length, not chunks"}, 411)
    length = request.headers.get("content-length", "0")
    if not length.isdigit() or int(length) > LARGEST:
        return JSONResponse({"detail": f"a body has at most {LARGEST} bytes"}, 413)
    return await follow(request)


@routes.get("/healthz")
def healthz(controller: Ours) -> dict[str, Any]:
    """Whether the controller works, and which switches do not answer."""
    unreachable = [one.name for one in controller.switches.values() if one.trouble]
    return {"status": "degraded" if unreachable else "ok", "unreachable": unreachable}


@routes.get("/", response_class=HTMLResponse, include_in_schema=False)
def dashboard(controller: Ours) -> str:
    """The dashboard."""
    return page(controller.config.name)


@routes.get("/metrics", include_in_schema=False)
def metrics(controller: Ours) -> Response:
    """Metrics for Prometheus."""
    return Response(exposition(controller), media_type="text/plain; version=0.0.4")


@routes.get("/state")
def state(controller: Ours, who: Reader) -> dict[str, Any]:
    """All switches, transactions, leases and alarms."""
    return controller.state()


@routes.get("/events")
async def events(controller: Ours, who: Reader) -> EventSourceResponse:
    """The state as server-sent events, whenever it changes."""
    return EventSourceResponse(_events(controller), ping=int(KEEP_S))


@routes.get("/switches/{switch}/diff")
def diff(controller: Ours, switch: str, who: Reader) -> dict[str, Any]:
    """What a reconciliation of a switch would change."""
    return _shown(controller, switch)


@routes.put("/switches/{switch}/intent")
def intent(
    controller: Ours,
    switch: str,
    body: Intent,
    who: Operator,
    idempotency_key: Key = None,
) -> Any:
    """Sets the cross-connects that the client wants, and changes the switch."""
    pairs = [_pair(text) for text in body.cross_connects]
    return _applied(controller, switch, pairs, body, who, idempotency_key)


@routes.put("/switches/{switch}/circuits")
def circuits(
    controller: Ours,
    switch: str,
    body: Circuits,
    who: Operator,
    idempotency_key: Key = None,
) -> Any:
    """Sets the circuits between racks that the client wants, and changes the switch."""
    racks = controller.managed(switch).racks
    ends = [(racks.number(a), racks.number(b)) for a, b in body.circuits]
    return _applied(controller, switch, racks.pairs(ends), body, who, idempotency_key)


@routes.post("/switches/{switch}/demand")
def demand(controller: Ours, switch: str, body: Demand, who: Planner) -> dict[str, Any]:
    """Takes the demand between the racks of a switch."""
    racks = controller.managed(switch).racks
    matrix = checked(body.matrix, racks, "matrix")
    controller.collector.send(switch, matrix, controller.clock(), who.name)
    return {"switch": switch, "bytes": sum(map(sum, matrix))}


@routes.post("/switches/{switch}/leases", status_code=201)
def lease(controller: Ours, switch: str, body: Reservation, who: Tenant) -> dict[str, Any]:
    """Reserves a circuit between two racks."""
    racks = controller.managed(switch).racks
    for name in body.racks:
        racks.number(name)
    begins = controller.clock() if body.begins is None else body.begins
    made = reserve(controller.store, switch, body.racks, who.name, body.priority, begins, body.ends)
    return vars(made)


@routes.delete("/leases/{number}")
def released(controller: Ours, number: Number, who: Tenant) -> dict[str, Any]:
    """Ends a lease of the client."""
    rows = controller.store.rows(schema.lease, id=number)
    if rows and rows[0]["owner"] != who.name and not who.may("admin"):
        raise HTTPException(403, f"lease {number} is of {rows[0]['owner']}")
    release(controller.store, number, who.name, controller.clock())
    return {"released": number}


@routes.get("/transactions")
def transactions(
    controller: Ours,
    who: Reader,
    switch: str | None = None,
    limit: Limit = 50,
) -> list[Any]:
    """The last transactions, newest first."""
    return [vars(t) for t in controller.store.transactions(switch, limit=limit)]


@routes.post("/transactions/{number}/undo")
def undo(controller: Ours, number: Number, who: Operator) -> list[Any]:
    """Makes a switch as it was before a transaction."""
    return [vars(made) for made in controller.undo(number, who.name)]


@routes.get("/audit")
def audit(
    controller: Ours, who: Admin, after: Annotated[int, Query(ge=0, le=2**31 - 1)] = 0
) -> dict[str, Any]:
    """Audit records, and the first that does not fit the one before it."""
    records = controller.store.audit(after)
    return {"records": records, "broken_link": controller.store.broken_link()}


def _is_conflict(problem: ConfigError) -> bool:
    return any(word in (problem.limit or "") for word in ("holds it", "is not over"))


def _pair(text: str) -> Pair:
    pair = pair_of(text)
    if pair is None:
        raise HTTPException(422, f"cross_connects = {text}: not a cross-connect; write 1A-29B")
    return pair


def _shown(controller: Controller, switch: str) -> dict[str, Any]:
    change = controller.difference(switch)
    names = {key: [name_of(p) for p in getattr(change, key)] for key in _LISTS}
    settle = controller.managed(switch).description
    dark = None if settle is None or settle.settle_ps is None else settle.settle_ps / 1e12
    pairs = len(change.removed) + len(change.added)
    return {
        "switch": switch,
        **names,
        "conflicts": [str(conflict) for conflict in change.conflicts],
        "dark_s": dark if not change.is_empty else 0.0,
        "dark_pair_s": None if dark is None else dark * pairs,
    }


_LISTS = ("removed", "added", "kept", "unowned")


def _applied(
    controller: Controller,
    switch: str,
    pairs: list[Pair],
    body: Intent | Circuits,
    who: Client,
    key: str | None,
) -> Any:
    """Wants cross-connects and changes the switch; the same request again has the same answer."""
    asked = hashlib.sha256(f"{switch} {body.model_dump_json()}".encode()).hexdigest()
    if key is not None:
        rows = controller.store.rows(schema.answer, key=key, who=who.name)
        if rows and rows[0]["request"] != asked:
            raise HTTPException(422, "this idempotency key was used for another request")
        if rows:
            return JSONResponse(json.loads(rows[0]["body"]), rows[0]["status"])
    if body.dry_run:
        return _preview(controller, switch, pairs, body.priority, who.name)
    controller.want(switch, pairs, who.name, body.priority)
    made = controller.reconcile(switch, who.name)
    answer = {"transactions": [vars(one) for one in made], "diff": _shown(controller, switch)}
    if key is not None:
        values = {"key": key, "who": who.name, "request": asked, "status": 200}
        values |= {"body": json.dumps(answer), "at": controller.clock()}
        controller.store.add(schema.answer, who.name, "answered", **values)
    return answer


def _preview(
    controller: Controller, switch: str, pairs: list[Pair], priority: int, who: str
) -> dict[str, Any]:
    """What the request would change; nothing is written."""
    from lightloom.controller.change import change_to
    from lightloom.controller.service import OPERATOR, PRIORITY
    from lightloom.controller.store import Wanted

    one = controller.managed(switch)
    owner = f"{OPERATOR}:{who}"
    others = [wanted for wanted in controller.wanted(switch) if wanted.owner != owner]
    rank = PRIORITY[OPERATOR] + priority
    mine = [Wanted(pair, owner, rank, controller.clock()) for pair in pairs]
    wanted = sorted([*others, *mine], key=lambda w: (-w.priority, w.since, w.pair))
    change = change_to(one.lit, wanted, controller.owned(switch))
    names = {key: [name_of(p) for p in getattr(change, key)] for key in _LISTS}
    return {
        "dry_run": True,
        "switch": switch,
        **names,
        "conflicts": [str(conflict) for conflict in change.conflicts],
    }


async def _events(controller: Controller) -> AsyncIterator[dict[str, str]]:
    """The state, whenever it has changed."""
    shown = -1
    while True:
        if controller.version != shown:
            shown = controller.version
            state = await asyncio.to_thread(controller.state)
            yield {"event": "state", "data": json.dumps(state, default=str)}
        await asyncio.sleep(0.2)
