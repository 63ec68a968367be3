"""How long simulations will take, how much memory they need, before they begin.

Each fabric is tried: it runs for some milliseconds with its own flows on this machine
(`trials`). What that cost, for so many bytes delivered in so much simulated time, is carried
on to all bytes and to the end. Where a run ends at a time, both say how much is left, and
neither is right alone: at the beginning less is delivered than later, and a run that is
overloaded never delivers all. The geometric mean of the two is taken, the bytes limited to
`MOST_BY_BYTES` times the time. Writing the results is added for each flow.
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

#: What a trial may take [s], and all of them together where there are many.
TRIAL_S = 0.1
TRIALS_S = 0.6
#: The time that it takes lies within this factor of the forecast, either way: after one trial,
#: and after two that agree, or one that was the whole run.
WITHIN, WITHIN_TWICE = 4.0, 2.0
#: What is to take longer [s] is tried again, for this share of it, but no longer than that [s]:
#: in its first milliseconds a large fabric touches its memory for the first time.
AGAIN_FROM_S, AGAIN_SHARE, AGAIN_S = 10.0, 0.05, 2.0
#: What is left counts by bytes as at most so many times what is left by time: the first flows have
#: hardly delivered anything, and an overloaded run never delivers all.
MOST_BY_BYTES = 4.0
#: Simulations that a search for saturation takes, most often.
SEARCHED = 9
#: Points of a sweep that are tried, seeds apart: all within these, or as many as fit the time
#: [s], the first few in any case.
POINTS_MOST, POINTS_LEAST, POINTS_S = 64, 8, 3.0
#: What a process takes beside its simulation [B], Python and its libraries: the largest peaks of
#: workers (129 MB, 137 where flows are kept) and of commands (`run` 142 MB, `sweep` 189, `compare`
#: 201) with the smallest simulation, by Python 3.11 on x86-64 Linux.
WORKER_BYTES, COMMAND_BYTES = 140_000_000, 200_000_000
#: What it takes to write the results of a flow [s], and the memory for that [B], once the fabric
#: is gone; beyond so many flows the writer of Parquet takes a fixed amount beside. Measured with
#: 0.1 to 2 million flows (`benches/forecasts.py`).
WRITTEN_S, WRITTEN_BYTES = 0.7e-6, 100
MANY_FLOWS, MANY_BYTES = 130_000, 70_000_000


@dataclass(frozen=True)
class Forecast:
    """What some simulations will come to."""

    simulations: int
    """How many."""
    seconds: float
    """Time of a processor that they take together [s]."""
    longest_s: float
    """Of that, the longest of them [s]: no number of processors makes all shorter."""
    memory_bytes: int
    """What the largest of them takes [B]."""
    hops: float | None
    """Cells and packets that they move over a hop; None where one of them counts none."""
    failing: int = 0
    """How many of them have a part dead, to find what breaks."""
    unknown: int = 0
    """How many of them are not in these figures: trials of theirs ended their processes."""
    each: tuple[tuple[float, int], ...] = ()
    """Time of a processor [s] and memory [B] of each, where they are known one by one."""
    within: float = WITHIN_TWICE
    """The time lies within this factor of the forecast, either way."""
    written_bytes: int = 0
    """What the largest of them takes of memory to write its flows [B], the fabric gone."""

    def and_(self, other: Forecast) -> Forecast:
        """Both together."""
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
        """Several of the same, each a `share` as long."""
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
        """Time until all are done [s], where so many run side by side: the longest begin
        first, where each is known.

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
        """What the command takes with its workers [B], at most; simulations run in these, if they
        run `apart`, else in the command's own process, which writes all flows.

        >>> Forecast(3, 9.0, 3.0, 1_000_000, 0.0).memory_together(2, apart=True)
        482000000
        """
        if not apart:
            return COMMAND_BYTES + max(self.memory_at_once(workers), self.written_bytes)
        beside = max(1, min(workers, self.simulations))
        return self.memory_at_once(workers) + COMMAND_BYTES + beside * WORKER_BYTES

    def memory_at_once(self, workers: int) -> int:
        """What simulations that run side by side take together [B], at most: the largest at once.

        >>> one_by_one([Forecast(1, 1.0, 1.0, m, 0.0) for m in (10, 70, 20)]).memory_at_once(2)
        90
        """
        beside = max(1, min(workers, self.simulations))
        if not self.each:
            return self.memory_bytes * beside
        return sum(sorted((memory for _, memory in self.each), reverse=True)[:beside])


def of_trial(trial: Trial) -> Forecast:
    """What the whole of a run will come to, after a piece of it.

    >>> early, whole = Reached(0.5, 0.1, 100), Reached(0.6, 0.2, 200)
    >>> piece = Trial(10, 1_000, 64, 0.0, early, whole, None, 20, finished=False)
    >>> round(of_trial(piece).seconds, 1), of_trial(piece).hops
    (1.4, 100.0)
    """
    whole = trial.whole
    seconds, more = trial.prepared_s + whole.busy_s, 0.0
    if not trial.finished:
        # What is left goes on as it went after its beginning, which costs no less than that.
        since, more = _since(trial), _times(trial, whole)
        seconds += min(since.busy_s * _times(trial, since), whole.busy_s * more)
    hops = None if trial.hops is None else trial.hops * (1 + more)
    within = WITHIN_TWICE if trial.finished else WITHIN
    seconds += trial.flows * WRITTEN_S
    written = _written_bytes(trial.flows)
    memory = trial.memory_bytes
    return Forecast(1, seconds, seconds, memory, hops, within=within, written_bytes=written)


