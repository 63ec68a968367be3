"""Figs 10 to 13: throughput and latency when all send to one host, with packets of
256 B (10, 11) and 64 B (12, 13), k = 4.

The offered load is that of all hosts together, up to the 5 GB/s of four receivers
of 10 Gb/s.
"""

from pathlib import Path
from typing import Any

from lightloom.reproduce.study import Runs, draw, panel, vary

PAPER = Path(__file__).with_name("paper.toml")
SIZES = (256, 64)
#: Offered by all hosts together [GB/s], and beyond what receivers hear.
OFFERED = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0)
FABRICS = ("dlb", "ao-nack")
BUTTERFLIES = ("butterfly-basic", "butterfly-fast")
MEAN = "fct.all.mean_us"
GOODPUT = "goodput_normalized"
#: What 64 hosts of 10 Gb/s send, and what one receiver hears [GB/s].
ALL, ONE = 80.0, 1.25
RECEIVERS = 4
OVERHEAD = 22
Key = tuple[str, int, float]


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """Throughput and mean latency of both networks at each offered load."""
    flows, seeds = (20_000, [1]) if quick else (200_000, [1, 2, 3])
    runs = vary(PAPER, _cases(FABRICS), flows=flows, seeds=seeds, workers=workers)
    # Flit by flit a packet takes a hundred times as long: fewer of them.
    flows = 10_000 if quick else 50_000
    others = vary(PAPER, _cases(BUTTERFLIES), flows=flows, seeds=[1], workers=workers)
    runs = Runs({**runs.summaries, **others.summaries})
    return {"data": _panels(runs), "claims": _claims(runs)}


def _cases(fabrics: tuple[str, ...]) -> dict[Key, tuple[list[str], str]]:
    return {
        (f, size, offered): (_overrides(f, size, offered), f)
        for f in fabrics
        for size in SIZES
        for offered in OFFERED
    }


def _overrides(fabric: str, size: int, offered: float) -> list[str]:
    return [
        # Of 64 hosts one is the destination; the others offer it all.
        f"workload.load={offered / ALL}",
        'workload.pattern={ kind = "hotspot", fraction = 1.0, targets = [21] }',
        f"workload.sizes.size={size} B",
        f"fabric.{fabric}.packet={size} B",
    ]


def _throughput(runs: Runs[Key], key: Key) -> float:
    return (runs.value(key, GOODPUT) or 0.0) * ALL


def _claims(runs: Runs[Key]) -> dict[str, float]:
    def largest(fabric: str, size: int) -> float:
        return max(_throughput(runs, (fabric, size, o)) for o in OFFERED)

    def most(fabric: str, size: int) -> float:
        """In what one receiver hears of packets of that size."""
        return largest(fabric, size) / (ONE * size / (size + OVERHEAD))

    def ahead(size: int) -> float:
        """The slower network of LIONS relative to the faster butterfly."""
        ours = min(largest(f, size) for f in FABRICS)
        return ours / max(largest(f, size) for f in BUTTERFLIES)

    def apart(size: int) -> float:
        return max(
            abs(runs.ratio(("ao-nack", size, o), ("dlb", size, o), GOODPUT) - 1) for o in OFFERED
        )

    sizes = [
        _throughput(runs, (f, 64, o)) / _throughput(runs, (f, 256, o))
        for f in FABRICS
        for o in OFFERED
    ]
    return {
        "fig10-four-receivers-dlb": most("dlb", 256),
        "fig10-four-receivers-nack": most("ao-nack", 256),
        "fig12-four-receivers-dlb": most("dlb", 64),
        "fig10-nack-as-dlb": apart(256),
        "fig12-nack-as-dlb": apart(64),
        "fig12-insensitive-to-size": min(sizes),
        "fig10-four-times-the-butterfly": ahead(256),
        "fig12-four-times-the-butterfly": ahead(64),
    }


def _panels(runs: Runs[Key]) -> list[dict[str, Any]]:
    offered = ("offered load [GB/s]", OFFERED)
    panels = []
    for size, places in ((256, (10, 11)), (64, (12, 13))):
        shown = (*FABRICS, *BUTTERFLIES)
        throughput: dict[str, list[float | None]] = {
            f: runs.line(((f, size, o) for o in OFFERED), GOODPUT, ALL) for f in shown
        }
        full = RECEIVERS * ONE * size / (size + OVERHEAD)
        throughput["four receivers"] = [min(o, full) for o in OFFERED]
        latency = {f: runs.line(((f, size, o) for o in OFFERED), MEAN) for f in shown}
        panels += [
            panel(f"Fig {places[0]}: {size} B", offered, "throughput [GB/s]", throughput),
            panel(f"Fig {places[1]}: {size} B", offered, "mean latency [us]", latency, log_y=True),
        ]
    return panels


figure = draw
