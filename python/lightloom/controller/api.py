"""The HTTP interface of a controller: its routes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import asdict
from hashlib import sha256
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, FastAPI, Header, HTTPException, Path, Query, Request
from fastapi.responses import HTMLResponse, Response
from sqlalchemy.exc import SQLAlchemyError
from sse_starlette import EventSourceResponse

import lightloom
from lightloom.controller import answers, bodies, deferred, jobs, schema
from lightloom.controller.admission import (
    IN_ADDRESS,
    Follow,
    Who,
    add_admission,
    check_scope,
    needs,
)
from lightloom.controller.change import Change
from lightloom.controller.claims import Claim
from lightloom.controller.dark import dark_s
from lightloom.controller.database import DeposedError
from lightloom.controller.foresight import Foresight, foresee
from lightloom.controller.intents import Wanted
from lightloom.controller.leases import check_lease, release, reserve
from lightloom.controller.matrices import checked
from lightloom.controller.metrics import exposition
from lightloom.controller.overview import dark_of, deferred_table, mark_of, role_of, state_of
from lightloom.controller.page import page
from lightloom.controller.refusals import add_refusals
from lightloom.controller.replays import Replays
from lightloom.controller.service import Controller
from lightloom.controller.tokens import Client
from lightloom.errors import refusal
from lightloom.switches.ports import Pair, name_of, pair_of
from lightloom.units.dates import utc

KEEP_S = 15
"""Time between two signs of life in an event stream [s]."""
POLL_S = 0.2
VALID_S = 1.0
"""Longest time from the end of a token to the end of its event stream [s]."""

ROLE = "Lightloom-Role"
"""Header of every answer: `active` or `standby`."""

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
    app.state.replays = Replays(controller.store)
    app.include_router(routes)
    add_refusals(app)
    add_admission(app, controller.store, controller.clock)
    _add_role(app, controller)
    return app


def _add_role(app: FastAPI, controller: Controller) -> None:
    """Adds a header to every answer that states whether the active controller gave it."""

    async def tell(request: Request, follow: Follow) -> Response:
        answer = await follow(request)
        try:
            answer.headers[ROLE] = await asyncio.to_thread(role_of, controller)
        except SQLAlchemyError:
            # Without its store a controller does not act.
            answer.headers[ROLE] = "standby"
        return answer

    app.middleware("http")(tell)


def _controller(request: Request) -> Controller:
    found: Controller = request.app.state.controller
    return found


def _replays(request: Request) -> Replays:
    found: Replays = request.app.state.replays
    return found


Ours = Annotated[Controller, Depends(_controller)]
Once = Annotated[Replays, Depends(_replays)]
Key = Annotated[str | None, Header(alias="Idempotency-Key", min_length=1, max_length=128)]
Switch = Annotated[str, Path(pattern=bodies.SWITCH)]
JobName = Annotated[str, Path(pattern=bodies.JobName)]
Number = Annotated[int, Path(ge=1, le=2**31 - 1)]


@routes.get("/healthz")
def healthz(controller: Ours) -> answers.Health:
    """Whether the controller works, and the switches that do not answer."""
    now = controller.clock()
    unreachable = [one.name for one in controller.switches.values() if one.why_unreachable(now)]
    return answers.Health(status=_status(controller, unreachable), unreachable=unreachable)


def _status(
    controller: Controller, unreachable: list[str]
) -> Literal["ok", "degraded", "failing", "standby"]:
    try:
        controller.store.check_role(controller.store.fence)
    except DeposedError:
        return "standby"
    except SQLAlchemyError:
        return "failing"
    if controller.failure is not None:
        return "failing"
    return "degraded" if unreachable else "ok"


@routes.get("/", response_class=HTMLResponse, include_in_schema=False)
def dashboard(controller: Ours) -> str:
    """The dashboard."""
    return page(controller.config.name)


@routes.get("/metrics", include_in_schema=False)
def metrics(controller: Ours) -> Response:
    """Metrics for Prometheus."""
    return Response(exposition(controller), media_type="text/plain; version=0.0.4")


@routes.get("/state", response_model=answers.ControllerState, **needs("read"))
def state(controller: Ours) -> Any:
    """All switches, transactions, leases and alarms."""
    return state_of(controller)


_stream = needs("read")
_stream["dependencies"].append(IN_ADDRESS)
_stream["responses"][200] = {
    "description": "Server-sent events `state`, each with the whole state.",
    "content": {"text/event-stream": {"schema": {"type": "string"}}},
}


@routes.get("/events", response_class=EventSourceResponse, **_stream)
async def events(request: Request, controller: Ours) -> EventSourceResponse:
    """The state as server-sent events, at each change, until the token ends.

    It follows the store, in which a standby finds the changes of the active controller.
    """
    return EventSourceResponse(_events(controller, request.state.is_valid), ping=KEEP_S)


@routes.get("/switches/{switch}/diff", **needs("read", 422))
def diff(controller: Ours, switch: Switch) -> answers.TimedDifference:
    """The changes that the present requests need on a switch, without the policy's next plan."""
    return _shown(controller, switch)


