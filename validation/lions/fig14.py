"""Fig 14: updates a second in GUPS, with and without aggregation.

The ceiling is what 64 hosts send at their line rate, header and guard included,
one update in 64 being local.
"""

from pathlib import Path
from typing import Any

import lightloom
from lightloom.console import pick
from lightloom.reproduce.simulate import Case, simulate
from lightloom.reproduce.study import draw, panel

SETUP = Path(__file__).with_name("gups.toml")
BATCHES = (1, 2, 4, 8, 16)
FABRICS = ("dlb", "ao-nack")
HOSTS, OVERHEAD = 64, 22
#: Line rate [B/s].
RATE = 1.25e9


def ceiling(batch: int, overhead: int = OVERHEAD) -> float:
    """The most updates a second [1e9]: a request of 8 B, a reply and a write of
    16 B, each a packet for `batch` updates."""
    bytes_ = 40 + 3 * overhead / batch
    return HOSTS * RATE / bytes_ * HOSTS / (HOSTS - 1) / 1e9


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """Updates a second of both networks for each number of updates a packet."""
    updates = 4_096 if quick else 32_768
    cases: dict[tuple[str, int], Case] = {}
    for fabric in FABRICS:
        for batch in BATCHES:
            job = f'{{ kind = "gups", updates = {updates}, batch = {batch} }}'
            cases[fabric, batch] = (lightloom.load(SETUP, [f"workload.jobs=[{job}]"]), fabric)
    summaries = simulate(cases, workers)
    rates = {
        key: HOSTS * updates / pick(summary, "jobs.gups.seconds") / 1e9
        for key, summary in summaries.items()
    }
    return {"data": _panels(rates), "claims": _claims(rates)}


def _claims(rates: dict[tuple[str, int], float]) -> dict[str, float]:
    return {
        "fig14-poor-without": max(rates[f, 1] / rates[f, 16] for f in FABRICS),
        "fig14-dlb-near-the-ceiling": rates["dlb", 16] / ceiling(16),
        "fig14-nack-near-the-ceiling": rates["ao-nack", 16] / ceiling(16),
        "fig14-why-not-without": rates["dlb", 1] / ceiling(1),
    }


def _panels(rates: dict[tuple[str, int], float]) -> list[dict[str, Any]]:
    lines: dict[str, list[float | None]] = {
        f: [rates[f, batch] for batch in BATCHES] for f in FABRICS
    }
    lines["ceiling"] = [ceiling(batch) for batch in BATCHES]
    lines["without header and guard"] = [ceiling(batch, 0) for batch in BATCHES]
    x = ("updates a packet", BATCHES)
    return [panel("GUPS", x, "updates a second [1e9]", lines, log_x=True)]


figure = draw
