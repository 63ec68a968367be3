"""Fig 9: completion times of 100 Gridmix jobs, at 40:1."""

from itertools import chain
from pathlib import Path
from statistics import median
from typing import Any

from lightloom.validation.estimate import Estimate, across
from lightloom.validation.study import Runs, draw, panel, vary

TESTBED = Path(__file__).with_name("testbed.toml")
NETWORKS = ("electrical", "cthrough", "full-bisection")
SEEDS = (1, 2, 3, 4, 5)
MIX = "workload.jobs=[{kind = 'gridmix'}]"


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """Times of all jobs of five mixes on the three networks."""
    del quick  # it takes seconds
    cases = {network: ([MIX], network) for network in NETWORKS}
    runs = vary(TESTBED, cases, seeds=SEEDS, workers=workers)
    times = {network: sorted(chain(*_times(runs, network))) for network in NETWORKS}
    middle = {network: [median(mix) for mix in _times(runs, network)] for network in NETWORKS}

    def to_full_bisection(network: str) -> Estimate:
        pairs = zip(middle[network], middle["full-bisection"], strict=True)
        return across([own / full for own, full in pairs])

    claims = {
        "fig09-near-full-bisection": to_full_bisection("cthrough"),
        "fig09-electrical": to_full_bisection("electrical"),
    }
    shares = list(range(1, 101))
    lines = {n: [times[n][len(times[n]) * s // 100 - 1] for s in shares] for n in NETWORKS}
    return {"data": [panel("Gridmix, 40:1", ("jobs [%]", shares), "[s]", lines)], "claims": claims}


def _times(runs: Runs[str], network: str) -> list[list[float]]:
    """Completion times of the single jobs of each mix, without the mix as a whole."""
    mixes = [summary["jobs"] for summary in runs.summaries[network]]
    return [[job["seconds"] for name, job in mix.items() if "/" in name] for mix in mixes]


figure = draw
