"""The findings that decide a comparison before times are compared: finished jobs, the load carried,
the window.

A measure that only one fabric has decides. A fabric that finishes jobs which others leave
unfinished is ahead of them, whatever the times of the jobs that both finish.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lightloom.analysis import circuits
from lightloom.config.overrides import keys_by_kind
from lightloom.results import steady_state, window_rules

from ..fair import carrying, share_of_best
from ..model import Fabric, Workload, short_p99
from .kinds import (
    AloneCarries,
    Basis,
    Cut,
    DarkStart,
    DoneSooner,
    Finding,
    FinishesMore,
    LongInterval,
    NoneCarries,
    RunTooShort,
    TooShort,
    Unfinished,
    WindowTooShort,
)

DARK_NOTABLE = 0.05
"""A dark start is named only if it takes at least this share of a run."""


def first_question(workload: Workload) -> Finding:
    """The finding that decides: jobs that only some fabrics finish, a load that only some carry, or
    times."""
    fabrics = workload.fabrics
    return (
        finished_jobs(fabrics)
        or carried_load(fabrics)
        or DoneSooner(tuple(f.label for f in carrying(fabrics)))
    )


def finished_jobs(fabrics: Sequence[Fabric]) -> FinishesMore | None:
    """The fabrics that finish jobs which others do not; None if all finish the same jobs."""
    done = {f.label: f.jobs_done for f in fabrics}
    if len(set(done.values())) < 2:
        return None
    all_jobs = {name for f in fabrics for name in f.jobs}
    leaders = tuple(
        label for label, own in done.items() if all(other <= own for other in done.values())
    )
    return FinishesMore(leaders, {x: (len(own), len(all_jobs)) for x, own in done.items()})


def carried_load(fabrics: Sequence[Fabric]) -> AloneCarries | NoneCarries | None:
    """Whether one fabric alone carries the workload, or none; None if several do, or may."""
    fair = carrying(fabrics)
    if not fair:
        return none_carries(fabrics)
    if len(fair) > 1 or len(fabrics) < 2:
        return None
    leader = fair[0]
    others = [f for f in fabrics if f is not leader]
    # A fabric that finishes all flows is ahead of fabrics whose flows can never finish, at any
    # load.
    ended = leader.finished == 1.0 and all(f.stands_still for f in others)
    if leader.carriage == "unsettled" and not ended:
        return None
    best = _short_s(leader)
    faster = tuple(f.label for f in others if (t := _short_s(f)) is not None and best and t < best)
    windowed = leader.window is not None
    shares = {f.label: None if windowed else share_of_best(f, fabrics) for f in others}
    loaded = any(f.through is not None for f in fabrics)
    basis: Basis = "window" if windowed else "load" if loaded and not ended else "traffic"
    undone = unfinished(leader) if basis == "traffic" else None
    return AloneCarries(leader.label, shares, basis, faster, undone, limit_s(others))


def none_carries(fabrics: Sequence[Fabric]) -> NoneCarries:
    """The finding that no fabric carries the load. Without a window, it includes the share of the
    load that each delivered."""
    labels = tuple(f.label for f in fabrics)
    loads = [found for f in fabrics if (found := window_rules.load(f.summary)) is not None]
    if loads and window_rules.is_beyond_servers(max(loads)):
        return NoneCarries(labels, beyond=max(loads))
    if (server := overloaded_server(fabrics)) is not None:
        return NoneCarries(labels, server=server)
    if any(f.window is not None for f in fabrics):
        return NoneCarries(labels)
    done = {f.label: t for f in fabrics if (t := all_done_s(f)) is not None}
    return NoneCarries(labels, _through(fabrics), done if len(done) == len(fabrics) else {})


def overloaded_server(fabrics: Sequence[Fabric]) -> str | None:
    """The server whose backlog grows on every fabric and with every seed; None if there is no
    single such server."""
    each = [s.summary for f in fabrics for s in f.each]
    left = {(s.get("excess") or s.get("growing") or {}).get("traffic", "") for s in each}
    found = left.pop() if len(left) == 1 else ""
    return found if "server" in found else None


def all_done_s(fabric: Fabric) -> float | None:
    """The time at which the last flow was delivered, as a mean over the seeds [s]; None if a flow
    was not."""
    ends = [s.get("simulated_s") for s in fabric.each]
    known = [end for end in ends if end is not None]
    if fabric.finished != 1.0 or len(known) < len(ends):
        return None
    last = [
        end - float((s.age - s.fct).min()) if s.age is not None and s.age.size else end
        for s, end in zip(fabric.each, known, strict=True)
    ]
    return sum(last) / len(last)


def _through(fabrics: Sequence[Fabric]) -> dict[str, float]:
    return {f.label: f.through for f in fabrics if f.through is not None}


def unfinished(fabric: Fabric) -> Unfinished | None:
    """The share that a fabric delivered, if flows were unfinished at the end of its run; None if it
    finished all that were offered."""
    paths = ("bytes_delivered", "bytes_offered", "flows_completed", "flows_offered")
    done, offered, completed, flows = (fabric.get(path) for path in paths)
    if done is None or offered is None or completed is None or flows is None or completed >= flows:
        return None
    return Unfinished(done, offered, int(completed), int(flows))


def too_short(leaders: Sequence[Fabric], fabrics: Sequence[Fabric]) -> TooShort | None:
    """The window, or the run without one, if it is too short to show whether a fabric that would
    lead carries the load."""
    return too_short_for([f for f in leaders if f.is_doubtful], leaders, fabrics)


def too_short_for(
    doubtful: Sequence[Fabric], leaders: Sequence[Fabric], fabrics: Sequence[Fabric]
) -> TooShort | None:
    """The finding for fabrics that may not carry the load; None if there are none."""
    if not doubtful:
        return None
    runs = [s.summary for f in fabrics for s in f.each if s.window is not None]
    if not runs:
        finished = {f.label: f.finished or 0.0 for f in doubtful}
        best = max(_through(fabrics).values(), default=0.0)
        return RunTooShort(
            _through(doubtful),
            finished,
            best if any(f.lags for f in doubtful) else None,
            limit_s(doubtful) is not None,
            any(f.stopped for f in doubtful),
        )
    unsettled = tuple(f.label for f in doubtful)
    return window_needed(unsettled, runs, [s.summary for f in leaders for s in f.each])


def window_needed(
    unsettled: tuple[str, ...],
    runs: Sequence[Mapping[str, Any]],
    leading: Sequence[Mapping[str, Any]],
) -> WindowTooShort:
    """The warm-up and the window that would show whether fabrics carry the load.

    Args:
        unsettled: labels of the fabrics for which it is open.
        runs: summaries with a window.
        leading: the summaries of the fabrics that would lead.
    """
    windows = [run["window"] for run in runs]
    warm_up = min(window_rules.warm_up_s(w) for w in windows)
    length = min(window_rules.length_s(w) or 0.0 for w in windows)
    largest = max(window_rules.alone_s(window_rules.judged(run)) for run in runs)
    named = {str(run.get("label", "")): run.get("cycle_s") or 0.0 for run in runs}
    cycles = {label: seconds for label, seconds in named.items() if label in unsettled}
    cycle = max(cycles.values(), default=0.0)
    slow = max((steady_state.slow_s(run) or 0.0 for run in leading), default=0.0)
    needs = max(largest, cycle, steady_state.TIMES / 2 * slow, warm_up)
    seeds = [run["window"] for run in runs if run.get("label") == unsettled[0]]
    of_flows = window_rules.flows_s(seeds)
    flows = None if of_flows is None else sum(int(window["flows"]) for window in seeds)
    # A window that is long enough for its flows but does not decide is doubled.
    measure = max(
        2 * length if of_flows is None else of_flows,
        steady_state.TIMES / 2 * slow,
        max((_tells_s(run) for run in runs), default=0.0),
        window_rules.TIMES_LARGEST * largest,
        cycle,
    )
    return WindowTooShort(
        unsettled,
        warm_up,
        length,
        needs,
        measure,
        largest if largest > warm_up else None,
        {label: s for label, s in cycles.items() if s > min(warm_up, length)},
        flows,
    )


def _tells_s(run: Mapping[str, Any]) -> float:
    """The length of a window that would decide, if the run continues as before: long enough for its
    queues, or long enough to show that they grow."""
    window = window_rules.judged(run)
    growing = window_rules.growing_s(window, window_rules.missed(window) or 0.0)
    known = steady_state.telling_s([run])
    return known if growing is None else min(known, growing)


def cuts(fabrics: Sequence[Fabric]) -> list[Cut]:
    """Fabrics whose runs ended before their flows finished."""
    return [
        Cut(
            f.label,
            float(cut["limit_s"]),
            int(cut["flows"]),
            int(cut["flows_never_offered"]),
            int(cut["flows_unfinished"]),
            cut.get("still_since_s"),
            len(f.each),
        )
        for f in fabrics
        if (cut := f.cut) is not None
    ]


def limit_s(fabrics: Sequence[Fabric]) -> float | None:
    """run.limit, if it ended a run of these fabrics while bytes were still delivered [s]."""
    found = (c.limit_s for c in cuts(fabrics) if c.still_since_s is None)
    return next(found, None)


def dark_starts(fabrics: Sequence[Fabric]) -> list[DarkStart]:
    """Fabrics whose first circuit was lit after more than 5 % of the run, and after the warm-up if
    there is one."""
    found = []
    keys = keys_by_kind()
    for fabric in fabrics:
        end, circuits = fabric.get("simulated_s"), fabric.circuits
        if not end or circuits is None or not circuits.start.size:
            continue
        until = float(circuits.start.min())
        warm_up = float((fabric.window or {}).get("from_s") or 0.0)
        if until > max(DARK_NOTABLE * end, warm_up):
            initial = "initial" in keys.get(fabric.kind, ())
            found.append(DarkStart(fabric.label, until, until / end, initial))
    return found


def rare_decisions(fabrics: Sequence[Fabric]) -> list[LongInterval]:
    """Fabrics whose policy decides on circuits once or never, or only after all flows have arrived,
    or whose flows of jobs wait for its decisions."""
    found = []
    for fabric in fabrics:
        end = fabric.get("simulated_s")
        if not end or fabric.circuits is None:
            continue
        arrived = None if fabric.get("load_offered") is None else fabric.arrivals
        flow_s = circuits.slowest_of_jobs_s(fabric.summary, fabric.fct)
        long = circuits.interval_finding(fabric.settings, end, arrived, flow_s)
        if long is not None:
            found.append(LongInterval(fabric.label, long))
    return found


def _short_s(fabric: Fabric) -> float | None:
    found = fabric.limits(short_p99(fabric.summary))
    return None if found is None else found.low
