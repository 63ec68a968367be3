"""Fig 12: goodput against load with 1, 1.5 and 2 times the base uplinks, with the
law's load and with the sample's."""

from itertools import product
from pathlib import Path
from typing import Any

from lightloom.reproduce.scripts import beside
from lightloom.reproduce.study import Runs, draw, panel, vary

rules = beside(__file__, "rules")

PAPER = Path(__file__).with_name("paper.toml")
LOADS = (0.1, 0.25, 0.5, 0.75, 1.0)
UPLINKS = {"1x": 8, "1.5x": 12, "2x": 16}
P99 = "fct.short.p99_us"
GOODPUT = "goodput_normalized"

Key = tuple[str, str, float]


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """Sirius with each number of uplinks, and ESN, at each load."""
    cases: dict[Key, tuple[list[str], str]] = {}
    for rule, load in product(rules.RULES, LOADS):
        offered = rules.settings(rule, load)
        cases[rule, "esn", load] = (offered, "esn")
        for name, count in UPLINKS.items():
            cases[rule, name, load] = ([*offered, f"fabric.sirius.uplinks={count}"], "sirius")
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
    def to_esn(name: str, load: float) -> float:
        return runs.ratio((rule, name, load), (rule, "esn", load), GOODPUT)

    fct = [runs.ratio((rule, "1x", load), (rule, "2x", load), P99) for load in LOADS]
    return {
        "fig12-low-load-needs-none": min(to_esn("1x", 0.1), to_esn("1x", 0.25)),
        "fig12-1x-falls-behind": to_esn("1x", 1.0),
        "fig12-1x-at-full-load": to_esn("1x", 1.0),
        "fig12-one-and-a-half-matches": min(to_esn("1.5x", load) for load in LOADS),
        "fig12-fct-unmoved": max(fct),
    }


def _panels(runs: Runs[Key]) -> list[dict[str, Any]]:
    def lines(rule: str, path: str) -> dict[str, list[float | None]]:
        names = {"esn": "esn"} | {name: f"sirius, {name} uplinks" for name in UPLINKS}
        return {
            shown: runs.line(((rule, name, load) for load in LOADS), path)
            for name, shown in names.items()
        }

    load = ("load L", LOADS)
    panels = []
    for rule, meaning in rules.RULES.items():
        goodput, fct = lines(rule, GOODPUT), lines(rule, P99)
        title = f"FCT, short flows ({meaning})"
        panels.append(panel(f"Goodput ({meaning})", load, "normalised by N·R", goodput))
        panels.append(panel(title, load, "99th percentile [us]", fct, log_y=True))
    return panels


figure = draw
