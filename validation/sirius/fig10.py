"""Fig 10: what the size Q of a relay queue does to FCT, goodput, memory and
reordering."""

from pathlib import Path
from typing import Any

from lightloom.reproduce.study import Runs, draw, panel, vary

PAPER = Path(__file__).with_name("paper.toml")
LOADS = (0.1, 0.25, 0.5, 0.75, 1.0)
SIZES = (2, 4, 8, 16)
P99 = "fct.short.p99_us"
GOODPUT = "goodput_normalized"
QUEUE = "queue_peak_bytes"
REORDER = "reorder_peak_bytes"


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """Sirius with each Q at each load."""
    cases = {
        (q, load): ([f"workload.load={load}", f"fabric.sirius.queue={q}"], "sirius")
        for q in SIZES
        for load in LOADS
    }
    runs = vary(
        PAPER,
        cases,
        flows=10_000 if quick else 200_000,
        seeds=[1] if quick else [1, 2, 3],
        workers=workers,
    )
    return {"data": _panels(runs), "claims": _claims(runs)}


def _claims(runs: Runs[tuple[int, float]]) -> dict[str, float]:
    def at_full_load(q: int, path: str) -> float:
        return runs.ratio((q, 1.0), (4, 1.0), path)

    def peak(path: str) -> float:
        return max(value or 0.0 for value in runs.line(((4, load) for load in LOADS), path, 1e-3))

    return {
        "fig10-q2-goodput": at_full_load(2, GOODPUT),
        "fig10-q16-fct": at_full_load(16, P99),
        "fig10-q16-memory": at_full_load(16, QUEUE),
        "fig10-q16-reordering": at_full_load(16, REORDER),
        "fig10-q4-queue-peak": peak(QUEUE),
        "fig10-q4-reorder-peak": peak(REORDER),
    }


def _panels(runs: Runs[tuple[int, float]]) -> list[dict[str, Any]]:
    def lines(path: str, scale: float = 1.0) -> dict[str, list[float | None]]:
        return {f"Q = {q}": runs.line(((q, load) for load in LOADS), path, scale) for q in SIZES}

    load = ("load L", LOADS)
    return [
        panel("a) FCT, short flows", load, "99th percentile [us]", lines(P99), log_y=True),
        panel("b) Goodput", load, "normalised by N·R", lines(GOODPUT)),
        panel("c) Queue at the worst node", load, "peak [KB]", lines(QUEUE, 1e-3)),
        panel("d) Reorder buffer, worst flow", load, "peak [KB]", lines(REORDER, 1e-3)),
    ]


figure = draw
