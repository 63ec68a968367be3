"""Whether a fabric carries the load of a run without a window, or the run is too short to show it.

A fabric is *short* of the load if a part of its traffic is offered more than its links carry, or
has a growing backlog (`window_rules.is_overloaded`). Otherwise it carries the load if it delivered
nine tenths of the offered bytes while flows arrived. If it delivered less, it is not necessarily
short: the last flows are unfinished, and a network that waits for its circuits is still filling. It
is short only if every seed

- offered enough flows: at a tenth of the servers' rate, a notable part of them would be delivered
  in time,
- delivered less than `SURELY` of the bytes at such a rate,
- had circuits that served all racks many times, if its circuits change, and
- did not recover, as after a repair: if it recovered, every flow finished and late flows were
  faster than early ones.

A fabric whose last flows can never finish is short, however many flows there are.

The due bytes include all sizes. A limit in multiples of the largest flow alone would leave nearly
every run of heavy-tailed sizes undecided: 2,000 flows of a web search last for ten such flows, in
which a fabric at half of the load is far behind.

A fabric *lags* if its late flows take longer than its early ones and it delivered notably less than
another fabric of the comparison: less than nine tenths of it if the run does not show whether the
fabric carries the load, otherwise at least `LEVEL` less, as just beyond saturation. A fabric that
lags does not lead, because its times may increase with the length of the run.

No fabric carries more than the servers' links, which is a load of 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lightloom.analysis import circuits, cuts
from lightloom.analysis.unfinished import CENSORED
from lightloom.config import networks
from lightloom.results.window_rules import ENOUGH_FLOWS, is_beyond_servers, is_overloaded
from lightloom.units.intervals import LEVEL

from .. import growth
from ..model import Carriage, Fabric, LoadPoint, ratio
from ..nights import Floats
from .limits import SURELY

DUE_TIMES = 10
"""A flow is due after this multiple of the time that it takes alone."""
LEAST_DUE = 0.2
"""Share of the bytes that must be due when the last flow arrives."""
RECOVERED = 0.8
"""If late flows take less than this share of the time of early ones, queues do not grow.

If all flows wait for each other until the end of a tenfold overload, late ones take 0.93 of the
early ones' time.
"""
BEHIND: Mapping[Carriage, float] = {"unsettled": CENSORED, "carried": 1 - LEVEL}
"""A fabric is behind if it delivered less than this share of the best fabric's bytes."""
FILLING = 2.0
"""Mean time of late flows ÷ that of early ones: 1.2 to 1.4 where Sirius carries 2,000 web-search
flows, 3.6 where one rack of eight is overloaded by 1.4 times."""
ROUNDS = 10
"""Number of rounds in which the circuits must have served every rack."""


def of_run(fabric: Fabric, experiment: Mapping[str, Any]) -> Carriage | None:
    """Whether a run carries the load; None for a window, and for traffic without a load."""
    if fabric.window is not None or fabric.through is None:
        return None
    if is_beyond_servers(_load(fabric)):
        return "short"
    if fabric.stands_still or is_overloaded([seed.summary for seed in fabric.each]):
        return "short"
    if fabric.through >= CENSORED:
        return "carried"
    rate = networks.link_rate(experiment.get("cluster", {}))
    return "short" if all(_is_short(seed, rate) for seed in fabric.each) else "unsettled"


def of_summaries(seeds: Sequence[Mapping[str, Any]]) -> Carriage | None:
    """Whether a fabric whose flows are not kept carries the load, from one summary for each seed.
    It is short of the load only if the load is above 1, or if no flow can make progress any more.

    >>> run = {"load_asked": 0.5, "load_offered": 0.5, "load_delivered": 0.49}
    >>> of_summaries([run]), of_summaries([{**run, "load_delivered": 0.3}])
    ('carried', 'unsettled')
    >>> of_summaries([{**run, "load_asked": 1.5}]), of_summaries([{"load_offered": None}])
    ('short', None)
    """
    shares = [ratio(s.get("load_delivered"), s.get("load_offered")) for s in seeds]
    known = [share for share in shares if share is not None]
    if not known or len(known) < len(seeds) or any(s.get("window") for s in seeds):
        return None
    if any(is_beyond_servers(s.get("load_asked")) for s in seeds):
        return "short"
    if cuts.still_since(seeds) is not None or is_overloaded(seeds):
        return "short"
    return "carried" if sum(known) >= CENSORED * len(known) else "unsettled"


