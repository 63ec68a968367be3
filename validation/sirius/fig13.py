"""Fig 13: loss of small flows by cells of a fixed size.

The paper names no load. A flow of 46 B takes a cell of 562 B all the same, so that with F = 512 B
cells offer 1.1 times what the uplinks carry at L = 50 %, and twice that at 100 %: completion
times then grow with the number of flows, and are no figure of the network. They are measured at
loads that it carries. Goodput is measured in overload, too, where it is what the network carries.
Flows go on arriving for 100 us at least, so there are more than 200,000 of the smallest.
"""

import statistics
from typing import Any

import lightloom
from lightloom.validation import Estimate, Setting
from lightloom.validation.estimate import across
from lightloom.validation.scripts import beside
from lightloom.validation.study import Runs, draw, panel, vary

setup = beside(__file__, "setup")

FACTORS = ("stop", "nic", "mean_rule", "esn", "uplink_plan", "fig13_load")
MEANS = (512, 4_000, 16_000, 100_000)
FABRICS = ("sirius", "esn")
#: By the alternatives of `fig13_load`: the load of completion times, None where there is no
#: steady state, and that of goodput.
LOADS: dict[str, tuple[float | None, float]] = {
    "steady": (0.25, 1.0),
    "10 %": (0.1, 0.1),
    "25 %": (0.25, 0.25),
    "50 %": (None, 0.5),
    "100 %": (None, 1.0),
}
#: Rate of N servers of rate R [B/s], and the shortest duration of arrivals [s].
ALL, LASTS = 128 * 400e9 / 8, 100e-6
MEDIANS = {"fig13-median-at-512": 512, "fig13-median-at-16k": 16_000}

Key = tuple[str, float, int]


def measure(quick: bool, workers: int, reading: Setting) -> dict[str, Any]:
    """Sirius and ESN at each mean flow size."""
    fct, goodput = LOADS[reading.choice["fig13_load"]]
    summaries: dict[Key, Any] = {}
    for mean in MEANS:
        for load in sorted({fct or goodput, goodput}):
            settings = [*setup.settings(reading, load), _mean(mean)]
            cases = {(f, load, mean): (settings, f) for f in FABRICS}
            size = {**setup.size(quick), "flows": _flows(mean, load, quick)}
            summaries |= vary(setup.PAPER, cases, **size, workers=workers).summaries
    runs = Runs(summaries)
    return {"data": _panels(runs, reading), "claims": _claims(runs, reading) | _medians(reading)}


def _flows(mean: int, load: float, quick: bool) -> int:
    """The paper's 200,000, or as many as last long enough."""
    enough = 0 if quick else int(LASTS * load * ALL / mean)
    return max(int(setup.flows(quick)), enough)


def _mean(size: int) -> str:
    return f'workload.sizes.mean="{size} B"'


def _claims(runs: Runs[Key], reading: Setting) -> dict[str, Estimate]:
    fct, goodput = LOADS[reading.choice["fig13_load"]]

    def to_esn(mean: int, load: float, path: str) -> Estimate:
        return runs.paired(("sirius", load, mean), ("esn", load, mean), path)

    def more(mean: int, load: float) -> Estimate:
        """Increase of the FCT [%]."""
        return to_esn(mean, load, setup.P99).minus(1).times(100)

    def less(mean: int) -> Estimate:
        """Reduction of goodput [%]."""
        return to_esn(mean, goodput, setup.goodput(reading)).minus(1).times(-100)

    claims = {
        "fig13-goodput-suffers": less(512).less(less(100_000)),
        "fig13-goodput-at-512": less(512),
        "fig13-goodput-at-16k": less(16_000),
    }
    if fct is None:
        return claims
    return claims | {
        "fig13-fct-suffers": more(512, fct).less(more(100_000, fct)),
        "fig13-fct-at-512": more(512, fct),
        "fig13-fct-at-16k": more(16_000, fct),
    }


def _medians(reading: Setting) -> dict[str, Estimate]:
    """The median sizes that the paper quotes, of flows as drawn."""
    rule = [override for override in reading.overrides if "mean_rule" in override]

    def median(mean: int, seed: int) -> float:
        sized = ["workload.flows=20_000", f"run.seed={seed}", _mean(mean), *rule]
        found = lightloom.run(lightloom.load(setup.PAPER, sized), "esn")
        return statistics.median(found.flows.column("bytes").to_pylist())

    seeds = range(1, 17)
    return {name: across([median(mean, seed) for seed in seeds]) for name, mean in MEDIANS.items()}


def _panels(runs: Runs[Key], reading: Setting) -> list[dict[str, Any]]:
    fct, goodput = LOADS[reading.choice["fig13_load"]]

    def lines(load: float, path: str) -> dict[str, list[Estimate]]:
        return {f: runs.row(((f, load, mean) for mean in MEANS), path) for f in FABRICS}

    mean = ("mean flow size [B]", MEANS)
    panels = []
    if fct is not None:
        title, us = f"FCT, short flows, L = {fct:.0%}", "99th percentile [us]"
        times = lines(fct, setup.P99)
        panels.append(panel(title, mean, us, times, log_x=True, log_y=True))
    rates = lines(goodput, setup.goodput(reading))
    title = f"Goodput, L = {goodput:.0%}"
    return [*panels, panel(title, mean, "normalised by N·R", rates, log_x=True)]


figure = draw
