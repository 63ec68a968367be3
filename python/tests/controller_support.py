"""A controller of emulated switches in this process, in virtual time."""

import re
import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from fastapi.testclient import TestClient

from lightloom.controller.api import app_of
from lightloom.controller.config import config_of
from lightloom.controller.service import Controller
from lightloom.controller.store import Store
from lightloom.controller.tokens import SCOPES, add_token
from lightloom.switches.design import Design
from lightloom.switches.emulated import EmulatedSwitch
from lightloom.switches.ports import Size

PORTS = "rack,A port,B port\na,1,1\nb,2,2\nc,3,3\nd,4,4\n"


class Lab:
    """A controller, its store and its emulated switches."""

    def __init__(self, folder: Path, store: str = "sqlite://", **keys: Any) -> None:
        (folder / "ports.csv").write_text(PORTS, encoding="utf-8")
        (folder / "demand").mkdir(exist_ok=True)
        self.folder = folder
        self.now = 1_800_000_000.0
        self.switches = {"east": EmulatedSwitch(Design(size=Size(8, 8)))}
        table = {
            "switch": [{"name": "east", "url": "scpi://127.0.0.1:5025", "ports": "ports.csv"}],
            "demand": {"folder": "demand"},
            "interval": "1 s",
            **keys,
        }
        self.config = config_of(table, folder)
        self.store = Store(store, self.clock)
        self.controller = self.begin()

    def clock(self) -> float:
        self.now += 0.0001
        return self.now

    def begin(self, **keys: Any) -> Controller:
        """Starts another controller on the same store, as after a crash."""
        opener: Callable[..., Any] = lambda one: self.switches[one.name]  # noqa: E731
        self.controller = Controller(self.config, self.store, self.clock, opener, **keys)
        self.recovered = self.controller.start()
        return self.controller

    def send(self, matrix: list[list[int]]) -> None:
        self.controller.collector.send("east", matrix, self.now, "test")

    def lit(self) -> list[tuple[int, int]]:
        return self.switches["east"].read().pairs


def matrix(*entries: tuple[int, int, int]) -> list[list[int]]:
    """Returns bytes between four racks, equal in both directions."""
    made = [[0] * 4 for _ in range(4)]
    for a, b, size in entries:
        made[a][b] += size
        made[b][a] += size
    return made


#: Method, path, body, required scope.
ROUTES: list[tuple[str, str, Any, str]] = [
    ("GET", "/state", None, "read"),
    ("GET", "/events", None, "read"),
    ("GET", "/switches/east/diff", None, "read"),
    ("GET", "/transactions", None, "read"),
    ("PUT", "/switches/east/intent", {"cross_connects": ["1A-2B"]}, "apply"),
    ("PUT", "/switches/east/circuits", {"circuits": [["a", "b"]]}, "apply"),
    ("POST", "/transactions/1/undo", None, "apply"),
    ("POST", "/switches/east/demand", {"matrix": matrix((0, 1, 5))}, "plan"),
    ("POST", "/switches/east/leases", {"racks": ["a", "b"], "ends": 2e9}, "reserve"),
    ("DELETE", "/leases/1", None, "reserve"),
    ("DELETE", "/deferred/1", None, "apply"),
    ("PUT", "/jobs/train", {"racks": ["a", "b"], "accelerators": 8}, "reserve"),
    ("PUT", "/jobs/train/boundary", {"ends": 2e9}, "reserve"),
    ("DELETE", "/jobs/train", None, "reserve"),
    ("GET", "/audit", None, "admin"),
]


def general(path: str) -> str:
    """Returns a path of `ROUTES` in the form of the OpenAPI document."""
    named = path.replace("east", "{switch}").replace("train", "{job}")
    return re.sub(r"/1(?=/|$)", "/{number}", named)


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


class Served(Reached):
    """The same interface on a socket; its streams and clients run in parallel to the test."""

    def __init__(self, folder: Path, **keys: Any) -> None:
        """Serves over TLS if `keys` has `ssl_certfile` and `ssl_keyfile`."""
        super().__init__(folder)
        about = {"log_level": "error", "timeout_graceful_shutdown": 1, **keys}
        self._server = uvicorn.Server(uvicorn.Config(self.http.app, **about))
        self._socket = socket.create_server(("127.0.0.1", 0))
        scheme = "https" if "ssl_certfile" in keys else "http"
        self.url = f"{scheme}://127.0.0.1:{self._socket.getsockname()[1]}"
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True
        )
        self._thread.start()
        while not self._server.started:
            time.sleep(0.01)

    def stream(
        self,
        method: str,
        path: str,
        body: Any = None,
        token: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> AbstractContextManager[httpx.Response]:
        """Sends a request; the answer is read as it arrives."""
        given = {**(headers or {}), **({"Authorization": f"Bearer {token}"} if token else {})}
        return httpx.stream(method, self.url + path, json=body, headers=given, timeout=60)

    def close(self) -> None:
        """Ends the server."""
        self._server.should_exit = True
        self._thread.join(10)
