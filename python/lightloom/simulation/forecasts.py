"""Forecasts of the time and the memory of simulations.

Each fabric is tried: it simulates its own flows on this machine for some milliseconds (`trials`).
The forecast extrapolates the trial to the end of the run, by bytes delivered and by simulated time.
If a run ends at a given time, both ratios state how much is left, and neither is accurate alone:
fewer bytes are delivered at the beginning than later, and an overloaded run never delivers all. The
forecast uses the geometric mean of the two ratios, with the ratio by bytes limited to
`MOST_BY_BYTES` times the ratio by time. The time to write the results is added for each flow.
"""

from __future__ import annotations

import heapq
import json
import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from lightloom.config import loads
from lightloom.config.experiment import Experiment
from lightloom.errors import ConfigError
from lightloom.simulation.trials import Lost, Reached, Trial, Try, tried

#: Time of a trial [s]; if there are many trials, of all together.
TRIAL_S = 0.1
TRIALS_S = 0.6
#: The run time lies within this factor of the forecast in both directions: after one trial, and
#: after two trials or a trial that was the whole run.
WITHIN, WITHIN_TWICE = 4.0, 2.0
#: If the forecast exceeds the first number [s], a second trial runs for this share of it, at most
#: for the last number [s]: in its first milliseconds a large fabric touches its memory for the
#: first time.
AGAIN_FROM_S, AGAIN_SHARE, AGAIN_S = 10.0, 0.05, 2.0
#: Largest ratio of the remaining work by bytes to that by time: the first flows have delivered
#: hardly anything, and an overloaded run never delivers all.
MOST_BY_BYTES = 4.0
#: Simulations of a typical saturation search.
SEARCHED = 9
#: Points of a sweep that are tried, not counting seeds: all up to the first number, or as many as
#: fit into the time [s], but at least the second number.
POINTS_MOST, POINTS_LEAST, POINTS_S = 64, 8, 3.0
#: Memory of a process besides its simulation [B], for Python and its libraries: the largest peaks
#: of workers (129 MB, 137 MB if flows are kept) and of commands (`run` 142 MB, `sweep` 189 MB,
#: `compare` 201 MB) with the smallest simulation, by Python 3.11 on x86-64 Linux.
WORKER_BYTES, COMMAND_BYTES = 140_000_000, 200_000_000
#: Time to write the results of a flow [s], and the memory for that after the fabric is released
#: [B]; for many flows the Parquet writer takes a constant amount in addition. Measured with 0.1 to
#: 2 million flows (`benches/forecasts.py`).
WRITTEN_S, WRITTEN_BYTES = 0.7e-6, 100
MANY_FLOWS, MANY_BYTES = 130_000, 70_000_000


@dataclass(frozen=True)
class Forecast:
    """The forecast of one or several simulations."""

    simulations: int
    """Number of simulations."""
    seconds: float
    """Processor time of all of them [s]."""
    longest_s: float
    """Processor time of the longest one [s]; parallel processors do not shorten it."""
    memory_bytes: int
    """Memory of the largest one [B]."""
    hops: float | None
    """Hops of cells and packets in all of them; None if one of them counts none."""
    failing: int = 0
    """Number of simulations with one failed part, to find the worst single failure."""
    unknown: int = 0
    """Number of simulations without a forecast, because their trials ended their processes."""
    each: tuple[tuple[float, int], ...] = ()
    """Processor time [s] and memory [B] of each simulation, if known individually."""
    within: float = WITHIN_TWICE
    """The run time lies within this factor of the forecast in both directions."""
    written_bytes: int = 0
    """Memory to write the flows of the largest simulation [B], after its fabric is released."""

    def and_(self, other: Forecast) -> Forecast:
        """Returns the forecast of both together."""
        known = self.hops is not None and other.hops is not None
        return Forecast(
            self.simulations + other.simulations,
            self.seconds + other.seconds,
            max(self.longest_s, other.longest_s),
            max(self.memory_bytes, other.memory_bytes),
            (self.hops or 0) + (other.hops or 0) if known else None,
            self.failing + other.failing,
            self.unknown + other.unknown,
            within=max(self.within, other.within),
            written_bytes=max(self.written_bytes, other.written_bytes),
        )

    def times(self, count: int, share: float = 1.0) -> Forecast:
        """Returns the forecast of `count` such simulations, each with a `share` of the length."""
        hops = None if self.hops is None else self.hops * count * share
        return Forecast(
            self.simulations * count,
            self.seconds * count * share,
            self.longest_s * share,
            self.memory_bytes,
            hops,
            self.failing * count,
            self.unknown * count,
            within=self.within,
            written_bytes=self.written_bytes,
        )

    def wall_s(self, workers: int) -> float:
        """Returns the time until all are done [s] with that many in parallel. If each is known
        individually, the longest begin first.

        >>> one_by_one([Forecast(1, s, s, 0, 0.0) for s in (1.0, 2.0, 3.0, 4.0)]).wall_s(3)
        4.0
        """
        beside = max(1, min(workers, self.simulations))
        if not self.each:
            return max(self.longest_s, self.seconds / beside)
        busy = [0.0] * beside
        for seconds in sorted((seconds for seconds, _ in self.each), reverse=True):
            heapq.heapreplace(busy, busy[0] + seconds)
        return max(busy)

    def memory_together(self, workers: int, *, apart: bool) -> int:
        """Returns an upper limit of the memory of the command and its workers [B]. Simulations run
        in the workers if they run `apart`, else in the command's own process, which writes all
        flows.

        >>> Forecast(3, 9.0, 3.0, 1_000_000, 0.0).memory_together(2, apart=True)
        482000000
        """
        if not apart:
            return COMMAND_BYTES + max(self.memory_at_once(workers), self.written_bytes)
        beside = max(1, min(workers, self.simulations))
        return self.memory_at_once(workers) + COMMAND_BYTES + beside * WORKER_BYTES

    def memory_at_once(self, workers: int) -> int:
        """Returns an upper limit of the memory of simulations in parallel [B]: the sum of the
        largest.

        >>> one_by_one([Forecast(1, 1.0, 1.0, m, 0.0) for m in (10, 70, 20)]).memory_at_once(2)
        90
        """
        beside = max(1, min(workers, self.simulations))
        if not self.each:
            return self.memory_bytes * beside
        return sum(sorted((memory for _, memory in self.each), reverse=True)[:beside])


