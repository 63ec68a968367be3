"""Figs 6 to 9: throughput and latency against load under uniform random traffic,
with packets of 256 B (6, 7) and 64 B (8, 9), k = 4.

Loads are of the line rate, header and guard not counted: 256/278 of it and 64/86
can be carried at most. Latency is drawn where the load is carried. Lines of theory
are for AO-NACK as if a packet's attempts did not depend on each other: that holds
while its NACK returns within it, at 256 B; at 64 B it does not. The two butterflies
are of a plain router and of the strongest that one would build: what the paper's was
lies between them, or not.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from lightloom.validation import Estimate
from lightloom.validation.estimate import most
from lightloom.validation.scripts import beside
from lightloom.validation.study import Curve, Runs, draw, panel, vary

theory, butterflies = beside(__file__, "theory"), beside(__file__, "band")
PAPER = Path(__file__).with_name("paper.toml")
SIZES = (256, 64)
LOADS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.9, 1.0)
FABRICS = ("dlb", "ao-nack")
BUTTERFLIES = butterflies.BUTTERFLIES
HOSTS, RECEIVERS = 64, 4
#: Warm-up and window [us] by size of packet.
WINDOW = {256: (500, 4000), 64: (200, 1600)}
#: Flit by flit a packet takes a hundred times as long.
SHORT_WINDOW = {256: (100, 400), 64: (50, 150)}
Key = tuple[str, int, float]
#: A lead of a network over a butterfly at a size of packet.
Against = Callable[[str, int, str], Estimate]


def nack_us(size: int, load: float) -> float | None:
    """Mean latency [us] that theory has for AO-NACK."""
    slot, p = theory.slot_us(size), load / theory.efficiency(size)
    if size == 256:
        slots = theory.nack_latency(p, RECEIVERS, HOSTS)
    else:
        slots = theory.nack_latency_pipelined(p, RECEIVERS, HOSTS, theory.WAY_US / slot)
    # Of a packet's own slot the guard is behind it.
    return None if slots is None else (slots - 1) * slot + theory.alone_us(size)


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """Throughput and mean latency of all networks at each load and size."""
    seeds = [1] if quick else [1, 2, 3, 4]
    lions = vary(PAPER, _cases(FABRICS, WINDOW, quick), seeds=seeds, workers=workers)
    cases = _cases(BUTTERFLIES, SHORT_WINDOW, quick)
    butterflies = vary(PAPER, cases, seeds=seeds[:3], workers=workers)
    runs = Runs({**lions.summaries, **butterflies.summaries})
    return {"data": _panels(runs), "claims": _claims(runs)}


def _cases(
    fabrics: tuple[str, ...], window: dict[int, tuple[int, int]], quick: bool
) -> dict[Key, tuple[list[str], str]]:
    return {
        (f, size, load): (_overrides(f, size, load, window[size], quick), f)
        for f in fabrics
        for size in SIZES
        for load in LOADS
    }


def _overrides(
    fabric: str, size: int, load: float, window: tuple[int, int], quick: bool
) -> list[str]:
    warm_up, measure = window
    return [
        f"workload.load={load}",
        f"workload.sizes.size={size} B",
        f"fabric.{fabric}.packet={size} B",
        f"run.warm_up={warm_up // 2 if quick else warm_up} us",
        f"run.measure={measure // 4 if quick else measure} us",
    ]


def _claims(runs: Runs[Key]) -> dict[str, Estimate]:
    band = butterflies.band

    def throughput_apart(size: int) -> Estimate:
        pairs = [(runs.accepted(("ao-nack", size, p)), ("dlb", size, p)) for p in LOADS]
        return most(nack.apart(runs.accepted(dlb)) for nack, dlb in pairs)

    def latency(fabric: str, size: int, load: float) -> Estimate:
        return runs.carried_latency((fabric, size, load))

    def latency_apart(size: int) -> Estimate:
        loads = [p for p in LOADS if p <= 0.5]
        return most(latency("ao-nack", size, p).apart(latency("dlb", size, p)) for p in loads)

    def saturation(size: int) -> Estimate:
        independent = theory.nack_saturation(RECEIVERS, HOSTS) * theory.efficiency(size)
        return runs.accepted(("ao-nack", size, 1.0)).times(1 / independent)

    def largest(fabric: str, size: int) -> Estimate:
        return most(runs.accepted((fabric, size, p)) for p in LOADS)

    def ahead(fabric: str, size: int, butterfly: str) -> Estimate:
        return largest(fabric, size).over(largest(butterfly, size))

    def sooner(fabric: str, size: int, butterfly: str) -> Estimate:
        """The ratio of a butterfly's latency to the fabric's, at the same load."""
        return latency(butterfly, size, 0.3).over(latency(fabric, size, 0.3))

    def small(of: Against, fabric: str) -> Estimate:
        """The lead at 64 B relative to the lead at 256 B."""
        return band(lambda b: of(fabric, 64, b).over(of(fabric, 256, b)))

    def latency_off(size: int, up_to: float) -> Estimate:
        loads = [p for p in LOADS if p <= up_to]
        return most(latency("ao-nack", size, p).off(nack_us(size, p)) for p in loads)

    return {
        "fig06-nack-as-dlb": throughput_apart(256),
        "fig07-nack-as-dlb": latency_apart(256),
        "fig08-nack-as-dlb": throughput_apart(64),
        "fig09-nack-as-dlb": latency_apart(64),
        "fig06-dlb-full": largest("dlb", 256).times(1 / theory.efficiency(256)),
        "fig08-dlb-full": largest("dlb", 64).times(1 / theory.efficiency(64)),
        "fig06-nack-saturation": saturation(256),
        "fig08-nack-saturation": saturation(64),
        "fig07-nack-latency": latency_off(256, 0.7),
        "fig09-nack-latency": latency_off(64, 0.4),
        "fig06-dlb-ahead": band(lambda b: ahead("dlb", 256, b)),
        "fig06-nack-ahead": band(lambda b: ahead("ao-nack", 256, b)),
        "fig07-dlb-sooner": band(lambda b: sooner("dlb", 256, b)),
        "fig07-nack-sooner": band(lambda b: sooner("ao-nack", 256, b)),
        "fig08-dlb-less-ahead": small(ahead, "dlb"),
        "fig08-nack-less-ahead": small(ahead, "ao-nack"),
        "fig09-dlb-less-soon": small(sooner, "dlb"),
        "fig09-nack-less-soon": small(sooner, "ao-nack"),
    }


def _panels(runs: Runs[Key]) -> list[dict[str, Any]]:
    load = ("offered load, of the line rate", LOADS)
    panels = []
    for size, places in ((256, (6, 7)), (64, (8, 9))):
        shown = (*FABRICS, *BUTTERFLIES)
        throughput = {f: [runs.accepted((f, size, p)) for p in LOADS] for f in shown}
        latency = {f: [runs.latency((f, size, p)) for p in LOADS] for f in shown}
        carried, delayed = _theory(size)
        panels += [
            panel(
                f"Fig {places[0]}: {size} B",
                load,
                "throughput, of the line rate",
                throughput,
                theory=carried,
            ),
            panel(
                f"Fig {places[1]}: {size} B",
                load,
                "mean latency [us]",
                latency,
                theory=delayed,
                log_y=True,
            ),
        ]
    return panels


def _theory(size: int) -> tuple[dict[str, Curve], dict[str, Curve]]:
    x = [i / 100 for i in range(5, 101)]
    full = theory.efficiency(size)
    saturated = theory.nack_saturation(RECEIVERS, HOSTS) * full
    carried = {
        "dlb": (x, [min(p, full) for p in x]),
        "ao-nack": (x, [min(p, saturated) for p in x]),
    }
    alone = (x, [theory.alone_us(size)] * len(x))
    return carried, {"ao-nack": (x, [nack_us(size, p) for p in x]), "LIONS, empty": alone}


figure = draw
