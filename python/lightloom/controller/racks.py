"""The racks of a switch and their ports: circuits as cross-connects, and back."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from lightloom.control.ports.port_csv import read_port_map
from lightloom.errors import refusal
from lightloom.switches.ports import Pair, Port, Size

Circuit = tuple[int, int]


class Racks:
    """Racks by their numbers, each with one A port and one B port."""

    def __init__(self, ports: Path) -> None:
        """Reads a port map.

        Raises:
            ConfigError: if the file is invalid, or a rack has several ports.
        """
        self.file = ports
        self.names: list[str] = []
        self._a: list[int] = []
        self._b: list[int] = []
        for port in read_port_map(ports).ports:
            if port.rack in self.names or port.plane != 0:
                limit = "the controller needs one A port and one B port for each rack"
                raise refusal(f"{ports}: rack", port.rack, limit, "remove the other ports")
            self.names.append(port.rack)
            self._a.append(port.a)
            self._b.append(port.b)
        self._of_a = {port: rack for rack, port in enumerate(self._a)}
        self._of_b = {port: rack for rack, port in enumerate(self._b)}
        self._numbers = {name: rack for rack, name in enumerate(self.names)}

    def check(self, size: Size, switch: str) -> None:
        """Refuses a port map with ports that a switch does not have.

        Raises:
            ConfigError: naming the rack and the port.
        """
        for name, a, b in zip(self.names, self._a, self._b, strict=True):
            for port in (Port("A", a), Port("B", b)):
                if not size.has(port):
                    limit = f"switch {switch} has {size} ports"
                    raise refusal(f"{self.file}: {name}", port, limit, "correct the port map")

    def a_port(self, name: str) -> Port:
        """The A port of a rack: where its light enters the switch.

        Raises:
            ConfigError: if there is no rack of that name.
        """
        return Port("A", self._a[self.number(name)])

    def at_b(self, port: int) -> str | None:
        """The rack at a B port, where light leaves the switch; None if there is none."""
        rack = self._of_b.get(port)
        return None if rack is None else self.names[rack]

    def number(self, name: str) -> int:
        """The number of a rack.

        Raises:
            ConfigError: if there is none of that name.
        """
        if name not in self._numbers:
            shown = ", ".join(self.names[:8])
            raise refusal("rack", name, "not in the port map", f"name one of {shown}")
        return self._numbers[name]

    def pairs(self, circuits: Iterable[Circuit], directed: bool = False) -> list[Pair]:
        """The cross-connects of circuits: one for a directed circuit, otherwise one in each
        direction."""
        found = []
        for a, b in circuits:
            found.append((self._a[a], self._b[b]))
            if not directed:
                found.append((self._a[b], self._b[a]))
        return sorted(found)

    def other_way(self, pair: Pair) -> Pair | None:
        """The cross-connect that leads back between two racks; None if it does not join two."""
        source, target = self._of_a.get(pair[0]), self._of_b.get(pair[1])
        if source is None or target is None or source == target:
            return None
        return self._a[target], self._b[source]

    def circuits(self, pairs: Iterable[Pair]) -> tuple[bool, list[Circuit]]:
        """Whether some racks are connected in one direction only, and the circuits between racks of
        the port map; other cross-connects are omitted."""
        ways = self.ways(pairs)
        if all((b, a) in ways for a, b in ways):
            return False, self.both_ways(pairs)
        return True, sorted(ways)

    def directed(self, pairs: Iterable[Pair]) -> list[Circuit]:
        """The circuits as directed circuits."""
        return sorted(self.ways(pairs))

    def both_ways(self, pairs: Iterable[Pair]) -> list[Circuit]:
        """The circuits that are lit in both directions."""
        ways = self.ways(pairs)
        return sorted((a, b) for a, b in ways if a < b and (b, a) in ways)

    def ways(self, pairs: Iterable[Pair]) -> set[Circuit]:
        """The pairs (from, to) of racks between which light passes."""
        found = set()
        for a, b in pairs:
            source, target = self._of_a.get(a), self._of_b.get(b)
            if source is not None and target is not None and source != target:
                found.add((source, target))
        return found

    def at(self, pairs: Iterable[Pair]) -> set[str]:
        """The racks at either end of cross-connects."""
        sides = [(self._of_a.get(a), self._of_b.get(b)) for a, b in pairs]
        return {self.names[rack] for side in sides for rack in side if rack is not None}

    def has(self, name: str) -> bool:
        """Whether a rack of this name is in the port map."""
        return name in self._numbers

    def named(self, pair: Pair) -> str | None:
        """The racks that a cross-connect connects, as in `web → cache`; None if they are not in the
        port map."""
        source, target = self._of_a.get(pair[0]), self._of_b.get(pair[1])
        if source is None or target is None:
            return None
        return f"{self.names[source]} → {self.names[target]}"