def of_trial(trial: Trial) -> Forecast:
    """Returns the forecast of a run from a trial.

    >>> early, whole = Reached(0.5, 0.1, 100), Reached(0.6, 0.2, 200)
    >>> piece = Trial(10, 1_000, 64, 0.0, early, whole, None, 20, finished=False)
    >>> round(of_trial(piece).seconds, 1), of_trial(piece).hops
    (1.4, 100.0)
    """
    whole = trial.whole
    seconds, more = trial.prepared_s + whole.busy_s, 0.0
    if not trial.finished:
        # The rest is forecast from the part after the beginning, which cannot cost more than the
        # average.
        since, more = _since(trial), _times(trial, whole)
        seconds += min(since.busy_s * _times(trial, since), whole.busy_s * more)
    hops = None if trial.hops is None else trial.hops * (1 + more)
    within = WITHIN_TWICE if trial.finished else WITHIN
    seconds += trial.flows * WRITTEN_S
    written = _written_bytes(trial.flows)
    memory = trial.memory_bytes
    return Forecast(1, seconds, seconds, memory, hops, within=within, written_bytes=written)


def _written_bytes(flows: int) -> int:
    """Memory to write the results of that many flows [B]."""
    return flows * WRITTEN_BYTES + (MANY_BYTES if flows > MANY_FLOWS else 0)


def twice_tried(
    experiment: Experiment, label: str, *, seconds: float, threads: int = 1
) -> Forecast:
    """Returns the forecast of one fabric. If the run will be long, a second, longer trial is made;
    the difference of the two forecasts is the uncertainty.

    Raises:
        ConfigError: if the experiment is invalid.
    """
    first = of_trial(tried(experiment, label, seconds=seconds, threads=threads))
    if first.seconds <= AGAIN_FROM_S:
        return first
    longer = max(seconds, min(AGAIN_S, first.seconds * AGAIN_SHARE))
    second = of_trial(tried(experiment, label, seconds=longer, threads=threads))
    if not math.isfinite(first.seconds) or second.within == WITHIN_TWICE:
        return second
    apart = max(first.seconds, second.seconds) / min(first.seconds, second.seconds)
    return replace(second, within=max(WITHIN_TWICE, apart))


def _since(trial: Trial) -> Reached:
    """The part of a trial after its beginning; the whole trial if it has no such part."""
    early, whole = trial.early, trial.whole
    if whole.busy_s <= early.busy_s or whole.time_s <= early.time_s:
        return whole
    return Reached(
        whole.busy_s - early.busy_s, whole.time_s - early.time_s, whole.bytes - early.bytes
    )


def _times(trial: Trial, piece: Reached) -> float:
    """Returns the remaining work ÷ the work of `piece`."""
    left = trial.bytes - trial.whole.bytes
    by_bytes = left / piece.bytes if piece.bytes else math.inf
    if trial.end_s is None or piece.time_s <= 0:
        return by_bytes
    by_time = max(0.0, trial.end_s - trial.whole.time_s) / piece.time_s
    if trial.measured or not math.isfinite(by_bytes):
        return by_time
    return math.sqrt(min(by_bytes, MOST_BY_BYTES * by_time) * by_time)


def of_runs(experiments: Sequence[tuple[Experiment, str]], threads: int = 1) -> Forecast:
    """Returns the forecast of running each of these fabrics of experiments once, or once for each
    seed if they repeat.

    Raises:
        ConfigError: if an experiment is invalid.
    """
    seconds = min(TRIAL_S, TRIALS_S / max(1, len(experiments)))
    return total(
        twice_tried(experiment, label, seconds=seconds, threads=threads).times(
            len(experiment.seeds())
        )
        for experiment, label in experiments
    )