def lagging(fabrics: Sequence[Fabric]) -> list[bool]:
    """Whether each fabric lags, as defined at the top of this file."""
    best = max((f.through or 0.0 for f in fabrics), default=0.0)
    return [_is_behind(f, best, BEHIND) and _slows(f) for f in fabrics]


def untold(fabrics: Sequence[Fabric]) -> list[bool]:
    """For each fabric, whether a run without a window does not show that it carries the load. This
    is so if it delivered less than nine tenths of the load and its late flows take longer, or if it
    delivered at least `LEVEL` less than another fabric. In all other cases, a fabric delivered less
    only because the last flows arrived late."""
    best = max((f.through or 0.0 for f in fabrics), default=0.0)
    least: Mapping[Carriage, float] = {"unsettled": 1 - LEVEL}
    return [
        f.window is None and f.carriage == "unsettled" and (_is_behind(f, best, least) or _slows(f))
        for f in fabrics
    ]


def lagging_points(points: Sequence[LoadPoint | None]) -> list[bool]:
    """Whether fabrics lag at one load of the sweep, where flows are not kept: whether each fabric
    with this load delivered less than nine tenths of the bytes of a fabric that carries it."""
    there = [p for p in points if p is not None]
    best = max((p.through or 0.0 for p in there if p.carriage == "carried"), default=0.0)
    least: Mapping[Carriage, float] = {"unsettled": CENSORED}
    return [p is not None and _is_behind(p, best, least) for p in points]


def _is_behind(one: Fabric | LoadPoint, best: float, least: Mapping[Carriage, float]) -> bool:
    """Whether a fabric delivered less than a share of the best; `least` holds the share for each
    carriage."""
    if one.window is not None or one.carriage is None or one.through is None:
        return False
    return one.through < least.get(one.carriage, 0.0) * best


def _slows(fabric: Fabric) -> bool:
    """Whether the median time of late flows is notably longer than that of early ones."""
    found = [_late_to_early(seed) for seed in fabric.each]
    known = [times for times in found if times is not None]
    return bool(known) and sum(known) > growth.SLOWER * len(known)


def lengthens(fabric: Fabric) -> bool:
    """Whether the mean time of late flows is more than `FILLING` times that of early ones, which is
    more than in a network that is filling with large flows."""
    arrivals = [(seed, _arrivals(seed)) for seed in fabric.each]
    found = [growth.late_to_early(a, s.least, np.mean) for s, a in arrivals if a is not None]
    known = [times for times in found if times is not None]
    return bool(known) and sum(known) > FILLING * len(known)


def _late_to_early(seed: Fabric) -> float | None:
    arrivals = _arrivals(seed)
    return None if arrivals is None else growth.late_to_early(arrivals, seed.least)


def _load(fabric: Fabric) -> float | None:
    """The requested load; for a trace or a mix the load drawn, if flows were left unfinished,
    because a burst above the capacity of the servers' links ends."""
    asked = fabric.get("load_asked")
    return fabric.get("load_offered") if asked is None and fabric.finished != 1.0 else asked


def _is_short(seed: Fabric, rate: float | None) -> bool:
    """Whether one run shows that the fabric does not carry the load."""
    due = share_due(seed, rate)
    if due is None or due < LEAST_DUE or seed.sizes.size < ENOUGH_FLOWS:
        return False
    through = seed.through
    return (
        through is not None
        and through < SURELY * due
        and _took_turns(seed)
        and not _recovered(seed)
    )


