"""Fig 14: three nodes at different distances from the grating, whose cells meet there (A.2)."""

from typing import Any

from lightloom.devices import clock
from lightloom.validation.study import draw, panel

#: Delays of A, B and C to the grating, and that of the grating, in the figure's units of time.
DELAYS, GRATING = (2, 5, 3), 1
NAMES = "abc"


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """The paths of the first cells, from the start times that the clocks give."""
    del quick, workers
    starts = clock.epoch_starts(DELAYS)
    entered = [start + delay for start, delay in zip(starts, DELAYS, strict=True)]
    left = [time + GRATING for time in entered]
    delivered = [max(left) + delay for delay in DELAYS]
    nodes = ("node: 1 is A, 2 is B, 3 is C", [1, 2, 3])
    steps = {"starts": starts, "at the grating": entered, "leaves it": left}
    ways = {name: [float(t) for t in times] for name, times in steps.items()}
    ways["delivered to"] = [float(time) for time in delivered]
    claims = {
        **{f"fig14-start-{n}": float(t) for n, t in zip(NAMES, starts, strict=True)},
        "fig14-at-grating": float(max(entered)),
        "fig14-together": float(max(entered) - min(entered)),
        "fig14-out": float(max(left)),
        **{f"fig14-delivered-{n}": float(t) for n, t in zip(NAMES, delivered, strict=True)},
    }
    return {"data": [panel("Fig 14", nodes, "units of time", ways)], "claims": claims}


figure = draw
