"""Fig 4: required paths share VLANs whose union is free of loops."""

from typing import Any

from lightloom import control
from lightloom.validation.study import draw, panel

PATHS = ([0, 1, 2], [1, 2], [2, 3, 0], [3, 1], [0, 2, 4], [4, 5], [5, 0])


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """VLANs for the first n paths."""
    counts = [int(control.vlans(PATHS[:n]).vlan_of.max()) + 1 for n in range(1, len(PATHS) + 1)]
    lines = {"VLANs": [float(c) for c in counts]}
    panels = [panel("Fig 4", ("paths", range(1, len(PATHS) + 1)), "VLANs", lines)]
    return {"data": panels, "claims": {"fig04-seven-paths": counts[-1]}}


figure = draw
