"""Fig 10: effect of the size Q of a relay queue on FCT, goodput, memory and reordering.

Peaks are of the worst node and the worst flow of a run, and scatter by a factor of two from seed
to seed: hence the intervals.
"""

from itertools import pairwise
from typing import Any

from lightloom.validation import Estimate, Setting
from lightloom.validation.estimate import least, most
from lightloom.validation.scripts import beside
from lightloom.validation.study import Runs, draw, panel, vary

setup = beside(__file__, "setup")

FACTORS = ("stop", "nic", "mean_rule", "uplink_plan")
LOADS = setup.LOADS
SIZES = (2, 4, 8, 16)

Key = tuple[int, float]


def measure(quick: bool, workers: int, reading: Setting) -> dict[str, Any]:
    """Sirius with each Q at each load."""
    cases = {
        (q, load): ([*setup.settings(reading, load), f"fabric.sirius.queue={q}"], "sirius")
        for q in SIZES
        for load in LOADS
    }
    runs = vary(setup.PAPER, cases, **setup.size(quick), workers=workers)
    return {"data": _panels(runs, reading), "claims": _claims(runs, reading)}


def _claims(runs: Runs[Key], reading: Setting) -> dict[str, Estimate]:
    def grows(path: str) -> Estimate:
        """The smallest growth at a doubling of Q, at full load."""
        return least(runs.paired((b, 1.0), (a, 1.0), path) for a, b in pairwise(SIZES))

    def peak(path: str) -> Estimate:
        return most(runs.row(((4, load) for load in LOADS), path, 1e-3))

    return {
        "fig10-q2-goodput": runs.paired((2, 1.0), (4, 1.0), setup.goodput(reading)),
        "fig10-larger-q-fct": grows(setup.P99),
        "fig10-larger-q-memory": grows(setup.QUEUE),
        "fig10-larger-q-reordering": grows(setup.REORDER),
        "fig10-q4-queue-peak": peak(setup.QUEUE),
        "fig10-q4-reorder-peak": peak(setup.REORDER),
    }


def _panels(runs: Runs[Key], reading: Setting) -> list[dict[str, Any]]:
    def shown(title: str, y: str, path: str, scale: float = 1.0, log: bool = False) -> Any:
        lines = {f"Q = {q}": runs.row(((q, load) for load in LOADS), path, scale) for q in SIZES}
        return panel(title, ("load L", LOADS), y, lines, log_y=log)

    return [
        shown("a) FCT, short flows", "99th percentile [us]", setup.P99, log=True),
        shown("b) Goodput", "normalised by N·R", setup.goodput(reading)),
        shown("c) Queue, worst node", "peak [KB]", setup.QUEUE, 1e-3),
        shown("d) Reordering, worst flow", "peak [KB]", setup.REORDER, 1e-3),
    ]


figure = draw
