"""The tables of `compare` if a window is measured: latency and saturation."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Table

from lightloom.analysis.doubts import LEGEND_BOUNDS, fluid
from lightloom.cli import console
from lightloom.config import loads
from lightloom.results import repeats
from lightloom.results.saturation import Saturation, pooled
from lightloom.units import bounds, formats
from lightloom.units.formats import mean_latency

if TYPE_CHECKING:
    from lightloom.results.result import Comparison

Summary = Mapping[str, Any]
Window = Mapping[str, Any]
Beside = Mapping[str, Mapping[str, str]]
#: Columns: heading and width. Without that of short flows their total is 77 with gaps of two; 80
#: with the label "butterfly-basic" and its latency in us.
COLUMNS = {
    "label": ("\n", 15),
    "low": ("latency,\nlow load", 8),
    "mean": ("mean\nat the load", 15),
    "p99": ("99 %\nthere", 7),
    "short": ("short,\n99 %", 9),
    "saturation": ("saturation\nof all rates", 15),
    "busiest": ("busiest\nhears", 7),
}
WIDTH = 80
"""The width of a usual terminal [columns]."""
ALWAYS = frozenset({"label", "mean", "p99"})
#: Smallest half width of an interval that is shown; smaller ones are rounded up to it.
FINEST = 1e-4
SHOWN_BOUNDS = ("window.mean_us", "window.p99_us", "window.short.p99_us")
LEGEND = {
    "mean": "Loads: share of the servers' capacity. Latency: mean ± 95 % confidence at the load.",
    "low": "Low load: the lowest of [compare] loads.",
    "short": "Short: of the flows under 100 KB that arrived in the window.",
    "saturation": "Saturation: load accepted at 1.1 times the lowest load that is not carried, of "
    "the servers' capacity, ± 95 % confidence; headers and guardbands are not payload.",
    "busiest": "Busiest: throughput of the server that receives most, as a share of its rate.",
}

MARKS = {"short": "*", "unsettled": "?"}
"""The mark after a latency if the load is not known to be carried."""
OF_MARKS = {
    "?": "? window too short to tell whether the load is carried: lengthen run.measure.",
    "*": "* not carried: the latency depends only on the length of the window.",
}


def is_measured(comparison: Comparison) -> bool:
    """Whether a comparison has figures for these tables."""
    return all(r.summary.get("window") is not None for r in comparison.results.values())


def print_tables(
    name: str, comparisons: Sequence[Comparison], beside: Sequence[Beside] = ()
) -> None:
    """Prints a table for each comparison, with common columns, and explanations; `beside` holds
    further columns for each: heading → label → text."""
    columns = known(comparisons)
    for i, comparison in enumerate(comparisons):
        console.say(heading(name, comparison))
        more = beside[i] if beside else {}
        made = table(comparison, columns, header=i == 0, beside=more)
        console.out(wide=bool(more)).print(made)
        console.say("")
    for line in textwrap.wrap(" ".join(LEGEND[c] for c in columns if c in LEGEND), WIDTH):
        console.say(line)
    seeds = max(len(c.seeds) for c in comparisons)
    if seeds:
        console.say(f"Means of {seeds} seeds; the confidence is Student's t over them.")
    varied = (loads.varied(c.experiment) for c in comparisons if c.loads or c.saturation)
    for line in dict.fromkeys(line for line in varied if line):
        console.say(line)
    for note in dict.fromkeys(n for c in comparisons for n in notes(c)):
        console.say(note)


def heading(name: str, comparison: Comparison) -> str:
    """States the case and its load."""
    workload = comparison.experiment["workload"]
    load = workload.get("load")
    low = lowest(comparison)
    title = comparison.name if comparison.name == name else f"{name}: {comparison.name}"
    at = "" if load is None else f", load {load:g}"
    if load is not None and workload.get("mix"):
        at += f" {loads.of_what(comparison.experiment)}"
    return f"{title}{at}" + ("" if low is None else f", low load {low:g}")


def lowest(comparison: Comparison) -> float | None:
    """The lowest load of the sweep."""
    loads = comparison.experiment.get("compare", {}).get("loads", [])
    return min(loads, default=None)


def known(comparisons: Sequence[Comparison]) -> list[str]:
    """The columns for which a comparison has a figure, in their order."""
    there = {
        "low": any(lowest(c) is not None for c in comparisons),
        "short": any(is_mixed(c) for c in comparisons),
    }
    found = [saturation_of(c, label) for c in comparisons for label in c.results]
    there["saturation"] = there["busiest"] = any(f is not None for f in found)
    return [column for column in COLUMNS if column in ALWAYS or there[column]]


def table(
    comparison: Comparison, columns: Sequence[str], *, header: bool, beside: Beside | None = None
) -> Table:
    """A row for each fabric."""
    beside = beside or {}
    made = console.plain_table()
    made.show_header = header
    for title, width in (COLUMNS[column] for column in columns):
        justify: Any = "left" if title == "\n" else "right"
        made.add_column(title, min_width=width, justify=justify, overflow="fold")
    for title in beside:
        made.add_column(title, justify="right", no_wrap=True)
    marks = marks_of(comparison)
    for label in comparison.results:
        cells = _cells(comparison, label, marks[label])
        made.add_row(
            *(cells[column] for column in columns), *(column[label] for column in beside.values())
        )
    return made


def _cells(comparison: Comparison, label: str, mark: str) -> dict[str, str]:
    """The cells of a fabric's row."""
    windows = [c.results[label].summary["window"] for c in _each(comparison)]
    found = saturation_of(comparison, label)
    return {
        "label": escape(label),
        "low": _low(comparison, label),
        "mean": mean_latency(windows, half_width(windows)) + mark,
        "p99": _p99(comparison, label, "window.p99_us"),
        "short": _p99(comparison, label, "window.short.p99_us"),
        "saturation": saturation(found),
        "busiest": "-" if found is None else f"{found.busiest:.3f}",
    }


