"""The output of `run` for a repeated experiment, and of `compare` about its seeds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from rich.markup import escape

from lightloom.analysis import cuts, workload_lines
from lightloom.analysis.note import Note
from lightloom.cli import console, run_text
from lightloom.config import loads
from lightloom.results import repeats
from lightloom.results.result import Repeated
from lightloom.results.summaries import JOBS_SHOWN, Summary, jobs_of, pick
from lightloom.units import bounds, formats
from lightloom.units.formats import micros, number, size
from lightloom.units.intervals import Interval, over_runs

Show = Callable[[float | None], str]


def _plain(value: float | None) -> str:
    return number(value, 2)


#: Heading, path of the figure in a summary, and its format.
FIGURES: Sequence[tuple[str, str, Show]] = (
    ("flows completed", "flows_completed", lambda v: "-" if v is None else f"{v:,.1f}"),
    ("goodput, of the servers' rate", "goodput_normalized", lambda v: number(v, 4)),
    ("FCT short, p50", "fct.short.p50_us", micros),
    ("FCT short, p99", "fct.short.p99_us", micros),
    ("FCT short, mean", "fct.short.mean_us", micros),
    ("FCT long, p50", "fct.long.p50_us", micros),
    ("FCT long, p99", "fct.long.p99_us", micros),
    ("FCT long, mean", "fct.long.mean_us", micros),
    ("slowdown, p50", "slowdown.p50", _plain),
    ("slowdown, p99", "slowdown.p99", _plain),
    ("queue peak, worst node", "queue_peak_bytes", size),
    ("reorder peak, worst flow", "reorder_peak_bytes", size),
    ("by circuit", "circuit_share", formats.percent),
    ("hops, mean", "hops_mean", _plain),
    ("latency in the window, mean", "window.mean_us", micros),
    ("latency in the window, p99", "window.p99_us", micros),
    ("accepted in the window", "window.accepted", lambda v: number(v, 4)),
)


def legend(seeds: int, experiment: Mapping[str, Any]) -> str:
    """Explains the intervals."""
    means = f"Means of {seeds} seeds, ± half of the 95 % confidence interval (Student's t)."
    shape = repeats.unbounded_shape(experiment)
    windowed = "measure" in experiment.get("run", {})  # a note of the workload covers this
    if shape is not None and not windowed:
        said = str(Note("no variance", shape=shape))
        means += f" {said[:1].upper()}{said[1:]}."
    if not repeats.same_flows(experiment):
        return means
    return (
        f"{means} A trace gives every seed the same flows: ± shows only the random choices of the "
        "fabric."
    )


def print_repeated(repeated: Repeated) -> None:
    """Prints the figures of one fabric with their intervals, one in a row."""
    summaries = [result.summary for result in repeated.results]
    first = repeated.results[0]
    line = workload_lines.of_seeds(summaries, first.flows.num_rows, loads.whole(first.experiment))
    console.say(f"{repeated.label}: {line}")
    for note in _limiting(summaries):
        console.say(f"note: {note}")
    table = console.plain_table()
    table.add_column("", style="bold")
    for heading in ("mean", "±", "seeds"):
        table.add_column(heading, justify="right", no_wrap=True)
    for name, found, show in _rows(summaries):
        half = "-" if found.half_width is None else show(found.half_width)
        table.add_row("  " + escape(name), show(found.mean), half, str(found.n))
    console.out(wide=True).print(table)
    console.say(legend(len(summaries), first.experiment))


def _limiting(summaries: Sequence[Summary]) -> Iterator[str]:
    """Notes above the figures: a limit ended runs, or the windows do not carry the load."""
    if (cut := cuts.note(summaries)) is not None:
        yield str(cut)
    windows = [summary.get("window") for summary in summaries]
    known = [w for w in windows if w is not None and w["mean_us"] is not None]
    if known and len(known) == len(windows) and not all(w["stable"] for w in known):
        yield run_text.not_told(summaries) or run_text.not_carried(summaries)


def _rows(summaries: Sequence[Summary]) -> Iterator[tuple[str, Interval, Show]]:
    """The figures that at least one seed has, and the duration of each job."""
    for name, path, show in FIGURES:
        of_flows = bounds.is_of_flows(path)
        found = (bounds.interval if of_flows else repeats.interval)(summaries, path)
        if found is not None:
            cut = of_flows and any(not b.exact for s in summaries if (b := bounds.bound(s, path)))
            yield f"{name}, more than" if cut else name, found, show
    for job in jobs_of(summaries[0])[:JOBS_SHOWN]:
        found = over_runs(_seconds(summary, job) for summary in summaries)
        if found is not None:
            cut = found.n < len(summaries)
            yield f"job {job}" + (", where it ended" if cut else ""), found, formats.seconds


def _seconds(summary: Summary, job: str) -> float | None:
    """The duration of a job, whose name may contain dots."""
    times: Any = pick(summary, "jobs") or {}
    value = (times.get(job) or {}).get("seconds")
    return None if value is None else float(value)
