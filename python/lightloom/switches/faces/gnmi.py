"""The gNMI face: Capabilities, Get, Set and Subscribe over both models.

One Set is one change: deletions, replacements and updates are collected, validated as a
whole, and carried out in the order of the OCP model. A fault that cuts a connection ends
the call with UNAVAILABLE; the HTTP/2 connection below it stays.
"""

from __future__ import annotations

import asyncio
import json
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Sequence
from pathlib import Path as File
from typing import Any, NoReturn

import grpc
import grpc.aio
from pygnmi.spec.v080 import gnmi_pb2, gnmi_pb2_grpc

from lightloom.errors import refusal
from lightloom.switches.access import Credentials
from lightloom.switches.changes import BrokenError, Conflict, RefusedError
from lightloom.switches.config import Face
from lightloom.switches.faces import _gnmi_db, _gnmi_ocp
from lightloom.switches.faces._gnmi_edits import Edits, MalformedError, Path
from lightloom.switches.faces._gnmi_paths import (
    ANY,
    Match,
    matches,
    pruned,
    steps_of,
)
from lightloom.switches.faces._gnmi_watch import Turns, Watched, watched_of
from lightloom.switches.faces._streams import IDLE_S
from lightloom.switches.host import AwayError, Client, CutError, Host, SilentError, silence
from lightloom.switches.machine import Machine
from lightloom.switches.states import Status

LARGEST = 64 << 20
"""The largest answer [bytes]."""
LARGEST_REQUEST = 4 << 20
"""The largest request [bytes]: 1,024 cross-connects need 200 kB."""
AT_ONCE = 16
"""Number of paths of a Get that are read before other clients have their turn."""
SUBSCRIPTIONS = 1024
"""The most paths of one subscription: one for each port on a side of the largest switch."""
KEEPALIVE_S = 200.0
"""A connection with a call whose client does not answer for this long is closed [s]."""
_SONIC = "sonic-db"


async def listen(
    host: Host, credentials: Credentials, address: str, face: Face
) -> tuple[grpc.aio.Server, int]:
    """Serves gNMI; returns the server and its port.

    Raises:
        OSError: if the port is in use.
    """
    options = [
        ("grpc.max_receive_message_length", LARGEST_REQUEST),
        ("grpc.max_send_message_length", LARGEST),
        ("grpc.so_reuseport", 0),
        ("grpc.max_connection_idle_ms", round(IDLE_S * 1e3)),
        ("grpc.keepalive_time_ms", round(KEEPALIVE_S * 1e3)),
    ]
    server = grpc.aio.server(options=options)
    gnmi_pb2_grpc.add_gNMIServicer_to_server(Service(host, credentials, face), server)
    where = f"[{address}]:{face.port}" if ":" in address else f"{address}:{face.port}"
    try:
        if "tls_key" in face.options:
            secret = grpc.ssl_server_credentials([_key_and_certificate(face)])
            port = server.add_secure_port(where, secret)
        else:
            port = server.add_insecure_port(where)
    except RuntimeError:
        raise OSError(f"cannot listen on {where}") from None
    await server.start()
    return server, port


def _key_and_certificate(face: Face) -> tuple[bytes, bytes]:
    key, certificate = face.options["tls_key"], face.options["tls_certificate"]
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, "")
        return File(key).read_bytes(), File(certificate).read_bytes()
    except (OSError, ValueError) as problem:  # ssl.SSLError is an OSError
        limit = f"is no key of the certificate {certificate}, or one of them cannot be read"
        reason = problem.strerror if isinstance(problem, OSError) else None
        text = f"{limit} ({str(reason).lower()})" if reason else limit
        raise refusal("faces.gnmi.tls_key", key, text, "name two PEM files") from None


