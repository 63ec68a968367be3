"""Cross-connects in a file: the output of `lightloom plan --port-map -o` or of `lightloom switch
read --json`, or a list of names.

A file can replace a switch, as the present or as the requested cross-connects.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lightloom.errors import ConfigError
from lightloom.storage import reading
from lightloom.storage.staging import write_files
from lightloom.switches.ports import LARGEST, Pair, Port, Size, name_of, pair_of
from lightloom.switches.protocol import (
    WAIT_S,
    CrossConnect,
    Description,
    Outcome,
    Reading,
    SwitchError,
    check_pairs,
    difference,
)
from lightloom.switches.states import Status

REMEDY = 'name a plan with a port map, or a list such as ["1A-29B"]'


class StoredSwitch:
    """A file of cross-connects."""

    def __init__(self, path: Path) -> None:
        self._path = path
        size, self._pairs, self._is_list = _read(path)
        self._has_size, self._size = size is not None, size or Size(LARGEST, LARGEST)

    def describe(self) -> Description:
        """Returns the properties of the switch."""
        name = f"file:{self._path}"
        return Description(name, "file", "", self._size, reports_size=self._has_size)

    def read(self) -> Reading:
        """Returns its cross-connects."""
        return Reading([CrossConnect(pair, name_of(pair)) for pair in self._pairs])

    def change(
        self, remove: Collection[Pair], add: Collection[Pair], *, wait_s: float = WAIT_S
    ) -> Outcome:
        """Rewrites the file as a list of names."""
        check_pairs(remove, add, self._size)
        if not self._is_list:
            limit = "is no list of names, and would become one"
            remedy = "make a file with [] and change that one, with --to for the same"
            raise SwitchError(f"{self._path}: {limit}; {remedy}", Outcome())
        gone, new, kept = difference(self.read(), remove, add)
        pairs = sorted({*self._pairs} - {*gone} | {*new})
        _check(pairs, self._path)
        text = json.dumps([*map(name_of, pairs)], indent=2) + "\n"
        write_files({self._path: text.encode()})
        self._pairs = pairs
        return Outcome(gone, new, kept, None)

    def power(self) -> Mapping[Port, float] | None:
        """Returns None, because a file has no light."""
        return None

    def close(self) -> None:
        """Nothing is open."""


def read_wanted(path: Path) -> list[Pair]:
    """Reads the cross-connects of a file.

    Raises:
        ConfigError: if it has none, or two of them use the same port.
    """
    return _read(path)[1]


def _read(path: Path) -> tuple[Size | None, list[Pair], bool]:
    """Reads the size, the cross-connects, and whether the file is a list of names."""
    try:
        found = json.loads(reading.text(path, reading.DATA))
    except (ValueError, RecursionError):
        raise ConfigError(f"{path}: not JSON; {REMEDY}") from None
    pairs = sorted(_pairs(path, found))
    try:
        _check(pairs, path)
    except SwitchError as problem:
        raise ConfigError(str(problem)) from None
    return _size(found), pairs, isinstance(found, list)


def _pairs(path: Path, found: Any) -> Iterator[Pair]:
    if isinstance(found, list):
        for name in found:
            pair = pair_of(name) if isinstance(name, str) else None
            if pair is None:
                raise ConfigError(f"{path}: {json.dumps(name)[:60]}: no cross-connect; {REMEDY}")
            yield pair
        return
    if isinstance(found, dict) and isinstance(found.get("cross_connects"), list):
        yield from _read_pairs(path, found["cross_connects"])
        return
    circuits = found.get("circuits") if isinstance(found, dict) else None
    if not isinstance(circuits, list):
        raise ConfigError(f"{path}: no circuits in it; {REMEDY}")
    for at, circuit in enumerate(circuits):
        listed = circuit.get("cross_connects") if isinstance(circuit, dict) else None
        if not isinstance(listed, list):
            raise ConfigError(f"{path}: circuits[{at}] names no ports; {REMEDY}")
        for pair in listed:
            if not (isinstance(pair, list) and len(pair) == 2 and {*map(type, pair)} == {int}):
                raise ConfigError(f"{path}: circuits[{at}].cross_connects: no pairs; {REMEDY}")
            yield pair[0], pair[1]


def _read_pairs(path: Path, rows: Sequence[Any]) -> Iterator[Pair]:
    """Yields the cross-connects that `switch read --json` printed, without INVALID ones, which were
    never set up."""
    for at, row in enumerate(rows):
        ends: list[Any] = [row.get(side) for side in "ab"] if isinstance(row, dict) else []
        if len(ends) != 2 or {*map(type, ends)} != {int}:
            raise ConfigError(f"{path}: cross_connects[{at}]: no ports a and b; {REMEDY}")
        if row.get("status") != Status.INVALID:
            yield ends[0], ends[1]


def _size(found: Any) -> Size | None:
    """Returns the size for which a plan was made; None if the file does not state it."""
    ports = found.get("port_map") if isinstance(found, dict) else None
    text = ports.get("switch_size") if isinstance(ports, dict) else None
    sides = str(text).split("x")
    if len(sides) == 2 and all(side.isdecimal() and len(side) < 5 for side in sides):
        return Size(int(sides[0]), int(sides[1]))
    return None


def _check(pairs: Collection[Pair], path: Path) -> None:
    for side in (0, 1):
        seen: set[int] = set()
        for pair in pairs:
            if pair[side] in seen:
                port = f"{pair[side]}{'AB'[side]}"
                raise SwitchError(f"{path}: port {port} is in two cross-connects; {REMEDY}")
            seen.add(pair[side])
