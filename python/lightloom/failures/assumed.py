"""Assumptions of each fabric about failures: who detects them, how soon, and what is not modelled.
A test compares this module with the registry: it has an entry for exactly the kinds whose model has
failures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lightloom.devices.of_fabrics import lasers_of
from lightloom.units.counts import counted

Table = Mapping[str, Any]


def assumed(table: Table) -> str:
    """Returns the assumptions for a resolved table of a fabric; empty for a kind without
    failures."""
    found = _BY_KIND.get(str(table["kind"]))
    return "" if found is None else found(table)


def _electrical(table: Table) -> str:
    text = (
        "all switches know of it at once and nothing on a link is lost, where routing protocols "
        "take milliseconds"
    )
    if table["kind"] == "clos" and table["detail"] == "packets":
        text += (
            ". Beyond saturation short flows fill queues before the links that are left, which "
            'costs goodput that detail = "flows" keeps'
        )
    return text


def _sirius(table: Table) -> str:
    epochs = table["detection_epochs"]
    text = (
        f"declared dead after {epochs} silent epochs, known one epoch a hop later; cells lost "
        "until then are sent again"
    )
    if table["uplink_plan"] == "rotor":
        text += '. Its plan "rotor" has no gratings that could die; uplink_plan = "wide" has'
    return f"{text}{_lasers(table)}"


def _lasers(table: Table) -> str:
    """States what fails with a laser that feeds several transceivers."""
    found = lasers_of(table)
    if found is None or found.share < 2:
        return ""
    fed = min(found.share, found.uplinks)
    chips = counted(found.chips, "chip")
    text = (
        f". By its devices {fed} transceivers hang on a laser, {chips} for the {found.uplinks} of a"
    )
    return f"{text} node, and die with it; a spare that a bank of lasers has dies, too"


def _hybrid(_: Table) -> str:
    return (
        "its controller knows of a dead port at once, and circuits that the port had are dark; "
        "without a controller from the start no circuit is ever set; a plane dies as the ports of "
        "all racks to it. The electrical network beside them does not die"
    )


def _mordia(_: Table) -> str:
    return (
        "without a controller the schedule of the start goes on; ports, wavelengths and the "
        "ring do not die"
    )


def _rotors(_: Table) -> str:
    return (
        "all racks know of a dead rotor switch at once: no rack relays for a rack that it would "
        "never meet; pairs that no relay joins either wait. Racks and their uplinks do not die"
    )


_BY_KIND: Mapping[str, Callable[[Table], str]] = {
    "clos": _electrical,
    "tree": _electrical,
    "sirius": _sirius,
    "cthrough": _hybrid,
    "hydra": _hybrid,
    "hybrid": _hybrid,
    "mordia": _mordia,
    "rotornet": _rotors,
    "opera": _rotors,
}
