"""Fig 9a: how long a reconfiguration takes, by the rules that it installs, and the
bandwidth that is left if there is one every 10 s."""

from pathlib import Path
from typing import Any

from lightloom.reproduce.study import Runs, draw, panel, vary

SETUP = Path(__file__).with_name("iperf.toml")
RULES = (0, 100, 500, 1_000, 2_000, 5_000)
CYCLE, SIZE = 10.0, 40e9 * 8  # s, bits
OPTICAL, ELECTRICAL = 9.21e9, 1e9  # b/s: §V.B


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """One flow that moves from the tree to the circuit, once."""
    cases = {r: ([f"fabric.rules={r}"], "hydra") for r in RULES}
    runs = vary(SETUP, cases, flows=1, seeds=[1], workers=workers)
    delays = {r: delay(runs, r) for r in RULES}
    claims = {
        "fig09-100-rules-hide": delays[100],
        "fig09-5000-rules-show": delays[5_000] / delays[100],
        "fig09-average-100-rules": average(delays[100]),
        "fig09-average-5000-rules": average(delays[5_000]),
    }
    lines = {"delay": [delays[r] for r in RULES]}
    bandwidth = {"average": [average(delays[r]) for r in RULES]}
    x = ("rules installed in substep 3-2", RULES)
    panels = [
        panel("Reconfiguration", x, "delay [s]", lines),
        panel("A reconfiguration every 10 s", x, "bandwidth [Gb/s]", bandwidth),
    ]
    return {"data": panels, "claims": claims}


def finish(runs: Runs[int], rules: int) -> float:
    """When the flow is complete [s]."""
    return (runs.value(rules, "fct.all.mean_us") or 0.0) * 1e-6


def delay(runs: Runs[int], rules: int) -> float:
    """From the decision to traffic on the circuit [s], from when the flow ends: it
    sends on the tree until then, and on the circuit after."""
    end = finish(runs, rules)
    return (end - SIZE / OPTICAL) / (1 - ELECTRICAL / OPTICAL) - CYCLE


def average(delay: float) -> float:
    """Bandwidth when every cycle spends `delay` on the tree [Gb/s]."""
    part = min(delay / CYCLE, 1.0)
    return (part * ELECTRICAL + (1 - part) * OPTICAL) / 1e9


figure = draw
