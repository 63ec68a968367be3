"""Runs the controller in real time: wakes the controller, lets a plane carry out each action at its
time, and answers it once.

One thread runs an agenda of due actions, with short sleeps between them.
"""

from __future__ import annotations

import heapq
import json
import time
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from lightloom import _core
from lightloom.errors import ConfigError
from lightloom.testbed.measure import Observed
from lightloom.testbed.setup import Setup, json_of

POLL_S = 0.001
"""Time after which an action is resumed that waits for an event other than a time."""
NAP_S = 0.002
"""Longest sleep between two checks of the agenda."""


class Plane(Protocol):
    """A data plane that carries out actions."""

    history: list[tuple[int, int, int, float, float | None]]
    """Circuits: racks, plane, and the times at which they came up and went dark [s of the monotonic
    clock]."""
    directed: bool
    """Whether these circuits are directed."""

    def carry_out(self, kind: str, body: Any) -> Iterator[float]:
        """Carries out an action; yields the seconds until it is to be resumed, or 0 if the time is
        not known. Raises `OSError` if it fails, and `ConfigError` if the plane does not have this
        action."""
        ...

    def report_demand(self) -> list[list[int]]:
        """Demand: reporter, destination rack, bytes."""
        ...

    def read_counters(self) -> list[tuple[str, int]]:
        """Byte counters by name: hosts, uplinks or pairs of racks."""
        ...

    def observe(self) -> Observed:
        """The bytes that the fabric has carried so far, and the bytes that wait."""
        ...

    def totals(self) -> dict[str, Any]:
        """Counts of the whole run: losses, lateness."""
        ...

    def is_alive(self) -> bool:
        """Whether it still carries packets."""
        ...

    def stop(self) -> None:
        """Releases devices and threads."""
        ...


class RealTimeHost:
    """A controller of an experiment's fabric over a plane."""

    def __init__(self, setup: Setup, plane: Plane) -> None:
        """Creates the controller without starting the loop.

        Raises:
            ConfigError: if the fabric has no controller.
        """
        self._scale = setup.table.time_scale
        self._plane = plane
        self._loop = _core.ControlLoop(json_of(setup), setup.fabric, f"testbed: {setup.label}")
        self._agenda: list[tuple[float, int, bool, Callable[[], None]]] = []
        self._count = 0
        self.began = 0.0
        """Start of the loop [s of the monotonic clock]."""
        self.late_s: list[float] = []
        """Delay of each action after its due time [s]."""
        self.trouble: ConfigError | OSError | None = None
        """The error that ended the loop; no decisions follow."""
        self.header: dict[str, Any] = json.loads(self._loop.header())

    def begin(self) -> None:
        """Gives the controller the first inputs of its log and starts the circuits or the schedule
        that it begins with."""
        self.began = time.monotonic()
        for text in self._loop.opening():
            heard = json.loads(text)
            if isinstance(heard, dict) and (found := heard.get("silence")):
                self._found(found)
            self._hear(heard)

    def _found(self, found: dict[str, Any]) -> None:
        if found.get("schedule"):
            exhaust(self._plane.carry_out("follow", found["schedule"]))
        if found["lit"]["circuits"]:
            exhaust(self._plane.carry_out("light", found["lit"]))
            exhaust(self._plane.carry_out("enter", [[], found["routes"]]))

    def plan(self, in_s: float, what: Callable[[], None]) -> None:
        """Schedules `what` in `in_s` seconds; with 0 it runs soon and is never counted as late."""
        self._count += 1
        due = time.monotonic() + (in_s or POLL_S)
        heapq.heappush(self._agenda, (due, self._count, in_s != 0, what))

    def step(self, until: float) -> None:
        """Runs due actions, then sleeps briefly, but at most until `until`."""
        while self._agenda and self._agenda[0][0] <= time.monotonic():
            due, _, is_timed, what = heapq.heappop(self._agenda)
            if is_timed:
                self.late_s.append(time.monotonic() - due)
            what()
        next_at = self._agenda[0][0] if self._agenda else until
        pause = min(next_at, until) - time.monotonic()
        if pause > 0:
            time.sleep(min(pause, NAP_S))

    def log(self) -> str:
        """The inputs and actions of the controller, in the form that `plan --replay` reads."""
        text: str = self._loop.log()
        return text

    def _now_ps(self) -> int:
        return int((time.monotonic() - self.began) * 1e12 / self._scale)

    def _hear(self, heard: Any) -> None:
        if self.trouble is not None:
            return
        try:
            actions = self._loop.on(self._now_ps(), json.dumps(heard))
        except ConfigError as problem:
            self.trouble = problem
            return
        for text in actions:
            self._ask(json.loads(text))

    def _ask(self, action: Any) -> None:
        if action == "measure":
            return self._hear({"demand": self._plane.report_demand()})
        ((kind, body),) = action.items()
        if kind == "wake_at":
            due = self.began + body * self._scale / 1e12
            return self.plan(due - time.monotonic(), lambda: self._hear("tick"))
        # The number of a step, then its content.
        step, *about = body
        content = about[0] if len(about) == 1 else about
        return self._resume(step, self._plane.carry_out(kind, content))

    def _resume(self, step: int, work: Iterator[float]) -> None:
        """Continues a step until it waits; answers it when it is complete."""
        try:
            pause = next(work, None)
        except OSError as problem:
            return self._hear({"failed": [step, str(problem)]})
        if pause is None:
            return self._hear({"done": step})
        return self.plan(pause, lambda: self._resume(step, work))


def exhaust(work: Iterator[float]) -> None:
    """Carries out an action and sleeps during its pauses."""
    for pause in work:
        time.sleep(pause or POLL_S)
