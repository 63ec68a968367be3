"""The connection of one switch: handshake, stages of changes, barriers, errors."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from lightloom.switches.openflow.messages import HEADER, VERSION, Messages
from lightloom.switches.openflow.rules import Removal, Rule

HELLO, ERROR, ECHO_REQUEST, FEATURES_REPLY, BARRIER_REPLY = 0, 1, 2, 6, 21
"""Types of the messages that are read; others are ignored."""
FIRST_XID = 16
"""The first transaction number of changes; smaller numbers belong to the handshake."""
LAST_XID = 0xFFFFFFFF


class OpenFlowError(Exception):
    """A switch did not apply a change, or may not have applied it."""


class Session:
    """The connection to one switch, from its hello message to the end."""

    def __init__(self, link: socket.socket, messages: Messages, answer_s: float) -> None:
        """Creates a session; nothing is sent yet.

        Args:
            link: the connected socket.
            messages: the encoder and decoder.
            answer_s: longest duration of a write, and of the handshake [s].
        """
        self._link = link
        self._messages = messages
        self._answer_s = answer_s
        self._writing = threading.Lock()
        self._heard = threading.Condition()
        self._next = FIRST_XID
        self._replied: set[int] = set()
        self._refused: dict[int, str] = {}
        self._known = False
        self.ended: str | None = None
        """Reason why the connection ended; None while it is open."""

    def serve(self, known: Callable[[int], None]) -> None:
        """Reads messages until the connection ends.

        Args:
            known: called with the datapath ID after the switch has reported it.
        """
        try:
            self._link.settimeout(self._answer_s)
            self._write(self._messages.hello(1))
            self._shake_hands(known)
            while True:
                self._take(*self._read())
        except (OSError, OpenFlowError) as problem:
            self._end(str(problem) or type(problem).__name__)

    def close(self) -> None:
        """Ends the connection; `serve` then returns."""
        self._end("this side closed it")

    def _end(self, why: str) -> None:
        with self._heard:
            self.ended = self.ended or why
            self._heard.notify_all()
        with suppress(OSError):
            self._link.shutdown(socket.SHUT_RDWR)
        with suppress(OSError):
            self._link.close()

    def _shake_hands(self, known: Callable[[int], None]) -> None:
        version, kind, _, _ = self._read()
        if kind != HELLO:
            raise OpenFlowError("its first message is no hello")
        if version < VERSION:
            raise OpenFlowError(f"it speaks OpenFlow of version {version}; 1.3 has version 4")
        self._write(self._messages.features_request(2))
        while True:
            version, kind, xid, text = self._read()
            if kind == FEATURES_REPLY:
                reply = self._messages.read(kind, xid, text)
                if reply is None:
                    raise OpenFlowError("its features reply is broken")
                self._known = True
                return known(int(reply.datapath_id))
            self._take(version, kind, xid, text)

    def _read(self) -> tuple[int, int, int, bytes]:
        """Reads a message: version, type, transaction, all bytes."""
        head = self._bytes(HEADER)
        version, kind, length, xid = struct.unpack("!BBHI", head)
        if length < HEADER:
            raise OpenFlowError(f"a message of {length} bytes is shorter than its header")
        return version, kind, xid, head + self._bytes(length - HEADER)

    def _bytes(self, count: int) -> bytes:
        got = bytearray()
        while len(got) < count:
            try:
                more = self._link.recv(count - len(got))
            except TimeoutError:
                # A switch without events may be silent for any time.
                if self._known and not got:
                    continue
                raise OpenFlowError("it stopped in the middle of a message") from None
            if not more:
                raise OpenFlowError("the switch closed the connection")
            got += more
        return bytes(got)

    def _take(self, version: int, kind: int, xid: int, text: bytes) -> None:
        if kind == ECHO_REQUEST:
            self._write(self._messages.echo_reply(xid, text[HEADER:]))
        elif kind == BARRIER_REPLY:
            with self._heard:
                self._replied.add(xid)
                self._heard.notify_all()
        elif kind == ERROR:
            message = self._messages.read(kind, xid, text) if version == VERSION else None
            said = "an error" if message is None else self._messages.name_of(message)
            with self._heard:
                self._refused[xid] = said
                self._heard.notify_all()

    def _write(self, text: bytes) -> None:
        try:
            with self._writing:
                self._link.sendall(text)
        except TimeoutError:
            raise OpenFlowError("it takes no more messages") from None

    def send(self, stage: Sequence[Rule | Removal]) -> range:
        """Sends the changes of a stage and a barrier; returns their transactions, with that of the
        barrier last.

        Raises:
            OpenFlowError: if the connection has ended.
        """
        with self._heard:
            if self._next + len(stage) >= LAST_XID:
                self._next = FIRST_XID
            xids = range(self._next, self._next + len(stage) + 1)
            self._next = xids.stop
            self._replied.clear()
            self._refused.clear()
            if self.ended is not None:
                raise OpenFlowError(self.ended)
        written = [self._messages.change(x, c) for x, c in zip(xids, stage, strict=False)]
        try:
            self._write(b"".join([*written, self._messages.barrier(xids[-1])]))
        except (OSError, OpenFlowError) as problem:
            # Part of the message may have been written.
            self._end(str(problem))
            raise OpenFlowError(str(problem)) from None
        return xids

    def wait(self, xids: range, until: float) -> None:
        """Waits for the reply to the barrier of a stage.

        Args:
            xids: the transactions that `send` returned.
            until: the latest time, on the monotonic clock.

        Raises:
            OpenFlowError: if the switch rejected a change of the stage, did not reply in time, or
                is no longer connected.
        """
        with self._heard:
            while xids[-1] not in self._replied and not self._refused.keys() & {*xids}:
                if self.ended is not None:
                    raise OpenFlowError(self.ended)
                left = until - time.monotonic()
                if left <= 0:
                    raise OpenFlowError("no barrier reply in time")
                self._heard.wait(left)
            refused = [self._refused[xid] for xid in xids if xid in self._refused]
        if refused:
            raise OpenFlowError(f"it refused a rule: {refused[0]}")