@routes.put(
    "/switches/{switch}/intent",
    response_model=answers.Applied | answers.Preview,
    **needs("apply", 400, 409, 422, 503, preview="plan"),
)
def intent(
    controller: Ours,
    once: Once,
    switch: Switch,
    body: bodies.Intent,
    who: Who,
    idempotency_key: Key = None,
) -> Response:
    """Sets the cross-connects that the client wants, and changes the switch."""
    pairs = [_pair(text) for text in body.cross_connects]
    return _applied(controller, once, switch, pairs, body, who, idempotency_key)


@routes.put(
    "/switches/{switch}/circuits",
    response_model=answers.Applied | answers.Preview,
    **needs("apply", 400, 409, 422, 503, preview="plan"),
)
def circuits(
    controller: Ours,
    once: Once,
    switch: Switch,
    body: bodies.Circuits,
    who: Who,
    idempotency_key: Key = None,
) -> Response:
    """Sets the circuits between racks that the client wants, and changes the switch."""
    racks = controller.managed(switch).racks
    _check_circuits(body.circuits)
    ends = [(racks.number(a), racks.number(b)) for a, b in body.circuits]
    pairs = racks.pairs(ends)
    return _applied(controller, once, switch, pairs, body, who, idempotency_key)


@routes.post("/switches/{switch}/demand", **needs("plan", 400, 422, 503))
def demand(controller: Ours, switch: Switch, body: bodies.Demand, who: Who) -> answers.DemandTaken:
    """Stores the demand between the racks of a switch."""
    racks = controller.managed(switch).racks
    matrix = checked(body.matrix, racks, "matrix")
    # Demand is kept in memory, so the active controller would never get the demand of a standby.
    controller.store.check_role(controller.store.fence)
    total, text = sum(map(sum, matrix)), json.dumps(matrix)
    about = {"switch": switch, "bytes": total, "sha256": sha256(text.encode()).hexdigest()}
    controller.store.note(who.name, "demand", about)
    controller.collector.send(switch, matrix, controller.clock(), who.name)
    return answers.DemandTaken(switch=switch, bytes=total)


_lease = needs("reserve", 400, 409, 422, 503, preview="plan")
_lease["responses"][200] = {"model": answers.Preview, "description": "The change of a dry run."}


@routes.post(
    "/switches/{switch}/leases",
    status_code=201,
    response_model=answers.LeaseAnswer,
    **_lease,
)
def lease(
    controller: Ours,
    once: Once,
    switch: Switch,
    body: bodies.Reservation,
    who: Who,
    idempotency_key: Key = None,
) -> Response:
    """Reserves a circuit between two racks."""
    one = controller.managed(switch)
    for name in body.racks:
        one.racks.number(name)
    asked = f"lease {switch} {body.model_dump_json()}"

    def begins(is_new: bool) -> float:
        now = controller.clock()
        if is_new and body.ends <= now:
            limit = f"it is over: the time is {utc(now)}"
            raise refusal("ends", utc(body.ends), limit, "choose a later time")
        return now if body.begins is None else body.begins

    def preview(_: Claim | None) -> answers.Preview:
        times = (begins(True), body.ends)
        check_lease(controller.store, switch, body.racks, body.priority, *times)
        wanted = controller.requests.preview_lease(one, body.racks, who.name, body.priority)
        return _preview(controller, switch, wanted)

    if body.dry_run:
        return once.answer(who.name, None, asked, preview)
    check_scope(who, "reserve")

    def act(claim: Claim | None) -> answers.LeaseAnswer:
        at = begins(claim is None or not claim.has_effect)
        about = (body.racks, who.name, body.priority, at, body.ends)
        made = reserve(controller.store, switch, *about, claim)
        return answers.LeaseAnswer.model_validate(vars(made))

    return once.answer(who.name, idempotency_key, asked, act, 201)


