"""The report of a sweep: `report.html` with a figure over every axis that was swept, with means and
intervals over the seeds, and a table of all points."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from lightloom.analysis import cuts
from lightloom.analysis.findings.carriage import carriages_of_runs
from lightloom.analysis.findings.whole_run import of_summaries
from lightloom.analysis.model import Carriage
from lightloom.analysis.note import Note
from lightloom.plotting import backend_plotly, style
from lightloom.plotting.arrows import parted
from lightloom.plotting.draw import Drawing, draw
from lightloom.plotting.spec import NIGHT, Axis, Figure, Panel, Scale, Series, extent, figure
from lightloom.results import repeats
from lightloom.results.summaries import JOBS_SHOWN, jobs_of
from lightloom.storage.staging import Staging
from lightloom.units import bounds, quantities
from lightloom.units.bounds import floored
from lightloom.units.intervals import Interval, over_runs

from . import cut_runs, page

Summary = Mapping[str, Any]
#: The largest number of lines of a panel that a reader can distinguish.
LINES_MOST = 8
#: Largest number of rows of the table; `sweep.parquet` has all.
ROWS_MOST = 1_000
#: Ratio of values from which an axis is logarithmic.
WIDE = 30.0


@dataclass(frozen=True)
class Cell:
    """The results of a fabric at one combination of values, with every seed."""

    values: Mapping[str, Any]
    """Key of the grid → value."""
    fabric: str
    summaries: Sequence[Summary]
    failed: int = 0
    """The number of seeds that failed."""
    carriage: Carriage | None = None
    """Whether the load is carried, as far as the windows of all fabrics at these values show."""

    def figure(self, metric: Metric) -> Interval | None:
        """Returns the mean over the seeds, in base units, with its interval; if flows were
        unfinished, the lower limit."""
        if metric.job:
            found = over_jobs(self.summaries, metric.job)
        else:
            of = bounds.interval if bounds.is_of_flows(metric.path) else repeats.interval
            found = of(self.summaries, metric.path)
        if found is None:
            return None
        half = None if found.half_width is None else found.half_width * metric.unit
        return Interval(found.mean * metric.unit, half, found.n)

    def open(self, metric: Metric) -> bool:
        """Whether the figure is a bound."""
        if not bounds.is_of_flows(metric.path):
            return False
        found = (bounds.bound(s, metric.path) for s in self.summaries)
        return any(b is not None and not b.exact for b in found)

    def doubted(self, metric: Metric) -> bool:
        """Whether a figure of the window, or a time without a window, may not be one of a steady
        state, because the fabric is not known to carry the load."""
        return metric in (*WINDOW, *TIMES) and self.carriage in CARRIAGES

    @property
    def doubt(self) -> str:
        """The text of the table about such a figure."""
        what = "window" if any(s.get("window") for s in self.summaries) else "run"
        return CARRIAGES[str(self.carriage)].format(what)

    @property
    def fabric_and_values(self) -> str:
        """A text that identifies the cell."""
        return json.dumps([self.fabric, self.values], default=str)


@dataclass(frozen=True)
class Metric:
    """A figure that the page shows."""

    title: str
    path: str
    quantity: quantities.Quantity
    unit: float = 1.0
    """The unit of the summary's figure, in base units."""
    axis: str = "flow completion time"
    """The title of its axis."""
    job: str = ""
    """The job whose duration the figure is; empty for other figures."""


CARRIAGES = {"short": "not carried", "unsettled": "carried or not: {} too short"}
"""Texts of the table about a load that is not known to be carried, for a window or a run."""
DRAWN = Metric("Offered load (actual)", "load_offered", "share")
LOAD = Metric("Load delivered", "load_delivered", "share", axis="load delivered")
GOODPUT = Metric("Goodput", "goodput_normalized", "share", axis="goodput")
TIMES = (
    Metric("FCT of short flows, median", "fct.short.p50_us", "time", 1e-6),
    Metric("FCT of short flows, p99", "fct.short.p99_us", "time", 1e-6),
    Metric("FCT of long flows, p99", "fct.long.p99_us", "time", 1e-6),
)
ACCEPTED = Metric("Accepted in the window", "window.accepted", "share", axis="accepted")
WINDOW = (
    ACCEPTED,
    Metric("Latency in the window, mean", "window.mean_us", "time", 1e-6, "latency"),
    Metric("Latency in the window, p99", "window.p99_us", "time", 1e-6, "latency"),
    Metric("FCT of short flows there, p99", "window.short.p99_us", "time", 1e-6),
)


