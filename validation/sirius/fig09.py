"""Fig 9: FCT of short flows and goodput against load; and the cost of the round of requests and
grants for a lone flow, which explains the 63 % of the figure."""

from pathlib import Path
from typing import Any

from lightloom.validation import Estimate, Setting
from lightloom.validation.estimate import least, most
from lightloom.validation.scripts import beside
from lightloom.validation.study import Runs, draw, panel, vary

setup = beside(__file__, "setup")

FACTORS = ("stop", "nic", "mean_rule", "esn", "osub", "uplink_plan")
LONE = Path(__file__).with_name("lone.toml")
LOADS, P99 = setup.LOADS, setup.P99
PLANS = ("rotor", "mixed", "wide")

Key = tuple[str, float]


def measure(quick: bool, workers: int, reading: Setting) -> dict[str, Any]:
    """FCT and goodput of each network at each load."""
    fabrics = ("sirius", "sirius-ideal", "esn", setup.OSUB[reading.choice["osub"]])
    cases = {(f, load): (setup.settings(reading, load), f) for f in fabrics for load in LOADS}
    runs = vary(setup.PAPER, cases, **setup.size(quick), workers=workers)
    lone = _lone_flow(reading, workers)
    return {"data": _panels(runs, fabrics, reading), "claims": _claims(runs, reading) | lone}


def _claims(runs: Runs[Key], reading: Setting) -> dict[str, Estimate]:
    goodput, osub = setup.goodput(reading), setup.OSUB[reading.choice["osub"]]

    def ratios(fabric: str, base: str, path: str) -> list[Estimate]:
        return [runs.paired((fabric, load), (base, load), path) for load in LOADS]

    def saved(pairs: list[Estimate]) -> list[Estimate]:
        """Reductions, of ratios [%]."""
        return [ratio.minus(1).times(-100) for ratio in pairs]

    ideal = saved(ratios("sirius-ideal", "sirius", P99))
    return {
        "fig09-fct-close-to-esn": most(ratios("sirius", "esn", P99)),
        "fig09-goodput-close-to-esn": least(ratios("sirius", "esn", goodput)),
        "fig09-fct-below-osub": most(saved(ratios("sirius", osub, P99))),
        "fig09-goodput-above-osub": most(ratios("sirius", osub, goodput)),
        "fig09-ideal-fct-at-10": ideal[0],
        "fig09-ideal-fct-at-25": ideal[1],
        "fig09-ideal-gap-closes": ideal[-1].less(ideal[0]),
    }


def _lone_flow(reading: Setting, workers: int) -> dict[str, Estimate]:
    """Saving of ideal congestion control for a lone flow, by uplink plan.

    The figure shows the 99th percentile, so it is that of the lone flows; and their
    mean, if epochs leave a slot to read the last requests.
    """
    spare = {"rotor": "12", "wide": "12", "mixed": "16"}
    ideal, plain = "sirius-ideal", "sirius"
    nic = [override for override in reading.overrides if override.startswith("cluster.")]
    cases = {}
    for p in PLANS:
        cases[p, ideal] = ([*nic, f"fabric.{ideal}.uplink_plan={p}"], ideal)
        cases[p, plain] = ([*nic, f"fabric.{plain}.uplink_plan={p}"], plain)
        epoch = f"fabric.{plain}.epoch_slots={spare[p]}"
        cases[p, "spare"] = ([*nic, f"fabric.{plain}.uplink_plan={p}", epoch], plain)
    runs = vary(LONE, cases, flows=1_000, seeds=range(1, 9), workers=workers)

    def saved(plan: str, case: str, path: str) -> Estimate:
        return runs.paired((plan, ideal), (plan, case), path).minus(1).times(-100)

    p99 = {f"fig09-lone-flow-{p}": saved(p, plain, "fct.all.p99_us") for p in PLANS}
    mean = {f"fig09-lone-flow-mean-{p}": saved(p, "spare", "fct.all.mean_us") for p in PLANS}
    return p99 | mean


def _panels(runs: Runs[Key], fabrics: tuple[str, ...], reading: Setting) -> list[dict[str, Any]]:
    def lines(path: str) -> dict[str, list[Estimate]]:
        return {f: runs.row(((f, load) for load in LOADS), path) for f in fabrics}

    load, goodput = ("load L", LOADS), lines(setup.goodput(reading))
    return [
        panel("a) FCT, short flows", load, "99th percentile [us]", lines(P99), log_y=True),
        panel("b) Goodput", load, "normalised by N·R", goodput),
    ]


figure = draw
