"""An ideal Clos compared with theory: completion time of a lone flow, and the throughput of each
network in overload."""

from pathlib import Path
from typing import Any

from lightloom.validation.study import Runs, draw, panel, vary

SETUP = Path(__file__).with_name("setup.toml")
LONE = Path(__file__).with_name("lone.toml")
GOODPUT = "goodput_normalized"
LOADS = (0.25, 0.5, 1.0)
SEEDS = (1, 2, 3)
LABELS = ("clos", "clos-3to1", "clos-3to1-rack")
#: 1,000 packets on 8 links of 50 Gb/s, then three more hops for the last: [us].
LONE_US = (1_000 / 8 + 3) * 1_500 * 8 / 50e9 * 1e6


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """A lone flow, and goodput against load."""
    flows = 100_000 if quick else 200_000
    cases = {(f, load): ([f"workload.load={load}"], f) for f in LABELS for load in LOADS}
    runs = vary(SETUP, cases, flows=flows, seeds=SEEDS, workers=workers)
    permutation = {"all": (["workload.pattern=permutation", "workload.load=1.5"], "clos")}
    loaded = vary(SETUP, permutation, flows=flows, seeds=SEEDS, workers=workers)
    at_full_load = {f: runs.across((f, 1.0), GOODPUT) for f in LABELS}
    claims = {
        "clos-lone-flow": _lone_flow(workers),
        "clos-carries-a-permutation": loaded.across("all", GOODPUT),
        "clos-core-of-a-third": at_full_load["clos-3to1"],
        "clos-racks-at-a-third": at_full_load["clos-3to1-rack"],
    }
    return {"data": _panels(runs), "claims": claims}


def _lone_flow(workers: int) -> float:
    """FCT of 1.5 MB between pods, relative to the closed form."""
    # Seven of eight flows that the seeds draw cross the core, and so does the median.
    runs = vary(LONE, {"lone": ([], "clos")}, flows=1, seeds=range(1, 10), workers=workers)
    return (runs.value("lone", "fct.all.mean_us") or 0.0) / LONE_US


def _panels(runs: Runs[tuple[str, float]]) -> list[dict[str, Any]]:
    lines = {f: runs.row(((f, load) for load in LOADS), GOODPUT) for f in LABELS}
    return [panel("Goodput", ("load L", LOADS), "normalised by N·R", lines)]


figure = draw
