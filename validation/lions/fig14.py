"""Fig 14: updates per second in GUPS, with and without aggregation.

The upper limit is the rate of 64 hosts at their line rate, including header and guard, with one
update in 64 local; that of the butterfly counts flits. Seeds scatter, so intervals are those of
their mean.
"""

from math import ceil
from pathlib import Path
from typing import Any

from lightloom.validation import Estimate
from lightloom.validation.estimate import most
from lightloom.validation.scripts import beside
from lightloom.validation.study import Curve, draw, panel, vary

theory, butterflies = beside(__file__, "theory"), beside(__file__, "band")
SETUP = Path(__file__).with_name("gups.toml")
#: Of each node, by updates a packet. A run ends with its slowest node, which of few
#: packets lags behind the others by more.
UPDATES = {1: 4_096, 2: 4_096, 4: 8_192, 8: 16_384, 16: 32_768}
BATCHES = tuple(UPDATES)
FABRICS = ("dlb", "ao-nack")
BUTTERFLIES = butterflies.BUTTERFLIES
HOSTS = 64
#: Line rate [B/s].
RATE = 1.25e9
#: The butterfly's flits and header [B].
FLIT, HEADER = 8, 5
Key = tuple[str, int]


def ceiling(batch: int, overhead: int = theory.OVERHEAD) -> float:
    """The most updates a second [1e9]: a request of 8 B, a reply and a write of
    16 B, each a packet for `batch` updates."""
    return _updates(40 + 3 * overhead / batch)


def butterfly_ceiling(batch: int) -> float:
    """The same of the butterfly's hosts, which send whole flits."""
    flits = sum(ceil((words * batch + HEADER) / FLIT) for words in (8, 16, 16))
    return _updates(flits * FLIT / batch)


def _updates(sent: float) -> float:
    """Updates a second [1e9] if each takes `sent` bytes of the links."""
    return HOSTS * RATE / sent * HOSTS / (HOSTS - 1) / 1e9


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """Updates a second of all networks for each number of updates a packet."""
    cases: dict[Key, tuple[list[str], str]] = {}
    for batch, updates in UPDATES.items():
        size = updates // 4 if quick else updates
        job = f'{{ kind = "gups", name = "gups", updates = {size}, batch = {batch} }}'
        for fabric in (*FABRICS, *BUTTERFLIES):
            cases[fabric, batch] = ([f"workload.jobs=[{job}]"], fabric)
    runs = vary(SETUP, cases, seeds=(1, 2, 3) if quick else (1, 2, 3, 4), workers=workers)
    rates = {key: runs.across(key, "updates.gups.per_s").times(1e-9) for key in cases}
    return {"data": _panels(rates), "claims": _claims(rates)}


def _claims(rates: dict[Key, Estimate]) -> dict[str, Estimate]:
    band = butterflies.band

    def ahead(fabric: str, butterfly: str, batch: int) -> Estimate:
        return rates[fabric, batch].over(rates[butterfly, batch])

    return {
        "fig14-poor-without": most(rates[f, 1].over(rates[f, 16]) for f in FABRICS),
        "fig14-why-not-without": rates["dlb", 1].times(1 / ceiling(1)),
        "fig14-dlb-near-the-ceiling": rates["dlb", 16].times(1 / ceiling(16)),
        "fig14-nack-near-the-ceiling": rates["ao-nack", 16].times(1 / ceiling(16)),
        "fig14-dlb-behind-without": band(lambda b: ahead("dlb", b, 1)),
        "fig14-nack-behind-without": band(lambda b: ahead("ao-nack", b, 1)),
        "fig14-dlb-ahead-with": band(lambda b: ahead("dlb", b, 16)),
        "fig14-nack-ahead-with": band(lambda b: ahead("ao-nack", b, 16)),
    }


def _panels(rates: dict[Key, Estimate]) -> list[dict[str, Any]]:
    shown = (*FABRICS, *BUTTERFLIES)
    lines = {f: [rates[f, batch] for batch in BATCHES] for f in shown}
    bounds: dict[str, Curve] = {
        "ceiling, LIONS": (BATCHES, [ceiling(batch) for batch in BATCHES]),
        "ceiling, butterfly": (BATCHES, [butterfly_ceiling(batch) for batch in BATCHES]),
        "payload alone": (BATCHES, [ceiling(batch, 0) for batch in BATCHES]),
    }
    x = ("updates a packet", BATCHES)
    return [panel("Fig 14: GUPS", x, "updates a second [1e9]", lines, theory=bounds, log_x=True)]


figure = draw
