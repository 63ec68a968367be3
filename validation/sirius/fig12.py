"""Fig 12: goodput against load with 1, 1.5 and 2 times the base uplinks."""

from itertools import product
from typing import Any

from lightloom.validation import Estimate, Setting
from lightloom.validation.estimate import least, most
from lightloom.validation.scripts import beside
from lightloom.validation.study import Runs, draw, panel, vary

setup = beside(__file__, "setup")

FACTORS = ("stop", "nic", "mean_rule", "esn")
LOADS = setup.LOADS
UPLINKS = {"1x": 8, "1.5x": 12, "2x": 16}

Key = tuple[str, float]


def measure(quick: bool, workers: int, reading: Setting) -> dict[str, Any]:
    """Sirius with each number of uplinks, and ESN, at each load."""
    cases: dict[Key, tuple[list[str], str]] = {}
    for load in LOADS:
        cases["esn", load] = (setup.settings(reading, load), "esn")
    for load, (name, count) in product(LOADS, UPLINKS.items()):
        more = f"fabric.sirius.uplinks={count}"
        cases[name, load] = ([*setup.settings(reading, load), more], "sirius")
    runs = vary(setup.PAPER, cases, **setup.size(quick), workers=workers)
    return {"data": _panels(runs, reading), "claims": _claims(runs, reading)}


def _claims(runs: Runs[Key], reading: Setting) -> dict[str, Estimate]:
    def to_esn(name: str, load: float) -> Estimate:
        return runs.paired((name, load), ("esn", load), setup.goodput(reading))

    fct = [runs.paired(("1x", load), ("2x", load), setup.P99) for load in LOADS]
    return {
        "fig12-low-load-needs-none": least(to_esn("1x", load) for load in (0.1, 0.25)),
        "fig12-1x-falls-behind": to_esn("1x", 1.0),
        "fig12-1x-at-full-load": to_esn("1x", 1.0),
        "fig12-one-and-a-half-matches": least(to_esn("1.5x", load) for load in LOADS),
        "fig12-fct-unmoved": most(fct),
    }


def _panels(runs: Runs[Key], reading: Setting) -> list[dict[str, Any]]:
    names = {"esn": "esn"} | {name: f"sirius, {name} uplinks" for name in UPLINKS}

    def lines(path: str) -> dict[str, list[Estimate]]:
        return {
            shown: runs.row(((name, load) for load in LOADS), path) for name, shown in names.items()
        }

    load, goodput = ("load L", LOADS), lines(setup.goodput(reading))
    return [
        panel("Goodput", load, "normalised by N·R", goodput),
        panel("FCT, short flows", load, "99th percentile [us]", lines(setup.P99), log_y=True),
    ]


figure = draw
