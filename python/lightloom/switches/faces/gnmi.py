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
from collections.abc import AsyncIterator
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
from lightloom.switches.host import AwayError, CutError, Host, SilentError, silence

LARGEST = 64 << 20
"""The largest message [bytes]."""
SHORTEST_SAMPLE_S = 0.01
"""The shortest interval of a subscription [s]."""
ON_CHANGE_S = 0.02
"""Interval at which a subscription to changes compares values [s]."""
_SONIC = "sonic-db"


async def listen(
    host: Host, credentials: Credentials, address: str, face: Face
) -> tuple[grpc.aio.Server, int]:
    """Serves gNMI; returns the server and its port.

    Raises:
        OSError: if the port is in use.
    """
    options = [
        ("grpc.max_receive_message_length", LARGEST),
        ("grpc.max_send_message_length", LARGEST),
        ("grpc.so_reuseport", 0),
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

    async def Capabilities(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Models and encodings."""
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
        if request.encoding not in (gnmi_pb2.JSON_IETF, gnmi_pb2.JSON):
            await _abort(context, grpc.StatusCode.UNIMPLEMENTED, "encodings: JSON_IETF, JSON")
        found = []
        for path in request.path or [gnmi_pb2.Path()]:
            try:
                values = self._matches(request.prefix, path, request.type)
            except MalformedError as problem:
                await _abort(context, grpc.StatusCode.NOT_FOUND, str(problem))
            found.append(_notification(request.prefix, path, values, request.encoding))
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
        """Values once, when polled, by interval or on change."""
        await self._check(context)
        first = await anext(aiter(requests), None)
        if first is None or not first.HasField("subscribe"):
            await _abort(context, grpc.StatusCode.INVALID_ARGUMENT, "a subscription comes first")
        wanted = first.subscribe
        if any(one.heartbeat_interval for one in wanted.subscription):
            await _abort(context, grpc.StatusCode.UNIMPLEMENTED, "there is no heartbeat_interval")
        seen: dict[bytes, Any] = {}
        async for message in self._values(wanted, seen, context):
            if not wanted.updates_only:
                yield message
        yield gnmi_pb2.SubscribeResponse(sync_response=True)
        if wanted.mode == gnmi_pb2.SubscriptionList.ONCE:
            return
        if wanted.mode == gnmi_pb2.SubscriptionList.POLL:
            async for _ in requests:
                async for message in self._values(wanted, {}, context):
                    yield message
                yield gnmi_pb2.SubscribeResponse(sync_response=True)
            return
        samples = [one for one in wanted.subscription if one.mode == gnmi_pb2.SAMPLE]
        intervals = [one.sample_interval / 1e9 for one in samples if one.sample_interval]
        interval = max(min(intervals, default=ON_CHANGE_S), SHORTEST_SAMPLE_S)
        while True:
            await asyncio.sleep(interval)
            await self._check(context)
            again = [one for one in samples if not one.suppress_redundant]
            async for message in self._values(wanted, {} if again else seen, context):
                yield message

    async def _values(
        self, wanted: Any, seen: dict[bytes, Any], context: Any
    ) -> AsyncIterator[Any]:
        """The values that differ from those that were sent."""
        for one in wanted.subscription:
            try:
                values = self._matches(wanted.prefix, one.path)
            except MalformedError as problem:
                await _abort(context, grpc.StatusCode.NOT_FOUND, str(problem))
            key = one.path.SerializeToString()
            if key not in seen or seen[key] != values:
                seen[key] = values
                note = _notification(wanted.prefix, one.path, values, wanted.encoding)
                yield gnmi_pb2.SubscribeResponse(update=note)

    async def _check(self, context: Any) -> None:
        """Refuses those who may not enter, and everybody while the switch is booting."""
        given = {str(key).lower(): str(value) for key, value in context.invocation_metadata() or ()}
        if not self._credentials.admit(given.get("username", ""), given.get("password", "")):
            await _abort(context, grpc.StatusCode.UNAUTHENTICATED, "unknown user or password")
        try:
            self._host.check_up()
        except AwayError as problem:
            await _abort(context, grpc.StatusCode.UNAVAILABLE, str(problem))

    def _matches(self, prefix: Any, path: Any, kind: int = 0) -> list[Match]:
        """The values of a path; `kind` is the type of data of a Get."""
        origin, steps = steps_of(prefix, path)
        tree = _gnmi_ocp.tree(self._host)
        if origin == _SONIC:
            tree = _gnmi_db.tree(self._host, self._port_state)
        first = steps[0][0] if steps else ANY
        built = {name: build(steps) for name, build in tree.items() if first in (ANY, name)}
        if kind != gnmi_pb2.GetRequest.ALL:
            built = _of_type(built, config=kind == gnmi_pb2.GetRequest.CONFIG)
        return matches(built, steps)

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
        add = [
            model.wish_of(name, self._known(name, leaves, model, edits))
            for name, leaves in edits.leaves.items()
        ]
        await self._host.change(
            lambda machine, now: machine.change(
                now, edits.remove, add, conflict=self._conflict, wipe=edits.wipe, lenient=True
            )
        )
        for act in edits.after:
            act()

    def _known(self, name: str, leaves: dict[str, Any], model: Any, edits: Edits) -> dict[str, Any]:
        """The leaves that were written, over those that the connection has."""
        if name in edits.remove or edits.wipe or model is _gnmi_db:
            return leaves
        listed = self._host.machine.connections(self._host.now)
        own = next((one.ends for one in listed if one.name == name and one.configured), None)
        if own is None:
            return leaves
        ends = {"input-port-name": str(own[0]), "output-port-name": str(own[1])}
        return ends | leaves


def _of_type(tree: dict[str, Any], *, config: bool) -> dict[str, Any]:
    """What is configuration, or what is state."""
    tree.pop("STATE_DB" if config else "CONFIG_DB", None)
    found: dict[str, Any] = pruned(tree, "state" if config else "config")
    connections = found.get("connections", {})
    if config and connections:
        # A stale entry has no configuration; neither has the time of the last change.
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


def _notification(prefix: Any, path: Any, values: list[Match], encoding: int) -> Any:
    """Values as updates, each of its path without wildcards."""
    asked = steps_of(prefix, path)[1]
    updates = []
    for steps, value in values:
        raw = json.dumps(value).encode()
        typed = gnmi_pb2.TypedValue(json_ietf_val=raw)
        if encoding == gnmi_pb2.JSON:
            typed = gnmi_pb2.TypedValue(json_val=raw)
        own = path if steps == asked else _path(steps[len(prefix.elem) :], path.origin)
        updates.append(gnmi_pb2.Update(path=own, val=typed))
    return gnmi_pb2.Notification(timestamp=time.time_ns(), prefix=prefix, update=updates)


def _path(steps: Path, origin: str) -> Any:
    elements = [gnmi_pb2.PathElem(name=name, key=keys) for name, keys in steps]
    return gnmi_pb2.Path(origin=origin, elem=elements)


async def _abort(context: Any, code: grpc.StatusCode, text: str) -> NoReturn:
    await context.abort(code, text)
    raise AssertionError  # abort raises
