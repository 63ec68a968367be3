"""Fig 9: FCT of short flows and goodput against load; and what the round of
requests and grants costs a lone flow, to which the figure's 63 % comes down."""

from pathlib import Path
from typing import Any

from lightloom.reproduce.study import Runs, draw, panel, vary

PAPER = Path(__file__).with_name("paper.toml")
LONE = Path(__file__).with_name("lone.toml")
LOADS = (0.1, 0.25, 0.5, 0.75, 1.0)
FABRICS = ("sirius", "sirius-ideal", "esn", "esn-osub")
PLANS = ("rotor", "mixed", "wide")
P99 = "fct.short.p99_us"
GOODPUT = "goodput_normalized"


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """FCT and goodput of the four networks at each load."""
    runs = vary(
        PAPER,
        {(f, load): ([f"workload.load={load}"], f) for load in LOADS for f in FABRICS},
        flows=10_000 if quick else 200_000,
        seeds=[1] if quick else [1, 2, 3],
        workers=workers,
    )
    return {"data": _panels(runs), "claims": _claims(runs) | _lone_flow(workers)}


def _claims(runs: Runs[tuple[str, float]]) -> dict[str, float]:
    def ratios(fabric: str, base: str, path: str) -> list[float]:
        return [runs.ratio((fabric, load), (base, load), path) for load in LOADS]

    saved = [100 * (1 - ratio) for ratio in ratios("sirius-ideal", "sirius", P99)]
    return {
        "fig09-fct-close-to-esn": max(ratios("sirius", "esn", P99)),
        "fig09-goodput-close-to-esn": min(ratios("sirius", "esn", GOODPUT)),
        "fig09-fct-below-osub": 100 * (1 - min(ratios("sirius", "esn-osub", P99))),
        "fig09-goodput-above-osub": max(ratios("sirius", "esn-osub", GOODPUT)),
        "fig09-ideal-fct-at-10": saved[0],
        "fig09-ideal-fct-at-25": saved[1],
        "fig09-ideal-gap-closes": saved[-1] - saved[0],
    }


def _lone_flow(workers: int) -> dict[str, float]:
    """The saving of the uplink plan in which it is farthest from 63 %."""
    modes = ("sirius", "sirius-ideal")
    cases = {(p, m): ([f"fabric.{m}.uplink_plan={p}"], m) for p in PLANS for m in modes}
    runs = vary(LONE, cases, flows=1, seeds=range(1, 10), workers=workers)
    mean = "fct.all.mean_us"
    saved = [100 * (1 - runs.ratio((p, "sirius-ideal"), (p, "sirius"), mean)) for p in PLANS]
    return {"fig09-lone-flow": max(saved, key=lambda percent: abs(percent - 63))}


def _panels(runs: Runs[tuple[str, float]]) -> list[dict[str, Any]]:
    def lines(path: str) -> dict[str, list[float | None]]:
        return {f: runs.line(((f, load) for load in LOADS), path) for f in FABRICS}

    load = ("load L", LOADS)
    return [
        panel("a) FCT, short flows", load, "99th percentile [us]", lines(P99), log_y=True),
        panel("b) Goodput", load, "normalised by N·R", lines(GOODPUT)),
    ]


figure = draw
