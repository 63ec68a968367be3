"""Times of records and of files, in microseconds since 1970."""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass
from functools import lru_cache

from lightloom.control.demand.amounts import UnreadableError

US = 1_000_000
"""Microseconds in a second [count]."""
SECONDS = re.compile(r"\d{1,11}(\.\d+)?")
IN_A_NAME = re.compile(
    r"(?<!\d)(\d{4})-?(\d{2})-?(\d{2})"  # the day
    r"(?:[T_ .-]?(\d{2})[:.h_-]?(\d{2})(?:[:.m_-]?(\d{2}))?Z?)?(?!\d)"  # its time
)
SCALES = {"ms": 10**3, "us": 10**6, "ns": 10**9}
"""Ending of a column's name → parts of a second [count]."""
ZONELESS = "no zone, where times before have one"
ZONES = "write all times with a zone, like 2026-11-23T02:45:00Z or +01:00, or none"
REMEDY = "write it like 2026-11-23T02:45:00, or as seconds since 1970"


def time_of(value: object) -> int:
    """Converts a time as text (ISO 8601, or seconds since 1970), a number of seconds, or a
    `datetime` to microseconds since 1970. Times without a time zone are read as UTC.

    Raises:
        UnreadableError: for anything else.

    >>> time_of("1970-01-01T00:00:01Z"), time_of("1.5"), time_of("1970-01-01 01:00:00+01:00")
    (1000000, 1500000, 0)
    """
    if isinstance(value, str):
        return _of_text(value.strip())
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _of_text(repr(value))
    if isinstance(value, datetime.datetime):
        return _of_date(value)
    raise UnreadableError("not a time", REMEDY)


@dataclass
class Clock:
    """The times of one source; either all have a time zone, or none."""

    scale: int = 1
    """Parts of a second that integers count."""
    zoned: bool | None = None
    """Whether the times have a time zone; None before the first. Seconds since 1970 are UTC."""

    @classmethod
    def of(cls, name: str) -> Clock:
        """Returns the clock of a column, whose name may end in the unit of its numbers.

        >>> Clock.of("time_received_ns").time_of(1_500_000_000)
        1500000
        """
        return cls(SCALES.get(name.rpartition("_")[2].lower(), 1))

    def time_of(self, value: object) -> int:
        """Converts a time as the function `time_of` does.

        Raises:
            UnreadableError: as for `time_of`; also for a time without a time zone among times with
                one, and the reverse, because their order is unknown.
        """
        if self.scale > 1:
            value = self._seconds(value)
        time_us, zoned = time_of(value), is_zoned(value)
        if self.zoned is None:
            self.zoned = zoned
        elif self.zoned != zoned:
            has = "a zone, where times before have none" if zoned else ZONELESS
            raise UnreadableError(has, ZONES)
        return time_us

    def _seconds(self, value: object) -> str:
        """Converts an integer count of parts of a second to seconds."""
        text = str(value).strip()
        if not re.fullmatch(r"\d{1,20}", text):
            raise UnreadableError(
                "not a time", "write it as a whole number, as its column's name says"
            )
        whole, rest = divmod(int(text), self.scale)
        return f"{whole}.{rest:0{len(str(self.scale)) - 1}d}"


def is_zoned(value: object) -> bool:
    """Whether a time that `time_of` reads has a time zone.

    >>> is_zoned("2026-11-23T02:45:00Z"), is_zoned("2026-11-23 02:45"), is_zoned(1.5)
    (True, False, True)
    """
    if isinstance(value, datetime.datetime):
        return value.tzinfo is not None
    text = str(value).strip()
    return (
        SECONDS.fullmatch(text) is not None
        or datetime.datetime.fromisoformat(text).tzinfo is not None
    )


@lru_cache(maxsize=4096)
def _of_text(text: str) -> int:
    if SECONDS.fullmatch(text):
        whole, _, rest = text.partition(".")
        return int(whole) * US + int(rest[:6].ljust(6, "0"))
    try:
        return _of_date(datetime.datetime.fromisoformat(text))
    except ValueError:
        raise UnreadableError("not a time", REMEDY) from None


def _of_date(at: datetime.datetime) -> int:
    zoned = at if at.tzinfo else at.replace(tzinfo=datetime.UTC)
    epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
    return (zoned - epoch) // datetime.timedelta(microseconds=1)


def time_in(name: str) -> int | None:
    """Returns the time in a file's name [µs], the last one if there are several; None if there is
    none.

    >>> time_in("demand-2026-11-23T0245.csv") == time_of("2026-11-23 02:45")
    True
    >>> time_in("nfcapd.202611230245.csv") == time_of("2026-11-23 02:45")
    True
    >>> time_in("racks-24.csv") is None
    True
    """
    for found in reversed(list(IN_A_NAME.finditer(name))):
        year, month, day, hour, minute, second = (int(part or 0) for part in found.groups())
        try:
            return time_of(datetime.datetime(year, month, day, hour, minute, second))
        except ValueError:
            continue
    return None


def is_zoned_in(name: str) -> bool:
    """Whether the time in a file's name has a time zone, which is a `Z` at its end.

    >>> is_zoned_in("d-2026-11-23T0245Z.csv"), is_zoned_in("d-2026-11-23T0245.csv")
    (True, False)
    """
    found = list(IN_A_NAME.finditer(name))
    return bool(found) and found[-1][0].endswith("Z")


def iso(time_us: int) -> str:
    """Formats a time in ISO 8601, without a time zone.

    >>> iso(0), iso(1_500_000)
    ('1970-01-01T00:00:00', '1970-01-01T00:00:01.500000')
    """
    at = datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=time_us)
    return at.isoformat()
