"""§6.3, Fig 10: throughput of UDP and TCP by slot length."""

import itertools
from typing import Any

from lightloom.testbed.applications import DATAGRAM
from lightloom.testbed.claims import Run, UnfitError
from lightloom.testbed.measure import mean_rate

#: Slots of the paper and the night of each [us].
SLOTS, NIGHT = (61.0, 106.0, 300.0), 11.5
#: Pairs of racks by the protocol between them.
PAIRS = {"udp": "0>1", "tcp": "2>3"}
#: Measurement window [s]; before it, programs start and TCP grows.
FROM, UNTIL = 1.3, 3.2
#: UDP is sent at this multiple of the duty cycle's share or more, so that nothing else limits it.
OFFERED = 1.2


def measure(run: Run) -> dict[str, float]:
    """Ratios of throughput."""
    lives = {slot: run("slots.toml", f"fabric.slot={slot:g} us") for slot in SLOTS}
    rates = {of: [rate(lives[slot], pair) for slot in SLOTS] for of, pair in PAIRS.items()}
    least = {of: min(b / a for a, b in itertools.pairwise(r)) for of, r in rates.items()}
    offered = min(offered_rate(live) / ideal_rate(live, slot) for slot, live in lives.items())
    if offered < OFFERED:
        said = f"UDP was sent at {offered:.2f} times the duty cycle's share"
        reason = f"{said} of a link, {OFFERED:g} times at least"
        raise UnfitError(reason, {"slots-tcp-rises": least["tcp"]})
    ideal = [ideal_rate(lives[slot], slot) for slot in SLOTS]
    return {
        "slots-udp-rises": least["udp"],
        "slots-tcp-rises": least["tcp"],
        "slots-duty-limits": max(got / most for got, most in zip(rates["udp"], ideal, strict=True)),
        "slots-tcp-below-udp": rates["tcp"][-1] / rates["udp"][-1],
    }


def rate(live: Any, pair: str) -> float:
    """Throughput between two racks while both programs send [b/s]."""
    begin, end = live.began + FROM, live.began + UNTIL
    within = [row for row in live.samples.rates(pair) if begin <= row[0] and row[1] <= end]
    return mean_rate(within) or 0.0


def offered_rate(live: Any) -> float:
    """The rate at which the program has sent UDP [b/s]."""
    udp = live.applications[0]
    return float(udp["packets"] * DATAGRAM * 8 / udp["took_s"])


def ideal_rate(live: Any, slot: float) -> float:
    """Rate that the duty cycle leaves a pair of racks of its share of a link [b/s]."""
    share = (slot - NIGHT) / slot / (live.setup.layout.racks - 1)
    return float(live.setup.circuit_bps * share)
