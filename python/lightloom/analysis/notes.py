"""Notes on the figures of a run: causes of doubt, and settings without effect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from lightloom import _core
from lightloom.analysis import circuits, derived_values, growth
from lightloom.analysis.circuits import Table
from lightloom.analysis.fabric_doubts import Doubt, doubts_of
from lightloom.analysis.note import Note
from lightloom.config import loads, networks
from lightloom.results import repeats, steady_state, window_rules
from lightloom.results.columns import numbers
from lightloom.results.result import Result
from lightloom.results.summaries import Summary
from lightloom.units.formats import seconds

#: A load drawn that differs from the requested one by more than this share gets a note.
LOAD_OFF = 0.1
#: A factor closer to 1 than this does not change the times of a trace.
LOAD_SAME = 0.005
#: A load above this multiple of the servers' capacity is probably a mistake.
LOAD_HIGH = 2.0
#: A fabric that delivers less than this share of the offered bytes does not carry the load.
CARRIED = 0.9
#: Fewest samples in the second half of the arrivals that give a result.
SAMPLES_LEAST = 20
#: Fewest rows that remain when a time series is thinned.
SAMPLES_KEPT = 500
#: If more than this share of the bytes arrives in the second half, the arrivals are a burst.
MOST_LATE = 0.75


def notes_of_run(result: Result) -> Iterator[Note]:
    """Yields the notes on one run that precede its figures."""
    cluster = result.experiment.get("cluster", {})
    doubts = doubts_of(result)
    yield from circuits.notes(result)
    yield from map(_of_fabric, doubts.traffic)
    yield from overloaded(result)
    yield from bit_errors(result.summary.get("devices") or {})
    yield from map(_of_fabric, doubts.capacity)
    yield from narrow_links(result.summary, cluster)
    yield from precision_without_rates(result)
    yield from faults_in_time(result)
    yield from late_faults(result)
    yield from nothing_logged(result)
    yield from samples_thinned(result)


def _of_fabric(doubt: Doubt) -> Note:
    return Note("fabric", cause=doubt.cause, value=doubt.value, text=doubt.text)


def of_cluster(cluster: Table) -> Iterator[Note]:
    """Yields notes on properties of the servers that the file does not define; `cluster` is the
    table of the file."""
    if "rack_rate" not in cluster or "nic" in cluster:
        return
    share = networks.server_rate(cluster)
    assert share is not None  # it was resolved
    yield Note("open server rate", rack_rate=cluster["rack_rate"], share_bps=share)


def of_variance(summary: Summary, workload: Table) -> Iterator[Note]:
    """Whether sizes without a finite variance weaken intervals, of a window or over seeds."""
    shape = repeats.unbounded_shape({"workload": workload})
    if shape is not None and (summary.get("window") or summary.get("load_offered") is not None):
        yield Note("no variance", shape=shape)


def of_traffic(result: Result) -> Iterator[Note]:
    """Yields notes on the traffic of a run, which are the same for every fabric."""
    return of_workload(result.summary, result.experiment.get("workload", {}))


def of_workload(summary: Summary, workload: Table) -> Iterator[Note]:
    """Notes on the traffic, which are the same for every fabric."""
    yield from of_sources(summary, workload)
    drawn = summary.get("load_offered")
    if drawn is not None and (found := of_load(drawn, workload)) is not None:
        yield found[1]


def of_sources(summary: Summary, workload: Table) -> Iterator[Note]:
    """Yields notes on the sources of flows: scaled traces, triggers, sizes without a finite
    variance."""
    factor = summary.get("time_scale")
    if factor is not None and abs(factor - 1) > LOAD_SAME:
        load = workload["load"]
        yield Note("times of trace", factor=factor, before=factor * load, load=load)
    yield from of_triggers(summary)
    yield from of_variance(summary, workload)


def of_load(drawn: float, workload: Table) -> tuple[float, Note] | None:
    """The deviation of the actual offered load from the requested one, as a share of the latter,
    and a note; None if they agree, or if none is requested and the servers could send that load."""
    asked = loads.whole({"workload": workload})
    if asked is None:
        return None if drawn <= LOAD_HIGH else (drawn, Note("load above servers", load=drawn))
    off = abs(drawn / asked - 1)
    if off <= LOAD_OFF:
        return None
    mix = workload.get("mix")
    parts = mix or [workload]
    if not any(_has_rare_sizes(part) for part in parts):
        kind = "other load: few flows"
    elif all(part.get("mean_rule") == "rescaled" for part in parts):
        kind = "other load: large flows"
    else:
        kind = "other load: large flows, not rescaled"
    asks = "the parts of workload.mix ask for" if mix else "workload.load asks for"
    return off, Note(kind, load=drawn, asks=asks, asked=asked)


def _has_rare_sizes(part: Table) -> bool:
    """Whether a few large flows may hold most bytes of a part of the traffic."""
    sizes = part.get("sizes")
    return not (isinstance(sizes, Mapping) and sizes.get("kind") in ("fixed", "exponential"))


def of_triggers(summary: Summary) -> Iterator[Note]:
    """Notes how flows are modelled that wait for triggers, or that send until the run stops."""
    if count := summary.get("triggered"):
        yield Note("triggered flows", flows=count)
    if endless := summary.get("endless"):
        yield Note("endless flows", flows=endless["flows"], bytes=endless["bytes_delivered"])


def left_behind(summary: Summary) -> Note | None:
    """Names the traffic that is offered more than its links carry, or whose backlog grows, with the
    remedy; None if there is none."""
    excess, growing = summary.get("excess"), summary.get("growing")
    found = excess or growing
    if found is None:
        return None
    of_server = "server" in found["traffic"] or window_rules.is_beyond_servers(
        window_rules.load(summary)
    )
    remedy = "lower their load" + ("" if of_server else ", or use a fabric that carries it")
    if excess is not None:
        traffic, times = excess["traffic"], excess["times"]
        return Note("overloaded links", traffic=traffic, times=times, remedy=remedy)
    if found["traffic"] == "all":
        return Note("growing backlog", remedy=remedy)
    return Note("growing backlog in part", traffic=found["traffic"], remedy=remedy)


def overloaded(result: Result) -> Iterator[Note]:
    """Names the traffic that is offered more than its links carry, or whose backlog grows; or notes
    that less was delivered than offered in the second half of the arrivals, so that the backlog
    grew. Windows and jobs have their own measures."""
    summary, growing = result.summary, result.summary.get("growing")
    share = None if summary.get("window") is not None else delivered_late(result)
    in_part = growing is not None and (share is None or growing["traffic"] != "all")
    if in_part or summary.get("excess") is not None:
        yield from filter(None, [left_behind(summary)])
        return
    if summary.get("load_offered") is None or share is None or share >= CARRIED:
        return
    if growing is not None:
        yield Note("late bytes: overloaded", share=share)
    elif summary.get("flows_completed") != result.flows.num_rows:
        yield Note("late bytes: overloaded or filling", share=share)
    elif not _keeps_its_pace(result):
        yield Note("late bytes: delivered in the end", share=share)


def _keeps_its_pace(result: Result) -> bool:
    """Whether late flows take no longer than early ones, and all flows are short compared with the
    arrival time: the load delivered is then low only because the last flows arrive last. In a heavy
    overload, early flows also wait until the end and take long."""
    arrivals, ends = (numbers(result.flows[name]) for name in ("arrival_ps", "finish_ps"))
    times = growth.late_to_early(arrivals, ends - arrivals)
    lasts_s = float(arrivals.max() - arrivals.min()) * 1e-12 if arrivals.size else 0.0
    slows = times is None or times > growth.SLOWER
    return not slows and not steady_state.is_short(lasts_s, result.summary)


def filling(result: Result) -> Iterator[Note]:
    """Notes that the arrivals were too short for a steady state, if the load of a window was
    carried; otherwise there is no steady state. For a comparison, the verdict has this note."""
    window = result.summary.get("window")
    if window is not None and not window["stable"]:
        return
    arrivals = numbers(result.flows["arrival_ps"])
    last = float(arrivals.max()) * 1e-12 if arrivals.size else 0.0
    last = min(last, float(result.summary["simulated_s"]))
    slow = steady_state.slow_s(result.summary)
    flows = steady_state.slow_flows(result.summary)
    if slow is not None and steady_state.is_short(last, result.summary):
        length = (
            steady_state.warm_up_too_short(result.summary) or f"flows arrived for {seconds(last)}"
        )
        remedy = steady_state.remedy(result.summary)
        yield Note("no steady state", length=length, flows=flows, slow_s=slow, remedy=remedy)


def delivered_late(result: Result) -> float | None:
    """Share of the bytes of the second half of the arrivals that was delivered in that time, or the
    share of all bytes, if it is larger. None if there are too few samples."""
    columns = ("time_ps", "bytes_offered", "bytes_delivered")
    time, offered, delivered = (numbers(result.timeseries[name]) for name in columns)
    if not offered.size:
        return None
    last = int(np.argmax(offered == offered[-1]))
    half = int(np.searchsorted(time, time[last] / 2))
    came = int(offered[last]) - int(offered[half])
    if last - half < SAMPLES_LEAST or not 0 < came < MOST_LATE * offered[last]:
        return None
    left = int(delivered[last]) - int(delivered[half])
    return max(left / came, float(delivered[last] / offered[last]))


def bit_errors(devices: Mapping[str, Any]) -> Iterator[Note]:
    """Effects of the named devices that a run ignores or assumes; `devices` is that part of
    summary.json.

    >>> len(list(bit_errors({"error_rate": 1e-15, "ber": 3e-9, "notes": ["assumed"]})))
    2
    """
    if "error_rate" in devices:
        yield Note("bit errors", before=devices["ber"], after=devices["error_rate"])
    yield from (Note("devices", text=note) for note in devices.get("notes", []))


def narrow_links(summary: Summary, cluster: Table) -> Iterator[Note]:
    """Notes that servers are offered more than their links carry, on any fabric."""
    load, link = summary.get("load_offered"), cluster.get("nic", "uncapped")
    server = networks.server_rate(cluster)
    if load is None or server is None or link == "uncapped":
        return
    carried = _core.control_rate("cluster.nic", link) / server
    if load > carried * (1 + LOAD_SAME):
        yield Note("narrow links", link=link, carried=carried, load=load)


def precision_without_rates(result: Result) -> Iterator[Note]:
    """Notes that a precision of rates was requested for a fabric without rates."""
    asked = result.experiment.get("run", {}).get("rate_precision", "exact")
    if asked != "exact" and "rate_precision" not in (result.summary.get("derived") or {}):
        yield Note("no rates", precision=asked, fabric=result.summary["fabric"])


def inexact_rates(summaries: Mapping[str, Summary]) -> Iterator[Note]:
    """Names the fabrics whose rates, and therefore times, were computed only to a given
    precision."""
    found: dict[float, list[str]] = {}
    for label, summary in summaries.items():
        part = (summary.get("derived") or {}).get("rate_precision")
        if part is not None:
            found.setdefault(part, []).append(label)
    for part, labels in found.items():
        whose = "all fabrics" if len(labels) == len(summaries) else ", ".join(labels)
        exact = derived_values.derived({"rate_precision": part})
        yield Note("inexact rates", exact=exact, fabrics=whose)


def faults_in_time(result: Result) -> Iterator[Note]:
    """Lists the failures and repairs during the run, because other fabrics may have had none."""
    end_ps = round(result.summary["simulated_s"] * 1e12)
    due = sorted(events(result.experiment.get("fault", [])), key=lambda event: event[0])
    happened = [what for at_ps, what in due if at_ps <= end_ps]
    if happened:
        yield Note("failures", events=happened)


def late_faults(result: Result) -> Iterator[Note]:
    """Lists the failures and repairs that were due after the end."""
    late = result.summary.get("faults_after_end") or 0
    if late:
        end_s = result.summary["simulated_s"]
        faults = result.experiment.get("fault", [])
        missed = list(events_after(faults, round(end_s * 1e12)))
        yield Note("late failures", count=late, end_s=end_s, events=missed)


def nothing_logged(result: Result) -> Iterator[Note]:
    """Notes that the requested log is missing."""
    wanted = result.experiment.get("run", {}).get("controller_log")
    if wanted and result.controller_log is None:
        yield Note("no controller")


def samples_thinned(result: Result) -> Iterator[Note]:
    """Notes that the rows of the time series are further apart than requested."""
    asked = result.experiment.get("run", {}).get("sample")
    time = numbers(result.timeseries["time_ps"])
    if asked is None or time.size < SAMPLES_KEPT:
        return
    apart = int(np.median(np.diff(time)))
    if apart >= 2 * _core.control_time("run.sample", asked):
        yield Note("thinned samples", sample=asked, apart=_core.control_time_text(apart))


def events_after(faults: list[Mapping[str, Any]], end_ps: int) -> Iterator[str]:
    """The failures and repairs that are due after a time, in the spelling of the file."""
    return (what for at_ps, what in events(faults) if at_ps > end_ps)


def events(faults: list[Mapping[str, Any]]) -> Iterator[tuple[int, str]]:
    """Time of each failure and repair [ps], with its description."""
    for fault in faults:
        for key, happens in (("at", "fails"), ("repair_at", "is repaired")):
            time = fault.get(key)
            if time is not None:
                at_ps = _core.control_time(f"fault.{key}", time)
                when = time if at_ps else "the start"
                yield at_ps, f"{part(fault)} {happens} at {when}"


def part(fault: Mapping[str, Any]) -> str:
    """The part that fails."""
    element, node, plane = str(fault["element"]), fault.get("node"), fault.get("plane")
    if element == "transceiver":
        return f"uplink {fault.get('uplink')} of node {node}"
    if element == "optical-port":
        on = "" if plane is None else f" on plane {plane}"
        return f"the optical port of node {node}{on}"
    if element == "switch":
        return f"{fault.get('tier')} switch {fault.get('switch')}"
    number = fault.get(element)
    return f"the {element}" if number is None else f"{element} {number}"
