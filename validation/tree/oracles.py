"""An oversubscribed tree compared with arithmetic: the time of a lone flow, and the time of an
all-to-all exchange."""

from pathlib import Path
from typing import Any

from lightloom.validation.study import Runs, draw, panel, vary

SETUP = Path(__file__).with_name("setup.toml")
#: Rate of a rack's uplink [Gb/s], by label.
UPLINKS = {"full": 4.0, "4to1": 1.0, "10to1": 0.4, "40to1": 0.1}
#: A flow [Gb].
SIZE = 0.08
#: Of the 16 × 15 flows, those that leave a rack, and those that leave a pod of two.
OUT_OF_RACK, OUT_OF_POD = 4 * 12, 8 * 8
#: Flows of one server, at its 1 Gb/s, which limit the exchange at full bisection.
OUT_OF_SERVER = 15
#: Above each of two pods: 8 servers of 1 Gb/s, halved twice [Gb/s].
POD_UPLINK = 2.0


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """A flow alone, and one from every server to every other, on each tree."""
    del quick  # it takes no time
    together = {label: ([], label) for label in (*UPLINKS, "fat-tree-4to1")}
    all_to_all = vary(SETUP, together, flows=240, seeds=[1], workers=workers)
    lone = {label: (["workload.pattern=uniform"], label) for label in UPLINKS}
    # Four of five pairs that the seeds draw are in different racks.
    alone = vary(SETUP, lone, flows=1, seeds=range(1, 10), workers=workers)
    took = {label: all_to_all.value(label, "simulated_s") or 0.0 for label in together}
    claims = {
        "tree-lone-flow": _worst(_alone(alone, label) for label in UPLINKS),
        "tree-all-to-all": _worst(took[x] / _exchange(UPLINKS[x]) for x in UPLINKS),
        "tree-fat-tree": took["fat-tree-4to1"] / (OUT_OF_POD * SIZE / POD_UPLINK),
    }
    uplinks = list(UPLINKS.values())
    lines = {"measured": list(took.values())[:4], "arithmetic": [_exchange(u) for u in uplinks]}
    x = ("uplink of a rack [Gb/s]", uplinks)
    panels = [panel("All to all, 10 MB each", x, "[s]", lines, log_y=True)]
    return {"data": panels, "claims": claims}


def _exchange(uplink: float) -> float:
    """Time of the exchange over racks' uplinks [s]."""
    return max(OUT_OF_RACK * SIZE / uplink, OUT_OF_SERVER * SIZE)


def _alone(runs: Runs[str], label: str) -> float:
    """FCT of a lone flow relative to its bytes at the narrowest rate."""
    rate = min(UPLINKS[label], 1.0)
    return (runs.value(label, "fct.all.mean_us") or 0.0) / (SIZE / rate * 1e6)


def _worst(ratios: Any) -> float:
    """The ratio that is farthest from 1."""
    return float(max(ratios, key=lambda r: abs(r - 1)))


figure = draw