def share_due(seed: Fabric, rate: float | None) -> float | None:
    """Share of the bytes that are delivered by the last arrival if each flow, or all flows of one
    instant together, has a tenth of a server's rate [b/s]; None without flows, or if their arrival
    times are unknown."""
    arrivals = _arrivals(seed)
    if arrivals is None or not seed.sizes.sum():
        return None
    if rate is None:
        return 1.0
    left_s = arrivals.max() - arrivals
    _, at = np.unique(arrivals, return_inverse=True)
    together = np.bincount(at, weights=seed.sizes)[at]
    sent = np.minimum(1.0, left_s * rate / 8 / DUE_TIMES / together) * seed.sizes
    return float(sent.sum() / seed.sizes.sum())


def of_point(point: LoadPoint, fabric: Fabric, experiment: Mapping[str, Any]) -> Carriage | None:
    """Whether a fabric carries a load of the sweep, whose flows are not kept: their sizes are those
    of the fabric's own run, and they arrive evenly."""
    if point.window is not None or point.through is None:
        return None
    if is_beyond_servers(point.load) or point.overloaded:
        return "short"
    if point.through >= CENSORED:
        return "carried"
    rate = networks.link_rate(experiment.get("cluster", {}))
    seeds = zip(point.seeds or (point,), fabric.each, strict=False)
    return "short" if all(_is_short_at(p, seed, rate) for p, seed in seeds) else "unsettled"


def _is_short_at(point: LoadPoint, seed: Fabric, rate: float | None) -> bool:
    lasts_s = _lasts_s(point, seed)
    if lasts_s is None or point.through is None or (point.flows or 0) < ENOUGH_FLOWS:
        return False
    due = _share_due_evenly(seed, lasts_s, rate)
    part = ratio(lasts_s, seed.arrivals) or 0.0
    return due >= LEAST_DUE and point.through < SURELY * due and _took_turns(seed, part)


def _lasts_s(point: LoadPoint, seed: Fabric) -> float | None:
    """Duration of the arrivals at a load of the sweep [s]: that of the run, multiplied by the ratio
    of the bytes drawn and divided by the ratio of the loads."""
    more = ratio(point.offered_bytes, seed.get("bytes_offered"))
    slower = ratio(seed.get("load_offered"), point.drawn)
    if more is None or slower is None or seed.arrivals is None:
        return None
    return seed.arrivals * more * slower


def _share_due_evenly(seed: Fabric, lasts_s: float, rate: float | None) -> float:
    """`share_due` for flows that arrive evenly over a duration [s]."""
    if rate is None or not lasts_s or not seed.sizes.sum():
        return 1.0 if rate is None else 0.0
    due_s = seed.sizes * 8 / rate * DUE_TIMES
    shares = np.where(due_s <= lasts_s, 1 - due_s / (2 * lasts_s), lasts_s / (2 * due_s))
    return float((seed.sizes * shares).sum() / seed.sizes.sum())


def _arrivals(seed: Fabric) -> Floats | None:
    """Arrival time of each flow, from an arbitrary origin [s]."""
    return None if seed.age is None or not seed.age.size else seed.age.max() - seed.age


def _recovered(seed: Fabric) -> bool:
    """Whether all flows finished, and late ones faster than early ones."""
    arrivals = _arrivals(seed)
    if arrivals is None or not np.isfinite(seed.fct).all():
        return False
    at = growth.parts(arrivals)
    early, late = (_mean_time(seed, chosen) for chosen in (at <= growth.EARLY, at > growth.LATE))
    found = ratio(late, early)
    return found is not None and found < RECOVERED


def _mean_time(seed: Fabric, chosen: Any) -> float | None:
    """Mean completion time of some flows, weighted by bytes [s]."""
    sizes = seed.sizes[chosen]
    return ratio(float((sizes * seed.fct[chosen]).sum()), float(sizes.sum()))


def _took_turns(seed: Fabric, part: float = 1.0) -> bool:
    """Whether circuits, if they change, served all racks often enough in a run that lasts for
    `part` of this one."""
    lit, end = seed.circuits, seed.get("simulated_s")
    if lit is None or not lit.start.size or not end:
        return True
    if lit.settings > 1:
        return lit.settings * part >= ROUNDS * np.unique(np.concatenate((lit.a, lit.b))).size
    return circuits.interval_finding(seed.settings, end, seed.arrivals) is None
