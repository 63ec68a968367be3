"""A round robin and traffic-matrix scheduling compared with arithmetic, if every rack has traffic
for one other rack only."""

from pathlib import Path
from typing import Any

from lightloom.validation.study import Runs, draw, panel, vary

SETUP = Path(__file__).with_name("permutation.toml")
RACKS, ROUNDS = 12, 10
#: A slot, its night and a round of 11 slots [us].
SLOT, NIGHT, ROUND = 100, 10, 1_100
NIGHTS = (10, 20, 40)
#: A circuit [B/us].
RATE = 1250


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """Bytes delivered in ten rounds, of line rate."""
    del quick  # it takes no time
    cases = {
        (label, night): ([f"fabric.{label}.night={night} us"], label)
        for label in ("rotation", "tms")
        for night in NIGHTS
    }
    runs = vary(SETUP, cases, seeds=[1], workers=workers)
    carried = {key: _carried(runs, key) for key in cases}
    turns = {n: (1 - n / SLOT) / (RACKS - 1) for n in NIGHTS}
    # The first decision falls due after a round, and its schedule has one slot of a round.
    follows = {n: 1 - n / ROUND for n in NIGHTS}
    claims = {
        "permutation-rotation": _worst(carried["rotation", n] / turns[n] for n in NIGHTS),
        "permutation-tms": _worst(carried["tms", n] / follows[n] for n in NIGHTS),
    }
    x = ("night [µs]", list(NIGHTS))
    lines = {label: [carried[label, n] for n in NIGHTS] for label in ("rotation", "tms")}
    theory = {
        "rotation": (list(NIGHTS), list(turns.values())),
        "tms": (list(NIGHTS), list(follows.values())),
    }
    panels = [panel("Every rack to one other", x, "of line rate", lines, theory=theory)]
    return {"data": panels, "claims": claims}


def _carried(runs: Runs[tuple[str, int]], key: tuple[str, int]) -> float:
    """The first round has no schedule yet where demand is followed."""
    rounds = ROUNDS if key[0] == "tms" else ROUNDS + 1
    return (runs.value(key, "bytes_delivered") or 0.0) / (RACKS * RATE * rounds * ROUND)


def _worst(ratios: Any) -> float:
    """The ratio that is farthest from 1."""
    return float(max(ratios, key=lambda r: abs(r - 1)))


figure = draw