def build(name: str, cells: Sequence[Cell], out: Path) -> Path:
    """Writes `report.html` and `figures/` into a folder; returns the path of the page."""
    with Staging(out) as staging:
        made = stage(name, cells, out, staging)
        staging.amend(out)
    return made


def stage(
    name: str, cells: Sequence[Cell], out: Path, staging: Staging, traffic: Sequence[str] = ()
) -> Path:
    """Writes the report as part of one transaction, with notes on the traffic."""
    metrics = shown(cells)
    slots: dict[str, int] = {}
    figures = [f for key in axes(cells) if (f := over(key, cells, metrics, slots)) is not None]
    made = out / "report.html"
    drawings = draw(figures, "", out / "figures", lambda: None, staging)
    staging.text(made, render(name, cells, metrics, drawings, traffic))
    return made


def shown(cells: Sequence[Cell]) -> list[Metric]:
    """Returns the figures that at least one point has: those of the window if one was measured; the
    goodput if no load is defined."""
    windowed = any(c.figure(ACCEPTED) is not None for c in cells)
    of_runs = (LOAD, GOODPUT, *TIMES)
    all_of = (*(WINDOW if windowed else of_runs), *of_jobs(cells))
    there = [m for m in all_of if _known(m, cells)]
    return [m for m in there if m is not GOODPUT or LOAD not in there]


def of_jobs(cells: Sequence[Cell]) -> list[Metric]:
    """The durations of jobs, as in `compare`; of very many jobs, the first ones."""
    names = dict.fromkeys(job for c in cells for s in c.summaries for job in jobs_of(s))
    return [
        Metric(f"Time of job {name}", f"jobs.{name}", "time", axis="time of the job", job=name)
        for name in [*names][:JOBS_SHOWN]
    ]


def over_jobs(summaries: Sequence[Summary], job: str) -> Interval | None:
    """Returns the mean duration of a job over the seeds [s]; None unless it ended with every seed,
    because a mean over the seeds in which it ended would be too short."""
    times = [summary.get("jobs", {}).get(job, {}).get("seconds") for summary in summaries]
    return None if None in times else over_runs(times)


def _known(metric: Metric, cells: Sequence[Cell]) -> bool:
    """Whether a point has the figure."""
    return any(cell.figure(metric) is not None for cell in cells)


def axes(cells: Sequence[Cell]) -> list[str]:
    """The keys that have several values; all keys if none has."""
    keys = list(cells[0].values) if cells else []
    swept = [key for key in keys if len(distinct(cells, key)) > 1]
    return swept or keys


def distinct(cells: Sequence[Cell], key: str) -> list[Any]:
    """The values of a key, in the order of the grid."""
    return list({json.dumps(cell.values[key]): cell.values[key] for cell in cells}.values())


def value_text(value: Any) -> str:
    """Formats a value of the grid; for a table, the values of its keys.

    >>> value_text({"kind": "fixed", "size": "2 KB"}), value_text(True), value_text(0.5)
    ('fixed 2 KB', 'true', '0.5')
    """
    if isinstance(value, Mapping):
        return " ".join(map(value_text, value.values()))
    return value if isinstance(value, str) else json.dumps(value)


def cut_points(cells: Sequence[Cell], rest: str) -> list[Note]:
    """States which points have runs that ended before their flows did; `rest` is the place of the
    full list."""
    places = {_place(cell): cell.summaries for cell in cells}
    return cuts.of_places(places, "", rest)


def _place(cell: Cell) -> str:
    """`load = 0.5, clos`."""
    return ", ".join(part for part in (values_text(cell.values), cell.fabric) if part)


def values_text(values: Mapping[str, Any]) -> str:
    """The values of the grid at a point: `load = 0.5, racks = 16`."""
    return _listed({key: value_text(value) for key, value in values.items()})


def _same(one: Any, other: Any) -> bool:
    """Whether two values of the grid are equal; 1 and true are not."""
    return json.dumps(one) == json.dumps(other)


