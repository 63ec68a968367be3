"""§5.2.1: utilisation of a circuit from 5 ms after its light."""

import statistics
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from lightloom.testbed.claims import Run, UnfitError

#: Time in which TCP must fill a circuit, and the following time of measurement [s].
RAMP, WINDOW = 5e-3, 20e-3
#: Precision of the ends of the window [s].
CLOSE = 2.5e-3
#: Required share of a circuit's rate if the sender does not adapt.
CALIBRATED = 0.9
#: Smallest number of lights for a verdict.
LIGHTS = 3


def measure(run: Run) -> dict[str, float]:
    """Throughput of TCP relative to that of UDP at the circuit's rate, which needs no time to
    adapt."""
    udp = share(run("fill.toml", "testbed.application.0.udp=300 Mb/s"))
    if udp < CALIBRATED:
        raise UnfitError(f"UDP at a circuit's rate filled {100 * udp:.0f} % of it, 90 % at least")
    return {"fill-5ms": share(run("fill.toml")) / udp}


def share(live: Any) -> float:
    """The share of a circuit's rate that is carried in the window, the median of all lights."""
    times, sizes = live.samples.times, live.samples.columns["o0.0"]
    found = []
    for a, b, _, since, until in live.circuits:
        begin = live.began + since + RAMP
        if {a, b} != {0, 1} or not _sends(live, since) or begin + WINDOW > live.began + until:
            continue
        sent = [carried(times, sizes, at) for at in (begin, begin + WINDOW)]
        if sent[0] is not None and sent[1] is not None:
            found.append((sent[1] - sent[0]) * 8 / WINDOW / live.setup.circuit_bps)
    if len(found) < LIGHTS:
        raise UnfitError(f"counters were read closely enough at {len(found)} lights, 3 at least")
    return statistics.median(found)


def _sends(live: Any, since: float) -> bool:
    """Whether the application sent before and throughout a light's first part."""
    (one,) = live.applications
    begin, end = one["begin_s"], one["begin_s"] + one["took_s"]
    return bool(begin + 0.2 <= since and since + RAMP + WINDOW <= end)


def carried(times: Sequence[float], sizes: Sequence[int], at: float) -> float | None:
    """Bytes that were carried until a time; None if no two samples are close around it."""
    after = bisect_right(times, at)
    if not 0 < after < len(times) or times[after] - times[after - 1] > 2 * CLOSE:
        return None
    part = (at - times[after - 1]) / (times[after] - times[after - 1])
    return sizes[after - 1] + part * (sizes[after] - sizes[after - 1])
