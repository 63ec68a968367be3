"""Circuits without an electrical network compared with arithmetic: the throughput of a rotation and
of a matching, and which of them completes an exchange."""

from pathlib import Path
from typing import Any

from lightloom.validation.study import Runs, draw, panel, vary

SETUP = Path(__file__).with_name("setup.toml")
MORDIA = Path(__file__).with_name("mordia.toml")
#: Darkness in a slot of 10 ms [ms], by label.
NIGHTS = {"night of 1 ms": 1, "night of 2 ms": 2, "night of 5 ms": 5}
SLOT = 10
MATCHING = "one matching"
#: A server's link and a circuit [B/s].
RATE = 10e9 / 8
RACKS = 8
#: Ten rounds of seven slots [s].
TEN_ROUNDS = 0.700
#: Mordia: ports, and ten rounds of 23 slots [s].
PORTS, TEN_OF_MORDIA = 24, 10 * 23 * 106e-6
#: Bytes of a pair in seven days of 9 ms, and the time of their seven rounds [s].
EXCHANGE, SEVEN_ROUNDS = "78750 KB", 0.490
#: Time of the last packet through the switches of both racks, which store it [s].
STORED = 2 * 1500 / RATE


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """Goodput of continuous traffic, and one exchange of a size that fills whole rounds."""
    del quick  # it takes no time
    labels = (*NIGHTS, MATCHING)
    runs = vary(SETUP, {x: ([], x) for x in labels}, seeds=[1], workers=workers)
    mordia = vary(MORDIA, {"mordia": ([], "mordia")}, seeds=[1], workers=workers)
    once = [f"workload.sizes.size={EXCHANGE}"]
    cases = {
        "rotation": ([*once, "run.stop=drain"], "night of 1 ms"),
        "matching": ([*once, "run.stop=2 s"], MATCHING),
    }
    exchange = vary(SETUP, cases, seeds=[1], workers=workers)
    carried = {x: _bytes(runs, x) / (RACKS * RATE * TEN_ROUNDS) for x in labels}
    duties = {x: 1 - night / SLOT for x, night in NIGHTS.items()}
    drained = exchange.value("rotation", "simulated_s") or 0.0
    claims = {
        "hybrid-rotation-duty": _worst(carried[x] / duties[x] for x in NIGHTS),
        "hybrid-mordia-duty": _bytes(mordia, "mordia") / (PORTS * RATE * TEN_OF_MORDIA),
        "hybrid-matching-rate": carried[MATCHING],
        "hybrid-matching-share": _bytes(exchange, "matching")
        / (exchange.value("matching", "bytes_offered") or 1),
        "hybrid-rotation-completes": drained / (SEVEN_ROUNDS + STORED),
    }
    lines = {"rotation": [carried[x] for x in NIGHTS]}
    shares = [night / SLOT for night in NIGHTS.values()]
    theory = {"rotation": ([0.0, 1.0], [1.0, 0.0])}
    x = ("night ÷ slot", shares)
    panels = [panel("All to all without end", x, "of line rate", lines, theory=theory)]
    return {"data": panels, "claims": claims}


def _bytes(runs: Runs[str], key: str) -> float:
    return runs.value(key, "bytes_delivered") or 0.0


def _worst(ratios: Any) -> float:
    """The ratio that is farthest from 1."""
    return float(max(ratios, key=lambda r: abs(r - 1)))


figure = draw
