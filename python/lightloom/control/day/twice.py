"""Local times that occur twice because clocks are set back.

If records have no time zone, this hour contains the demand of two hours, which cannot be separated.
"""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from lightloom.control.demand.records import Record
from lightloom.control.demand.times import iso
from lightloom.errors import ConfigError

HOUR_US = 3_600_000_000
HOURS = range(4)
"""Hours of the day in which clocks are set back."""
DAYS = (4, 5, 6)
"""Days of the week on which clocks are set back, Friday to Sunday (Monday is 0)."""
MONTHS = (2, 3, 4, 9, 10, 11)
"""Months in which clocks are set back in some country."""
Sample = tuple[int, str, str]


class Samples:
    """Counts the measurements of each pair at each time."""

    def __init__(self) -> None:
        self.seen: Counter[Sample] = Counter()

    def watch(self, records: Iterable[Record]) -> Iterator[Record]:
        """Yields the same records and counts each."""
        for record in records:
            if record.time_us is not None:
                self.seen[record.time_us, record.src, record.dst] += 1
            yield record

    def check(self, name: str) -> None:
        """Raises an error if an hour occurs twice, that is, if pairs are measured twice at each
        time in it and once at all other times.

        Raises:
            ConfigError: naming the first repeated time.
        """
        most: dict[int, int] = {}
        for (time, *_), times in self.seen.items():
            most[time] = max(most.get(time, 0), times)
        twice = sorted(time for time, times in most.items() if times == 2)
        hours = {time // HOUR_US for time in twice}
        if len(hours) != 1 or not _goes_back(twice[0]) or not self._others_once(most, hours):
            return
        limit = f"{iso(twice[0])} comes twice, without a zone, as when clocks go back"
        remedy = "write times with a zone, like +02:00; or add up the records of a pair"
        raise ConfigError(f"{name}: {limit}; {remedy}")

    @staticmethod
    def _others_once(most: Mapping[int, int], hours: set[int]) -> bool:
        others = [times for time, times in most.items() if time // HOUR_US not in hours]
        inside = [times for time, times in most.items() if time // HOUR_US in hours]
        return bool(others) and set(others) == {1} and set(inside) == {2}


def _goes_back(time_us: int) -> bool:
    """Whether clocks are set back at such a time in some country."""
    at = datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=time_us)
    return at.hour in HOURS and at.weekday() in DAYS and at.month in MONTHS
