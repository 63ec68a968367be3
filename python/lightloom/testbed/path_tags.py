"""VLANs of paths over circuits, which rack switches and servers use (HydRA §III.B.1). Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from lightloom import _core
from lightloom.control.topology import vlans

ELECTRICAL = 100
"""VLAN of the electrical network."""

Row = tuple[int, int, int, int]
"""A rule of a rack switch: rack, VLAN, destination rack, 1 + plane of the next circuit or 0."""


@dataclass(frozen=True)
class Path:
    """A path over circuits that is used in both directions."""

    racks: tuple[int, ...]
    planes: tuple[int, ...]

    @property
    def ends(self) -> tuple[int, int]:
        """Its ends, the lower rack first."""
        a, b = self.racks[0], self.racks[-1]
        return min(a, b), max(a, b)

    def rows(self, vlan: int) -> list[Row]:
        """The rules of the racks on the path for packets of a VLAN, in both directions."""
        steps = list(zip(self.racks, self.planes, strict=False))
        back = list(zip(self.racks[::-1], self.planes[::-1], strict=False))
        there = [(at, vlan, self.racks[-1], 1 + plane) for at, plane in steps]
        return there + [(at, vlan, self.racks[0], 1 + plane) for at, plane in back]


def first_paths(routes: Iterable[Mapping[str, Any]]) -> dict[tuple[int, int], Path]:
    """The first path of each pair of racks, which carries all of its packets."""
    found: dict[tuple[int, int], Path] = {}
    for route in routes:
        path = Path(tuple(route["racks"]), tuple(route["planes"]))
        found.setdefault(path.ends, path)
    return found


class PathTags:
    """The assignment of paths to VLANs.

    Paths that are assigned together share VLANs, as few as can be found, none of which contains a
    loop. A VLAN that was released is reused last, so that no packet with its tag is still in
    transit.
    """

    def __init__(self, first: int = _core.TESTBED_FIRST_TAG, count: int = _core.TESTBED_TAGS):
        self._free = deque(range(first, first + count))
        self._vlan_of: dict[Path, int] = {}
        self._rows: dict[int, set[Row]] = {}

    def vlan_of(self, path: Path) -> int:
        """The VLAN of a path that was assigned."""
        return self._vlan_of[path]

    @property
    def in_use(self) -> int:
        """Number of VLANs with paths."""
        return len({*self._vlan_of.values()})

    def assign(self, paths: Iterable[Path]) -> list[Row]:
        """Assigns a VLAN to paths that have none; returns the rows that rack switches need before a
        packet with its tag arrives.

        Raises:
            OSError: if all VLANs are used.
        """
        new = [path for path in dict.fromkeys(paths) if path not in self._vlan_of]
        changed: dict[tuple[int, int, int], int] = {}
        numbers: dict[int, int] = {}
        for path, group in zip(new, _groups(new), strict=True):
            if group not in numbers:
                numbers[group] = self._take(changed)
            vlan = self._vlan_of[path] = numbers[group]
            for at, _, to, hop in path.rows(vlan):
                self._rows[vlan].add((at, vlan, to, hop))
                changed[at, vlan, to] = hop
        return [(at, vlan, to, hop) for (at, vlan, to), hop in changed.items()]

    def _take(self, changed: dict[tuple[int, int, int], int]) -> int:
        if not self._free:
            raise OSError("all VLANs for paths are in use; use fewer circuits")
        vlan = self._free.popleft()
        changed |= {(at, vlan, to): 0 for at, _, to, _ in self._rows.get(vlan, ())}
        self._rows[vlan] = set()
        return vlan

    def keep(self, paths: Iterable[Path]) -> None:
        """Releases the VLANs of all other paths."""
        before = {*self._vlan_of.values()}
        wanted = {*paths}
        self._vlan_of = {path: vlan for path, vlan in self._vlan_of.items() if path in wanted}
        self._free += sorted(before - {*self._vlan_of.values()})


def _groups(paths: list[Path]) -> list[int]:
    """Paths that may share a VLAN have the same number."""
    numbers: dict[tuple[int, int, int], int] = {}
    lists = []
    for path in paths:
        hops = zip(path.racks, path.racks[1:], path.planes, strict=False)
        ids = [(min(a, b), max(a, b), plane) for a, b, plane in hops]
        lists.append([numbers.setdefault(hop, len(numbers)) for hop in ids])
    if not paths:
        return []
    found = vlans(lists, circuits=[(a, b) for a, b, _ in numbers])
    return [int(vlan) for vlan in found.vlan_of]
