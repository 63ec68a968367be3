"""Fig 13: what small flows lose to cells of a fixed size. The paper does not
name the load: L = 50 % and 100 % here, of the law and of the sample; claims are
judged at 100 %, where padding has to cost goodput if it costs anything."""

import statistics
from pathlib import Path
from typing import Any

import lightloom
from lightloom.reproduce.scripts import beside
from lightloom.reproduce.study import Runs, draw, panel, vary

rules = beside(__file__, "rules")

PAPER = Path(__file__).with_name("paper.toml")
MEANS = (512, 2_000, 4_000, 16_000, 100_000)
LOADS = (0.5, 1.0)
P99 = "fct.short.p99_us"
GOODPUT = "goodput_normalized"

Key = tuple[str, str, float, int]


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """Sirius and ESN at each mean flow size and load."""
    cases = {
        (rule, f, load, mean): ([*rules.settings(rule, load), _mean(mean)], f)
        for rule in rules.RULES
        for mean in MEANS
        for load in LOADS
        for f in ("sirius", "esn")
    }
    runs = vary(
        PAPER,
        cases,
        **rules.size(quick),
        workers=workers,
    )
    claims = _medians()
    for rule in rules.RULES:
        claims |= rules.named(_claims(runs, rule), rule)
    return {"data": _panels(runs), "claims": claims}


def _mean(size: int) -> str:
    return f'workload.sizes.mean="{size} B"'


def _claims(runs: Runs[Key], rule: str) -> dict[str, float]:
    def to_esn(mean: int, path: str) -> float:
        return runs.ratio((rule, "sirius", 1.0, mean), (rule, "esn", 1.0, mean), path)

    return {
        "fig13-fct-suffers": to_esn(512, P99) / to_esn(100_000, P99),
        "fig13-goodput-suffers": to_esn(512, GOODPUT) / to_esn(100_000, GOODPUT),
        "fig13-fct-at-512": 100 * (to_esn(512, P99) - 1),
        "fig13-goodput-at-512": 100 * (1 - to_esn(512, GOODPUT)),
        "fig13-fct-at-16k": 100 * (to_esn(16_000, P99) - 1),
        "fig13-goodput-at-16k": 100 * (1 - to_esn(16_000, GOODPUT)),
    }


def _medians() -> dict[str, float]:
    """The median sizes that the paper quotes, of flows as drawn."""
    medians = {}
    for name, mean in (("fig13-median-at-512", 512), ("fig13-median-at-16k", 16_000)):
        setup = lightloom.load(PAPER, ["workload.flows=20_000", _mean(mean)])
        sizes = lightloom.run(setup, "esn").flows.column("bytes").to_pylist()
        medians[name] = statistics.median(sizes)
    return medians


def _panels(runs: Runs[Key]) -> list[dict[str, Any]]:
    def lines(rule: str, path: str) -> dict[str, list[float | None]]:
        return {
            f"{f}, L = {load:.0%}": runs.line(((rule, f, load, mean) for mean in MEANS), path)
            for f in ("sirius", "esn")
            for load in LOADS
        }

    mean = ("mean flow size [B]", MEANS)
    panels = []
    for rule, meaning in rules.RULES.items():
        fct, goodput = lines(rule, P99), lines(rule, GOODPUT)
        title, us = f"FCT, short flows ({meaning})", "99th percentile [us]"
        panels.append(panel(title, mean, us, fct, log_x=True, log_y=True))
        title = f"Goodput ({meaning})"
        panels.append(panel(title, mean, "normalised by N·R", goodput, log_x=True))
    return panels


figure = draw
