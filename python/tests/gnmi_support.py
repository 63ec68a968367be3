"""A top-of-rack switch that speaks gNMI, in this process: counters of interfaces, and interfaces
that can be disabled (OpenConfig)."""

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import grpc
from pygnmi.spec.v080 import gnmi_pb2, gnmi_pb2_grpc


class TopOfRack(gnmi_pb2_grpc.gNMIServicer):  # type: ignore[misc]
    """The switch of a rack."""

    def __init__(self, *names: str) -> None:
        self.octets: dict[str, dict[str, Any]] = {
            name: {"in-octets": 0, "out-octets": 0} for name in names
        }
        self.enabled = dict.fromkeys(names, True)
        self.style = "text"
        """Format of answers: "text" (64-bit numbers as JSON_IETF has them), "nested" (with the
        module, within the container), "leaves" (one update for each leaf)."""
        self.slow: set[str] = set()
        """Interfaces whose state does not follow their configuration."""
        self.password: str | None = None
        self.refuses = False
        self.sets: list[list[tuple[str, bool]]] = []
        """Each Set request: interfaces, and whether it enabled them."""
        self.gets = 0
        self._server = grpc.server(ThreadPoolExecutor(4), options=[("grpc.so_reuseport", 0)])
        gnmi_pb2_grpc.add_gNMIServicer_to_server(self, self._server)
        self.port = self._server.add_insecure_port("127.0.0.1:0")
        self.url = f"gnmi://127.0.0.1:{self.port}"
        self._lock = threading.Lock()

    def start(self) -> "TopOfRack":
        self._server.start()
        return self

    def stop(self) -> None:
        self._server.stop(None).wait(5)

    def sends(self, name: str, octets: int) -> None:
        self.octets[name]["out-octets"] += octets

    def receives(self, name: str, octets: int) -> None:
        self.octets[name]["in-octets"] += octets

    def Get(self, request: Any, context: Any) -> Any:  # noqa: N802
        self._check(context)
        with self._lock:
            self.gets += 1
        (path,) = request.path
        steps = [element.name for element in path.elem]
        name = path.elem[1].key["name"]
        if name not in self.octets:
            context.abort(grpc.StatusCode.NOT_FOUND, f"no interface {name}")
        if steps[2:] == ["state", "counters"]:
            return self._counters(path, name)
        assert steps[2:] == ["state", "admin-status"]
        up = self.enabled[name] or name in self.slow
        return answer(path, gnmi_pb2.TypedValue(json_ietf_val=b'"UP"' if up else b'"DOWN"'))

    def _counters(self, path: Any, name: str) -> Any:
        octets = self.octets[name]
        if self.style == "leaves":
            updates = [
                gnmi_pb2.Update(
                    path=gnmi_pb2.Path(elem=[gnmi_pb2.PathElem(name=leaf)]),
                    val=gnmi_pb2.TypedValue(uint_val=count),
                )
                for leaf, count in octets.items()
            ]
            return gnmi_pb2.GetResponse(notification=[gnmi_pb2.Notification(update=updates)])
        found: Any = {leaf: str(count) for leaf, count in octets.items()}
        if self.style == "nested":
            found = {f"openconfig-interfaces:{leaf}": text for leaf, text in found.items()}
            found = {"openconfig-interfaces:counters": found}
        return answer(path, gnmi_pb2.TypedValue(json_ietf_val=json.dumps(found).encode()))

    def Set(self, request: Any, context: Any) -> Any:  # noqa: N802
        self._check(context)
        if self.refuses:
            context.abort(grpc.StatusCode.FAILED_PRECONDITION, "the configuration is locked")
        made = []
        for update in request.update:
            names = [element.name for element in update.path.elem]
            assert (names[0], names[2:]) == ("interfaces", ["config", "enabled"])
            name = update.path.elem[1].key["name"]
            if name not in self.enabled:
                context.abort(grpc.StatusCode.INVALID_ARGUMENT, f"no interface {name}")
            made.append((name, json.loads(update.val.json_ietf_val)))
        self.enabled.update(made)
        self.sets.append(made)
        return gnmi_pb2.SetResponse()

    def _check(self, context: Any) -> None:
        given = dict(context.invocation_metadata())
        if self.password is not None and given.get("password") != self.password:
            context.abort(grpc.StatusCode.UNAUTHENTICATED, "wrong password")


def answer(path: Any, value: Any) -> Any:
    update = gnmi_pb2.Update(path=path, val=value)
    return gnmi_pb2.GetResponse(notification=[gnmi_pb2.Notification(update=[update])])


@contextmanager
def racks(*switches: TopOfRack) -> Iterator[None]:
    """Serves these switches."""
    for one in switches:
        one.start()
    try:
        yield
    finally:
        for one in switches:
            one.stop()