def over(
    key: str, cells: Sequence[Cell], metrics: Sequence[Metric], slots: dict[str, int]
) -> Figure | None:
    """Draws all figures over one axis: one line for each fabric and each combination of the other
    keys; if these are too many, one line for each fabric at the first values of the other keys. A
    line has the same style in all figures; `slots` contains the styles in use, by label."""
    others = [k for k in axes(cells) if k != key]
    held = ""
    if len({_line(cell, others) for cell in cells}) > LINES_MOST:
        first = {k: distinct(cells, k)[0] for k in others}
        cells = [c for c in cells if all(_same(c.values[k], first[k]) for k in others)]
        named = _listed({k: value_text(value) for k, value in first.items()})
        held = f" Other keys are at their first values: {named}."
        others = []
    lines: dict[str, list[Cell]] = {}
    for cell in cells:
        lines.setdefault(_line(cell, others), []).append(cell)
    for label in lines:
        slots.setdefault(label, len(slots))
    x = _x_axis(key, distinct(cells, key))
    panels = [_panel(metric, x, key, lines, slots) for metric in metrics]
    doubted = any(cell.doubted(metric) for cell in cells for metric in metrics)
    caption = CAPTION + NOT_CARRIED * doubted + held
    return figure(f"over-{_slug(key)}", f"Over {key}", caption, panels)


CAPTION = (
    "Means over the seeds, with their 95 % confidence intervals (Student's t). An arrow is a "
    "bound, which no line joins: flows were under way when a run ended, and the figure is at least "
    "that."
)
NOT_CARRIED = (
    " If a load is not known to be carried, its accepted load has a hollow marker and its latency "
    "is an arrow, because it depends on the length of the window or the run."
)


def _line(cell: Cell, others: Sequence[str]) -> str:
    """The label of a line."""
    values = _listed({key: value_text(cell.values[key]) for key in others})
    return f"{cell.fabric}, {values}" if values else cell.fabric


def _listed(values: Mapping[str, str]) -> str:
    return ", ".join(f"{key.rpartition('.')[2]} = {value}" for key, value in values.items())


def _slug(key: str) -> str:
    return "".join(c if c.isalnum() else "-" for c in key.lower()).strip("-")


def _numbers(values: Sequence[Any]) -> bool:
    """Whether values are numbers, so that an axis can show them."""
    return all(isinstance(v, int | float) and not isinstance(v, bool) for v in values)


def _x_axis(key: str, values: Sequence[Any]) -> Axis:
    if not _numbers(values):
        names = tuple(map(value_text, values))
        return Axis(key, "number", "linear", (-0.4, len(names) - 0.6), names)
    low, high = min(values), max(values)
    if low > 0 and high > WIDE * low:
        return Axis(key, "number", "log", (low / 1.2, high * 1.2))
    margin = 0.06 * ((high - low) or abs(high) or 1.0)
    return Axis(key, "number", "linear", (min(0.0, low - margin), high + margin))


def _panel(
    metric: Metric,
    x: Axis,
    key: str,
    lines: Mapping[str, Sequence[Cell]],
    slots: Mapping[str, int],
) -> Panel | None:
    series = [
        made
        for label, cells in lines.items()
        for made in _series(metric, x, key, label, cells, slots[label])
    ]
    if not series:
        return None
    ends = [
        Series("", s.x, np.nan_to_num(s.error) * sign + s.y)
        for s in series
        if s.error is not None
        for sign in (-1.0, 1.0)
    ]
    # An interval that includes zero cannot be drawn on a logarithmic axis.
    positive = all(bool((s.y[np.isfinite(s.y)] > 0).all()) for s in (*series, *ends))
    scale: Scale = "log" if metric.quantity == "time" and positive else "linear"
    y = Axis(metric.axis, metric.quantity, scale, extent([*series, *ends], "y", scale))
    return Panel(metric.title, x, y, tuple(series))


def _series(
    metric: Metric, x: Axis, key: str, label: str, cells: Sequence[Cell], slot: int
) -> list[Series]:
    known = [(cell, found) for cell in cells if (found := cell.figure(metric)) is not None]
    if not known:
        return []
    at = [
        x.names.index(value_text(c.values[key])) if x.names else float(c.values[key])
        for c, _ in known
    ]
    order = np.argsort(at, kind="stable")
    widths = np.array([math.nan if f.half_width is None else f.half_width for _, f in known])
    made = Series(
        label,
        np.array(at, dtype=np.float64)[order],
        np.array([f.mean for _, f in known])[order],
        slot,
        points=True,
        error=widths[order] if np.isfinite(widths).any() else None,
    )
    doubted = tuple(known[i][0].doubted(metric) for i in order)
    if not bounds.is_of_flows(metric.path):
        return [replace(made, hollow=doubted if any(doubted) else ())]
    opens = [known[i][0].open(metric) for i in order]
    return parted(made, [a or b for a, b in zip(opens, doubted, strict=True)])