def is_mixed(comparison: Comparison) -> bool:
    """Whether both short and long flows arrived in the window."""
    windows = [r.summary["window"] for c in _each(comparison) for r in c.results.values()]
    return any(w.get("short") is not None for w in windows)


def _p99(comparison: Comparison, label: str, path: str) -> str:
    """A 99th percentile or its bound; of several seeds the mean."""
    found = [c.results[label].summary for c in _each(comparison)]
    return formats.time_bound(bounds.mean([bounds.bound(s, path) for s in found]))


def _each(comparison: Comparison) -> Sequence[Comparison]:
    """The comparisons of all seeds."""
    return comparison.seeds or [comparison]


def half_width(windows: Sequence[Window]) -> float | None:
    """Returns half the width of the interval of the mean latency [us]: over the seeds, or over the
    flows of a single seed."""
    if len(windows) == 1:
        return None if windows[0]["half_width_us"] is None else float(windows[0]["half_width_us"])
    found = repeats.interval(windows, "mean_us")
    return None if found is None else found.half_width


def saturation_of(comparison: Comparison, label: str) -> Saturation | None:
    """The result of the saturation search; of several seeds the mean, with its interval over
    them."""
    first = comparison.saturation.get(label)
    if first is None or not comparison.seeds:
        return first
    return pooled([seed.saturation[label] for seed in comparison.seeds])


def _low(comparison: Comparison, label: str) -> str:
    low = lowest(comparison)
    if low is None:
        return "-"
    windows = [summary["window"] for summary in _runs_at(comparison, low)[label]]
    return (
        mean_latency(windows, None)
        + _marks_of(_runs_at(comparison, low), comparison.experiment)[label]
    )


def _runs_at(comparison: Comparison, load: float) -> dict[str, list[Summary]]:
    """Label → the summaries at a load of the sweep, one for each seed."""
    place = comparison.experiment["compare"]["loads"].index(load)
    return {
        label: [c.loads[label][place] for c in _each(comparison)] for label in comparison.results
    }


def marks_of(comparison: Comparison) -> dict[str, str]:
    """The mark of each fabric's latency at the load of the experiment."""
    return _marks_of(
        {
            label: [c.results[label].summary for c in _each(comparison)]
            for label in comparison.results
        },
        comparison.experiment,
    )


def _marks_of(
    runs: Mapping[str, Sequence[Summary]], experiment: Mapping[str, Any]
) -> dict[str, str]:
    """The mark of each fabric's latency at one load, by the rules of the verdict."""
    from lightloom.analysis.findings.carriage import carriages_of_runs

    each = zip(runs.items(), carriages_of_runs(list(runs.values()), experiment), strict=True)
    return {label: MARKS.get(found or "") or mark(seeds) for (label, seeds), found in each}


def mark(runs: Sequence[Summary]) -> str:
    """The mark of a latency in windows that carry their load."""
    return "+" if repeats.means([run["window"] for run in runs])["correlated"] else ""


def saturation(found: Saturation | None) -> str:
    """Formats the load accepted under overload, with its interval; a bound if the search found no
    overload."""
    if found is None:
        return "-"
    bound = "≥" if found.not_carried is None else ""
    mark = "" if found.is_told else MARKS["unsettled"]
    if found.half_width is None:
        return f"{bound}{found.throughput:.3f}{mark}"
    return f"{bound}{found.throughput:.3f} ± {max(found.half_width, FINEST):.1g}{mark}"


def doubted(comparison: Comparison) -> set[str]:
    """The mark of saturation loads for which the windows are too short, if there are any."""
    found = [saturation_of(comparison, label) for label in comparison.results]
    return {MARKS["unsettled"] for s in found if s is not None and not s.is_told}


def notes(comparison: Comparison) -> Iterator[str]:
    """Explains the marks that occur."""
    windows = [r.summary["window"] for r in comparison.results.values()]
    low, marks = lowest(comparison), {*marks_of(comparison).values()}
    if low is not None:
        place = comparison.experiment["compare"]["loads"].index(low)
        windows += [summaries[place]["window"] for summaries in comparison.loads.values()]
        marks |= {*_marks_of(_runs_at(comparison, low), comparison.experiment).values()}
    marks |= doubted(comparison)
    yield from (line for found, line in OF_MARKS.items() if found in marks)
    if bounds.any_open({str(i): {"window": w} for i, w in enumerate(windows)}, SHOWN_BOUNDS):
        yield LEGEND_BOUNDS
    if "+" in marks:
        yield "+ successive latencies are correlated: lengthen run.measure."
    yield from fluid({label: r.summary for label, r in comparison.results.items()})
