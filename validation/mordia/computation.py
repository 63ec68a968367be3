"""A study of our own on the cost of late decisions: completion times against the time of a
decision, and this time on this machine."""

import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from lightloom import control
from lightloom.validation import of_bounds
from lightloom.validation.estimate import across
from lightloom.validation.scripts import beside
from lightloom.validation.study import Runs, draw, panel, vary

traffic = beside(__file__, "traffic")
#: The night, of which a slot is ten and an interval 150 [ns], and the share to partners.
NIGHT, SKEW = 2_000, 0.5
#: Time of a decision, in intervals.
DELAYS = (0.0, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0)
QUICK = (0.0, 1.0, 20.0)
FOLLOWING = ("TMS", "Solstice", "Eclipse")
#: Racks of the matrices that planners are timed on.
SIZES = (16, 32, 64, 128)
RATE = "25 Gb/s"

SEEDS = (1, 2, 3)
P99 = "window.p99_us"

Key = tuple[str, float]


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """99th percentiles by policy and delay, and the computation times of planners."""
    delays = QUICK if quick else DELAYS
    interval = traffic.interval(NIGHT)
    with TemporaryDirectory() as folder:
        file = traffic.weights(Path(folder), SKEW)
        cases = {
            (policy, delay): (
                [
                    *traffic.settings(policy, NIGHT, quick),
                    f"fabric.{policy}.computation_delay={int(delay * interval)} ns",
                    f"workload.pattern.file={file}",
                ],
                policy,
            )
            for policy in FOLLOWING
            for delay in delays
        }
        runs = vary(traffic.SETUP, cases, seeds=SEEDS, workers=workers)
    curves = {p: [_p99(runs, (p, d)) for d in delays] for p in FOLLOWING}
    claims = {
        "computation-order": runs.paired(("Eclipse", 0.0), ("TMS", 0.0), P99),
        "computation-late-loses": across([_ahead(runs, delays, i) for i in range(len(SEEDS))]),
    }
    # A logarithmic axis has no zero.
    shown = [max(delay, 0.02) for delay in delays]
    x = ("time of a decision, in intervals of 300 µs (leftmost: none)", shown)
    panels = [
        panel("99th percentile at load 0.6", x, "[ms]", curves, log_x=True, log_y=True),
        panel(
            "What a decision takes here",
            ("racks", list(SIZES[:2] if quick else SIZES)),
            "[µs]",
            _times(SIZES[:2] if quick else SIZES),
            log_x=True,
            log_y=True,
        ),
    ]
    return {"data": panels, "claims": claims}


def _ahead(runs: Runs[Key], delays: Sequence[float], seed: int) -> float:
    """The longest decision [intervals] with which Eclipse is faster than TMS without delay, for one
    seed."""
    one = Runs({key: [summaries[seed]] for key, summaries in runs.summaries.items()})
    at_once = _p99(one, ("TMS", 0.0)) or 0.0
    late = [d for d in delays if (p99 := _p99(one, ("Eclipse", d))) is not None and p99 < at_once]
    return max(late, default=0.0)


def _p99(runs: Runs[Key], key: Key) -> float | None:
    """Median of the seeds [ms]; None if the load was not carried."""
    windows = [s["window"] for s in runs.summaries[key]]
    if not all(w["stable"] for w in windows):
        return None
    found = [of_bounds.figure({"window": w}, "window.p99_us") for w in windows]
    return float(np.median(found)) / 1e3


def _times(sizes: Sequence[int]) -> dict[str, list[float]]:
    """Best of five [us], of queues like those of the traffic above."""
    return {p: [min(_timed(p, _queues(n)) for _ in range(5)) for n in sizes] for p in FOLLOWING}


def _queues(racks: int) -> Any:
    """Waiting bytes: exponential, half of them for a partner."""
    rng = np.random.default_rng(1)
    demand = rng.exponential(300_000, (racks, racks))
    demand[np.arange(racks), np.roll(np.arange(racks), 1)] *= racks
    np.fill_diagonal(demand, 0)
    return demand.astype(np.int64)


def _timed(policy: str, demand: Any) -> float:
    begun = time.perf_counter()
    if policy == "Solstice":
        control.solstice(demand, rate=RATE, night=f"{NIGHT} ns")
    elif policy == "Eclipse":
        control.eclipse(demand, rate=RATE, **_frame(len(demand)))
    else:
        control.traffic_matrix_schedule(demand, **_frame(len(demand)))
    return (time.perf_counter() - begun) * 1e6


def _frame(racks: int) -> Any:
    """The frame of the fabric: a period with one slot for each other rack."""
    period = (racks - 1) * traffic.SLOT * NIGHT
    shortest = traffic.SHORTEST * NIGHT
    return {"period": f"{period} ns", "night": f"{NIGHT} ns", "shortest": f"{shortest} ns"}


figure = draw
