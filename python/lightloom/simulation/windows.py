"""The default warm-up and window of a comparison over loads.

A curve over loads compares steady states. A run with a fixed number of flows ends before the
network is full, and earlier at higher loads, so that completion times would fall as the load rises.
Therefore a comparison at several loads, or a sweep over loads, that sets neither flows nor a window
measures a window: the warm-up and the window that the slowest queue of a server's link needs for
intervals at the highest load (docs/results.md), by the size distribution that a trial of the core
reports. Queues inside a fabric, such as those of an oversubscribed core, may need more; a pilot
run, a tenth as long, counts the bytes of each link to find them. The window is bounded, because a
run near saturation would take hours; if the bound applies, it is printed.
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
"""Highest load for which a window is computed; higher loads have the window of this load."""
WARM_UP = 5
"""Warm-up ÷ relaxation time."""
MARGIN = 1.1
"""Factor on the shortest window, because the load as drawn differs from the requested one."""
PILOT = 0.1
"""Length of the pilot run ÷ window; it finds the busiest links of a fabric."""
MOST_BYTES = 20_000_000_000
"""Largest number of bytes offered in a run at the highest load [B]: a few seconds of processor time
on a Clos."""
#: Keys that set the length of a run.
_OWN = {"run": ("measure", "warm_up", "stop", "limit"), "workload": ("flows", "trace", "jobs")}
KEYS = tuple(f"{name}.{key}" for name, keys in _OWN.items() for key in keys)
"""These keys with the names of their tables, as in the grid of a sweep."""


@dataclass(frozen=True)
class Chosen:
    """A chosen warm-up and window, and the reason for their lengths."""

    warm_up_s: float
    """The warm-up [s]."""
    measure_s: float
    """The window [s]."""
    needed_s: float | None
    """The window that gives intervals at `load` [s]; None if no theory gives it."""
    load: float
    """The load for which they are chosen."""

    @property
    def is_bounded(self) -> bool:
        """Whether the bound of bytes determined the window."""
        return self.needed_s is None or self.measure_s < self.needed_s

    def line(self) -> str:
        """Returns the warm-up and the window as text, with the reason.

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
"""A placeholder window that completes an experiment before one is chosen."""


def measured(experiment: Experiment) -> Experiment:
    """Returns the experiment with the window that `chosen` selects for its `compare.loads`, or the
    unchanged experiment if it selects none."""
    found = chosen(experiment)
    return experiment if found is None else with_window(experiment, found)


def chosen(experiment: Experiment) -> Chosen | None:
    """Returns the window of an experiment with `compare.loads`, the longest over its cases; None if
    the experiment sets a window or another end of a run, or if `compare.loads` is no list of
    loads."""
    if _has_end(experiment.raw):
        return None
    try:
        cases = _cases(experiment)
    except ConfigError:
        return None  # the run itself reports the error
    found = []
    for case in cases:
        loads = case.raw.get("compare", {}).get("loads")
        one = for_loads(case, loads) if isinstance(loads, list) else None
        if one is None:
            return None
        found.append(one)
    return max(found, key=lambda one: one.measure_s, default=None)


def _cases(experiment: Experiment) -> list[Experiment]:
    """Returns the cases of an experiment that sets no end of a run. They are completed with a
    placeholder window, which is removed again unless a case sets its own."""
    trial = with_window(experiment, TRIAL)
    return [_without(case, trial.raw["run"]) for case in trial.cases()]


def _without(case: Experiment, window: dict[str, Any]) -> Experiment:
    """Removes the keys of a window from a case if they equal those of the placeholder."""
    raw = copy.deepcopy(case.raw)
    for key in ("warm_up", "measure"):
        if raw["run"].get(key) == window[key]:
            del raw["run"][key]
    return replace(case, raw=raw)


def for_loads(experiment: Experiment, loads: Sequence[Any]) -> Chosen | None:
    """Returns the window for these loads; None if the experiment sets an end of its runs, or is
    invalid."""
    read = [_fraction(load) for load in loads]
    known = [load for load in read if load is not None and 0 < load <= 10]
    if not known or len(known) < len(loads) or _has_end(experiment.raw):
        return None
    trial = with_window(experiment, TRIAL).with_load(known[0])
    try:
        resolved = trial.resolved()
        tries = [tried(trial, label, seconds=0.0) for label in trial.labels]
    except ConfigError:
        return None  # the run itself reports the error
    cycle_s = max(found.cycle_s or 0.0 for found in tries)
    cluster, by_byte = resolved["cluster"], tries[0].by_byte
    found = _chosen(cluster, by_byte, max(known), cycle_s)
    if by_byte is None or found.is_bounded:
        return found
    pilot = with_window(experiment, replace(found, measure_s=PILOT * found.measure_s))
    slowest = _slowest_s([pilot.with_load(load) for load in known], by_byte, cluster)
    return _for_queues(found, slowest, _most_s(cluster, max(known)))


def _slowest_s(pilots: Sequence[Experiment], by_byte: float, cluster: dict[str, Any]) -> float:
    """The relaxation time of the slowest queue over all fabrics and loads [s]. Queues that are
    close to saturation, with a longer relaxation time than a server's link at load `HIGHEST`, are
    excluded."""
    longest = _relaxation_s(by_byte, cluster, HIGHEST)
    found = (trials.relaxation_s(pilot, label) for pilot in pilots for label in pilot.labels)
    return max((seconds for seconds in found if seconds and seconds <= longest), default=0.0)


def _for_queues(found: Chosen, relaxation_s: float, most_s: float) -> Chosen:
    """Returns the window. If a queue of that relaxation time needs a longer one, the window is
    lengthened, up to the duration `most_s`."""
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
    """Converts a load, as a number or a percentage such as "50%", to a fraction; None if it is
    neither."""
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
    """Returns the window for the slowest queue of a server's link. Warm-up and window each contain
    a cycle of circuits if the bound of bytes allows both."""
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
    """The longest run that the bound of bytes allows [s]."""
    rate = networks.server_rate(cluster)
    assert rate is not None  # the experiment is resolved
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
    """The relaxation time of the queue of a server's link at a load [s]."""
    link = networks.link_rate(cluster)
    assert link is not None  # the experiment is resolved
    return by_byte * 8 / link / (1 - load) ** 2


def _hosts(cluster: dict[str, Any]) -> int:
    return int(cluster.get("hosts") or cluster["racks"] * cluster.get("servers_per_rack", 1))


def _has_end(raw: dict[str, Any]) -> bool:
    """Whether an experiment sets the length of its runs."""
    tables = {name: raw.get(name) or {} for name in _OWN}
    parts = tables["workload"].get("mix") or []
    return any(key in tables[name] for name, keys in _OWN.items() for key in keys) or any(
        "flows" in part for part in parts
    )


def with_window(experiment: Experiment, found: Chosen) -> Experiment:
    """Returns the experiment with that warm-up and window."""
    return experiment.with_overrides(
        [f'run.warm_up="{_time(found.warm_up_s)}"', f'run.measure="{_time(found.measure_s)}"']
    )


def _time(seconds: float) -> str:
    """Formats a time as experiments write it.

    >>> _time(0.022), _time(1.3), _time(0.0)
    ('22 ms', '1.3 s', '0 us')
    """
    if seconds >= 1:
        return f"{seconds:.6g} s"
    return f"{seconds * 1e3:.6g} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.6g} us"
