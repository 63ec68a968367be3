"""The capacity that Valiant routing and the guardband leave of the uplinks: goodput of a
permutation of racks in overload, in each uplink plan.

Every byte crosses the core twice and a tenth of each slot is dark, so u times the
base uplinks carry 0.45 · u of the servers' capacity.
"""

from pathlib import Path
from typing import Any

from lightloom.validation import Estimate
from lightloom.validation.study import Runs, draw, panel, vary

SETUP = Path(__file__).with_name("permutation.toml")
BASE = 8
UPLINKS = {"1x": 8, "1-5x": 12, "2x": 16}
PLANS = ("rotor", "wide", "mixed")

Key = tuple[str, int]


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """The permutation with each number of uplinks in each plan; seconds, quick or not."""
    cases = {
        (plan, count): (
            [f"fabric.sirius.uplink_plan={plan}", f"fabric.sirius.uplinks={count}"],
            "sirius",
        )
        for plan in PLANS
        for count in UPLINKS.values()
    }
    runs = vary(SETUP, cases, seeds=[1], workers=workers)
    claims = {f"capacity-{name}": _worst(runs, count) for name, count in UPLINKS.items()}
    return {"data": _panels(runs), "claims": claims}


def _expected(count: int) -> float:
    return 0.5 * 0.9 * count / BASE


def _worst(runs: Runs[Key], count: int) -> Estimate:
    """The value of the plan that is farthest from the expected one."""
    found = [runs.accepted((plan, count)) for plan in PLANS]
    return max(found, key=lambda e: abs(e.value - _expected(count)))


def _panels(runs: Runs[Key]) -> list[dict[str, Any]]:
    counts = list(UPLINKS.values())
    lines = {plan: [runs.accepted((plan, count)) for count in counts] for plan in PLANS}
    theory = {"half of nine tenths": (counts, [_expected(count) for count in counts])}
    title, x = "Overloaded permutation of racks", ("uplinks a rack", counts)
    return [panel(title, x, "goodput, normalised by N·R", lines, theory=theory)]


figure = draw
