"""Port maps: the ports of the optical switches at which the fibres of each rack end.

A transceiver has two fibres. Its transmit fibre leads to an A port (an input) of the switch, its
receive fibre comes from a B port (an output). A circuit from one rack to another is thus a
cross-connect of the first rack's A port with the second rack's B port.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from lightloom.errors import ConfigError, refusal

LARGEST = 1_024
"""Ports on each side of the largest known switch [count]; the limit if no size is given."""


@dataclass(frozen=True)
class SwitchSize:
    """The ports of a switch, numbered from 1 on each of its sides.

    >>> SwitchSize.of("16x16"), SwitchSize.of("32").sides, str(SwitchSize.of("16 x 24"))
    (SwitchSize(a=16, b=16), 1, '16x24')
    """

    a: int
    """The number of A ports (inputs), or of all ports if the switch has one side."""
    b: int | None = None
    """The number of B ports (outputs); None: one side, where any two ports can be connected."""

    @classmethod
    def of(cls, text: str) -> SwitchSize:
        """Parses a size: "16x16", or "32" for a switch with one side.

        Raises:
            ConfigError: if `switch_size` is invalid.
        """
        numbers = text.lower().replace("×", "x").split("x")
        try:
            sides = [int(number) for number in numbers]
        except ValueError:
            sides = []
        if len(sides) not in (1, 2) or not all(0 < side <= 65_536 for side in sides):
            limit = "no number of ports, from 1 to 65536 a side"
            remedy = "write 16x16 for 16 A and 16 B ports, 32 for one side"
            raise refusal("switch_size", text, limit, remedy)
        return cls(*sides)

    @property
    def sides(self) -> int:
        """The number of sides, 1 or 2."""
        return 1 if self.b is None else 2

    def __str__(self) -> str:
        return f"{self.a}" if self.b is None else f"{self.a}x{self.b}"


@dataclass(frozen=True)
class Port:
    """The ports at which the two fibres of a transceiver end."""

    rack: str
    """The name of its rack."""
    plane: int
    """The number of its switch, from 0."""
    a: int
    """The A port to which its transmit fibre leads."""
    b: int
    """The B port from which its receive fibre comes."""
    transceiver: str = ""
    """The name of the transceiver; empty if not given."""


@dataclass(frozen=True, eq=False)
class PortMap:
    """The ports of all racks.

    >>> ports = PortMap([Port("web", 0, 1, 1), Port("cache", 0, 2, 2)], SwitchSize(4, 4))
    >>> ports.of("cache", 0)
    [Port(rack='cache', plane=0, a=2, b=2, transceiver='')]
    """

    ports: Sequence[Port]
    """The ports, in the order of the file."""
    size: SwitchSize | None = None
    """The size of each plane's switch; None: two sides of unknown size."""
    file: str = "port map"
    """The file that was read."""
    ignored: list[str] = field(default_factory=list)
    """Columns of the file that were ignored."""

    @property
    def sides(self) -> int:
        """2 if A and B ports are numbered separately, 1 if together."""
        return 2 if self.size is None else self.size.sides

    @property
    def planes(self) -> int:
        """The number of planes: one more than the highest plane number."""
        return 1 + max(port.plane for port in self.ports)

    @property
    def most(self) -> int:
        """The largest number of ports of a rack on a plane."""
        return max(len(ports) for ports in self._of.values())

    def of(self, rack: str, plane: int) -> list[Port]:
        """The ports of a rack on a plane, in the order of the file."""
        return self._of.get((rack, plane), [])

    def a_name(self, port: int) -> str:
        """The name of an A port: `7A`; `7` if the switch has one side."""
        return f"{port}A" if self.sides == 2 else str(port)

    def b_name(self, port: int) -> str:
        """The name of a B port: `7B`; `7` if the switch has one side."""
        return f"{port}B" if self.sides == 2 else str(port)

    def most_of(self, side: str) -> int:
        """The highest port number of a side, `A` or `B`."""
        if self.size is None:
            return LARGEST
        return self.size.b if side == "B" and self.size.b is not None else self.size.a

    def require(self, racks: Sequence[str], down: Collection[tuple[int, int]] = ()) -> None:
        """Raises an error if racks of a demand lack a port on a plane, except for the pairs of rack
        number and plane in `down`."""
        lacking = [
            (rack, plane)
            for plane in range(self.planes)
            for node, rack in enumerate(racks)
            if not self.of(rack, plane) and (node, plane) not in down
        ]
        if lacking:
            rack, plane = lacking[0]
            others = f", as {len(lacking) - 1} more" if len(lacking) > 1 else ""
            limit = f"`{rack}` has no port on plane {plane}{others}"
            remedy = f"{self.row_for(rack)}, or say `--down {rack}:{plane}`"
            raise ConfigError(f"{self.file}: {limit}; {remedy}")

    def row_for(self, rack: str) -> str:
        """Returns the remedy for a rack without a port. The map may have the rack under a name that
        differs only in blanks or capitals."""
        bare = rack.strip().casefold()
        near = [p.rack for p in self.ports if p.rack != rack and p.rack.strip().casefold() == bare]
        return f"rename `{near[0]}` in the map" if near else "give it a row"

    def strangers(self, racks: Sequence[str]) -> list[str]:
        """Returns the racks of the map that are not among these."""
        known = set(racks)
        return [*dict.fromkeys(port.rack for port in self.ports if port.rack not in known)]

    @cached_property
    def _of(self) -> dict[tuple[str, int], list[Port]]:
        found: dict[tuple[str, int], list[Port]] = {}
        for port in self.ports:
            found.setdefault((port.rack, port.plane), []).append(port)
        return found

    def __iter__(self) -> Iterator[Port]:
        return iter(self.ports)
