"""Parts of the devices that a fabric names: shared lasers, gratings, circuit switches."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from lightloom.devices import photonics

Table = Mapping[str, Any]


@dataclass(frozen=True)
class Lasers:
    """The laser chips of a node (Sirius §4.5)."""

    kind: str
    uplinks: int
    """Transceivers of a node [count]."""
    share: int
    """Largest number of transceivers that one chip feeds [count]."""
    each: int = 1
    """Tunable lasers on a chip [count]: those of a bank, including its spares; otherwise 1."""

    @property
    def chips(self) -> int:
        """Chips of a node; all but the last one feed `share` transceivers each.

        >>> Lasers("fixed-bank", 12, 8).chips
        2
        """
        return -(-self.uplinks // self.share)

    @property
    def number(self) -> int:
        """Lasers of a node.

        >>> Lasers("tunable-bank", 12, 8, 3).number
        6
        """
        return self.chips * self.each


def design_of(fabric: Table) -> Table | None:
    """Returns the optical design of a resolved fabric with gratings; None if it names none."""
    found = fabric.get("devices")
    return found if isinstance(found, Mapping) and "laser" in found else None


def circuit_switch_of(fabric: Table) -> Table | None:
    """Returns the circuit switch that a resolved fabric names; None if it names none."""
    found = fabric.get("devices")
    return found if isinstance(found, Mapping) and "laser" not in found else None


def lasers_of(fabric: Table) -> Lasers | None:
    """Returns the lasers of a resolved fabric, with the sharing that its link budget allows; None
    if its devices are not named."""
    design = design_of(fabric)
    if design is None:
        return None
    # The link budget does not involve clocks. A fabric may use fewer ports than its gratings have;
    # its epoch is then shorter than that of the design alone, whose clocks and gains would drift
    # longer.
    still = {"cdr": "0 ppm", "amplitude": "0 dB/s"}
    calm = {**design, **{key: {**design.get(key, {}), "drift": d} for key, d in still.items()}}
    share, each = _chip(json.dumps(calm, sort_keys=True))
    return Lasers(str(design["laser"]["kind"]), int(fabric["uplinks"]), share, each)


@lru_cache
def _chip(design: str) -> tuple[int, int]:
    """Returns the transceivers that a chip of a design feeds, and its lasers. Cached, because
    solvers request the same design many times."""
    derived = photonics.derive(json.loads(design)).derived
    return int(derived["link"]["share"]), int(derived["lasers"])
