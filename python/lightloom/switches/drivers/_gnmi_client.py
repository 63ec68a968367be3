"""A connection to a gNMI server: Capabilities, Get and Set, with errors that name the server."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import grpc
from pygnmi.spec.v080 import gnmi_pb2, gnmi_pb2_grpc

from lightloom.switches.access import Credentials, is_loopback
from lightloom.switches.protocol import Outcome, SwitchError

ANSWER_S = 30.0
"""The longest wait for an answer [s]."""
LARGEST = 64 << 20
"""The largest message [bytes]."""
CA = "LIGHTLOOM_SWITCH_CA"
"""Environment variable with the path of a file of certificates, which are trusted instead of those
of the system."""


class NotFoundError(SwitchError):
    """Raised if a path has no value."""


class GnmiClient:
    """A gNMI server."""

    def __init__(
        self,
        host: str,
        port: int = 9339,
        credentials: Credentials | None = None,
        *,
        tls: bool | None = None,
        answer_s: float = ANSWER_S,
    ) -> None:
        """Stores the address; the first call connects.

        Args:
            host: its name or address.
            port: its TCP port.
            credentials: user and password.
            tls: whether to use TLS; None uses it unless the server is on this machine.
            answer_s: the longest wait for an answer [s].
        """
        self.target = f"gnmi://{host}:{port}"
        self._answer_s = answer_s
        where = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        options = [
            ("grpc.max_receive_message_length", LARGEST),
            ("grpc.enable_retries", 0),
            # Not delayed by a failed attempt of another driver.
            ("grpc.use_local_subchannel_pool", 1),
        ]
        self._tls = tls if tls is not None else not is_loopback(host)
        if self._tls:
            roots = Path(os.environ[CA]).read_bytes() if os.environ.get(CA) else None
            self._channel = grpc.secure_channel(where, grpc.ssl_channel_credentials(roots), options)
        else:
            self._channel = grpc.insecure_channel(where, options)
        self._stub = gnmi_pb2_grpc.gNMIStub(self._channel)
        secret = credentials or Credentials()
        self._metadata = [("username", secret.user), ("password", secret.password or "")]

    def models(self) -> set[str]:
        """Returns the names of the models that the server supports."""
        found = self._call(self._stub.Capabilities, gnmi_pb2.CapabilityRequest())
        return {model.name for model in found.supported_models}

    def get(self, path: Any, default: Any) -> Any:
        """Returns the value of a path; `default` if it has none.

        Raises:
            SwitchError: if the server does not answer, or its answer is not a value.
        """
        request = gnmi_pb2.GetRequest(path=[path], encoding=gnmi_pb2.JSON_IETF)
        try:
            found = self._call(self._stub.Get, request)
        except NotFoundError:
            return default
        updates = [update for note in found.notification for update in note.update]
        if len(updates) > 1 and all(update.path.elem for update in updates):
            # This server answers with one update for each leaf.
            return {update.path.elem[-1].name: self._value(update.val) for update in updates}
        return self._value(updates[0].val) if updates else default

    def set(self, *, delete: Any = (), update: Any = ()) -> None:
        """Sends one Set with deletions and updates, which the server applies completely or not at
        all.

        Raises:
            SwitchError: if the server refuses or does not answer.
        """
        self._call(self._stub.Set, gnmi_pb2.SetRequest(delete=delete, update=update))

    def close(self) -> None:
        """Ends the connection."""
        self._channel.close()

    def _value(self, value: Any) -> Any:
        kind = value.WhichOneof("value")
        if kind is None:
            return None
        if kind not in ("json_ietf_val", "json_val"):
            return getattr(value, kind)
        try:
            return json.loads(getattr(value, kind))
        except (ValueError, RecursionError):
            raise SwitchError(f"{self.target}: its answer is not JSON; check the server") from None

    def _call(self, method: Any, request: Any) -> Any:
        try:
            return method(request, timeout=self._answer_s, metadata=self._metadata)
        except grpc.RpcError as problem:
            raise self._error(problem) from None

    def _error(self, problem: Any) -> SwitchError:
        code, text = problem.code(), problem.details() or ""
        if code is grpc.StatusCode.NOT_FOUND:
            return NotFoundError(f"{self.target}: {text}")
        if code in _REFUSED:
            return SwitchError(f"{self.target}: refused: {text}; read the switch", Outcome())
        if code is grpc.StatusCode.UNAUTHENTICATED:
            remedy = "check LIGHTLOOM_SWITCH_PASSWORD or the file of --credentials"
            return SwitchError(f"{self.target}: refused the login; {remedy}", Outcome())
        if code is grpc.StatusCode.DEADLINE_EXCEEDED:
            return SwitchError(f"{self.target}: no answer in {self._answer_s:g} s; read the switch")
        unreached = code is grpc.StatusCode.UNAVAILABLE and text.startswith(_UNREACHED)
        if not unreached:
            remedy = _REMEDIES.get(code, "read the switch")
            return SwitchError(f"{self.target}: {code.name.lower()}: {text[:300]}; {remedy}")
        if text.endswith("Connection refused"):
            remedy = "check its address"
        else:
            remedy = f"check its address, and its certificate ({CA})" if self._tls else _PLAIN
        reason = _OF_GRPC.sub("", text)[:300]
        return SwitchError(f"{self.target}: no connection: {reason}; {remedy}", Outcome())


_PLAIN = "check its address, or write ?tls=on"
_UNREACHED = "failed to connect to all addresses"
"""Prefix of gRPC's reason if there was no connection, so that the call was never sent."""
_OF_GRPC = re.compile(r"^.*?last error: (?:[A-Z_]+: )?(?:ipv[46]:\S+ )?")
"""Prefix that gRPC adds to the reason of the operating system."""
_REMEDIES = {
    grpc.StatusCode.UNAVAILABLE: "wait, and read the switch",
    grpc.StatusCode.UNIMPLEMENTED: "check its address: is it gNMI?",
}
"""Remedies for errors with which a server answered, where reading the switch is not enough."""
_REFUSED = (grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.FAILED_PRECONDITION)


def bare(name: str) -> str:
    """Returns a name without its module (RFC 7951)."""
    return name.rpartition(":")[2]


def without_modules(value: Any) -> Any:
    """Returns JSON_IETF data without the modules of its names.

    >>> without_modules({"a:b": [{"c": "d:e"}]})
    {'b': [{'c': 'd:e'}]}
    """
    if isinstance(value, dict):
        return {bare(name): without_modules(below) for name, below in value.items()}
    return [without_modules(below) for below in value] if isinstance(value, list) else value


def path_of(*steps: str | tuple[str, str], origin: str = "") -> Any:
    """Returns a path; a pair becomes an element with the key `name`."""
    elements = [
        gnmi_pb2.PathElem(name=step)
        if isinstance(step, str)
        else gnmi_pb2.PathElem(name=step[0], key={"name": step[1]})
        for step in steps
    ]
    return gnmi_pb2.Path(origin=origin, elem=elements)


def update_of(path: Any, value: Any) -> Any:
    """Returns an update that writes a value."""
    typed = gnmi_pb2.TypedValue(json_ietf_val=json.dumps(value).encode())
    return gnmi_pb2.Update(path=path, val=typed)
