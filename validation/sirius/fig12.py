"""Fig 12: goodput against load with 1, 1.5 and 2 times the base uplinks."""

from pathlib import Path
from typing import Any

from lightloom.reproduce.study import Runs, draw, panel, vary

PAPER = Path(__file__).with_name("paper.toml")
LOADS = (0.1, 0.25, 0.5, 0.75, 1.0)
UPLINKS = {"1x": 8, "1.5x": 12, "2x": 16}
P99 = "fct.short.p99_us"
GOODPUT = "goodput_normalized"


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """Sirius with each number of uplinks, and ESN, at each load."""
    cases = {
        (name, load): ([f"workload.load={load}", f"fabric.sirius.uplinks={count}"], "sirius")
        for name, count in UPLINKS.items()
        for load in LOADS
    } | {("esn", load): ([f"workload.load={load}"], "esn") for load in LOADS}
    runs = vary(
        PAPER,
        cases,
        flows=10_000 if quick else 200_000,
        seeds=[1] if quick else [1, 2, 3],
        workers=workers,
    )
    return {"data": _panels(runs), "claims": _claims(runs)}


def _claims(runs: Runs[tuple[str, float]]) -> dict[str, float]:
    def to_esn(name: str, load: float) -> float:
        return runs.ratio((name, load), ("esn", load), GOODPUT)

    fct = [runs.ratio(("1x", load), ("2x", load), P99) for load in LOADS]
    return {
        "fig12-low-load-needs-none": min(to_esn("1x", 0.1), to_esn("1x", 0.25)),
        "fig12-1x-falls-behind": to_esn("1x", 1.0),
        "fig12-1x-at-full-load": to_esn("1x", 1.0),
        "fig12-one-and-a-half-matches": min(to_esn("1.5x", load) for load in LOADS),
        "fig12-fct-unmoved": max(fct),
    }


def _panels(runs: Runs[tuple[str, float]]) -> list[dict[str, Any]]:
    def lines(path: str) -> dict[str, list[float | None]]:
        names = {"esn": "esn"} | {name: f"sirius, {name} uplinks" for name in UPLINKS}
        return {
            shown: runs.line(((name, load) for load in LOADS), path)
            for name, shown in names.items()
        }

    load = ("load L", LOADS)
    return [
        panel("Goodput", load, "normalised by N·R", lines(GOODPUT)),
        panel("FCT, short flows", load, "99th percentile [us]", lines(P99), log_y=True),
    ]


figure = draw
