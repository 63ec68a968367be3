"""Fig 11: effect of the guardband on FCT, with a slot of ten times the guardband.

The figure states no load; §2.2 mentions "at high load": L = 100 %.
"""

from itertools import product
from typing import Any

from lightloom.validation import Estimate, Setting
from lightloom.validation.estimate import most
from lightloom.validation.scripts import beside
from lightloom.validation.study import Runs, draw, panel, vary

setup = beside(__file__, "setup")

FACTORS = ("stop", "nic", "mean_rule", "esn", "uplink_plan")
LOAD = 1.0
GUARDBANDS_NS = (1, 5, 10, 20, 40)
FABRICS = ("sirius", "sirius-ideal")

Key = tuple[str, int]


def measure(quick: bool, workers: int, reading: Setting) -> dict[str, Any]:
    """Sirius and its ideal at each guardband, and ESN, which has none."""
    load = setup.settings(reading, LOAD)
    cases: dict[Key, tuple[list[str], str]] = {("esn", 0): (load, "esn")}
    for f, g in product(FABRICS, GUARDBANDS_NS):
        timing = [f'fabric.{f}.guardband="{g} ns"', f'fabric.{f}.slot="{10 * g} ns"']
        # The values of the set-up: the same run as in the other figures.
        cases[f, g] = ([*load, *([] if g == 10 else timing)], f)
    runs = vary(setup.PAPER, cases, **setup.size(quick), workers=workers)
    return {"data": _panels(runs, reading), "claims": _claims(runs, reading)}


def _claims(runs: Runs[Key], reading: Setting) -> dict[str, Estimate]:
    def to_ten(guardband: int, path: str) -> Estimate:
        return runs.paired(("sirius", guardband), ("sirius", 10), path)

    def to_ideal(guardband: int) -> Estimate:
        """Time that the protocol adds [us]."""
        whole, ideal = (runs.across((f, guardband), setup.P99) for f in FABRICS)
        return whole.less(ideal)

    # Increase per nanosecond of guardband, relative to the FCT at 10 ns.
    beyond = to_ten(40, setup.P99).minus(1).times(1 / 30)
    below = to_ten(1, setup.P99).minus(1).times(-1 / 9)
    off = [to_ten(g, setup.goodput(reading)).minus(1).times(100) for g in GUARDBANDS_NS]
    return {
        "fig11-fct-grows-sharply": beyond.over(below),
        "fig11-fct-short-guardband": runs.paired(("sirius", 1), ("sirius", 10), setup.P99),
        "fig11-gap-grows": to_ideal(40).over(to_ideal(10)),
        "fig11-goodput-steady": most(e if e.value >= 0 else e.times(-1) for e in off),
    }


def _panels(runs: Runs[Key], reading: Setting) -> list[dict[str, Any]]:
    def lines(path: str) -> dict[str, list[Estimate]]:
        curves = {f: runs.row(((f, g) for g in GUARDBANDS_NS), path) for f in FABRICS}
        return curves | {"esn": runs.row([("esn", 0)] * len(GUARDBANDS_NS), path)}

    guardband, where = ("guardband [ns]", GUARDBANDS_NS), f"L = {LOAD:.0%}"
    fct, goodput = lines(setup.P99), lines(setup.goodput(reading))
    return [
        panel(f"FCT, short flows, {where}", guardband, "99th percentile [us]", fct),
        panel(f"Goodput, {where}", guardband, "normalised by N·R", goodput),
    ]


figure = draw
