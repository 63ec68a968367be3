"""Port maps in CSV files: one row for each transceiver; errors name line and column."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from lightloom.control.cells import column_of, delimiter_of, split, text_of
from lightloom.control.demand.source import source_of
from lightloom.control.names import printable
from lightloom.control.ports.port_map import LARGEST, Port, PortMap, SwitchSize
from lightloom.errors import ConfigError, refusal
from lightloom.units.counts import counted

COLUMNS: Mapping[str, str] = {
    "rack": "rack",
    "plane": "plane",
    "a": "a",
    "aport": "a",
    "b": "b",
    "bport": "b",
    "transceiver": "transceiver",
}
"""Accepted names of columns, in lower case and letters only → their content."""
NEEDED = ("rack", "a", "b")
SHOWN = {"rack": "rack", "a": "A port", "b": "B port", "plane": "plane"}
HEADER = "rack,plane,A port,B port,transceiver"
Side = Literal["A", "B"]


def read_port_map(
    path: str | Path,
    *,
    size: SwitchSize | None = None,
    planes: int | None = None,
    ports: int = 1,
    columns: str | None = None,
) -> PortMap:
    """Reads a port map: CSV with one row for each transceiver and the columns `rack`, `plane`
    (default 0), `A port`, `B port` and optionally `transceiver`, in any order. Lines that begin
    with `#` are comments; other columns are ignored.

    Args:
        path: the file.
        size: the size of each plane's switch; without it, A and B ports are numbered separately.
        planes: the number of planes. Default: as many as in the file.
        ports: the number of ports of a rack on each plane.
        columns: the names of its columns: "rack=Server,a=OCS in,b=OCS out", also `plane` and
            `transceiver` if the file has them.

    Raises:
        ConfigError: naming file, line and column: two fibres at one port, a port that the switch
            does not have, too many rows for a rack, or an unknown plane.
        OSError: if the file cannot be opened.

    >>> ports = read_port_map("examples/ports-8.csv")
    >>> ports.of("gpu-1", 0)
    [Port(rack='gpu-1', plane=0, a=3, b=4, transceiver='SN-4417')]
    """
    reader = _Reader(Path(path), size, planes, ports, named=_named(columns))
    for number, line in source_of(reader.path).lines():
        reader.take(number, line)
    if not reader.found:
        raise ConfigError(f"{path}: no ports; begin with {HEADER}, then a line for each")
    return PortMap(reader.found, size, str(path), reader.ignored)


def _named(text: str | None) -> dict[str, str]:
    """Parses `--port-columns`: content → name of the column.

    Raises:
        ConfigError: if `port_columns` is invalid.

    >>> _named("rack=Rack name, a=OCS in")
    {'rack': 'Rack name', 'a': 'OCS in'}
    """
    found: dict[str, str] = {}
    for part in (text or "").split(",") if text is not None else []:
        role, equals, name = (piece.strip() for piece in part.partition("="))
        if not equals or not name or role not in COLUMNS.values() or role in found:
            limit = f"`{part.strip()}` names no column"
            remedy = "write rack=NAME,a=NAME,b=NAME, and plane=NAME where there is one"
            raise refusal("port_columns", text, limit, remedy)
        found[role] = name
    return found


@dataclass
class _Reader:
    """Reads a port map line by line."""

    path: Path
    size: SwitchSize | None
    planes: int | None
    most: int
    named: Mapping[str, str] = field(default_factory=dict)
    """Content of a column → its name in the file."""
    delimiter: str = ","
    columns: list[str | None] = field(default_factory=list)
    """The content of each column; None if it is ignored."""
    ignored: list[str] = field(default_factory=list)
    found: list[Port] = field(default_factory=list)
    fibres: dict[tuple[int, str, int], int] = field(default_factory=dict)
    """Plane, side and port → line of the fibre at it."""
    rows: dict[tuple[str, int], list[int]] = field(default_factory=dict)
    """Rack and plane → lines of its transceivers."""

    def take(self, number: int, line: str) -> None:
        """Reads the names of columns, then one port for each line."""
        if not self.columns:
            self.delimiter = delimiter_of(line)
        cells = self._split(number, line)
        if not self.columns:
            self._name(number, cells)
            return
        if len(cells) != len(self.columns):
            columns = counted(len(self.columns), "column")
            limit = f"{counted(len(cells), 'cell')}, where the first line names {columns}"
            raise self._wrong(number, 1, limit, "give every row as many")
        self._row(number, cells)

    def _split(self, number: int, line: str) -> list[str]:
        try:
            return split(line, self.delimiter)
        except ValueError as problem:
            raise self._wrong(number, 1, str(problem), 'write names like "a" or "b, c"') from None

    def _name(self, number: int, cells: list[str]) -> None:
        """Reads the first line."""
        names = [printable(text_of(cell, self.delimiter)) for cell in cells]
        known = [self._known(name) for name in names]
        self._check_named(names)
        for at, column in enumerate(known):
            if column is not None and column in known[:at]:
                limit = f"a second column of {SHOWN.get(column, column)}"
                raise self._wrong(number, column_of(cells, at), limit, "leave one out")
        missing = [SHOWN[column] for column in NEEDED if column not in known]
        if missing:
            limit = f"no column `{missing[0]}`"
            roles = ",".join(f"{role}=NAME" for role in NEEDED)
            remedy = f"begin with {HEADER}, or name its columns: --port-columns {roles}"
            raise self._wrong(number, 1, limit, remedy)
        self.columns = list(known)
        self.ignored = [name for name, column in zip(names, known, strict=True) if not column]

    def _known(self, name: str) -> str | None:
        """The content of a column, by the names that the user gave or by its accepted names."""
        for role, given in self.named.items():
            if given.lower() == name.lower():
                return role
        own = COLUMNS.get(re.sub(r"[\s_-]", "", name.lower()))
        return None if own in self.named else own

    def _check_named(self, names: Sequence[str]) -> None:
        there = {name.lower() for name in names}
        for role, name in self.named.items():
            if name.lower() not in there:
                limit = f"{self.path} has {', '.join(f'`{one}`' for one in names)}"
                raise refusal("port_columns", f"{role}={name}", limit, "name one of these")

    def _row(self, number: int, cells: list[str]) -> None:
        """Reads the row of a transceiver."""
        at = {column: at for at, column in enumerate(self.columns) if column is not None}
        text = {column: text_of(cells[place], self.delimiter) for column, place in at.items()}
        where = {column: column_of(cells, place) for column, place in at.items()}
        rack = printable(text["rack"])
        if not rack:
            raise self._wrong(number, where["rack"], "no rack", "name whose transceiver it is")
        plane = self._plane(number, where.get("plane", 1), text.get("plane", "0"))
        port = Port(
            rack,
            plane,
            self._port(number, where["a"], "A", text["a"]),
            self._port(number, where["b"], "B", text["b"]),
            printable(text.get("transceiver", "")),
        )
        self._once(number, where, port)
        self.found.append(port)

    def _plane(self, number: int, column: int, text: str) -> int:
        if not re.fullmatch(r"\d{1,6}", text):
            raise self._wrong(number, column, f"`{text}` is no plane", "count them from 0")
        plane = int(text)
        if self.planes is not None and plane >= self.planes:
            last = self.planes - 1
            there = f"planes 0 to {last}" if last else "plane 0 alone"
            limit = f"plane {plane} is unknown: the plan has {there}"
            remedy = f"--planes {plane + 1}, where the algorithm has that, or leave its rows out"
            raise self._wrong(number, column, limit, remedy)
        return plane

    def _port(self, number: int, column: int, side: Side, text: str) -> int:
        match = re.fullmatch(r"(\d{1,6})([AaBb]?)", text)
        sided = self.size is None or self.size.sides == 2
        if match is None or (match[2] and not sided):
            form = f"a number, like 7 or 7{side}" if sided else "a number, like 7"
            limit = f"`{text}` is no port" if text else f"no {side} port"
            raise self._wrong(number, column, limit, f"write {form}")
        if match[2] and match[2].upper() != side:
            limit = (
                f"`{text}` where an {side} port is to stand"
                if side == "A"
                else (f"`{text}` where a {side} port is to stand")
            )
            remedy = "A takes what the rack transmits, B gives it what it receives"
            raise self._wrong(number, column, limit, remedy)
        port, most = int(match[1]), self._ports_of(side)
        if not 1 <= port <= most:
            name = f"{side} ports" if sided else "ports"
            limit = f"port {port} is beyond the switch: its {name} are 1 to {most}"
            remedy = "correct it, or give the size of the switch with --switch-size"
            raise self._wrong(number, column, limit, remedy)
        return port

    def _ports_of(self, side: Side) -> int:
        if self.size is None:
            return LARGEST
        return self.size.a if side == "A" or self.size.b is None else self.size.b

    def _once(self, number: int, where: Mapping[str, int], port: Port) -> None:
        """Raises an error for a port with two fibres, and for a rack with too many rows."""
        sided = self.size is None or self.size.sides == 2
        for column, side, fibre in (("a", "A", port.a), ("b", "B", port.b)):
            key = (port.plane, side if sided else "", fibre)
            if key in self.fibres:
                name = f"{fibre}{key[1]}"
                limit = f"port {name} of plane {port.plane} is that of line {self.fibres[key]}, too"
                raise self._wrong(number, where[column], limit, "one fibre leads to a port")
            self.fibres[key] = number
        rows = self.rows.setdefault((port.rack, port.plane), [])
        rows.append(number)
        if len(rows) > self.most:
            often = "twice" if len(rows) == 2 else f"{len(rows)} times"
            limit = f"`{port.rack}` is on plane {port.plane} {often}, first in line {rows[0]}"
            remedy = f"leave one out, or give --ports {len(rows)} where the algorithm has that"
            raise self._wrong(number, where["rack"], limit, remedy)

    def _wrong(self, line: int, column: int, limit: str, remedy: str) -> ConfigError:
        return ConfigError(f"{self.path}:{line}:{column}: {limit}; {remedy}")
