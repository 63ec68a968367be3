"""Reads comparisons into the data of the report.

All later modules work on plain numbers, without Arrow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lightloom.config import loads, physics
from lightloom.results import repeats
from lightloom.results.columns import booleans, numbers
from lightloom.results.saturation import Saturation, pooled
from lightloom.results.window_rules import is_overloaded, judged
from lightloom.units import bounds
from lightloom.units.intervals import over_runs

from .doubts import finished
from .findings.carriage import settle
from .model import (
    PS,
    Circuits,
    Fabric,
    LoadPoint,
    Workload,
    carried,
    column,
    figure,
    limits,
    mean_of,
    ratio,
    short_p99,
)
from .nights import Floats

if TYPE_CHECKING:
    from lightloom.results.result import Comparison, Result

#: Assumptions about an unknown fabric, such as one of another version.
NOTHING: Mapping[str, Any] = {}
#: Keys whose findings concern the load that a fabric carries.
HOLDING = ("queue", "switches", "ideal_window", "flow_buffer")


def read(comparisons: Sequence[Comparison]) -> list[Workload]:
    """Comparisons as plain numbers; a fabric has the same colour in all of them."""
    places = slots(comparisons)
    return [workload(c, places) for c in comparisons]


def slots(comparisons: Sequence[Comparison]) -> dict[str, int]:
    """A place in the palette for each label, the same in all comparisons."""
    labels = dict.fromkeys(label for c in comparisons for label in c.results)
    return {label: i for i, label in enumerate(labels)}


def workload(comparison: Comparison, places: Mapping[str, int]) -> Workload:
    """Reads one comparison; with several seeds, their means and each seed."""
    fabrics = read_fabrics(comparison, places)
    settled = settle(fabrics, comparison.experiment)
    return Workload(comparison.name, comparison.experiment, settled)


def read_fabrics(comparison: Comparison, places: Mapping[str, int]) -> tuple[Fabric, ...]:
    """The fabrics of a comparison, before their windows are compared."""
    same = repeats.same_flows(comparison.experiment)
    if not comparison.seeds:
        found = one_seed(comparison, places).fabrics
    else:
        each = [one_seed(seed, places).fabrics for seed in comparison.seeds]
        found = tuple(joined(f) for f in zip(*each, strict=True))
    return tuple(replace(f, same_flows=same) for f in found)


def joined(seeds: Sequence[Fabric]) -> Fabric:
    """A fabric of several seeds: its figures are means.

    Its flows, time series and circuits are those of the first seed; charts use `seeds`.
    """
    sweep = zip(*(f.sweep for f in seeds), strict=False)
    return replace(
        seeds[0],
        summary=repeats.means([f.summary for f in seeds]),
        sweep=tuple(joined_point(points) for points in sweep),
        saturation=pooled([f.saturation for f in seeds if f.saturation]),
        seeds=tuple(seeds),
    )


def joined_point(points: Sequence[LoadPoint]) -> LoadPoint:
    """A point of the sweep of several seeds."""

    def mean(read: Callable[[LoadPoint], float | None]) -> float | None:
        return mean_of(over_runs(read(p) for p in points))

    windows = [p.window for p in points if p.window is not None]
    return LoadPoint(
        points[0].load,
        mean(lambda p: p.drawn),
        bounds.mean([p.p99 for p in points]),
        mean(lambda p: p.carried),
        mean(lambda p: p.delivered),
        mean(lambda p: p.finished),
        repeats.means(windows) if windows else None,
        tuple(points),
        mean(lambda p: p.goodput),
        offered_bytes=mean(lambda p: p.offered_bytes),
        flows=mean(lambda p: p.flows),
        overloaded=all(p.overloaded for p in points),
    )


def one_seed(comparison: Comparison, places: Mapping[str, int]) -> Workload:
    """Reads the comparison of one seed."""
    settings = {f.get("label", f.get("kind")): f for f in comparison.experiment.get("fabric", [])}
    nominal = comparison.experiment.get("compare", {}).get("loads", [])
    assumed = {f["label"]: f for f in physics.assumptions(comparison.experiment)}
    fabrics = tuple(
        read_fabric(
            label,
            places[label],
            settings.get(label, {}),
            result,
            comparison.loads.get(label, []),
            nominal,
            comparison.saturation.get(label),
            assumed.get(label, {}),
        )
        for label, result in comparison.results.items()
    )
    return Workload(comparison.name, comparison.experiment, fabrics)


def read_fabric(
    label: str,
    slot: int,
    settings: Mapping[str, Any],
    result: Result,
    sweep: Sequence[Mapping[str, Any]],
    nominal: Sequence[float],
    saturation: Saturation | None = None,
    assumed: Mapping[str, Any] = NOTHING,
) -> Fabric:
    """Reads one result, and the assumptions of its fabric (`physics.assumptions`)."""
    arrival = column(result.flows, "arrival_ps")
    fct = (column(result.flows, "finish_ps") - arrival) * PS
    end = figure(result.summary, "simulated_s")
    arrived = has_arrived(arrival * PS, end, cut=bool(result.summary.get("cut")))
    sizes = column(result.flows, "bytes")[arrived]
    points = tuple(
        p
        for i, s in enumerate(sweep)
        if (p := load_point(s, nominal[i] if i < len(nominal) else None))
    )
    return Fabric(
        label,
        slot,
        settings,
        result.summary,
        sizes,
        fct[arrived],
        result.timeseries,
        points,
        read_circuits(result.circuits),
        saturation,
        None if end is None else end - arrival[arrived] * PS,
        stopped=not arrived.all() and not result.summary.get("cut"),
        waiting=int(np.isnan(arrival).sum()) if result.summary.get("jobs") else 0,
        held_back=held_back(assumed.get("findings", [])),
        draws=assumed.get("draws", True),
    )


def has_arrived(arrival: Floats, end: float | None, *, cut: bool) -> NDArray[np.bool_]:
    """Whether each flow was offered by the end of the run [s]. A flow that is due exactly when
    `run.limit` ends the run is not offered.

    A flow that is due exactly when `run.limit` ends the run is not offered.
    """
    if end is None:
        return np.ones(arrival.size, dtype=bool)
    return arrival < end if cut else arrival <= end


def held_back(findings: Sequence[Mapping[str, Any]]) -> str:
    """The setting that limits a fabric's load, and its remedy, from the findings of its table;
    empty if there is none.

    >>> held_back([{"parameter": "queue", "value": "4", "remedy": "raise it to 8"}])
    'fabric.queue = 4 (raise it to 8)'
    """
    found = [x for x in findings if x["parameter"] in HOLDING]
    return "".join(f"fabric.{x['parameter']} = {x['value']} ({x['remedy']})" for x in found[:1])


def read_circuits(table: pa.Table | None) -> Circuits | None:
    """The circuits of a result, if its fabric has any."""
    if table is None:
        return None
    directed = (
        booleans(table["directed"])
        if "directed" in table.column_names
        else np.zeros(table.num_rows, dtype=bool)
    )
    return Circuits(
        numbers(table["a"]).astype(np.int64),
        numbers(table["b"]).astype(np.int64),
        directed,
        column(table, "from_ps") * PS,
        column(table, "until_ps") * PS,
    )


def load_point(summary: Mapping[str, Any], nominal: float | None) -> LoadPoint | None:
    """A point of the sweep, at the requested load (the load drawn, if that is unknown)."""
    load = nominal if nominal is not None else figure(summary, "load_offered")
    if load is None:
        return None
    delivered = ratio(figure(summary, "bytes_delivered"), figure(summary, "bytes_offered"))
    return LoadPoint(
        float(load),
        figure(summary, "load_offered"),
        limits(summary, short_p99(summary)),
        carried(summary),
        delivered,
        finished(summary),
        None if summary.get("window") is None else judged(summary),
        goodput=loads.sustained(summary),
        offered_bytes=figure(summary, "bytes_offered"),
        flows=figure(summary, "flows_offered"),
        cut=summary.get("cut"),
        overloaded=is_overloaded([summary]),
    )
