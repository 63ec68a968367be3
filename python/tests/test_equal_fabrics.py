"""Fabrics with the same distribution of results: at most one comparison in twenty names a winner,
which is the rate of 95 % intervals. The worse of two figures never wins."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from test_first import made
from test_report_support import bounds

from lightloom.analysis import reading
from lightloom.analysis.model import Fabric, Workload
from lightloom.analysis.verdicts import all_first

TRIALS = 200
RATE = 0.05
FLOWS = 400

(TEMPLATE,) = reading.read(
    [made({x: {"low": 1.0, "high": 1.0, "from": 1, "until": 1} for x in "ab"})]
)


def one_run(fabric: Fabric, rng: np.random.Generator, scatter: float) -> Fabric:
    """Returns a run whose flows take lognormal times, multiplied by a factor of the run."""
    took = rng.lognormal(3.0, 1.0, FLOWS) * rng.lognormal(0.0, scatter)
    found = bounds(took, np.ones(FLOWS, dtype=bool))
    summary = {**fabric.summary, "fct_bound": {"short": found, "long": found, "all": found}}
    return replace(fabric, summary={**summary, "queue_peak_bytes": None}, seeds=())


def comparison(rng: np.random.Generator, seeds: int, scatter: float) -> Workload:
    """Returns a comparison of two fabrics with the same distribution."""
    fabrics = []
    for fabric in TEMPLATE.fabrics:
        runs = tuple(one_run(fabric, rng, scatter) for _ in range(seeds))
        fabrics.append(replace(runs[0], seeds=runs if seeds > 1 else ()))
    return replace(TEMPLATE, fabrics=tuple(fabrics))


@pytest.mark.parametrize("seeds", [1, 3, 5])
def test_equal_fabrics_have_a_winner_at_most_at_the_stated_rate(seeds: int) -> None:
    """There is scatter between runs only if there are several runs."""
    rng = np.random.default_rng(29 + seeds)
    named = 0
    for _ in range(TRIALS):
        (found,) = all_first([comparison(rng, seeds, scatter=0.0 if seeds == 1 else 0.25)]).values()
        assert found is not None
        named += len(found.leaders) == 1
    assert named <= RATE * TRIALS


def test_the_worse_of_two_equal_figures_does_not_win() -> None:
    """Regression: 543 ± 246 us led over 529 ± 270 us, because half of the first interval was
    slightly below half of its value."""
    values = {"a": (543.0, 246.0), "b": (529.0, 270.0)}
    for swapped in (False, True):
        fabrics = []
        for fabric in reversed(TEMPLATE.fabrics) if swapped else TEMPLATE.fabrics:
            mean, half = values[fabric.label]
            # Three values with this mean and Student interval: 4.303 is t for 2 degrees of freedom.
            step = half * np.sqrt(3) / 4.303
            runs = tuple(_exactly(fabric, mean + step * k) for k in (-1, 0, 1))
            fabrics.append(replace(runs[1], seeds=runs))
        (found,) = all_first([replace(TEMPLATE, fabrics=tuple(fabrics))]).values()
        assert found is not None
        assert found.leaders == ()


def _exactly(fabric: Fabric, value_us: float) -> Fabric:
    known = {"low": value_us, "high": value_us, "from": value_us, "until": value_us}
    short = {**fabric.summary["fct_bound"]["short"], "p99_us": known}
    bound = {**fabric.summary["fct_bound"], "short": short}
    summary = {**fabric.summary, "fct_bound": bound, "queue_peak_bytes": None}
    return replace(fabric, summary=summary, seeds=())
