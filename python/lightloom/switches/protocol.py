"""`CircuitSwitch`: the interface of every driver, the emulated switch and files of
cross-connects."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from lightloom.switches.ports import Pair, Port, Size, name_of
from lightloom.switches.states import PortStatus, Status

WAIT_S = 60.0
"""The longest wait for new cross-connects to settle [s], as in sonic-mgmt."""

NO_STATUS = "it has no status"
"""The reason of a configured cross-connect whose state the switch has not reported (yet)."""


@dataclass(frozen=True)
class Description:
    """The properties of a switch."""

    target: str
    """Its address, as its user wrote it."""
    dialect: str
    """The protocol of its interface."""
    model: str
    """The model that the switch reports; empty if it reports none."""
    size: Size
    """Number of ports."""
    settle_ps: int | None = None
    """Settling time [ps]; None if the interface does not report it."""
    bidirectional: bool | None = None
    """Whether one cross-connect carries light in both directions; None if the switch does not
    report it."""
    reports_status: bool = False
    """Whether it reports the state of a cross-connect."""
    reports_power: bool = False
    """Whether it measures light."""
    reports_size: bool = True
    """Whether `size` is the size of the switch; otherwise it is the largest possible size."""


@dataclass(frozen=True)
class CrossConnect:
    """A cross-connect as a switch reports it."""

    pair: Pair
    """Its ports."""
    name: str
    """The name of the connection on the switch."""
    status: Status | None = None
    """Its state; None if the interface does not report it."""
    reason: str = ""
    """Reason why it failed or is invalid."""
    configured: bool = True
    """False for a stale entry: a status without a configuration."""


@dataclass(frozen=True)
class Reading:
    """The state that a switch reports at one time."""

    cross_connects: Sequence[CrossConnect]
    """All that it lists."""
    ports: Mapping[Port, PortStatus] = field(default_factory=dict)
    """The states of its ports; empty if the interface does not report them."""

    @property
    def pairs(self) -> list[Pair]:
        """Returns the cross-connects that are not INVALID, in order."""
        held = (one for one in self.cross_connects if one.status is not Status.INVALID)
        leaving = Status.PENDING_DELETION
        return sorted({one.pair for one in held if one.status is not leaving})

    @property
    def connected(self) -> list[Pair]:
        """Returns those of `pairs` that are CONNECTED, as far as the interface reports it."""
        return sorted(
            one.pair for one in self.cross_connects if one.status in (None, Status.CONNECTED)
        )

    def find(self, pair: Pair) -> CrossConnect | None:
        """Returns the cross-connect between two ports."""
        return self.by_pair().get(pair)

    def by_pair(self) -> dict[Pair, CrossConnect]:
        """Returns the cross-connects by their ports; of two, the new one rather than the one being
        deleted."""
        leaving = Status.PENDING_DELETION
        listed = sorted(self.cross_connects, key=lambda one: one.status is not leaving)
        return {one.pair: one for one in listed}


@dataclass(frozen=True)
class Outcome:
    """The result of a change."""

    removed: Sequence[Pair] = ()
    """Cross-connects that were deleted, or that the switch replaced."""
    added: Sequence[Pair] = ()
    """Created."""
    kept: Sequence[Pair] = ()
    """Requested cross-connects that already existed and were not touched."""
    settled: bool | None = None
    """Whether all added cross-connects are CONNECTED; None if the interface does not report it."""
    seconds: float = 0.0
    """Time from the first command until all had settled, or until the last reading [s]."""


class SwitchError(Exception):
    """Raised if a switch refuses, fails or does not answer.

    `done` holds the part of the change that was done; None if it is not known, so that the switch
    must be read.
    """

    def __init__(self, message: str, done: Outcome | None = None) -> None:
        super().__init__(message)
        self.done = done


class CircuitSwitch(Protocol):
    """A switch."""

    def describe(self) -> Description:
        """Returns the properties of the switch."""

    def read(self) -> Reading:
        """Returns its present cross-connects and ports."""

    def change(
        self, remove: Collection[Pair], add: Collection[Pair], *, wait_s: float = WAIT_S
    ) -> Outcome:
        """Deletes, then creates; waits until the new cross-connects have settled.

        Cross-connects in both collections, and existing ones in `add`, are not touched. One in
        `remove` that does not exist is ignored; a stale one is deleted.

        Raises:
            SwitchError: if the switch refused, failed or did not answer.
        """

    def power(self) -> Mapping[Port, float] | None:
        """Returns the measured power that enters A ports and leaves B ports [dBm].

        None if the switch has no monitors. Ports without a monitor are omitted.
        """

    def close(self) -> None:
        """Ends the connection."""


@runtime_checkable
class HasFactoryTable(Protocol):
    """A switch whose interface may report the factory measurement of each path."""

    def factory_losses(self) -> Mapping[Pair, float]:
        """Returns the insertion losses that the factory measured [dB]; empty if there is no table.

        Raises:
            SwitchError: if the switch failed or did not answer.
        """


@contextmanager
def before_a_change() -> Iterator[None]:
    """Marks the steps of a driver before its first command: an error there means that nothing was
    changed."""
    try:
        yield
    except SwitchError as problem:
        raise SwitchError(str(problem), Outcome()) from None


def named(target: str, problem: SwitchError) -> SwitchError:
    """Returns an error with the address of its switch."""
    text = str(problem)
    return problem if text.startswith(target) else SwitchError(f"{target}: {text}", problem.done)


@contextmanager
def understood(target: str, dialect: str) -> Iterator[None]:
    """Turns an answer that is malformed in its dialect into an error of the switch."""
    try:
        yield
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as problem:
        reason = str(problem)[:100]
        raise SwitchError(f"{target}: its answer is no {dialect} ({reason}); check it") from None


def loss_of(text: object) -> float:
    """Reads an insertion loss [dB].

    Raises:
        ValueError: if it is not a number, or is negative.
    """
    loss = float(str(text))
    if not 0 <= loss < math.inf:
        raise ValueError(f"loss {loss}")
    return loss


def power_of(text: object) -> float:
    """Reads a power [dBm].

    Raises:
        ValueError: if it is not a number.
    """
    power = float(str(text))
    if not math.isfinite(power):
        raise ValueError(f"power {power}")
    return power


def difference(
    reading: Reading, remove: Collection[Pair], add: Collection[Pair]
) -> tuple[list[Pair], list[Pair], list[Pair]]:
    """Returns the cross-connects to delete, to create and to keep.

    >>> lit = Reading([CrossConnect((1, 1), "1A-1B"), CrossConnect((2, 2), "2A-2B")])
    >>> difference(lit, [(1, 1), (2, 2), (4, 4)], [(2, 2), (3, 3)])
    ([(1, 1)], [(3, 3)], [(2, 2)])
    """
    there = {
        one.pair
        for one in reading.cross_connects
        if one.configured and one.status not in (Status.INVALID, Status.PENDING_DELETION)
    }
    listed = {one.pair for one in reading.cross_connects}
    wanted = {*add}
    gone = sorted(pair for pair in {*remove} - wanted if pair in listed)
    return gone, sorted(wanted - there), sorted(wanted & there)


def displaced(reading: Reading, gone: Collection[Pair], new: Collection[Pair]) -> list[Pair]:
    """Returns the cross-connects that the switch replaced when it accepted the new ones.

    >>> displaced(Reading([CrossConnect((1, 3), "1A-3B")]), [], [(1, 2)])
    [(1, 3)]
    """
    a_needed, b_needed = {a for a, _ in new}, {b for _, b in new}
    named = {*gone, *new}
    return [
        pair
        for pair in reading.pairs
        if pair not in named and (pair[0] in a_needed or pair[1] in b_needed)
    ]


def check_pairs(remove: Collection[Pair], add: Collection[Pair], size: Size) -> None:
    """Refuses cross-connects that no switch of this size can have.

    Raises:
        SwitchError: naming a port that does not exist, or one in two new cross-connects.
    """
    seen: dict[Port, Pair] = {}
    for pair in add:
        for port in (Port("A", pair[0]), Port("B", pair[1])):
            if not size.has(port):
                raise SwitchError(
                    f"add = {name_of(pair)}: port {port} is not on a switch of {size} ports; "
                    "choose another",
                    Outcome(),
                )
            if seen.setdefault(port, pair) != pair:
                raise SwitchError(
                    f"add = {name_of(pair)}: port {port} is in {name_of(seen[port])}, too; "
                    "use each port once",
                    Outcome(),
                )


_PAST_DRIVER: ContextVar[bool] = ContextVar("past_driver", default=False)


@contextmanager
def past_the_driver() -> Iterator[None]:
    """Lets drivers send pairs that no switch of the size can have, so that a test shows whether the
    switch itself refuses them."""
    token = _PAST_DRIVER.set(True)
    try:
        yield
    finally:
        _PAST_DRIVER.reset(token)


def check_before_sending(remove: Collection[Pair], add: Collection[Pair], size: Size) -> None:
    """Checks the pairs in a driver by `check_pairs`, except within `past_the_driver`.

    Raises:
        SwitchError: as of `check_pairs`.
    """
    if not _PAST_DRIVER.get():
        check_pairs(remove, add, size)