@routes.delete("/leases/{number}", **needs("reserve", 422, 503))
def released(controller: Ours, number: Number, who: Who) -> answers.Released:
    """Ends a lease of the client."""
    rows = controller.store.rows(schema.lease, id=number)
    if rows and rows[0]["owner"] != who.name and not who.may("admin"):
        raise HTTPException(403, _of_another("lease", number, rows[0]["owner"]))
    release(controller.store, number, who.name, controller.clock())
    return answers.Released(released=number)


@routes.delete("/deferred/{number}", **needs("apply", 422, 503))
def withdrawn(controller: Ours, number: Number, who: Who) -> answers.Withdrawn:
    """Withdraws a change of the client that waits for a time or a checkpoint."""
    held = deferred.found(controller.store, number)
    if held.who != who.name and not who.may("admin"):
        raise HTTPException(403, _of_another("change", number, held.who))
    deferred.end(controller.store, number, who.name, "withdrawn", controller.clock())
    return answers.Withdrawn(withdrawn=number)


@routes.put("/jobs/{job}", **needs("reserve", 400, 409, 422, 503))
def job(controller: Ours, job: JobName, body: bodies.Job, who: Who) -> answers.JobAnswer:
    """Announces a job on some racks, or changes it."""
    controller.check_racks(body.racks)
    about = (body.racks, body.accelerators, controller.clock(), body.until)
    made = jobs.announce(controller.store, job, who.name, *about)
    return answers.JobAnswer.model_validate(vars(made))


@routes.put("/jobs/{job}/boundary", **needs("reserve", 400, 409, 422, 503))
def boundary(controller: Ours, job: JobName, body: bodies.Boundary, who: Who) -> answers.JobAnswer:
    """Announces the time in which a job of the client is stopped, as at a checkpoint; with scope
    `admin`, any job."""
    now = controller.clock()
    if body.ends <= now:
        limit = f"it is over: the time is {utc(now)}"
        raise refusal("ends", utc(body.ends), limit, "choose a later time")
    begins = now if body.begins is None else body.begins
    times, any_owner = (begins, body.ends, now), who.may("admin")
    made = jobs.set_boundary(controller.store, job, who.name, *times, any_owner=any_owner)
    return answers.JobAnswer.model_validate(vars(made))


@routes.delete("/jobs/{job}", **needs("reserve", 409, 422, 503))
def ended_job(controller: Ours, job: JobName, who: Who) -> answers.EndedJob:
    """Ends a job of the client, or with scope `admin` any job, so that no change waits for it."""
    now, any_owner = controller.clock(), who.may("admin")
    jobs.end(controller.store, job, who.name, now, any_owner=any_owner)
    return answers.EndedJob(ended=job)


@routes.get("/transactions", response_model=list[answers.TransactionAnswer], **needs("read", 422))
def transactions(controller: Ours, asked: Annotated[bodies.History, Query()]) -> Any:
    """The last transactions, newest first."""
    found = controller.store.transactions(asked.switch, limit=asked.limit)
    if not found and asked.switch is not None:
        controller.managed(asked.switch)
    return [vars(one) for one in found]


@routes.post(
    "/transactions/{number}/undo",
    response_model=answers.Undone,
    **needs("apply", 409, 422, 503),
)
def undo(
    controller: Ours, once: Once, number: Number, who: Who, idempotency_key: Key = None
) -> Response:
    """Restores the cross-connects that a switch had before a transaction."""

    def act(claim: Claim | None) -> answers.Undone:
        made = controller.undo(number, who.name, claim)
        return answers.Undone.model_validate([vars(one) for one in made])

    return once.answer(who.name, idempotency_key, f"undo {number}", act)


@routes.get("/audit", response_model=answers.Audit, **needs("admin", 422))
def audit(controller: Ours, asked: Annotated[bodies.Records, Query()]) -> Any:
    """Audit records, and the first record whose hash does not match the record before it: among the
    listed ones, and among those that the check of the whole log has reached."""
    store = controller.store
    records, check = store.audit(asked.after), store.check_on()
    found = [one for one in (check.broken, store.broken_among(records)) if one is not None]
    broken = min(found, default=None)
    return {"records": records, "broken_link": broken, "checked_at": check.whole_at}


def _of_another(kind: str, number: int, owner: str) -> str:
    limit = f"it is of {owner}"
    return str(refusal(kind, number, limit, f"ask {owner}, or a client with the scope admin"))