def _written_bytes(flows: int) -> int:
    """What it takes of memory to write the results of so many flows [B]."""
    return flows * WRITTEN_BYTES + (MANY_BYTES if flows > MANY_FLOWS else 0)


def twice_tried(
    experiment: Experiment, label: str, *, seconds: float, threads: int = 1
) -> Forecast:
    """What a fabric will take; of what is to take long, after a second and longer trial. By
    how much both differ is how far the forecast may be out.

    Raises:
        ConfigError: if it cannot run.
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
    """What came after the beginning of a trial; all of it, where that is all there was."""
    early, whole = trial.early, trial.whole
    if whole.busy_s <= early.busy_s or whole.time_s <= early.time_s:
        return whole
    return Reached(
        whole.busy_s - early.busy_s, whole.time_s - early.time_s, whole.bytes - early.bytes
    )


def _times(trial: Trial, piece: Reached) -> float:
    """How many times what came in a piece is still left when the trial ends."""
    left = trial.bytes - trial.whole.bytes
    by_bytes = left / piece.bytes if piece.bytes else math.inf
    if trial.end_s is None or piece.time_s <= 0:
        return by_bytes
    by_time = max(0.0, trial.end_s - trial.whole.time_s) / piece.time_s
    if trial.measured or not math.isfinite(by_bytes):
        return by_time
    return math.sqrt(min(by_bytes, MOST_BY_BYTES * by_time) * by_time)


def of_runs(experiments: Sequence[tuple[Experiment, str]], threads: int = 1) -> Forecast:
    """What it takes to run each of these fabrics of experiments once; once a seed where
    they repeat.

    Raises:
        ConfigError: if one cannot run.
    """
    seconds = min(TRIAL_S, TRIALS_S / max(1, len(experiments)))
    return total(
        twice_tried(experiment, label, seconds=seconds, threads=threads).times(
            len(experiment.seeds())
        )
        for experiment, label in experiments
    )


def of_comparisons(cases: Iterable[Experiment], threads: int = 1) -> Forecast:
    """What it takes to compare these cases of experiments, with their loads and searches.

    Raises:
        ConfigError: if one cannot run.
    """
    pairs = [(case, label) for case in cases for label in case.labels]
    seconds = min(TRIAL_S, TRIALS_S / max(1, len(pairs)))
    return total(_of_fabric(case, label, seconds, threads) for case, label in pairs)


def _of_fabric(case: Experiment, label: str, seconds: float, threads: int) -> Forecast:
    """One fabric of a comparison, at all its loads and with all its seeds."""
    once = twice_tried(case, label, seconds=seconds, threads=threads)
    resolved = case.resolved()
    known, compare = resolved["workload"].get("load"), resolved.get("compare", {})
    every = [once]
    every += [
        once.times(1, _share_at(case, load)) for load in compare.get("loads", []) if load != known
    ]
    if compare.get("saturation"):
        # Most are tried near saturation: about half of what can be sent.
        every.append(once.times(SEARCHED, _share_at(case, compare["up_to"] / 2)))
    return total(every).times(len(case.seeds()))


def _share_at(case: Experiment, load: float) -> float:
    """How many flows there are at a load, of those there are at the experiment's own."""
    own = loads.flow_count(case.resolved()["workload"])
    there = loads.flow_count(case.with_load(load).resolved()["workload"])
    return there / own if own and there else 1.0


def of_points(
    points: Sequence[tuple[Experiment, str]],
    tried: Try = tried,
    lost: Callable[[int, str], object] = lambda index, how: None,
) -> list[Forecast]:
    """What each point of a sweep takes: those that differ in their seeds alone take the same,
    and one that was not tried what the nearest does that was, of the same fabric. One that
    fails when it is tried, as it would when it runs, takes nothing; nor does one whose trial
    ended its process, of which `lost` hears by its index, and how."""
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
    """What some points take, spread evenly over all as far as the time goes."""
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
    """The numbers below `count`, so that any beginning of them is spread evenly over all:
    by their binary digits, reversed.

    >>> _spread(8)
    [0, 4, 2, 6, 1, 5, 3, 7]
    """
    digits = max(1, (count - 1).bit_length())
    return sorted(range(count), key=lambda n: int(f"{n:0{digits}b}"[::-1], 2))


def _but_seed(experiment: Experiment, label: str) -> str:
    """What tells a point from all but those with other seeds."""
    run = {key: value for key, value in experiment.raw.get("run", {}).items() if key != "seed"}
    return json.dumps([label, {**experiment.raw, "run": run}], sort_keys=True, default=str)


def one_by_one(forecasts: Sequence[Forecast]) -> Forecast:
    """All of them together, each of which is known."""
    each = tuple((one.seconds, one.memory_bytes) for one in forecasts)
    return replace(total(forecasts), each=each)


def total(forecasts: Iterable[Forecast]) -> Forecast:
    """All of them together."""
    return reduce(Forecast.and_, forecasts, Forecast(0, 0.0, 0.0, 0, 0.0))
