"""A TCP connection of a driver, which sends text and receives one answer up to a pattern."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Callable

from lightloom.switches.protocol import Outcome, SwitchError

BLOCK = 1 << 16
"""Most bytes received at once."""


class NoAnswerError(SwitchError):
    """Raised if an answer does not arrive in time."""


class Line:
    """A connection, which is reopened after a failure, because a late answer would be mistaken for
    the answer to the next command."""

    def __init__(
        self,
        target: str,
        address: tuple[str, int],
        wait_s: float,
        longest: int,
        greet: Callable[[], None] | None = None,
    ) -> None:
        """Connects.

        Args:
            target: the name of the switch in error messages.
            address: the host name or address of the switch, and its port.
            wait_s: the longest wait for the connection [s].
            longest: the longest answer [bytes].
            greet: called after each reconnection, to log in.

        Raises:
            SwitchError: if the switch cannot be reached.
        """
        self._target, self._address, self._wait_s = target, address, wait_s
        self._longest, self._greet = longest, greet
        self._socket: socket.socket | None = None
        self._buffer = b""
        try:
            self._connect()
        except OSError as problem:
            raise SwitchError(self._failed(problem), Outcome()) from None

    def send(self, text: str) -> None:
        """Sends text.

        Raises:
            SwitchError: if the connection is lost.
        """
        try:
            if self._socket is None:
                self._connect()
                if self._greet is not None:
                    self._greet()
            assert self._socket is not None
            self._socket.sendall(text.encode("ascii"))
        except OSError as problem:
            self.close()
            raise SwitchError(self._failed(problem)) from None

    def receive(self, end: re.Pattern[bytes], wait_s: float) -> str:
        """Returns the first text that matches a pattern; earlier text is discarded.

        Args:
            end: the pattern, matched against bytes as they arrive.
            wait_s: the longest wait [s].

        Raises:
            SwitchError: if no such text arrives in time.
        """
        deadline = time.monotonic() + wait_s
        try:
            while (found := end.search(self._buffer)) is None:
                self._fill(deadline)
        except OSError as problem:
            self.close()
            kind = NoAnswerError if isinstance(problem, TimeoutError) else SwitchError
            raise kind(self._failed(problem)) from None
        self._buffer = self._buffer[found.end() :]
        return found[0].decode("ascii", "replace")

    def close(self) -> None:
        """Ends the connection; may be called again."""
        if self._socket is not None:
            self._socket.close()
        self._socket, self._buffer = None, b""

    def _connect(self) -> None:
        self._socket = socket.create_connection(self._address, self._wait_s)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def _fill(self, deadline: float) -> None:
        if self._socket is None:
            raise ConnectionError("closed the connection")
        self._socket.settimeout(max(0.001, deadline - time.monotonic()))
        more = self._socket.recv(BLOCK)
        if not more:
            raise ConnectionError("closed the connection")
        self._buffer += more
        if len(self._buffer) > self._longest:
            raise ConnectionError(f"an answer of more than {self._longest} bytes")

    def _failed(self, problem: OSError) -> str:
        if isinstance(problem, TimeoutError):
            return f"{self._target}: no answer; check its address, or wait"
        reason = (problem.strerror or str(problem) or "no answer").lower()
        return f"{self._target}: {reason}; check its address, or read it again"