def render(
    name: str,
    cells: Sequence[Cell],
    metrics: Sequence[Metric],
    drawings: Sequence[Drawing],
    traffic: Sequence[str] = (),
) -> str:
    """Returns the page."""
    keys = list(cells[0].values) if cells else []
    # The actual load is not a result: it is printed, not drawn.
    metrics = [*([DRAWN] if _known(DRAWN, cells) else []), *metrics]
    seeds = max((len(cell.summaries) + cell.failed for cell in cells), default=0)
    failed = sum(cell.failed for cell in cells)
    simulated = sum(len(cell.summaries) for cell in cells)
    facts = {
        "Simulations": f"{simulated:,}" + (f", and {failed:,} that failed" if failed else ""),
        "Seeds": f"{seeds} of each point",
        "Fabrics": ", ".join(dict.fromkeys(cell.fabric for cell in cells)),
        **{key: ", ".join(map(value_text, distinct(cells, key))) for key in keys},
    }
    return (
        page.environment()
        .get_template("sweep.html.j2")
        .render(
            title=f"{name}: sweep",
            name=name,
            facts=facts,
            keys=keys,
            metrics=metrics,
            drawn=DRAWN in metrics,
            doubted=any(cell.doubted(m) for cell in cells for m in metrics),
            rows=[_row(cell, metrics) for cell in cells[:ROWS_MOST]],
            left=max(0, len(cells) - ROWS_MOST),
            cut=[cut_runs.as_sentence(str(n)) for n in cut_points(cells, "the table has all")],
            traffic=[*map(cut_runs.as_sentence, traffic)],
            failed=failed,
            drawings=list(enumerate(drawings)),
            css=page.inline(page.asset("report.css")),
            plotly=page.inline(page.asset("vendor/plotly-basic.min.js")),
            script=page.inline("".join(map(page.asset, page.SCRIPTS))),
            data=page.embedded_json([[backend_plotly.render(d.figure) for d in drawings]]),
            pictures=False,
            light=style.LIGHT,
            dark=style.DARK,
            look=style.look,
            night=NIGHT,
        )
    )


def _row(cell: Cell, metrics: Sequence[Metric]) -> dict[str, Any]:
    return {
        "values": [value_text(value) for value in cell.values.values()],
        "fabric": cell.fabric,
        "seeds": len(cell.summaries),
        "cut": str(cuts.left_out(cell.summaries) or ""),
        "failed": cell.failed,
        "cells": [_text(cell, metric) for metric in metrics],
    }


def _text(cell: Cell, metric: Metric) -> tuple[str, str]:
    """Formats a figure, and its interval."""
    found = cell.figure(metric)
    if found is None:
        began = metric.job and cell.summaries
        return ("unfinished" if began else quantities.MISSING), ""
    bound = f">{quantities.GLUE}" if cell.open(metric) else ""
    value = floored(found.mean) if bound else found.mean
    shown, half = quantities.show(value, metric.quantity), ""
    if found.half_width:
        both = quantities.show_interval(value, found.half_width, metric.quantity)
        mean, _, half = both.partition(" ± ")
        unit = shown.partition(quantities.GLUE)[2]
        shown = shown if bound else f"{mean}{quantities.GLUE}{unit}".rstrip(quantities.GLUE)
        half = f"± {half}"
    if cell.doubted(metric):
        half = f"{half} {cell.doubt}".strip()
    return bound + shown, half


def gathered(
    points: Sequence[tuple[Mapping[str, Any], str, Summary | None]],
) -> list[Cell]:
    """Groups the points of a sweep (values, fabric, and summary or None if it failed) by all but
    their seeds, in their order."""
    groups: dict[str, list[tuple[Mapping[str, Any], str, Summary | None]]] = {}
    for values, fabric, summary in points:
        key = Cell(values, fabric, ()).fabric_and_values
        groups.setdefault(key, []).append((values, fabric, summary))
    cells = [
        Cell(
            group[0][0],
            group[0][1],
            [summary for _, _, summary in group if summary is not None],
            sum(summary is None for _, _, summary in group),
        )
        for group in groups.values()
    ]
    at_values: dict[str, list[int]] = {}
    for place, cell in enumerate(cells):
        at_values.setdefault(json.dumps(cell.values, default=str), []).append(place)
    for places in at_values.values():
        found = carriages_of_runs([cells[place].summaries for place in places])
        for place, carriage in zip(places, found, strict=True):
            told = carriage or of_summaries(cells[place].summaries)
            cells[place] = replace(cells[place], carriage=told)
    return cells
