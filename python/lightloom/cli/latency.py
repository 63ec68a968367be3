"""The tables of `compare` where a window is measured: latency and saturation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Table

from lightloom import console
from lightloom.console import micros, plus_minus
from lightloom.saturation import Saturation

if TYPE_CHECKING:
    from lightloom.results import Comparison

Window = Mapping[str, Any]
#: Columns: heading and width. With gaps of two they take 77; 80 with
#: "butterfly-basic" and its latency in us.
COLUMNS = (
    ("\n", 15),
    ("latency,\nlow load", 8),
    ("mean\nat the load", 15),
    ("99 %\nthere", 7),
    ("saturation\nof all rates", 15),
    ("busiest\nhears", 7),
)
#: Half of an interval is not shown smaller: it is rounded up to this.
FINEST = 1e-4
LEGEND = (
    "Loads are of what all servers can send. Latency: mean ± 95 % confidence at the",
    "load; low load is the lowest of [compare] loads. Saturation: what is accepted",
    "a tenth beyond the lowest load that is not carried, of what all servers can",
    "send, ± 95 % confidence; header and guard are no payload. Busiest: what the",
    "server that hears most then hears, of its own rate.",
)


def is_measured(comparison: Comparison) -> bool:
    """Whether there is anything for these tables."""
    return all(r.summary.get("window") is not None for r in comparison.results.values())


def print_tables(name: str, comparisons: Sequence[Comparison]) -> None:
    """A table for each comparison, in common columns, and what they mean."""
    for i, comparison in enumerate(comparisons):
        console.say(heading(name, comparison))
        console.out().print(table(comparison, header=i == 0))
        console.say("")
    for line in LEGEND:
        console.say(line)
    for note in dict.fromkeys(n for c in comparisons for n in notes(c)):
        console.say(note)


def heading(name: str, comparison: Comparison) -> str:
    """Which case it is, and what is offered."""
    load = comparison.experiment["workload"].get("load")
    low = lowest(comparison)
    title = comparison.name if comparison.name == name else f"{name}: {comparison.name}"
    at = "" if load is None else f", load {load:g}"
    return f"{title}{at}" + ("" if low is None else f", low load {low:g}")


def lowest(comparison: Comparison) -> float | None:
    """The lowest load of the sweep."""
    loads = comparison.experiment.get("compare", {}).get("loads", [])
    return min(loads, default=None)


def table(comparison: Comparison, *, header: bool) -> Table:
    """A row per fabric."""
    made = console.plain_table()
    made.show_header = header
    for title, width in COLUMNS:
        justify: Any = "left" if title == "\n" else "right"
        made.add_column(title, min_width=width, justify=justify, overflow="fold")
    for label, result in comparison.results.items():
        window = result.summary["window"]
        found = comparison.saturation.get(label)
        made.add_row(
            "  " + escape(label),
            _low(comparison, label),
            plus_minus(window["mean_us"], window["half_width_us"]) + mark(window),
            console.least(result.summary, "window.p99_us"),
            saturation(found),
            "-" if found is None else f"{found.busiest:.3f}",
        )
    return made


def _low(comparison: Comparison, label: str) -> str:
    low = lowest(comparison)
    if low is None:
        return "-"
    loads = comparison.experiment["compare"]["loads"]
    window = comparison.loads[label][loads.index(low)]["window"]
    return micros(window["mean_us"]) + mark(window)


def mark(window: Window) -> str:
    """What weakens a latency."""
    if not window["stable"]:
        return "*"
    return "+" if window["correlated"] else ""


def saturation(found: Saturation | None) -> str:
    """What is accepted of too much, with its interval; as a bound if the search never
    saw too much."""
    if found is None:
        return "-"
    bound = "≥" if found.not_carried is None else ""
    return f"{bound}{found.throughput:.3f} ± {max(found.half_width, FINEST):.1g}"


def notes(comparison: Comparison) -> Iterator[str]:
    """What the marks mean, as far as they occur."""
    windows = [r.summary["window"] for r in comparison.results.values()]
    low = lowest(comparison)
    if low is not None:
        place = comparison.experiment["compare"]["loads"].index(low)
        windows += [summaries[place]["window"] for summaries in comparison.loads.values()]
    marks = {mark(w) for w in windows}
    if "*" in marks:
        yield "* not carried: the latency says how long the window was, no more."
    if "+" in marks:
        yield "+ batches resemble their neighbours: the interval is too narrow."
