"""A description of how a demand was read, which is printed and stored."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from lightloom.units import formats
from lightloom.units.counts import counted, shown


@dataclass(frozen=True)
class Reading:
    """Format, unit and counts of a demand that was read from a file."""

    format: str
    """The name of its format."""
    unit: str
    """The unit of its numbers."""
    records: int | None = None
    """Number of records; None for a matrix."""
    map: str | None = None
    """The file that names the racks of hosts."""
    hosts: int = 0
    """Number of hosts that it named."""
    total: int = 0
    """The sum of all data read [bytes]."""
    within: int = 0
    """The part of the sum within racks, which is left out [bytes]."""
    unknown: int = 0
    """The part of the sum from or to hosts that the map does not name, which is left out
    [bytes]."""
    strangers: tuple[str, ...] = ()
    """The hosts that the map does not name."""
    notes: tuple[str, ...] = ()
    """Further notes for the user."""

    @property
    def is_plain(self) -> bool:
        """Whether it was a matrix in bytes, so that there is nothing to report."""
        return self.records is None and self.map is None and self.unit == "1 B"

    def as_dict(self) -> dict[str, Any]:
        """Returns the form in which a plan stores it."""
        return {
            "format": self.format,
            "unit": self.unit,
            "records": self.records,
            "map": self.map,
            "bytes": self.total,
            "within_racks_bytes": self.within,
            "unknown_hosts_bytes": self.unknown,
            "unknown_hosts": len(self.strangers),
        }

    def lines(self) -> Iterator[str]:
        """States the format, the unit, and the omitted records."""
        if not self.is_plain:
            several = "" if self.records is None else f", {counted(self.records, 'record')}"
            mapped = (
                f"; {self.map} names the racks of {counted(self.hosts, 'host')}" if self.map else ""
            )
            yield f"read as {self.format}{several}, in units of {self.unit}{mapped}"
        yield from self.losses()

    def losses(self) -> Iterator[str]:
        """States the omitted records, and other facts about the input."""
        if self.within:
            yield f"{self._share(self.within)} within racks: left out"
        if self.strangers:
            yield (
                f"{self._share(self.unknown)} from or to hosts that the map does not name "
                f"({shown(self.strangers)}): left out; --strict refuses"
            )
        yield from self.notes

    def _share(self, part: int) -> str:
        share = f"{100 * part / self.total:.1f} %" if self.total else "0 %"
        if part and share == "0.0 %":
            share = "less than 0.1 %"
        return f"{share} of the bytes ({formats.size(part)})"
