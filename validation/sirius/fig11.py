"""Fig 11: what the guardband does to FCT, when the slot grows with it so that
it stays a tenth of the slot. The paper does not name the load: L = 50 % here, of
the law and of the sample."""

from itertools import product
from pathlib import Path
from typing import Any

from lightloom.reproduce.scripts import beside
from lightloom.reproduce.study import Runs, draw, panel, vary

rules = beside(__file__, "rules")

PAPER = Path(__file__).with_name("paper.toml")
LOAD = 0.5
GUARDBANDS_NS = (1, 5, 10, 20, 40)
FABRICS = ("sirius", "sirius-ideal")
P99 = "fct.short.p99_us"
GOODPUT = "goodput_normalized"

Key = tuple[str, str, int]


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """Sirius and its ideal at each guardband, and ESN, which has none."""
    cases: dict[Key, tuple[list[str], str]] = {}
    for rule in rules.RULES:
        load = rules.settings(rule, LOAD)
        cases[rule, "esn", 0] = (load, "esn")
        for f, g in product(FABRICS, GUARDBANDS_NS):
            timing = [f'fabric.{f}.guardband="{g} ns"', f'fabric.{f}.slot="{10 * g} ns"']
            cases[rule, f, g] = ([*load, *timing], f)
    runs = vary(
        PAPER,
        cases,
        **rules.size(quick),
        workers=workers,
    )
    claims: dict[str, float] = {}
    for rule in rules.RULES:
        claims |= rules.named(_claims(runs, rule), rule)
    return {"data": _panels(runs), "claims": claims}


def _claims(runs: Runs[Key], rule: str) -> dict[str, float]:
    def gap(guardband: int) -> float:
        whole, ideal = (runs.value((rule, f, guardband), P99) or 0.0 for f in FABRICS)
        return whole - ideal

    def to_ten(guardband: int, path: str) -> float:
        return runs.ratio((rule, "sirius", guardband), (rule, "sirius", 10), path)

    goodputs = [to_ten(g, GOODPUT) for g in GUARDBANDS_NS]
    return {
        "fig11-fct-grows": to_ten(40, P99),
        "fig11-fct-short-guardband": to_ten(1, P99),
        "fig11-gap-grows": gap(40) / gap(10),
        "fig11-goodput-steady": 100 * max(abs(ratio - 1) for ratio in goodputs),
    }


def _panels(runs: Runs[Key]) -> list[dict[str, Any]]:
    def lines(rule: str, path: str) -> dict[str, list[float | None]]:
        curves = {f: runs.line(((rule, f, g) for g in GUARDBANDS_NS), path) for f in FABRICS}
        return curves | {"esn": [runs.value((rule, "esn", 0), path)] * len(GUARDBANDS_NS)}

    guardband = ("guardband [ns]", GUARDBANDS_NS)
    panels = []
    for rule, meaning in rules.RULES.items():
        fct, goodput = lines(rule, P99), lines(rule, GOODPUT)
        where = f"L = {LOAD:.0%} ({meaning})"
        panels.append(panel(f"FCT, short flows, {where}", guardband, "99th percentile [us]", fct))
        panels.append(panel(f"Goodput, {where}", guardband, "normalised by N·R", goodput))
    return panels


figure = draw
