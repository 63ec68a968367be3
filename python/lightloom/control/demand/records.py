"""Records of a source of demand: amounts of data between hosts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from lightloom.control.demand.amounts import Amount
from lightloom.control.demand.times import Clock


class Record(NamedTuple):
    """An amount of data from one host to another."""

    where: str
    """Its file and its position there."""
    src: str
    dst: str
    amount: Amount
    """The amount, in the unit of its file."""
    time_us: int | None
    """Its time since 1970 [µs]; None if it has none."""


@dataclass
class Records:
    """The records of a source."""

    title: str
    """The name of their format."""
    name: str
    """The name of the source in messages."""
    records: Iterable[Record]
    timed: bool
    """Whether records have times."""
    notes: list[str] = field(default_factory=list)
    """Notes for the user; complete after all records have been read."""
    covers_us: int | None = None
    """The duration of each record, if the format states it [µs]."""
    clock: Clock = field(default_factory=Clock)
    """The time zone and unit of their times; complete after all records have been read."""