def _check_circuits(circuits: Sequence[tuple[str, str]]) -> None:
    """Refuses a circuit from a rack to itself, and two circuits of one rack."""
    seen: set[str] = set()
    for a, b in circuits:
        if a == b:
            raise refusal("circuits", f"{a}:{b}", "a circuit joins two racks", "name another one")
        for rack in (a, b):
            if rack in seen:
                raise refusal("circuits", rack, "a rack is in one circuit", "name each rack once")
            seen.add(rack)


def _pair(text: str) -> Pair:
    pair = pair_of(text)
    if pair is None:
        raise refusal("cross_connects", text, "not a cross-connect", "write 1A-29B")
    return pair


def _shown(controller: Controller, switch: str) -> answers.TimedDifference:
    change = controller.difference(switch)
    return answers.TimedDifference(**_priced(controller, switch, change))


def _priced(controller: Controller, switch: str, change: Change) -> dict[str, Any]:
    one = controller.managed(switch)
    seen = {"role": role_of(controller), "read_at": one.read_at, "trouble": one.trouble}
    return {**_named(controller, switch, change), **controller.cost(switch, change).table(), **seen}


def _named(controller: Controller, switch: str, change: Change) -> dict[str, Any]:
    lists = ("removed", "added", "kept", "unowned")
    names = {key: [name_of(pair) for pair in getattr(change, key)] for key in lists}
    conflicts = controller.requests.told(controller.managed(switch), change.conflicts)
    return {"switch": switch, **names, "conflicts": conflicts}


def _applied(
    controller: Controller,
    once: Replays,
    switch: str,
    pairs: list[Pair],
    body: bodies.Intent | bodies.Circuits,
    who: Client,
    key: str | None,
) -> Response:
    """Sets an operator's cross-connects and changes the switch, or shows this change."""
    asked = f"{switch} {body.model_dump_json()}"
    if body.dry_run:
        one = controller.managed(switch)
        wanted = controller.requests.preview(one, pairs, who.name, body.priority)
        return once.answer(who.name, None, asked, lambda _: _preview(controller, switch, wanted))
    check_scope(who, "apply")

    def act(claim: Claim | None) -> answers.Applied:
        if body.when != "now":
            at = None if body.when == deferred.CHECKPOINT else float(body.when)
            later = controller.want_later(switch, pairs, who.name, body.priority, at, claim)
            diff = _shown(controller, switch)
            waits = answers.DeferredAnswer.model_validate(deferred_table(controller, later))
            return answers.Applied(transactions=[], diff=diff, deferred=waits)
        made = controller.apply(switch, pairs, who.name, body.priority, claim)
        found = [answers.TransactionAnswer.model_validate(vars(one)) for one in made]
        dark = [name_of(pair) for pair in dark_of(controller.managed(switch), pairs)]
        return answers.Applied(transactions=found, diff=_shown(controller, switch), dark=dark)

    return once.answer(who.name, key, asked, act)


def _preview(controller: Controller, switch: str, wanted: list[Wanted]) -> answers.Preview:
    """The changes that requests need; nothing is written."""
    one = controller.managed(switch)
    change = controller.difference(switch, wanted)
    seen = foresee(controller.config, one, change, dark_s(controller.store, one))
    return answers.Preview(
        **_priced(controller, switch, change),
        forecast=_forecast(seen) if isinstance(seen, Foresight) else None,
        no_forecast=None if isinstance(seen, Foresight) else seen,
    )


def _forecast(seen: Foresight) -> answers.Forecast:
    return answers.Forecast.model_validate(asdict(seen))


async def _events(
    controller: Controller, is_valid: Callable[[], bool]
) -> AsyncIterator[dict[str, str]]:
    """The state at each change while the token is valid."""
    # A client that loses the stream, for example while the database does not answer, reconnects.
    with suppress(SQLAlchemyError):
        version, mark, waited = -1, None, VALID_S
        while True:
            if waited >= VALID_S:
                waited = 0.0
                if not await asyncio.to_thread(is_valid):
                    return
                seen = await asyncio.to_thread(mark_of, controller)
                mark, version = seen, version if seen == mark else -1
            if controller.version != version:
                version = controller.version
                state = await asyncio.to_thread(state_of, controller)
                yield {"event": "state", "data": json.dumps(state, default=str)}
            await asyncio.sleep(POLL_S)
            waited += POLL_S
