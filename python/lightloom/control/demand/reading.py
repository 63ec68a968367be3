"""What was read of a demand, to be told and to be kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from lightloom.units import formats
from lightloom.units.counts import counted, shown


@dataclass(frozen=True)
class Reading:
    """How a demand was read."""

    format: str
    """What its format is called."""
    unit: str
    """What one of its numbers stood for."""
    records: int | None = None
    """How many there were, if it had records [count]."""
    map: str | None = None
    """The file that names the racks of hosts."""
    hosts: int = 0
    """Hosts that it named [count]."""
    total: int = 0
    """All that was read [bytes]."""
    within: int = 0
    """Of it, what racks had for themselves: left out [bytes]."""
    unknown: int = 0
    """Of it, what came from or went to hosts that the map does not name: left out [bytes]."""
    strangers: tuple[str, ...] = ()
    """These hosts."""
    notes: tuple[str, ...] = ()
    """What else to know."""

    @property
    def is_plain(self) -> bool:
        """Whether it was a matrix in bytes, of which there is nothing to say."""
        return self.records is None and self.map is None and self.unit == "1 B"

    def as_dict(self) -> dict[str, Any]:
        """As a plan keeps it."""
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
        """Statements about it: the format and the unit, and what was left out."""
        if not self.is_plain:
            several = "" if self.records is None else f", {counted(self.records, 'record')}"
            mapped = (
                f"; {self.map} names the racks of {counted(self.hosts, 'host')}" if self.map else ""
            )
            yield f"read as {self.format}{several}, in units of {self.unit}{mapped}"
        yield from self.losses()

    def losses(self) -> Iterator[str]:
        """Omissions, and other facts about the input."""
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
