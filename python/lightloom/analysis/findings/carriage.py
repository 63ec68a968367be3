"""Whether each fabric carries the load of a window, or the window is too short to show it.

The core calls a window *stable* if it accepted as many bytes as the flows would deliver alone in
the network. Chance, or flows that last longer than the warm-up, can make a window unstable although
the network carries the load. A fabric is therefore *short* of the load only if

- every seed, or the interval over the seeds, shows it,
- the window is long enough (`results.window_rules`), and
- it accepted clearly less than was due or than other fabrics did, or the window is long enough for
  an interval and the network had time to fill.

A fabric is also short of the load if, in every seed, a part of the traffic is offered more than its
links carry, or its backlog grows (`results.window_rules.is_overloaded`): if only one of many racks
is overloaded, the window as a whole misses less than `MISSING`. No fabric carries a load above 1.
`whole_run` has the rule for runs without a window.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from lightloom import _core
from lightloom.analysis.unfinished import CENSORED
from lightloom.results import steady_state
from lightloom.results.window_rules import (
    MISSING,
    grows,
    had_time,
    has_enough_flows,
    is_beyond_servers,
    is_long_enough,
    is_overloaded,
    judged,
    missed,
)
from lightloom.units.intervals import LEVEL, Interval, over_runs

from ..model import Carriage, Fabric, LoadPoint, figure
from ..ranking import Score, score
from . import whole_run
from .limits import SURELY
from .whole_run import lagging, lagging_points, of_point, of_run

LONGER = 1.5
"""If the mean completion time is at least this multiple of another fabric's, a part of the fabric
may be overloaded."""

ENOUGH_SEEDS = 3
"""Number of seeds [count] from which a fabric is short of the load if it accepted less than nine
tenths of another fabric's bytes; with fewer seeds, less than `SURELY`. With web-search sizes and
windows of three of the largest flows, a fabric that carries nine tenths of its capacity accepted
less than nine tenths in up to 31 of 100 single windows, and in none of 40 comparisons of three
seeds."""

Window = Mapping[str, Any]


def settle(fabrics: Sequence[Fabric], experiment: Mapping[str, Any]) -> tuple[Fabric, ...]:
    """Returns the fabrics with the result for their load and for the loads of the sweep."""
    windows = [_judged([s.summary for s in f.each], experiment) for f in fabrics]
    made = [
        replace(f, carriage=found or of_run(f, experiment))
        for f, found in zip(fabrics, carriages(windows), strict=True)
    ]
    made = [replace(f, lags=lags) for f, lags in zip(made, lagging(made), strict=True)]
    for load in sorted({p.load for f in fabrics for p in f.sweep}):
        made = _settle_load(made, load, experiment)
    return tuple(made)


def untold(fabrics: Sequence[Fabric]) -> list[bool]:
    """For each fabric, whether it is unknown that it carries the load, although its times may be
    compared. This is so if its run does not show it (`whole_run.untold`), if `run.limit` excluded
    more than a tenth of its flows, if its windows by chance offered less than nine tenths of the
    requested load, or if its flows take so much longer than another fabric's that a part of it may
    be overloaded."""
    runs = whole_run.untold(fabrics)
    return [
        open_
        or _left_out(f)
        or _waits_longer(f, fabrics)
        or _offered_less([judged(s.summary) for s in f.each if s.window is not None])
        for f, open_ in zip(fabrics, runs, strict=True)
    ]


def _waits_longer(fabric: Fabric, fabrics: Sequence[Fabric]) -> bool:
    """Whether flows take `LONGER` times as long on average as on another fabric that may carry the
    load, and no run has an interval of its own. If one of many racks is overloaded, most of the
    load is carried, and a short run shows the overload only in its times. Several seeds give the
    mean an interval, but do not show that it would not grow. Without a window, late flows must also
    take notably longer than early ones, because a network that is filling is slow as well."""
    own = _mean_time(fabric)
    others = [s.value for f in fabrics if f.carriage != "short" and (s := _mean_time(f))]
    short = any(
        steady_state.is_short_for_intervals(s.summary, s.arrivals_took) for s in fabric.each
    )
    if fabric.carriage is None or own is None or (own.spans and not short):
        return False
    if fabric.window is None and not whole_run.lengthens(fabric):
        return False
    return own.value > LONGER * min(others, default=math.inf)


def _mean_time(fabric: Fabric) -> Score | None:
    path = "fct.all.mean_us" if fabric.window is None else "window.mean_us"
    return score(fabric, lambda f: f.limits(path))


def _left_out(fabric: Fabric) -> bool:
    cut = fabric.cut
    if cut is None or fabric.carriage is None:
        return False
    return bool(cut["flows_never_offered"] > (1 - CENSORED) * cut["flows"])


def _offered_less(seeds: Sequence[Window]) -> bool:
    asked = [load for w in seeds if (load := w.get("load")) is not None]
    return bool(asked) and _mean_due(seeds) < CENSORED * sum(asked) / len(asked)


def _settle_load(
    fabrics: Sequence[Fabric], load: float, experiment: Mapping[str, Any]
) -> list[Fabric]:
    points = [next((p for p in f.sweep if p.load == load), None) for f in fabrics]
    windows = [[] if p is None else _windows(p) for p in points]
    settled = [
        None if point is None else _settled(point, fabric, found, experiment)
        for fabric, point, found in zip(fabrics, points, carriages(windows), strict=True)
    ]
    return [
        f
        if now is None
        else replace(
            f, sweep=tuple(replace(now, lags=lags) if p.load == load else p for p in f.sweep)
        )
        for f, now, lags in zip(fabrics, settled, lagging_points(settled), strict=True)
    ]


def _judged(seeds: Sequence[Mapping[str, Any]], experiment: Mapping[str, Any]) -> list[Window]:
    """The windows of summaries, with the data that the rules need."""
    return [
        {**judged(s), "repaired": _is_repaired(s, experiment)}
        for s in seeds
        if s.get("window") is not None
    ]


def _is_repaired(summary: Mapping[str, Any], experiment: Mapping[str, Any]) -> bool:
    """Whether a failed part of this fabric is repaired in the window: its backlog is then served
    later, or after the end of the window."""
    window, own = summary["window"], (None, summary.get("label"))
    faults = [f for f in experiment.get("fault", []) if f.get("fabric") in own]
    repairs = [f["repair_at"] for f in faults if f.get("repair_at")]
    times = [_core.control_time("fault.repair_at", str(at)) * 1e-12 for at in repairs]
    return any(window["from_s"] < at <= window["until_s"] for at in times)


def _settled(
    point: LoadPoint, fabric: Fabric, of_window: Carriage | None, experiment: Mapping[str, Any]
) -> LoadPoint:
    """A load of the sweep with the result of its window, or of its run without one."""
    return replace(point, carriage=of_window or of_point(point, fabric, experiment))


def _windows(point: LoadPoint) -> list[Window]:
    return [p.window for p in point.seeds or (point,) if p.window is not None]


def carriages_of_runs(
    fabrics: Sequence[Sequence[Mapping[str, Any]]], experiment: Mapping[str, Any] | None = None
) -> list[Carriage | None]:
    """Whether each fabric carries the load of its windows, from one summary per seed.

    Args:
        fabrics: the summaries of each fabric.
        experiment: the experiment with its faults; a repair in the window leaves the result open.

    >>> missing = {"accepted": 0.46, "accepted_half_width": 0.001, "paced": 0.47, "stable": False}
    >>> window = {**missing, "from_s": 1.0, "until_s": 2.0}
    >>> runs = [{"window": window, "relaxation_s": seconds} for seconds in (0.01, 1.0)]
    >>> carriages_of_runs([[runs[0]]]), carriages_of_runs([[runs[1]]])
    (['short'], ['unsettled'])
    >>> carriages_of_runs([[{**runs[0], "cycle_s": 1.1}]])
    ['unsettled']
    """
    return carriages([_judged(seeds, experiment or {}) for seeds in fabrics])


def carriages(windows: Sequence[Sequence[Window]]) -> list[Carriage | None]:
    """The result of each fabric's windows, one window for each seed; None without windows.

    >>> ok = {"accepted": 0.47, "paced": 0.47, "stable": True, "from_s": 1.0}
    >>> low = {**ok, "accepted": 0.46, "stable": False}
    >>> half = {**low, "accepted": 0.25}
    >>> carriages([[ok, ok], [ok, low], [low, low], [half, half]])
    ['carried', 'unsettled', 'unsettled', 'short']
    >>> sure = {**low, "accepted_half_width": 0.001}
    >>> carriages([[low], [low]]), carriages([[sure], [sure]])
    (['unsettled', 'unsettled'], ['short', 'short'])
    >>> carriages([[{**ok, "flows": 99}], [{**ok, "load": 1.2}]])
    ['unsettled', 'short']
    >>> carriages([[{**ok, "growing": {"traffic": "from rack 0", "left": 0.2}}]])
    ['short']
    """
    accepted = [over_runs(_accepted(w) for w in seeds) for seeds in windows]
    grow = [is_overloaded(seeds) for seeds in windows]
    carried = [
        bool(seeds) and not growing and all(w.get("stable") for w in seeds)
        for seeds, growing in zip(windows, grow, strict=True)
    ]
    best_carried = max(
        (a.mean for a, fine in zip(accepted, carried, strict=True) if fine and a), default=None
    )
    made: list[Carriage | None] = []
    for i, seeds in enumerate(windows):
        if not seeds:
            made.append(None)
        elif grow[i] or any(is_beyond_servers(w.get("load")) for w in seeds):
            made.append("short")
        elif carried[i]:
            made.append("carried" if has_enough_flows(seeds) else "unsettled")
        else:
            others = max((a.mean for j, a in enumerate(accepted) if j != i and a), default=0.0)
            made.append(_of_one(seeds, accepted[i], best_carried, others))
    return made


def _of_one(
    seeds: Sequence[Window],
    own: Interval | None,
    best_carried: float | None,
    best_other: float,
) -> Carriage:
    """Whether windows that are not all stable carry the load."""
    if not (_says_short(seeds) and has_enough_flows(seeds) and is_long_enough(seeds)):
        return "unsettled"
    if any(w.get("repaired") for w in seeds):
        return "unsettled"
    if own is None or own.mean < (CENSORED if len(seeds) >= ENOUGH_SEEDS else SURELY) * best_other:
        return "short"
    accepted = own.mean / _mean_due(seeds) if _mean_due(seeds) else 1.0
    if all(grows(w, missed(w) or 0.0) for w in seeds):
        return "short"
    tells = all(w.get("tells", True) for w in seeds)
    if accepted < SURELY or (tells and accepted < CENSORED):
        return "short" if had_time(seeds) else "unsettled"
    if not tells:
        return "unsettled"
    if all(w.get("accepted_half_width") is None for w in seeds):
        return "unsettled"  # too short for an interval: so little may be missing by chance
    if best_carried is not None and own.mean >= best_carried * (1 - LEVEL):
        return "unsettled"  # it accepted as much as a fabric that carries the load
    return "short" if had_time(seeds) else "unsettled"


def _says_short(seeds: Sequence[Window]) -> bool:
    """Whether in every seed, or by the interval over the seeds, less was accepted than was due."""
    if not any(w.get("stable") for w in seeds):
        return True
    left = over_runs(missed(w) for w in seeds)
    return left is not None and left.half_width is not None and left.low > MISSING


def _accepted(window: Window) -> float | None:
    return figure(window, "accepted")


def _due(window: Window) -> float | None:
    found = figure(window, "paced")
    return figure(window, "offered") if found is None else found


def _mean_due(windows: Sequence[Window]) -> float:
    known = [due for w in windows if (due := _due(w)) is not None]
    return sum(known) / len(known) if known else 0.0
