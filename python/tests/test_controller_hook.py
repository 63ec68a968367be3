"""The HTTP hook: only an answer of its server with a status of 2xx acknowledges a step."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from lightloom.controller.hooks import HookError, HttpHook

PAIRS = [(1, 2), (2, 1)]


class HookServer:
    """A server that answers every POST in one way and every GET with 200."""

    def __init__(self) -> None:
        self.answer = 204
        self.asked: list[tuple[str, str, Any]] = []
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                pass

            def do_GET(self) -> None:
                owner.asked.append(("GET", self.path, None))
                self.send_response(200)
                self.end_headers()

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                owner.asked.append(("POST", self.path, json.loads(body)))
                if owner.answer == 0:
                    self.wfile.write(b"nonsense\r\n\r\n")
                    return
                self.send_response(owner.answer)
                if 300 <= owner.answer < 400:
                    self.send_header("Location", "/login")
                self.end_headers()

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}/hook"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()


@pytest.fixture
def server() -> Iterator[HookServer]:
    made = HookServer()
    yield made
    made.http.shutdown()
    made.http.server_close()


@pytest.mark.parametrize("status", [200, 201, 204])
def test_each_step_is_posted_and_acknowledged(server: HookServer, status: int) -> None:
    server.answer = status
    hook = HttpHook(server.url)
    hook.drain("east", PAIRS)
    hook.enter("east", PAIRS[:1])
    hook.enter("east", [])
    names = ["1A-2B", "2A-1B"]
    assert server.asked == [
        ("POST", "/hook", {"step": "drain", "switch": "east", "cross_connects": names}),
        ("POST", "/hook", {"step": "enter", "switch": "east", "cross_connects": names[:1]}),
    ]


@pytest.mark.parametrize("status", [0, 301, 302, 303, 307, 308, 400, 404, 500, 503])
def test_another_answer_acknowledges_nothing(server: HookServer, status: int) -> None:
    """A redirect is not followed: a login page answers 200, and no traffic has left."""
    server.answer = status
    with pytest.raises(HookError):
        HttpHook(server.url).drain("east", PAIRS)
    assert [method for method, *_ in server.asked] == ["POST"]


def test_a_proxy_of_the_environment_is_not_asked(
    server: HookServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The proxy would acknowledge a step for a server that does not exist."""
    monkeypatch.setenv("http_proxy", server.url.removesuffix("/hook"))
    monkeypatch.delenv("no_proxy", raising=False)
    with pytest.raises(HookError):
        HttpHook("http://127.0.0.1:1/hook").drain("east", PAIRS)
    assert server.asked == []
