"""Effect of the uplink plan, which the paper does not state: twelve uplinks of 128 racks do not fit
evenly on 16-port gratings, and each plan connects them differently. A figure for
docs/fabrics/sirius.md; claims by each plan are in the table of readings."""

from itertools import product
from typing import Any

from lightloom.validation import Estimate, Setting
from lightloom.validation.scripts import beside
from lightloom.validation.study import Runs, draw, panel, vary

setup = beside(__file__, "setup")

FACTORS = ("stop", "nic", "mean_rule")
LOADS = (0.1, 0.5, 1.0)
PLANS = ("rotor", "wide", "mixed")

Key = tuple[str, float]


def measure(quick: bool, workers: int, reading: Setting) -> dict[str, Any]:
    """Sirius with each plan at each load."""
    cases = {
        (plan, load): (
            [*setup.settings(reading, load), f"fabric.sirius.uplink_plan={plan}"],
            "sirius",
        )
        for plan, load in product(PLANS, LOADS)
    }
    runs = vary(setup.PAPER, cases, **setup.size(quick), workers=workers)
    return {"data": _panels(runs, reading), "claims": _claims(runs, reading)}


def _claims(runs: Runs[Key], reading: Setting) -> dict[str, Estimate]:
    """The largest difference of a plan from the chosen one, at any load [%]."""

    def apart(path: str) -> Estimate:
        pairs = product(PLANS[1:], LOADS)
        off = [
            runs.paired((p, load), (PLANS[0], load), path).minus(1).times(100) for p, load in pairs
        ]
        return max(off, key=lambda e: abs(e.value))

    return {"plans-goodput": apart(setup.goodput(reading)), "plans-fct": apart(setup.P99)}


def _panels(runs: Runs[Key], reading: Setting) -> list[dict[str, Any]]:
    def shown(title: str, y: str, path: str, scale: float = 1.0) -> dict[str, Any]:
        lines = {p: runs.row(((p, load) for load in LOADS), path, scale) for p in PLANS}
        return panel(title, ("load L", LOADS), y, lines)

    return [
        shown("FCT, short flows", "99th percentile [us]", setup.P99),
        shown("Goodput", "normalised by N·R", setup.goodput(reading)),
        shown("Queue, worst node", "peak [KB]", setup.QUEUE, 1e-3),
        shown("Reordering, worst flow", "peak [KB]", setup.REORDER, 1e-3),
    ]


figure = draw
