"""Figs 10 to 13: throughput and latency if all hosts send to one host, with packets of 256 B
(10, 11) and 64 B (12, 13), k = 4.

The offered load is that of all hosts together, up to the 5 GB/s of four receivers
of 10 Gb/s; to the butterflies, whose one wire is full at 1.2 GB/s, no more than 1.5:
they would carry as much, and to simulate them would take ten times as long as all
else here. Bounds are what four receivers hear of packets with header and guard, and
what the butterfly's one wire to the host carries of them in flits.
"""

from pathlib import Path
from typing import Any

from lightloom.validation import Estimate
from lightloom.validation.estimate import least, most
from lightloom.validation.scripts import beside
from lightloom.validation.study import Curve, Runs, draw, panel, vary

theory, butterflies = beside(__file__, "theory"), beside(__file__, "band")
PAPER = Path(__file__).with_name("paper.toml")
SIZES = (256, 64)
#: Loads offered by all hosts together [GB/s], up to more than receivers can receive.
OFFERED = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0)
FABRICS = ("dlb", "ao-nack")
BUTTERFLIES = butterflies.BUTTERFLIES
#: To these.
OFFERED_TO_BUTTERFLIES = tuple(o for o in OFFERED if o <= 1.5)
#: The rate of 64 hosts of 10 Gb/s, and of one receiver [GB/s].
ALL, ONE = 80.0, 1.25
RECEIVERS = 4
#: Share of payload on a wire of the butterfly, in flits of 8 B, header included.
FLITS = {256: 256 / 264, 64: 64 / 72}
#: Warm-up and window [us].
WINDOW, SHORT_WINDOW = (400, 3000), (200, 600)
#: Factor of the window if fabrics are compared with each other: waits at a hot spot are correlated,
#: and their interval must distinguish the butterfly's wait from one that is half as long again.
COMPARED, LONGER = 0.75, 6
Key = tuple[str, int, float]


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """Throughput and mean latency of all networks at each offered load."""
    seeds = [1] if quick else [1, 2, 3]
    lions = vary(PAPER, _cases(FABRICS, WINDOW, quick), seeds=seeds, workers=workers)
    cases = _cases(BUTTERFLIES, SHORT_WINDOW, quick)
    butterflies = vary(PAPER, cases, seeds=seeds, workers=workers)
    runs = Runs({**lions.summaries, **butterflies.summaries})
    return {"data": _panels(runs), "claims": _claims(runs)}


def _cases(
    fabrics: tuple[str, ...], window: tuple[int, int], quick: bool
) -> dict[Key, tuple[list[str], str]]:
    return {
        (f, size, offered): (_overrides(f, size, offered, window, quick), f)
        for f in fabrics
        for size in SIZES
        for offered in _offered(f)
    }


def _offered(fabric: str) -> tuple[float, ...]:
    return OFFERED_TO_BUTTERFLIES if fabric in BUTTERFLIES else OFFERED


def _overrides(
    fabric: str, size: int, offered: float, window: tuple[int, int], quick: bool
) -> list[str]:
    warm_up, measure = window
    measure *= LONGER if offered == COMPARED else 1
    return [
        # One of 64 hosts is the destination; the others offer the whole load.
        f"workload.load={offered / ALL}",
        'workload.pattern={ kind = "hotspot", fraction = 1.0, targets = [21] }',
        f"workload.sizes.size={size} B",
        f"fabric.{fabric}.packet={size} B",
        f"run.warm_up={warm_up // 2 if quick else warm_up} us",
        f"run.measure={measure // 4 if quick else measure} us",
    ]


