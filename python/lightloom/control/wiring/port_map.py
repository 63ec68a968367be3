"""Port maps: at which ports of which optical switch the fibres of each rack end.

A transceiver has two fibres. What it transmits enters the switch at an A port (an
input), what it receives leaves the switch at a B port (an output): so a circuit from one
rack to another is a cross-connect of the first's A port with the second's B port.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from lightloom.errors import ConfigError, refusal

LARGEST = 1_024
"""Ports of each side [count] of the largest switch that is known of: nobody who gives no
size has one with more."""


@dataclass(frozen=True)
class SwitchSize:
    """The ports of a switch, counted from 1 on each of its sides.

    >>> SwitchSize.of("16x16"), SwitchSize.of("32").sides, str(SwitchSize.of("16 x 24"))
    (SwitchSize(a=16, b=16), 1, '16x24')
    """

    a: int
    """A ports, inputs; all ports, if the switch has one side."""
    b: int | None = None
    """B ports, outputs; None: any port is joined with any other."""

    @classmethod
    def of(cls, text: str) -> SwitchSize:
        """From what is written: "16x16", or "32" for a switch of one side.

        Raises:
            ConfigError: of `switch_size`.
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
        """1 or 2."""
        return 1 if self.b is None else 2

    def __str__(self) -> str:
        return f"{self.a}" if self.b is None else f"{self.a}x{self.b}"


@dataclass(frozen=True)
class Port:
    """Where the two fibres of a transceiver end."""

    rack: str
    """Whose it is, by name."""
    plane: int
    """Which switch they lead to, counted from 0."""
    a: int
    """The A port that its transmit fibre leads to."""
    b: int
    """The B port that its receive fibre comes from."""
    transceiver: str = ""
    """Its name; empty if not given."""


@dataclass(frozen=True, eq=False)
class PortMap:
    """The ports of all racks.

    >>> ports = PortMap([Port("web", 0, 1, 1), Port("cache", 0, 2, 2)], SwitchSize(4, 4))
    >>> ports.of("cache", 0)
    [Port(rack='cache', plane=0, a=2, b=2, transceiver='')]
    """

    ports: Sequence[Port]
    """In the order of the file."""
    size: SwitchSize | None = None
    """Of each plane's switch; None: of two sides, as large as it takes."""
    file: str = "port map"
    """Where it was read."""
    ignored: list[str] = field(default_factory=list)
    """Columns of its file that were not read."""

    @property
    def sides(self) -> int:
        """Whether A and B ports are counted apart: 2, or together: 1."""
        return 2 if self.size is None else self.size.sides

    @property
    def planes(self) -> int:
        """How many planes it knows: one more than the highest."""
        return 1 + max(port.plane for port in self.ports)

    @property
    def most(self) -> int:
        """The most ports that a rack has on a plane."""
        return max(len(ports) for ports in self._of.values())

    def of(self, rack: str, plane: int) -> list[Port]:
        """The ports of a rack on a plane, in the order of the file."""
        return self._of.get((rack, plane), [])

    def a_name(self, port: int) -> str:
        """What an A port is called on a switch: `7A`; `7` if it has one side."""
        return f"{port}A" if self.sides == 2 else str(port)

    def b_name(self, port: int) -> str:
        """What a B port is called: `7B`; `7` if the switch has one side."""
        return f"{port}B" if self.sides == 2 else str(port)

    def most_of(self, side: str) -> int:
        """The highest port of a side, `A` or `B`."""
        if self.size is None:
            return LARGEST
        return self.size.b if side == "B" and self.size.b is not None else self.size.a

    def require(self, racks: Sequence[str], down: Collection[tuple[int, int]] = ()) -> None:
        """Refuses racks of a demand that lack a port on a plane, but for those that are
        known to be `down`: the rack's number and the plane."""
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
        """What to do about a rack without a port: the map may have it by a name that differs in
        blanks or capitals alone."""
        bare = rack.strip().casefold()
        near = [p.rack for p in self.ports if p.rack != rack and p.rack.strip().casefold() == bare]
        return f"rename `{near[0]}` in the map" if near else "give it a row"

    def strangers(self, racks: Sequence[str]) -> list[str]:
        """Racks that have ports, but are none of these."""
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
