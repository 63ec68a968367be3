"""Fig 9: FCT of short flows and goodput against load; and what the round of
requests and grants costs a lone flow, to which the figure's 63 % comes down.

Two things that the paper leaves open decide how hard the networks are pressed:
whether a load is the law's or the sample's (200,000 sizes have half the law's
mean), and where 3:1 bites. Claims are judged by both loads; those on ESN-OSUB by
the reading that favours them.
"""

from pathlib import Path
from typing import Any

from lightloom.reproduce.scripts import beside
from lightloom.reproduce.study import Runs, draw, panel, vary

rules = beside(__file__, "rules")

PAPER = Path(__file__).with_name("paper.toml")
LONE = Path(__file__).with_name("lone.toml")
LOADS = (0.1, 0.25, 0.5, 0.75, 1.0)
FABRICS = ("sirius", "sirius-ideal", "esn", "esn-osub", "esn-osub-rack")
RULES: dict[str, str] = rules.RULES
PLANS = ("rotor", "mixed", "wide")
P99 = "fct.short.p99_us"
GOODPUT = "goodput_normalized"

Key = tuple[str, str, float]


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """FCT and goodput of each network at each load, by both rules."""
    cases = {
        (rule, f, load): (rules.settings(rule, load), f)
        for rule in RULES
        for load in LOADS
        for f in FABRICS
    }
    runs = vary(
        PAPER,
        cases,
        **rules.size(quick),
        workers=workers,
    )
    claims = _against_osub(runs) | _lone_flow(workers)
    for rule in RULES:
        claims |= rules.named(_claims(runs, rule), rule)
    return {"data": _panels(runs), "claims": claims}


def _ratios(runs: Runs[Key], rule: str, fabric: str, base: str, path: str) -> list[float]:
    return [runs.ratio((rule, fabric, load), (rule, base, load), path) for load in LOADS]


def _against_osub(runs: Runs[Key]) -> dict[str, float]:
    readings = [(rule, osub) for osub in ("esn-osub", "esn-osub-rack") for rule in RULES]

    def ratios(path: str) -> list[float]:
        return [r for rule, osub in readings for r in _ratios(runs, rule, "sirius", osub, path)]

    return {
        "fig09-fct-below-osub": 100 * (1 - min(ratios(P99))),
        "fig09-goodput-above-osub": max(ratios(GOODPUT)),
    }


def _claims(runs: Runs[Key], rule: str) -> dict[str, float]:
    saved = [100 * (1 - r) for r in _ratios(runs, rule, "sirius-ideal", "sirius", P99)]
    return {
        "fig09-fct-close-to-esn": max(_ratios(runs, rule, "sirius", "esn", P99)),
        "fig09-goodput-close-to-esn": min(_ratios(runs, rule, "sirius", "esn", GOODPUT)),
        "fig09-ideal-fct-at-10": saved[0],
        "fig09-ideal-fct-at-25": saved[1],
        "fig09-ideal-gap-closes": saved[-1] - saved[0],
    }


def _lone_flow(workers: int) -> dict[str, float]:
    """What ideal congestion control saves a flow that is alone, by uplink plan.

    The figure shows the 99th percentile, so it is that of the lone flows; and their
    mean, if epochs leave a slot to read the last requests.
    """
    spare = {"rotor": "12", "wide": "12", "mixed": "16"}
    ideal, plain = "sirius-ideal", "sirius"
    cases = {}
    for p in PLANS:
        cases[p, ideal] = ([f"fabric.{ideal}.uplink_plan={p}"], ideal)
        cases[p, plain] = ([f"fabric.{plain}.uplink_plan={p}"], plain)
        epoch = f"fabric.{plain}.epoch_slots={spare[p]}"
        cases[p, "spare"] = ([f"fabric.{plain}.uplink_plan={p}", epoch], plain)
    runs = vary(LONE, cases, flows=1_000, seeds=[1], workers=workers)

    def saved(plan: str, case: str, path: str) -> float:
        return 100 * (1 - runs.ratio((plan, ideal), (plan, case), path))

    p99 = {f"fig09-lone-flow-{p}": saved(p, plain, "fct.all.p99_us") for p in PLANS}
    mean = {f"fig09-lone-flow-mean-{p}": saved(p, "spare", "fct.all.mean_us") for p in PLANS}
    return p99 | mean


def _panels(runs: Runs[Key]) -> list[dict[str, Any]]:
    def lines(rule: str, path: str) -> dict[str, list[float | None]]:
        return {f: runs.line(((rule, f, load) for load in LOADS), path) for f in FABRICS}

    load = ("load L", LOADS)
    panels = []
    for rule, meaning in RULES.items():
        fct, goodput = lines(rule, P99), lines(rule, GOODPUT)
        title = f"FCT, short flows ({meaning})"
        panels.append(panel(title, load, "99th percentile [us]", fct, log_y=True))
        panels.append(panel(f"Goodput ({meaning})", load, "normalised by N·R", goodput))
    return panels


figure = draw