class Service(gnmi_pb2_grpc.gNMIServicer):  # type: ignore[misc]
    """The calls."""

    def __init__(self, host: Host, credentials: Credentials, face: Face) -> None:
        self._host, self._credentials = host, credentials
        accepts = face.options["invalid"] == "accept"
        self._conflict = Conflict.INVALID if accepts else Conflict.REFUSE
        self._port_state = face.options["port_state"]
        self._turns = Turns()

    async def Capabilities(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Returns the supported models and encodings."""
        await self._check(context)
        models = [
            gnmi_pb2.ModelData(name=name, organization=owner, version=version)
            for name, owner, version in (*_gnmi_ocp.MODELS, ("sonic-db", "SONiC", "0.1.0"))
        ]
        encodings = [gnmi_pb2.JSON_IETF, gnmi_pb2.JSON]
        return gnmi_pb2.CapabilityResponse(
            supported_models=models, supported_encodings=encodings, gNMI_version="0.8.0"
        )

    async def Get(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Values of paths."""
        await self._check(context)
        await self._check_encoding(request.encoding, context)
        found: list[Any] = []
        size = 0
        for path in request.path or [gnmi_pb2.Path()]:
            if found and len(found) % AT_ONCE == 0:
                await asyncio.sleep(0)
            try:
                values = self._matches(request.prefix, path, request.type)
            except MalformedError as problem:
                await _abort(context, grpc.StatusCode.NOT_FOUND, str(problem))
            found.append(_notification(request.prefix, path, values, request.encoding))
            size += found[-1].ByteSize()
            if size > LARGEST:
                text = f"the answer has more than {LARGEST} bytes; send several requests"
                await _abort(context, grpc.StatusCode.RESOURCE_EXHAUSTED, text)
        return gnmi_pb2.GetResponse(notification=found)

    async def Set(self, request: Any, context: Any) -> Any:  # noqa: N802
        """One change."""
        await self._check(context)
        try:
            await self._set(request)
        except MalformedError as problem:
            await _abort(context, grpc.StatusCode.INVALID_ARGUMENT, str(problem))
        except RefusedError as problem:
            await _abort(context, grpc.StatusCode.FAILED_PRECONDITION, str(problem))
        except BrokenError as problem:
            await _abort(context, grpc.StatusCode.INTERNAL, str(problem))
        except (CutError, AwayError) as problem:
            await _abort(context, grpc.StatusCode.UNAVAILABLE, str(problem) or "connection cut")
        except SilentError:
            await silence()
        kinds = (
            ("delete", request.delete),
            ("replace", request.replace),
            ("update", request.update),
        )
        results = [
            gnmi_pb2.UpdateResult(path=item if kind == "delete" else item.path, op=kind.upper())
            for kind, items in kinds
            for item in items
        ]
        return gnmi_pb2.SetResponse(
            prefix=request.prefix, response=results, timestamp=time.time_ns()
        )

    async def Subscribe(  # noqa: N802
        self, requests: AsyncIterator[Any], context: Any
    ) -> AsyncIterator[Any]:
        """Sends values once, when polled, at intervals or on change."""
        await self._check(context)
        first = await anext(aiter(requests), None)
        if first is None or not first.HasField("subscribe"):
            await _abort(context, grpc.StatusCode.INVALID_ARGUMENT, "a subscription comes first")
        wanted = first.subscribe
        await self._check_encoding(wanted.encoding, context)
        if len(wanted.subscription) > SUBSCRIPTIONS:
            limit = f"at most {SUBSCRIPTIONS} paths in one subscription"
            await _abort(context, grpc.StatusCode.INVALID_ARGUMENT, limit)
        if any(one.heartbeat_interval for one in wanted.subscription):
            await _abort(context, grpc.StatusCode.UNIMPLEMENTED, "there is no heartbeat_interval")
        ended = asyncio.Event()
        client = Client(ended.set)
        self._host.enter(client)
        try:
            async for message in self._stream(wanted, requests, ended, context):
                yield message
        finally:
            self._host.leave(client)

    async def _stream(
        self, wanted: Any, requests: AsyncIterator[Any], ended: asyncio.Event, context: Any
    ) -> AsyncIterator[Any]:
        """Yields the messages of a subscription; a reboot sets `ended`."""
        watched = [watched_of(one, time.monotonic()) for one in wanted.subscription]
        async for message in self._news(wanted, watched, context, whole=True):
            if not wanted.updates_only:
                yield message
        yield gnmi_pb2.SubscribeResponse(sync_response=True)
        if wanted.mode == gnmi_pb2.SubscriptionList.ONCE:
            return
        polls = wanted.mode == gnmi_pb2.SubscriptionList.POLL
        while True:
            if polls:
                poll = await _either(anext(aiter(requests), None), ended)
                if poll is None and not ended.is_set():
                    return
                due = watched
            else:
                pause = min((one.due_s for one in watched), default=0.0) - time.monotonic()
                await _either(asyncio.sleep(max(pause, 0.0)), ended)
                due = [one for one in watched if one.due_s <= time.monotonic()]
            if ended.is_set():
                await _abort(context, grpc.StatusCode.UNAVAILABLE, "the switch has restarted")
            await self._check(context)
            async for message in self._news(wanted, due, context, whole=polls):
                yield message
            if polls:
                yield gnmi_pb2.SubscribeResponse(sync_response=True)

    async def _news(
        self, wanted: Any, due: Sequence[Watched], context: Any, *, whole: bool
    ) -> AsyncIterator[Any]:
        """Yields new and changed values, or all, and the paths of deleted values, as one message
        for each path, so that only one is in memory."""
        for one in due:
            await self._turns.wait()
            one.due_s = max(one.due_s, time.monotonic() - one.interval_s) + one.interval_s
            try:
                with self._turns.taken():
                    values = self._matches(wanted.prefix, one.path, lasting=True)
                    fresh, gone = one.news(values, whole=whole or one.repeats)
            except MalformedError as problem:
                await _abort(context, grpc.StatusCode.NOT_FOUND, str(problem))
            if fresh or gone:
                note = _notification(wanted.prefix, one.path, fresh, wanted.encoding, gone)
                yield gnmi_pb2.SubscribeResponse(update=note)

    async def _check_encoding(self, encoding: int, context: Any) -> None:
        if encoding not in (gnmi_pb2.JSON_IETF, gnmi_pb2.JSON):
            await _abort(context, grpc.StatusCode.UNIMPLEMENTED, "encodings: JSON_IETF, JSON")

    async def _check(self, context: Any) -> None:
        """Refuses clients without valid credentials, and all clients while the switch is
        booting."""
        given = {str(key).lower(): str(value) for key, value in context.invocation_metadata() or ()}
        if not self._credentials.admit(given.get("username", ""), given.get("password", "")):
            await _abort(context, grpc.StatusCode.UNAUTHENTICATED, "unknown user or password")
        try:
            self._host.check_up()
        except AwayError as problem:
            await _abort(context, grpc.StatusCode.UNAVAILABLE, str(problem))

    def _matches(
        self, prefix: Any, path: Any, kind: int = 0, *, lasting: bool = False
    ) -> list[Match]:
        """Returns the values of a path.

        Args:
            prefix: of the request.
            path: the path, which may have wildcards.
            kind: the type of data of a Get.
            lasting: whether a path without a match is accepted if its container exists.

        Raises:
            MalformedError: if the path has no match.
        """
        origin, steps = steps_of(prefix, path)
        tree = _gnmi_ocp.tree(self._host)
        if origin == _SONIC:
            tree = _gnmi_db.tree(self._host, self._port_state)
        first = steps[0][0] if steps else ANY
        built = {name: build(steps) for name, build in tree.items() if first in (ANY, name)}
        if kind != gnmi_pb2.GetRequest.ALL:
            built = _of_type(built, config=kind == gnmi_pb2.GetRequest.CONFIG)
        try:
            return matches(built, steps)
        except MalformedError:
            if lasting and built:
                return []
            raise

    async def _set(self, request: Any) -> None:
        edits, origins = Edits(), set()
        for path in request.delete:
            origin, steps = steps_of(request.prefix, path)
            origins.add(origin == _SONIC)
            model = _gnmi_db if origin == _SONIC else _gnmi_ocp
            model.delete(self._host, steps, edits)
        for items, replaces in ((request.replace, True), (request.update, False)):
            for item in items:
                origin, steps = steps_of(request.prefix, item.path)
                origins.add(origin == _SONIC)
                value = _decoded(item.val)
                model = _gnmi_db if origin == _SONIC else _gnmi_ocp
                model.write(self._host, steps, value, edits, replaces=replaces)
        if len(origins) > 1:
            raise MalformedError("one Set has paths of one origin")
        model = _gnmi_db if True in origins else _gnmi_ocp
        edits.remove += _gnmi_db.names_of(self._host, edits.keys)
        known = self._known(edits) if model is _gnmi_ocp else {}
        add = [
            model.requested_of(name, known.get(name, {}) | leaves)
            for name, leaves in edits.leaves.items()
        ]

        def carry_out(machine: Machine, now: int) -> None:
            machine.change(
                now, edits.remove, add, conflict=self._conflict, wipe=edits.wipe, lenient=True
            )
            for act in edits.after:
                act()

        await self._host.change(carry_out)

    def _known(self, edits: Edits) -> dict[str, dict[str, Any]]:
        """Returns the present leaves of connections by name, because a Set may write only some of
        them."""
        if edits.wipe:
            return {}
        anew = {*edits.remove, *edits.whole}
        return {
            one.name: {"input-port-name": str(one.ends[0]), "output-port-name": str(one.ends[1])}
            for one in self._host.machine.connections(self._host.now)
            if one.configured
            and one.status is not Status.PENDING_DELETION
            and one.name in edits.leaves
            and one.name not in anew
        }


def _of_type(tree: dict[str, Any], *, config: bool) -> dict[str, Any]:
    """Returns the configuration part or the state part of a tree."""
    tree.pop("STATE_DB" if config else "CONFIG_DB", None)
    found: dict[str, Any] = pruned(tree, "state" if config else "config")
    connections = found.get("connections", {})
    if config and connections:
        # Stale entries and the time of the last change are not configuration.
        listed = [row for row in connections["port-connection"] if "config" in row]
        found["connections"] = {"port-connection": listed}
    return found


def _decoded(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind in ("json_ietf_val", "json_val"):
        try:
            return json.loads(getattr(value, kind))
        except (ValueError, RecursionError):
            raise MalformedError("the value is not JSON") from None
    if kind in ("string_val", "bool_val", "int_val", "uint_val", "ascii_val"):
        return getattr(value, kind)
    raise MalformedError("values: JSON_IETF, JSON, or a scalar")


def _notification(
    prefix: Any, path: Any, values: list[Match], encoding: int, gone: Sequence[Path] = ()
) -> Any:
    """Returns a notification: values as updates, each with its full path, and the paths of deleted
    values as deletions."""
    asked = steps_of(prefix, path)[1]
    updates = []
    for steps, value in values:
        raw = json.dumps(value).encode()
        typed = gnmi_pb2.TypedValue(json_ietf_val=raw)
        if encoding == gnmi_pb2.JSON:
            typed = gnmi_pb2.TypedValue(json_val=raw)
        own = path if steps == asked else _path(steps[len(prefix.elem) :], path.origin)
        updates.append(gnmi_pb2.Update(path=own, val=typed))
    after = len(prefix.elem)
    deleted = [_path(steps[after:], path.origin) for steps in gone]
    return gnmi_pb2.Notification(
        timestamp=time.time_ns(), prefix=prefix, update=updates, delete=deleted
    )


async def _either(first: Awaitable[Any], ended: asyncio.Event) -> Any:
    """Returns the result of an awaitable; None if the connection ends first."""
    tasks = [asyncio.ensure_future(first), asyncio.ensure_future(ended.wait())]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return tasks[0].result() if tasks[0].done() else None
    finally:
        for task in tasks:
            task.cancel()


def _path(steps: Path, origin: str) -> Any:
    elements = [gnmi_pb2.PathElem(name=name, key=keys) for name, keys in steps]
    return gnmi_pb2.Path(origin=origin, elem=elements)


async def _abort(context: Any, code: grpc.StatusCode, text: str) -> NoReturn:
    await context.abort(code, text)
    raise AssertionError  # abort raises