def _claims(runs: Runs[Key]) -> dict[str, Estimate]:
    def throughput(fabric: str, size: int, offered: float) -> Estimate:
        return runs.accepted((fabric, size, offered)).times(ALL)

    def largest(fabric: str, size: int) -> Estimate:
        return most(throughput(fabric, size, o) for o in _offered(fabric))

    def receivers(fabric: str, size: int) -> Estimate:
        """Throughput relative to the rate that one receiver can receive of packets of that size."""
        return largest(fabric, size).times(1 / (ONE * theory.efficiency(size)))

    def ahead(size: int) -> Estimate:
        """The slower network of LIONS relative to either butterfly."""
        ours = least(largest(f, size) for f in FABRICS)
        return butterflies.band(lambda b: ours.over(largest(b, size)))

    def throughput_apart(size: int) -> Estimate:
        pairs = [(throughput("ao-nack", size, o), throughput("dlb", size, o)) for o in OFFERED]
        return most(nack.apart(dlb) for nack, dlb in pairs)

    def latency(fabric: str, size: int, offered: float) -> Estimate:
        return runs.carried_latency((fabric, size, offered))

    def latency_apart(size: int, offered: float) -> Estimate:
        return latency("ao-nack", size, offered).apart(latency("dlb", size, offered))

    def small(fabric: str) -> Estimate:
        """64 B relative to 256 B, at the most that is offered."""
        return throughput(fabric, 64, OFFERED[-1]).over(throughput(fabric, 256, OFFERED[-1]))

    def small_latency(fabric: str) -> Estimate:
        return latency(fabric, 64, 2.5).over(latency(fabric, 256, 2.5))

    def sooner(size: int) -> Estimate:
        """Ratio of the latency of either butterfly at 0.75 GB/s, which all networks carry."""
        ours = most(latency(f, size, COMPARED) for f in FABRICS)
        return butterflies.band(lambda b: latency(b, size, COMPARED).over(ours))

    return {
        "fig10-four-receivers-dlb": receivers("dlb", 256),
        "fig10-four-receivers-nack": receivers("ao-nack", 256),
        "fig12-four-receivers-dlb": receivers("dlb", 64),
        "fig12-four-receivers-nack": receivers("ao-nack", 64),
        "fig10-nack-as-dlb": throughput_apart(256),
        "fig12-nack-as-dlb": throughput_apart(64),
        "fig11-nack-as-dlb": latency_apart(256, 2.5),
        "fig13-nack-as-dlb": latency_apart(64, 2.5),
        "fig12-size-at-most": least(small(f) for f in FABRICS),
        "fig13-insensitive-to-size": least(small_latency(f) for f in FABRICS),
        "fig10-four-times-the-butterfly": ahead(256),
        "fig12-four-times-the-butterfly": ahead(64),
        "fig11-sooner-than-the-butterfly": sooner(256),
        "fig13-sooner-than-the-butterfly": sooner(64),
    }


def _throughput(runs: Runs[Key], key: Key) -> Estimate | None:
    """Throughput at a measured load [GB/s]; None if it was not measured."""
    return runs.accepted(key).times(ALL) if key in runs.summaries else None


def _latency(runs: Runs[Key], key: Key) -> Estimate | None:
    return runs.latency(key) if key in runs.summaries else None


def _panels(runs: Runs[Key]) -> list[dict[str, Any]]:
    offered = ("offered load [GB/s]", OFFERED)
    panels = []
    for size, places in ((256, (10, 11)), (64, (12, 13))):
        shown = (*FABRICS, *BUTTERFLIES)
        throughput = {f: [_throughput(runs, (f, size, o)) for o in OFFERED] for f in shown}
        latency = {f: [_latency(runs, (f, size, o)) for o in OFFERED] for f in shown}
        carried, empty = _bounds(size)
        panels += [
            panel(
                f"Fig {places[0]}: {size} B",
                offered,
                "throughput [GB/s]",
                throughput,
                theory=carried,
            ),
            panel(
                f"Fig {places[1]}: {size} B",
                offered,
                "mean latency [us]",
                latency,
                theory=empty,
                log_y=True,
            ),
        ]
    return panels


def _bounds(size: int) -> tuple[dict[str, Curve], dict[str, Curve]]:
    x = [i / 20 for i in range(2, 101)]
    four, wire = RECEIVERS * ONE * theory.efficiency(size), ONE * FLITS[size]
    carried = {
        "four receivers": (x, [min(o, four) for o in x]),
        "one wire": (x, [min(o, wire) for o in x]),
    }
    return carried, {"LIONS, empty": (x, [theory.alone_us(size)] * len(x))}


figure = draw
