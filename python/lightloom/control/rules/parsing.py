"""Rules as users write them: racks by name, planes by number, ports as the switch names them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from lightloom.control.ports.port_map import Port, PortMap
from lightloom.control.rules.rules import Pinned, Rules
from lightloom.errors import refusal

Ends = tuple[int, int, int | None]
"""Two racks, and the plane if it is given."""


def read_rules(
    names: Sequence[str],
    *,
    pin: Sequence[str] = (),
    forbid: Sequence[str] = (),
    down: Sequence[str] = (),
    planes: int = 1,
    ports: PortMap | None = None,
) -> Rules:
    """Parses rules.

    Args:
        names: the names of the racks, in their order.
        pin: circuits, `a:b` or `a:b:plane`; without a plane, on the lowest plane on which neither
            rack is down or pinned.
        forbid: pairs that are kept apart, `a:b`.
        down: a rack, on all planes; `rack:plane`; with a port map also a port, `7A` on all planes
            or `7A:2` on one.
        planes: the number of planes.
        ports: the port map.

    Raises:
        ConfigError: naming the invalid value of `pin`, `forbid` or `down`.

    >>> read_rules(["web", "db", "x:1"], pin=["web:x:1"], down=["db"]).as_table()
    {'pin': [[0, 2, 0]], 'forbid': [], 'down': [[1, 0]]}
    """
    reader = _Reader(names, planes, ports)
    ports_down = frozenset(port for text in down for port in reader.down(text))
    apart = [reader.pair("forbid", text, with_plane=False) for text in forbid]
    pinned: list[Pinned] = []
    for text in pin:
        a, b, plane = reader.pair("pin", text, with_plane=True)
        if plane is None:
            busy = ports_down | {(rack, p) for *both, p in pinned for rack in both}
            free = (p for p in range(planes) if not {(a, p), (b, p)} & busy)
            plane = next(free, 0)
        pinned.append((a, b, plane))
    return Rules(tuple(pinned), frozenset((min(a, b), max(a, b)) for a, b, _ in apart), ports_down)


def idle(text: str, names: Sequence[str], ports: PortMap) -> str | None:
    """Describes a port that is down and that no circuit could use, because it belongs to no rack,
    or to one without demand; None for all other values.

    Raises:
        ConfigError: if the switch does not have the port in `down`.
    """
    head, _, plane = text.strip().rpartition(":")
    on = int(plane) if head and re.fullmatch(r"\d{1,6}", plane) else None
    name = text.strip() if on is None else head.strip()
    there = [port for port in ports if on in (None, port.plane)]
    known = [
        port.rack for port in there if name == port.rack or name.upper() in _called(port, ports)
    ]
    if {*known} & {*names}:
        return None
    if known:
        whose = "" if name == known[0] else f"the port of {known[0]}, "
        return f"{text} is down: {whose}a rack without demand"
    match = re.fullmatch(r"(\d{1,6})([AaBb]?)", name)
    if match is None or bool(match[2]) != (ports.sides == 2):
        return None
    side = match[2].upper()
    most = ports.most_of(side)
    if not 1 <= int(match[1]) <= most:
        limit = f"beyond the switch: its {side + ' ' if side else ''}ports are 1 to {most}"
        raise refusal("down", text, limit, "correct it, or give its size with --switch-size")
    return f"{text} is down: {ports.file} has no rack there"


def _called(port: Port, ports: PortMap) -> tuple[str, str]:
    return ports.a_name(port.a), ports.b_name(port.b)


class _Reader:
    def __init__(self, names: Sequence[str], planes: int, ports: PortMap | None) -> None:
        self.node: Mapping[str, int] = {name: at for at, name in enumerate(names)}
        self.planes, self.ports = planes, ports

    def pair(self, key: str, text: str, *, with_plane: bool) -> Ends:
        """Parses two racks. Names may contain colons if only one division into names is
        possible."""
        found = set(self._pairs(text))
        form = "a:b, or a:b:plane" if with_plane else "a:b"
        if with_plane:
            head, _, plane = text.rpartition(":")
            if re.fullmatch(r"\d{1,6}", plane):
                found |= {(a, b, int(plane)) for a, b, _ in self._pairs(head)}
        if len(found) > 1:
            limit = "fits several pairs, as names have colons"
            raise refusal(key, text, limit, "rename the racks, or use their numbers in a list")
        if not found:
            raise refusal(key, text, self._unknown(text), f"write {form}, by name")
        a, b, on = found.pop()
        if a == b:
            raise refusal(key, text, "joins a rack with itself", "name two")
        if on is not None:
            self._check_plane(key, text, on)
        return a, b, on

    def _pairs(self, text: str) -> Iterator[Ends]:
        for at in (match.start() for match in re.finditer(":", text)):
            a, b = text[:at].strip(), text[at + 1 :].strip()
            if a in self.node and b in self.node:
                yield self.node[a], self.node[b], None

    def _unknown(self, text: str) -> str:
        pieces = [piece.strip() for piece in text.split(":")]
        unknown = [piece for piece in pieces if piece not in self.node]
        if len(pieces) < 2:
            return "no pair of racks"
        return f"`{unknown[0] if unknown else text}` is no rack of the demand"

    def _check_plane(self, key: str, text: str, plane: int) -> None:
        if plane >= self.planes:
            last = self.planes - 1
            limit = f"the planes are 0 to {last}" if last else "there is plane 0 only"
            raise refusal(key, text, limit, "name one of them")

    def down(self, text: str) -> set[tuple[int, int]]:
        """The ports of a rack, or those of the rack at a port of the switch."""
        text = text.strip()
        head, _, plane = text.rpartition(":")
        readings: list[tuple[str, int | None]] = [(text, None)]
        if head and re.fullmatch(r"\d{1,6}", plane):
            readings.append((head.strip(), int(plane)))
        found = [ports for name, on in readings for ports in self._ports("down", text, name, on)]
        if len(found) > 1:
            limit = "is a rack, and a port of the switch"
            raise refusal("down", text, limit, "rename the rack, or name the rack at the port")
        if not found and self.ports is not None and idle(text, [*self.node], self.ports):
            return set()
        if not found:
            limit = "no rack of the demand" + (", and no port" if self.ports else "")
            remedy = "write a rack, or rack:plane" + (", or a port like 7A" if self.ports else "")
            raise refusal("down", text, limit, remedy)
        return found[0]

    def _ports(
        self, key: str, text: str, name: str, on: int | None
    ) -> Iterator[set[tuple[int, int]]]:
        """The possible meanings of a name."""
        if on is not None and (name in self.node or self._at(name, None)):
            self._check_plane(key, text, on)
        if name in self.node:
            planes = range(self.planes) if on is None else [on]
            yield {(self.node[name], plane) for plane in planes}
        if self._at(name, on):
            yield self._at(name, on)

    def _at(self, name: str, on: int | None) -> set[tuple[int, int]]:
        """The racks at a port of the switch, on each plane or on one."""
        ports = self.ports
        if ports is None:
            return set()
        return {
            (self.node[port.rack], port.plane)
            for port in ports
            if name.upper() in _called(port, ports)
            and (port.rack in self.node and on in (None, port.plane))
        }
