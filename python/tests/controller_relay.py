"""A TCP relay between a controller and its database or its switch, which shows the transmitted data
and cuts the connection on demand."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable
from typing import Literal

Fate = Literal["pass", "lose", "swallow"]
"""The fate of bytes: "pass": they arrive; "lose": they are lost and the connection is cut;
"swallow": they arrive, and the connection is cut before the answer."""
Watch = Callable[[bytes], Fate]


class Relay:
    """Relays connections to a port of this machine."""

    def __init__(self, port: int, watch: Callable[[], Watch]) -> None:
        """Listens.

        Args:
            port: where it leads.
            watch: called for each connection; its result is called with what the client sends.
        """
        self._target, self._watch = port, watch
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listening.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", self._target), 10)
            except OSError:
                client.close()
                continue
            server.settimeout(None)
            _Session(client, server, self._watch()).begin()

    def close(self) -> None:
        """Accepts no more connections."""
        self._listening.close()


class _Session:
    def __init__(self, client: socket.socket, server: socket.socket, watch: Watch) -> None:
        self._client, self._server, self._watch = client, server, watch
        self._swallows = False

    def begin(self) -> None:
        for act in (self._ask, self._answer):
            threading.Thread(target=act, daemon=True).start()

    def _ask(self) -> None:
        with contextlib.suppress(OSError):
            while data := self._client.recv(65536):
                fate = self._watch(data)
                if fate == "lose":
                    break
                self._swallows |= fate == "swallow"
                self._server.sendall(data)
        if not self._swallows:
            self._end()

    def _answer(self) -> None:
        with contextlib.suppress(OSError):
            while (data := self._server.recv(65536)) and not self._swallows:
                self._client.sendall(data)
        self._end()

    def _end(self) -> None:
        for one in (self._client, self._server):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
