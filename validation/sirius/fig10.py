"""Fig 10: what the size Q of a relay queue does to FCT, goodput, memory and
reordering, with the law's load and with the sample's."""

from pathlib import Path
from typing import Any

from lightloom.reproduce.scripts import beside
from lightloom.reproduce.study import Runs, draw, panel, vary

rules = beside(__file__, "rules")

PAPER = Path(__file__).with_name("paper.toml")
LOADS = (0.1, 0.25, 0.5, 0.75, 1.0)
SIZES = (2, 4, 8, 16)
P99 = "fct.short.p99_us"
GOODPUT = "goodput_normalized"
QUEUE = "queue_peak_bytes"
REORDER = "reorder_peak_bytes"

Key = tuple[str, int, float]


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """Sirius with each Q at each load."""
    cases = {
        (rule, q, load): ([*rules.settings(rule, load), f"fabric.sirius.queue={q}"], "sirius")
        for rule in rules.RULES
        for q in SIZES
        for load in LOADS
    }
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
    def at_full_load(q: int, path: str) -> float:
        return runs.ratio((rule, q, 1.0), (rule, 4, 1.0), path)

    def peak(path: str) -> float:
        values = runs.line(((rule, 4, load) for load in LOADS), path, 1e-3)
        return max(value or 0.0 for value in values)

    return {
        "fig10-q2-goodput": at_full_load(2, GOODPUT),
        "fig10-q16-fct": at_full_load(16, P99),
        "fig10-q16-memory": at_full_load(16, QUEUE),
        "fig10-q16-reordering": at_full_load(16, REORDER),
        "fig10-q4-queue-peak": peak(QUEUE),
        "fig10-q4-reorder-peak": peak(REORDER),
    }


def _panels(runs: Runs[Key]) -> list[dict[str, Any]]:
    return [p for rule in rules.RULES for p in _by_rule(runs, rule)]


def _by_rule(runs: Runs[Key], rule: str) -> list[dict[str, Any]]:
    def shown(
        title: str, y: str, path: str, scale: float = 1.0, log_y: bool = False
    ) -> dict[str, Any]:
        lines = {
            f"Q = {q}": runs.line(((rule, q, load) for load in LOADS), path, scale) for q in SIZES
        }
        title = f"{title} ({rules.RULES[rule]})"
        return panel(title, ("load L", LOADS), y, lines, log_y=log_y)

    return [
        shown("a) FCT, short flows", "99th percentile [us]", P99, log_y=True),
        shown("b) Goodput", "normalised by N·R", GOODPUT),
        shown("c) Queue, worst node", "peak [KB]", QUEUE, 1e-3),
        shown("d) Reordering, worst flow", "peak [KB]", REORDER, 1e-3),
    ]


figure = draw
