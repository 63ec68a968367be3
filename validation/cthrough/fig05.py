"""Fig 5: throughput of one flow while its circuit comes up and goes dark, 40:1."""

from pathlib import Path
from typing import Any

import lightloom
from lightloom.validation.study import draw, panel

SETUP = Path(__file__).with_name("fig05.toml")
#: Rates that count as full: of the circuit, by the server's link, and of the tree [Mb/s].
OPTICAL, ELECTRICAL = 1_000.0, 100.0
#: Distance between samples [ms].
STEP = 1


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """Throughput millisecond by millisecond."""
    del quick, workers  # it takes no time
    result = lightloom.run(lightloom.load(SETUP))
    times, rates = _throughput(result)
    circuit = next(c for c in result.circuits.to_pylist() if (c["a"], c["b"]) == (0, 1))
    up, down = circuit["from_ps"] / 1e9, circuit["until_ps"] / 1e9
    claims = {
        "fig05-fills": _until(OPTICAL, times, rates, up) - up,
        "fig05-recovers": _until(ELECTRICAL, times, rates, down) - down,
    }
    shown = ("time [ms]", times)
    return {"data": [panel("One flow, 40:1", shown, "[Mb/s]", {"TCP": rates})], "claims": claims}


def _throughput(result: Any) -> tuple[list[float], list[float]]:
    """Ends of the samples [ms], and throughput in each [Mb/s]."""
    times = [t / 1e9 for t in result.timeseries["time_ps"].to_pylist()]
    bytes_ = result.timeseries["bytes_delivered"].to_pylist()
    steps = zip(times, times[1:], bytes_, bytes_[1:], strict=False)
    return times[1:], [(b - a) * 8e-3 / (t - s) for s, t, a, b in steps]


def _until(full: float, times: list[float], rates: list[float], since: float) -> float:
    """End of the first sample after `since` with the full rate."""
    later = zip(times, rates, strict=True)
    return next(t for t, rate in later if t > since + STEP / 2 and rate >= 0.999 * full)


figure = draw
