"""Fig 9a: the bandwidth of a server while the topology changes every 10 s, and the time of a
change, by the number of installed rules."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import lightloom
from lightloom.validation.study import draw, panel

SETUP = Path(__file__).with_name("iperf.toml")
RULES = (0, 100, 500, 1_000, 2_000, 5_000)
#: The measured cycles [s]; the first cycle, at 10 s, has no circuit to drain.
FIRST, LAST = 20.0, 80.0
CYCLE = 10.0
#: Rate of a server over a circuit, and over the tree [Gb/s]: §V.B.
OPTICAL, ELECTRICAL = 9.21, 1.0


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """Six cycles for each number of rules."""
    del quick, workers  # it takes no time
    sent = {rules: _sent(rules) for rules in RULES}
    averages = {rules: _average(*samples) for rules, samples in sent.items()}
    delays = {rules: _delay(average) for rules, average in averages.items()}
    claims = {
        "fig09-100-rules-hide": delays[100],
        "fig09-5000-rules": delays[5_000],
        "fig09-average-100-rules": averages[100],
        "fig09-average-5000-rules": averages[5_000],
    }
    x = ("rules installed in substep 3-2", RULES)
    times = sent[100][0][1:]
    shown = {f"{rules} rules": _rates(*sent[rules]) for rules in (100, 5_000)}
    panels = [
        panel("A reconfiguration every 10 s", ("time [s]", times), "[Gb/s]", shown),
        panel("Reconfiguration", x, "delay [s]", {"delay": list(delays.values())}),
        panel("Average of six cycles", x, "[Gb/s]", {"bandwidth": list(averages.values())}),
    ]
    return {"data": panels, "claims": claims}


def _sent(rules: int) -> tuple[list[float], list[float]]:
    """Times [s], and the data that the server had sent by then [Gb]."""
    result = lightloom.run(lightloom.load(SETUP, [f"fabric.rules={rules}"]))
    times = [t / 1e12 for t in result.timeseries["time_ps"].to_pylist()]
    sent = [n * 8e-9 for n in result.timeseries["bytes_delivered"].to_pylist()]
    return times, sent


def _rates(times: list[float], sent: list[float]) -> list[float]:
    """Bandwidth from each time to the next [Gb/s]."""
    samples = list(zip(times, sent, strict=True))
    return [(b - a) / (t - s) for (s, a), (t, b) in pairwise(samples)]


def _average(times: list[float], sent: list[float]) -> float:
    """Bandwidth over the cycles [Gb/s]."""
    return (sent[times.index(LAST)] - sent[times.index(FIRST)]) / (LAST - FIRST)


def _delay(average: float) -> float:
    """Loss in a cycle, as time on the tree instead of a circuit [s]."""
    return (OPTICAL - average) / (OPTICAL - ELECTRICAL) * CYCLE


figure = draw
