"""The window that a comparison over loads measures, if its experiment gives no other end of a run.

A curve over loads compares steady states. A count of flows ends before the network is full, and
the sooner, the higher the load, so that times fall as the load rises. So a comparison at several
loads, or a sweep over them, that gives neither flows nor a window measures one: the warm-up and the
window that the slowest queue of a server's link needs for intervals at the highest load
(docs/results.md), by the law of sizes that a trial of the core reports. Queues inside a fabric, as
those of an oversubscribed core, may need more: a pilot, a tenth as long, counts the bytes of each
link. The window is bounded, because a run near saturation would take hours; the bound is printed
when it decides.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from lightloom.config import networks
from lightloom.config.experiment import Experiment
from lightloom.errors import ConfigError
from lightloom.results import steady_state
from lightloom.simulation import trials
from lightloom.simulation.trials import tried

HIGHEST = 0.9
"""At higher loads the window is that of this load."""
WARM_UP = 5
"""Relaxation times of the warm-up [count]."""
MARGIN = 1.1
"""Times the least window: loads drawn differ from those asked for."""
PILOT = 0.1
"""Share of the window that runs to see which links of a fabric are the busiest."""
MOST_BYTES = 20_000_000_000
"""Bytes that a run offers at the highest load [B]: some seconds of a processor on a Clos."""
#: Keys that say how long a run is.
_OWN = {"run": ("measure", "warm_up", "stop", "limit"), "workload": ("flows", "trace", "jobs")}
KEYS = tuple(f"{name}.{key}" for name, keys in _OWN.items() for key in keys)
"""The same as a sweep's grid has them."""


@dataclass(frozen=True)
class Chosen:
    """A warm-up and a window, and what decided them."""

    warm_up_s: float
    """The warm-up [s]."""
    measure_s: float
    """The window [s]."""
    needed_s: float | None
    """The window that gives intervals at `load` [s]; None where no theory gives it."""
    load: float
    """The load that it is chosen for."""

    @property
    def is_bounded(self) -> bool:
        """Whether the bound of bytes decided."""
        return self.needed_s is None or self.measure_s < self.needed_s

    def line(self) -> str:
        """The warm-up and the window, with the reason.

        >>> print(Chosen(0.005, 0.022, 0.02, 0.5).line())
        run.warm_up = "5 ms", run.measure = "22 ms": chosen for intervals at load 0.5
        """
        chosen = f'run.warm_up = "{_time(self.warm_up_s)}", run.measure = "{_time(self.measure_s)}"'
        if not self.is_bounded:
            return f"{chosen}: chosen for intervals at load {self.load:g}"
        limit = f"{MOST_BYTES / 1e9:g} GB a run"
        if self.needed_s is None:
            return (
                f"{chosen}: the most that {limit} allow; no theory gives a window for these sizes"
            )
        return (
            f"{chosen}: the most that {limit} allow. Intervals at all loads need "
            f"{_time(self.needed_s)}: set run.measure, or run.repeat"
        )


TRIAL = Chosen(0.0, 1e-6, None, 0.0)
"""A window to complete an experiment with, before one is chosen."""


def measured(experiment: Experiment) -> Experiment:
    """Return the experiment with the window that `chosen` selects for its `compare.loads`, or the
    unchanged experiment if it selects none."""
    found = chosen(experiment)
    return experiment if found is None else with_window(experiment, found)


def chosen(experiment: Experiment) -> Chosen | None:
    """The window of an experiment with `compare.loads`, the longest of its cases; None where it
    has a window of its own or another end, and where its loads are not several."""
    if _has_end(experiment.raw):
        return None
    try:
        cases = _cases(experiment)
    except ConfigError:
        return None  # it is refused where it runs
    found = []
    for case in cases:
        loads = case.raw.get("compare", {}).get("loads")
        one = for_loads(case, loads) if isinstance(loads, list) else None
        if one is None:
            return None
        found.append(one)
    return max(found, key=lambda one: one.measure_s, default=None)


def _cases(experiment: Experiment) -> list[Experiment]:
    """Its cases, which no end of a run has to be given for: they are completed with a window
    that is taken out again, unless a case sets its own."""
    trial = with_window(experiment, TRIAL)
    return [_without(case, trial.raw["run"]) for case in trial.cases()]


def _without(case: Experiment, window: dict[str, Any]) -> Experiment:
    """A case without the keys of a window that are as in that one."""
    raw = copy.deepcopy(case.raw)
    for key in ("warm_up", "measure"):
        if raw["run"].get(key) == window[key]:
            del raw["run"][key]
    return replace(case, raw=raw)


def for_loads(experiment: Experiment, loads: Sequence[Any]) -> Chosen | None:
    """The window for these loads; None where the experiment has its own end, or is refused."""
    read = [_fraction(load) for load in loads]
    known = [load for load in read if load is not None and 0 < load <= 10]
    if not known or len(known) < len(loads) or _has_end(experiment.raw):
        return None
    trial = with_window(experiment, TRIAL).with_load(known[0])
    try:
        resolved = trial.resolved()
        tries = [tried(trial, label, seconds=0.0) for label in trial.labels]
    except ConfigError:
        return None  # it is refused where it runs
    cycle_s = max(found.cycle_s or 0.0 for found in tries)
    cluster, by_byte = resolved["cluster"], tries[0].by_byte
    found = _chosen(cluster, by_byte, max(known), cycle_s)
    if by_byte is None or found.is_bounded:
        return found
    pilot = with_window(experiment, replace(found, measure_s=PILOT * found.measure_s))
    slowest = _slowest_s([pilot.with_load(load) for load in known], by_byte, cluster)
    return _for_queues(found, slowest, _most_s(cluster, max(known)))


