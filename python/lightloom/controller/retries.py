"""Retries after failures: the parts of a change that are tried, and the pauses.

Parts without a port of a failure are tried first, then half of the parts that failed together,
until each part has failed alone or is lit. A part that failed alone is tried again after a pause. A
failure is identified by its ports, because a policy may request other circuits at each attempt.
Ports that a later change has lit are not at fault.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lightloom.controller.change import Change
from lightloom.controller.parts import Part, Parts, Ports, changed_ports
from lightloom.controller.store import Store
from lightloom.controller.transaction_log import Transaction
from lightloom.units.dates import utc

SHOWN = 20
"""Number of ports that a text names."""
LOOKED_AT = 50
"""The latest transactions of each outcome that are read [count]."""
LONGEST_PAUSE_S = 600.0
"""The longest pause before a failed change is tried again."""
FORGOTTEN_S = 2 * LONGEST_PAUSE_S
"""Time without failures after which all earlier ones are forgotten; longer than any pause, after
which the parts that failed are first tried alone."""
IN_A_ROW = 8
"""Number of failures without a successful change after which each further failure doubles the pause
before the next attempt at any of their ports. The switch may refuse all changes, and each attempt
drains traffic."""


@dataclass(frozen=True)
class Failure:
    """The ports of a change that failed, without those that have been lit since."""

    ports: Ports
    at: float
    number: int
    """Of the transaction."""
    reason: str = ""
    is_stuck: bool = False


@dataclass(frozen=True)
class Retry:
    """Ports that are tried again after a pause."""

    ports: Ports
    last: Failure
    """The last failure at all of them."""
    pause_ends: float

    def __str__(self) -> str:
        names = sorted(map(str, self.ports), key=_by_number)
        more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        return (
            f"transaction {self.last.number} was undone: {self.last.reason}; ports "
            f"{', '.join(names[:SHOWN])}{more} are tried again, at the latest in the first "
            f"interval after {utc(self.pause_ends)}"
        )


class Failures:
    """The changes of a switch that failed."""

    def __init__(self, store: Store, switch: str, now: float, interval_s: float) -> None:
        """Reads the failures from the store.

        Args:
            store: contains the transactions.
            switch: its name.
            now: seconds since 1970.
            interval_s: the pause after the first failure is twice as long.
        """
        self._now, self._interval_s = now, interval_s
        undone = store.transactions(switch, ["undone"], limit=LOOKED_AT)
        undone = undone if undone and now < undone[0].updated + FORGOTTEN_S else []
        done = store.transactions(switch, ["done"], limit=LOOKED_AT) if undone else []
        stuck = store.stuck_ports(switch).items()
        self._all = _failures(undone, done)
        self._all += [Failure(ports, 0.0, number, is_stuck=True) for number, ports in stuck]
        last_done = done[0].id if done else 0
        self._row = [one.updated for one in undone if one.id > last_done]
        self._least = _least(self._all)

    @property
    def are_none(self) -> bool:
        """Whether there is no failure that affects the next attempt."""
        return not self._all

    def retries(self, change: Change) -> list[Retry]:
        """The ports of failures that are tried again because a change needs them, the last failure
        first. Those of a stuck transaction wait for an operator."""
        needed, found = changed_ports(change.added, change.removed), []
        for ports in self._least:
            same = [one for one in self._all if ports <= one.ports]
            if ports <= needed and not any(one.is_stuck for one in same):
                last = max(same, key=lambda one: one.number)
                found.append(Retry(ports, last, last.at + self._pause_s(len(same))))
        return sorted(found, key=lambda one: -one.last.number)

    def sound(self, parts: Parts) -> list[Part]:
        """The parts that may be tried together now: those without a port of a failure; if there are
        none, the more important half of the parts of one failure with several parts."""
        known = [ports for ports in self._least if ports <= parts.ports(parts.all)]
        found = [part for part in parts.all if not _meets(parts, part, known)]
        if found or self._waits(self._row, len(self._row) - IN_A_ROW):
            return found
        for ports in known:
            inside = [part for part in parts.all if _meets(parts, part, [ports])]
            alone = [part for part in inside if _has(parts, part, known)]
            # A part that failed alone is at fault; the other parts of a failure with it may not be.
            half = [p for p in inside if p not in alone] if alone else inside[: len(inside) // 2]
            if half and not any(other <= parts.ports(half) for other in known):
                return half
        return []

    def over(self, parts: Parts) -> list[Part]:
        """The parts of the least frequent failure whose pause is over; empty if there is none.

        Each failure doubles the pause, because every attempt drains traffic; a stuck one waits for
        an operator.
        """
        ready: list[tuple[int, list[Part]]] = []
        for ports in self._least:
            same = [one for one in self._all if ports <= one.ports]
            inside = [part for part in parts.all if _meets(parts, part, [ports])]
            is_there = bool(inside) and ports <= parts.ports(inside)
            is_stuck = any(one.is_stuck for one in same)
            if is_there and not is_stuck and not self._waits([one.at for one in same], len(same)):
                ready.append((len(same), inside))
        return min(ready, key=lambda one: one[0])[1] if ready else []

    def _waits(self, times: Sequence[float], doublings: int) -> bool:
        """Whether a pause that began with the last of some failures is not over."""
        if doublings <= 0 or not times:
            return False
        return self._now < max(times) + self._pause_s(doublings)

    def _pause_s(self, doublings: int) -> float:
        return min(LONGEST_PAUSE_S, self._interval_s * 2.0 ** min(doublings, LOOKED_AT))


def _by_number(port: str) -> tuple[int, str]:
    return int(port[:-1]), port[-1]


def _meets(parts: Parts, part: Part, failures: Sequence[Ports]) -> bool:
    """Whether a part has a port of one of some failures."""
    own = parts.ports([part])
    return any(own & ports for ports in failures)


def _has(parts: Parts, part: Part, failures: Sequence[Ports]) -> bool:
    """Whether a part has all ports of one of some failures."""
    own = parts.ports([part])
    return any(ports <= own for ports in failures)


def _failures(failed: Sequence[Transaction], done: Sequence[Transaction]) -> list[Failure]:
    found, lit, left = [], Ports(), [*done]
    for one in failed:
        while left and left[0].id > one.id:
            lit |= _ports(left.pop(0))
        if ports := _ports(one) - lit:
            found.append(Failure(ports, one.updated, one.id, one.reason))
    return found


def _ports(one: Transaction) -> Ports:
    return changed_ports(one.pairs("added"), one.pairs("removed"))


def _least(failures: Sequence[Failure]) -> list[Ports]:
    """The ports of failures, the fewest first, without those that contain all ports of another
    failure: the same part is then at fault."""
    found: list[Ports] = []
    for ports in sorted(
        {one.ports for one in failures}, key=lambda one: (len(one), sorted(map(str, one)))
    ):
        if not any(less <= ports for less in found):
            found.append(ports)
    return found
