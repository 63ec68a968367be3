"""Runs the state machine on the real clock; all faces of a process share it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

from lightloom.switches.design import Design
from lightloom.switches.faults import Fault
from lightloom.switches.machine import Machine

T = TypeVar("T")
TICK_S = 0.02
"""Interval between checks for scheduled faults and settled connections [s]."""
SHORTEST_WAIT_S = 0.001
"""The shortest of these intervals [s]."""


class CutError(Exception):
    """Raised if the connection of a client has to be closed without an answer."""


class AwayError(Exception):
    """Raised while the switch is booting."""


class Client:
    """A connection of a client, which a reboot or a fault may close."""

    def __init__(self, close: Callable[[], None]) -> None:
        self._close = close

    def cut(self) -> None:
        """Closes it."""
        self._close()


class SilentError(Exception):
    """Raised if the client must not receive an answer; its connection stays open until the client
    closes it."""


async def silence() -> None:
    """Waits to be cancelled, which happens when the connection of the client ends."""
    await asyncio.Event().wait()


class Host:
    """One emulated switch on the real clock."""

    def __init__(self, design: Design) -> None:
        self.machine = Machine(design)
        self._start = time.monotonic_ns()
        self._clients: set[Client] = set()
        self._boots = 0

    @property
    def design(self) -> Design:
        """The design of the switch."""
        return self.machine.design

    @property
    def now(self) -> int:
        """Time since the start [ps]."""
        return (time.monotonic_ns() - self._start) * 1000

    def enter(self, client: Client) -> None:
        """Registers a client that has connected.

        Raises:
            AwayError: while the switch is booting.
        """
        self.check_up()
        self._clients.add(client)

    def leave(self, client: Client) -> None:
        """A client is gone."""
        self._clients.discard(client)

    def check_up(self) -> None:
        """Raises while the switch is booting.

        Raises:
            AwayError: if the switch is booting.
        """
        if not self.machine.is_up(self.now):
            self._close_after_boot()
            raise AwayError("the switch is booting")

    async def change(self, act: Callable[[Machine, int], T]) -> T:
        """Carries out a change, with the pending fault of a connection.

        Raises:
            CutError: if a fault closes the connection.
            SilentError: if a fault suppresses the answer.
        """
        self.check_up()
        waiting = self.machine.next_change
        fault = waiting[0] if waiting else ""
        if fault == "cut-before":
            waiting.pop(0)
            raise CutError
        found = act(self.machine, self.now)  # a refused change leaves the fault for the next
        if fault:
            waiting.pop(0)
        if fault == "cut-after":
            raise CutError
        if fault == "silent":
            raise SilentError
        return found

    def strike(self, fault: Fault) -> None:
        """Applies a fault at once."""
        self.machine.strike(self.now, fault)
        self._close_after_boot()

    async def settled(self) -> None:
        """Waits until no connection is pending."""
        while (until := self.machine.pending_until(self.now)) > self.now:
            left = (until - self.now) / 1e12
            await asyncio.sleep(min(max(left, SHORTEST_WAIT_S), TICK_S))

    async def keep_schedule(self) -> None:
        """Closes the connections of clients at each scheduled reboot."""
        last = max((fault.at_ps for fault in self.design.faults), default=-1)
        while self.now <= last:
            await asyncio.sleep(TICK_S)
            self.machine.advance(self.now)
            self._close_after_boot()

    def _close_after_boot(self) -> None:
        if self._boots != self.machine.boots:
            self._boots = self.machine.boots
            for client in [*self._clients]:
                client.cut()