def _slowest_s(pilots: Sequence[Experiment], by_byte: float, cluster: dict[str, Any]) -> float:
    """The relaxation time of the slowest queue of all fabrics and loads [s], but for those that are
    all but saturated."""
    longest = _relaxation_s(by_byte, cluster, HIGHEST)
    found = (trials.relaxation_s(pilot, label) for pilot in pilots for label in pilot.labels)
    return max((seconds for seconds in found if seconds and seconds <= longest), default=0.0)


def _for_queues(found: Chosen, relaxation_s: float, most_s: float) -> Chosen:
    """The window, longer if a queue of that relaxation time needs it, up to the bound of bytes."""
    needed = steady_state.rounded_up(steady_state.RELAXATIONS * relaxation_s or found.measure_s)
    if found.needed_s is None or needed <= found.needed_s:
        return found
    warm_up, measure = WARM_UP * relaxation_s, MARGIN * needed
    share = min(1.0, most_s / (warm_up + measure))
    return Chosen(
        max(found.warm_up_s, steady_state.rounded_up(share * warm_up)),
        max(found.measure_s, steady_state.rounded_up(share * measure)),
        needed,
        found.load,
    )


def _fraction(load: Any) -> float | None:
    """A load as a number, or as a percentage such as "50%"; None of anything else."""
    if isinstance(load, int | float):
        return float(load)
    number = load.strip().removesuffix("%") if isinstance(load, str) else load
    if number == load:
        return None
    try:
        return float(number) / 100
    except ValueError:
        return None


def _chosen(
    cluster: dict[str, Any], by_byte: float | None, highest: float, cycle_s: float
) -> Chosen:
    """The window by the slowest queue of a server's link; warm-up and window each hold a cycle of
    circuits, if the bound of bytes allows both."""
    found = _by_queues(cluster, by_byte, highest)
    if 2 * cycle_s > _most_s(cluster, highest):
        return found
    cycle_s = steady_state.rounded_up(cycle_s) if cycle_s else 0.0
    return replace(
        found,
        warm_up_s=max(found.warm_up_s, cycle_s),
        measure_s=max(found.measure_s, cycle_s),
    )


def _most_s(cluster: dict[str, Any], highest: float) -> float:
    """How long a run may last by the bound of bytes [s]."""
    rate = networks.server_rate(cluster)
    assert rate is not None  # it was resolved
    return MOST_BYTES * 8 / (highest * rate * _hosts(cluster))


def _by_queues(cluster: dict[str, Any], by_byte: float | None, highest: float) -> Chosen:
    most = _most_s(cluster, highest)
    load = min(highest, HIGHEST)
    if by_byte is None:
        shortest = WARM_UP + steady_state.RELAXATIONS
        return Chosen(
            steady_state.rounded_up(most * WARM_UP / shortest),
            steady_state.rounded_up(most * steady_state.RELAXATIONS / shortest),
            None,
            load,
        )
    relaxation = _relaxation_s(by_byte, cluster, load)
    needed = steady_state.RELAXATIONS * relaxation
    share = min(1.0, most / (WARM_UP * relaxation + MARGIN * needed))
    return Chosen(
        steady_state.rounded_up(share * WARM_UP * relaxation),
        steady_state.rounded_up(share * MARGIN * needed),
        steady_state.rounded_up(needed),
        load,
    )


def _relaxation_s(by_byte: float, cluster: dict[str, Any], load: float) -> float:
    """That of the queue of a server's link at a load [s]."""
    link = networks.link_rate(cluster)
    assert link is not None  # it was resolved
    return by_byte * 8 / link / (1 - load) ** 2


def _hosts(cluster: dict[str, Any]) -> int:
    return int(cluster.get("hosts") or cluster["racks"] * cluster.get("servers_per_rack", 1))


def _has_end(raw: dict[str, Any]) -> bool:
    """Whether an experiment says how long its runs are."""
    tables = {name: raw.get(name) or {} for name in _OWN}
    parts = tables["workload"].get("mix") or []
    return any(key in tables[name] for name, keys in _OWN.items() for key in keys) or any(
        "flows" in part for part in parts
    )


def with_window(experiment: Experiment, found: Chosen) -> Experiment:
    """The experiment with that warm-up and window."""
    return experiment.with_overrides(
        [f'run.warm_up="{_time(found.warm_up_s)}"', f'run.measure="{_time(found.measure_s)}"']
    )


def _time(seconds: float) -> str:
    """A time as experiments take it.

    >>> _time(0.022), _time(1.3), _time(0.0)
    ('22 ms', '1.3 s', '0 us')
    """
    if seconds >= 1:
        return f"{seconds:.6g} s"
    return f"{seconds * 1e3:.6g} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.6g} us"
