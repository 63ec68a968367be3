"""How much hangs on the uplink plan, on which the paper is silent: twelve uplinks of
128 racks do not tile with 16-port gratings, and each plan hangs them differently."""

from itertools import product
from pathlib import Path
from typing import Any

from lightloom.reproduce.scripts import beside
from lightloom.reproduce.study import Runs, draw, panel, vary

rules = beside(__file__, "rules")

PAPER = Path(__file__).with_name("paper.toml")
LOADS = (0.1, 0.5, 1.0)
DEFAULT = "rotor"
PLANS = (DEFAULT, "wide", "mixed")
P99 = "fct.short.p99_us"
GOODPUT = "goodput_normalized"
QUEUE = "queue_peak_bytes"
REORDER = "reorder_peak_bytes"

Key = tuple[str, str, float]


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """Sirius with each plan at each load, by both rules."""
    cases = {
        (rule, plan, load): (
            [*rules.settings(rule, load), f"fabric.sirius.uplink_plan={plan}"],
            "sirius",
        )
        for rule, plan, load in product(rules.RULES, PLANS, LOADS)
    }
    runs = vary(PAPER, cases, **rules.size(quick), workers=workers)
    claims: dict[str, float] = {}
    for rule in rules.RULES:
        claims |= rules.named(_claims(runs, rule), rule)
    return {"data": _panels(runs), "claims": claims}


def _claims(runs: Runs[Key], rule: str) -> dict[str, float]:
    def to_rotor(path: str) -> list[float]:
        pairs = product(PLANS, LOADS)
        return [runs.ratio((rule, p, load), (rule, DEFAULT, load), path) for p, load in pairs]

    return {
        "plans-goodput": 100 * max(abs(r - 1) for r in to_rotor(GOODPUT)),
        "plans-fct": max(max(r, 1 / r) for r in to_rotor(P99)),
    }


def _panels(runs: Runs[Key]) -> list[dict[str, Any]]:
    return [p for rule in rules.RULES for p in _by_rule(runs, rule)]


def _by_rule(runs: Runs[Key], rule: str) -> list[dict[str, Any]]:
    def shown(title: str, y: str, path: str, scale: float = 1.0) -> dict[str, Any]:
        lines = {p: runs.line(((rule, p, load) for load in LOADS), path, scale) for p in PLANS}
        return panel(f"{title} ({rules.RULES[rule]})", ("load L", LOADS), y, lines)

    return [
        shown("FCT, short flows", "99th percentile [us]", P99),
        shown("Goodput", "normalised by N·R", GOODPUT),
        shown("Queue, worst node", "peak [KB]", QUEUE, 1e-3),
        shown("Reordering, worst flow", "peak [KB]", REORDER, 1e-3),
    ]


figure = draw
