"""Fig 9: completion times of 100 Gridmix jobs, at 40:1."""

from pathlib import Path
from statistics import median
from typing import Any

from lightloom.reproduce.study import Runs, draw, panel, vary

TESTBED = Path(__file__).with_name("testbed.toml")
NETWORKS = ("electrical", "cthrough", "full-bisection")
MIX = "workload.jobs=[{kind = 'gridmix'}]"


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """Times of all jobs on the three networks, of one mix or three."""
    cases = {network: ([MIX], network) for network in NETWORKS}
    runs = vary(TESTBED, cases, seeds=[1] if quick else [1, 2, 3], workers=workers)
    times = {network: _times(runs, network) for network in NETWORKS}
    middle = {network: median(times[network]) for network in NETWORKS}
    claims = {
        "fig09-near-full-bisection": middle["cthrough"] / middle["full-bisection"],
        "fig09-electrical": middle["electrical"] / middle["full-bisection"],
    }
    shares = list(range(1, 101))
    lines = {n: [times[n][len(times[n]) * s // 100 - 1] for s in shares] for n in NETWORKS}
    return {"data": [panel("Gridmix, 40:1", ("jobs [%]", shares), "[s]", lines)], "claims": claims}


def _times(runs: Runs[str], network: str) -> list[float]:
    """Completion times of single jobs, in order; the mix as a whole is not one."""
    jobs = [summary["jobs"] for summary in runs.summaries[network]]
    return sorted(job["seconds"] for mix in jobs for name, job in mix.items() if "/" in name)


figure = draw
