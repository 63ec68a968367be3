"""Counters of the process for a switch: errors, the time to plan its changes, and the dark time of
its cross-connects."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from lightloom.switches.ports import Pair, Port
from lightloom.switches.protocol import (
    CircuitSwitch,
    Description,
    Outcome,
    Reading,
    SwitchError,
)


@dataclass
class Meters:
    """Counters since the process began."""

    errors: int = 0
    """Requests that the switch refused or did not answer."""
    plans: int = 0
    plan_s: float = 0.0
    """Total time from readings to the plan of a change, or to the result that no change is
    needed."""
    dark_pair_s: float = 0.0
    """Time of all changes, each multiplied by the number of cross-connects that it removes or adds,
    as in the cost of a transaction."""

    @contextmanager
    def changing(
        self, pairs: int, clock: Callable[[], float] = time.perf_counter
    ) -> Iterator[None]:
        """Counts the dark time of a change, also of one that fails."""
        began = clock()
        try:
            yield
        finally:
            self.dark_pair_s += pairs * (clock() - began)

    @contextmanager
    def planning(self, clock: Callable[[], float] = time.perf_counter) -> Iterator[None]:
        """Counts a plan and its time."""
        began = clock()
        try:
            yield
        finally:
            self.plans += 1
            self.plan_s += clock() - began

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Counts an error of the switch."""
        try:
            yield
        except SwitchError:
            self.errors += 1
            raise


class Metered:
    """A switch whose errors and dark times are counted."""

    def __init__(self, switch: CircuitSwitch, meters: Meters) -> None:
        self._switch, self._meters = switch, meters

    def describe(self) -> Description:
        """Returns the properties of the switch."""
        with self._meters.asking():
            return self._switch.describe()

    def read(self) -> Reading:
        """Its cross-connects."""
        with self._meters.asking():
            return self._switch.read()

    def change(
        self, remove: Collection[Pair], add: Collection[Pair], *, wait_s: float = 60.0
    ) -> Outcome:
        """Removes cross-connects, then adds others."""
        with self._meters.asking(), self._meters.changing(len({*remove, *add})):
            return self._switch.change(remove, add, wait_s=wait_s)

    def power(self) -> Mapping[Port, float] | None:
        """The optical power that each port emits."""
        with self._meters.asking():
            return self._switch.power()

    def close(self) -> None:
        """Ends the connection."""
        self._switch.close()