def of_comparisons(cases: Iterable[Experiment], threads: int = 1) -> Forecast:
    """Returns the forecast of comparing these cases of experiments, with their loads and searches.

    Raises:
        ConfigError: if an experiment is invalid.
    """
    pairs = [(case, label) for case in cases for label in case.labels]
    seconds = min(TRIAL_S, TRIALS_S / max(1, len(pairs)))
    return total(_of_fabric(case, label, seconds, threads) for case, label in pairs)


def _of_fabric(case: Experiment, label: str, seconds: float, threads: int) -> Forecast:
    """Returns the forecast of one fabric of a comparison, with all its loads and seeds."""
    once = twice_tried(case, label, seconds=seconds, threads=threads)
    resolved = case.resolved()
    known, compare = resolved["workload"].get("load"), resolved.get("compare", {})
    every = [once]
    every += [
        once.times(1, _share_at(case, load)) for load in compare.get("loads", []) if load != known
    ]
    if compare.get("saturation"):
        # Most loads of a search are near saturation, which is about half of the highest load on
        # average.
        every.append(once.times(SEARCHED, _share_at(case, compare["up_to"] / 2)))
    return total(every).times(len(case.seeds()))


def _share_at(case: Experiment, load: float) -> float:
    """Returns the number of flows at a load ÷ that at the experiment's own load."""
    own = loads.flow_count(case.resolved()["workload"])
    there = loads.flow_count(case.with_load(load).resolved()["workload"])
    return there / own if own and there else 1.0


def of_points(
    points: Sequence[tuple[Experiment, str]],
    tried: Try = tried,
    lost: Callable[[int, str], object] = lambda index, how: None,
) -> list[Forecast]:
    """Returns the forecast of each point of a sweep. Points that differ only in their seeds have
    the same forecast; a point that was not tried has that of the nearest tried point of the same
    fabric. A point whose trial fails has no cost, as it will fail when it runs. A point whose trial
    ended its process has none either; `lost` is called with its index and the reason."""
    keys = [_but_seed(*point) for point in points]
    first = {key: keys.index(key) for key in dict.fromkeys(keys)}
    places = {key: place for place, key in enumerate(first)}
    alike = [(key, points[index]) for key, index in first.items()]
    tried_ones = _tried_of(alike, tried, lambda key, how: lost(first[key], how))

    def nearest(key: str) -> Forecast:
        if key in tried_ones:
            return tried_ones[key]
        whole = [k for k, one in tried_ones.items() if not one.unknown] or list(tried_ones)
        known = [k for k in whole if points[first[k]][1] == points[first[key]][1]] or whole
        return tried_ones[min(known, key=lambda k: abs(places[k] - places[key]))]

    return [nearest(key) for key in keys]


def _tried_of(
    alike: Sequence[tuple[str, tuple[Experiment, str]]],
    tried: Try,
    lost: Callable[[str, str], object],
) -> dict[str, Forecast]:
    """Returns the forecasts of some points, spread evenly over all, as many as the time allows."""
    made: dict[str, Forecast] = {}
    seconds = min(TRIAL_S, POINTS_S / 2 / max(1, min(len(alike), POINTS_MOST)))
    until = time.monotonic() + POINTS_S
    for place in _spread(len(alike))[:POINTS_MOST]:
        if len(made) >= POINTS_LEAST and time.monotonic() > until:
            break
        key, (experiment, label) = alike[place]
        try:
            made[key] = of_trial(tried(experiment, label, seconds=seconds))
        except ConfigError:
            made[key] = Forecast(1, 0.0, 0.0, 0, 0.0)
        except Lost as problem:
            made[key] = Forecast(1, 0.0, 0.0, 0, 0.0, unknown=1)
            lost(key, str(problem))
    return made


def _spread(count: int) -> list[int]:
    """Returns the numbers below `count` in an order of which every beginning is spread evenly: by
    their reversed binary digits.

    >>> _spread(8)
    [0, 4, 2, 6, 1, 5, 3, 7]
    """
    digits = max(1, (count - 1).bit_length())
    return sorted(range(count), key=lambda n: int(f"{n:0{digits}b}"[::-1], 2))


def _but_seed(experiment: Experiment, label: str) -> str:
    """A key that is equal for points that differ only in their seeds."""
    run = {key: value for key, value in experiment.raw.get("run", {}).items() if key != "seed"}
    return json.dumps([label, {**experiment.raw, "run": run}], sort_keys=True, default=str)


def one_by_one(forecasts: Sequence[Forecast]) -> Forecast:
    """Returns the forecast of all together, each of which is known individually."""
    each = tuple((one.seconds, one.memory_bytes) for one in forecasts)
    return replace(total(forecasts), each=each)


def total(forecasts: Iterable[Forecast]) -> Forecast:
    """Returns the forecast of all together."""
    return reduce(Forecast.and_, forecasts, Forecast(0, 0.0, 0.0, 0, 0.0))
