"""Fig 11: what the guardband does to FCT, when the slot grows with it so that
it stays a tenth of the slot. The paper does not name the load: L = 50 % here."""

from pathlib import Path
from typing import Any

from lightloom.reproduce.study import Runs, draw, panel, vary

PAPER = Path(__file__).with_name("paper.toml")
GUARDBANDS_NS = (1, 5, 10, 20, 40)
FABRICS = ("sirius", "sirius-ideal")
P99 = "fct.short.p99_us"
GOODPUT = "goodput_normalized"


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """Sirius and its ideal at each guardband, and ESN, which has none."""
    cases: dict[tuple[str, int], tuple[list[str], str]] = {
        (f, g): ([f'fabric.{f}.guardband="{g} ns"', f'fabric.{f}.slot="{10 * g} ns"'], f)
        for f in FABRICS
        for g in GUARDBANDS_NS
    }
    runs = vary(
        PAPER,
        cases | {("esn", 0): ([], "esn")},
        flows=10_000 if quick else 200_000,
        seeds=[1] if quick else [1, 2, 3],
        workers=workers,
    )
    return {"data": _panels(runs), "claims": _claims(runs)}


def _claims(runs: Runs[tuple[str, int]]) -> dict[str, float]:
    def gap(guardband: int) -> float:
        whole, ideal = (runs.value((f, guardband), P99) or 0.0 for f in FABRICS)
        return whole - ideal

    goodputs = [runs.ratio(("sirius", g), ("sirius", 10), GOODPUT) for g in GUARDBANDS_NS]
    return {
        "fig11-fct-grows": runs.ratio(("sirius", 40), ("sirius", 10), P99),
        "fig11-fct-short-guardband": runs.ratio(("sirius", 1), ("sirius", 10), P99),
        "fig11-gap-grows": gap(40) / gap(10),
        "fig11-goodput-steady": 100 * max(abs(ratio - 1) for ratio in goodputs),
    }


def _panels(runs: Runs[tuple[str, int]]) -> list[dict[str, Any]]:
    def lines(path: str) -> dict[str, list[float | None]]:
        curves = {f: runs.line(((f, g) for g in GUARDBANDS_NS), path) for f in FABRICS}
        return curves | {"esn": [runs.value(("esn", 0), path)] * len(GUARDBANDS_NS)}

    guardband = ("guardband [ns]", GUARDBANDS_NS)
    return [
        panel("FCT, short flows, L = 50 %", guardband, "99th percentile [us]", lines(P99)),
        panel("Goodput, L = 50 %", guardband, "normalised by N·R", lines(GOODPUT)),
    ]


figure = draw
