"""The output of `run` for one run: its summary, the meaning of `>`, and doubts about its
figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.markup import escape

from lightloom.analysis import cuts, derived_values, workload_lines
from lightloom.cli.console import out, plain_table, say
from lightloom.config import fabrics, loads
from lightloom.results import steady_state
from lightloom.results.result import Result
from lightloom.results.summaries import JOBS_SHOWN, Summary, jobs_of, took
from lightloom.units import bounds
from lightloom.units.counts import counted
from lightloom.units.formats import least, mean_latency, number, per_second, ratio, seconds, size

from . import by_size

#: Figures that are shown as bounds if flows are unfinished when a run ends.
SHOWN_BOUNDS = (
    *(f"fct.{group}.{name}_us" for group in ("short", "long") for name in ("p50", "p99", "mean")),
    *("slowdown.p50", "slowdown.p99"),
    *(f"window.{name}_us" for name in ("mean", "p50", "p99")),
)

LEAST = 100
"""Smallest number of flows for which there is an interval, however long the run is."""
OUTSIDE = 0.02
"""Relative difference between the bytes offered in a window and those due by its end from which
both are printed."""


def _completed(summary: Summary, flows: int) -> str:
    """Formats the number of delivered flows of the workload, and of those that were not offered
    because the run ended first or because they depend on others."""
    offered, completed = summary["flows_offered"], summary["flows_completed"]
    left = f" ({flows - offered:,} more not offered by then)" if flows > offered else ""
    return f"{completed:,} of {counted(offered, 'flow')} in {seconds(summary['simulated_s'])}{left}"


def print_run(result: Result) -> None:
    """Prints the summary of one run."""
    summary, experiment, flows = result.summary, result.experiment, result.flows.num_rows
    busy = result.utilisation
    stop = experiment["run"]["stop"]
    say(f"{summary['label']}: {workload_lines.of_run(summary, flows, loads.whole(experiment))}")
    offered, completed = summary["flows_offered"], summary["flows_completed"]
    overturning = [*limiting(summary)]
    for line in overturning:
        say(f"note: {line}")
    rows = {
        "completed": _completed(summary, flows),
        "load": loads.run(summary) or "- ",
        "goodput": f"{number(summary['goodput_normalized'])} of the servers' rate, whole run",
        "FCT, short flows": _percentiles(summary, "short"),
        "FCT, long flows": _percentiles(summary, "long"),
        "slowdown": "  ".join(f"{p} {ratio(summary, f'slowdown.{p}')}" for p in ("p50", "p99")),
        **by_size.rows(summary),
        "queue peak": f"{size(summary['queue_peak_bytes'])} at the worst node",
        "reorder peak": f"{size(summary['reorder_peak_bytes'])} for the worst flow",
        "drops": _drops(summary["fabric"], summary["drops"]),
        "circuits": _share(summary.get("circuit_share")),
        "duty cycle": _duty(summary.get("duty_cycle"), busy),
        "hops": f"{number(summary['hops_mean'], 2)} on average",
        "in force": derived_values.derived(summary.get("derived") or {}) or "- ",
        "devices": derived_values.devices(summary.get("devices") or {}) or "- ",
        "parts": derived_values.parts(summary.get("parts") or {}) or "- ",
        **_window(summary.get("window")),
        "speed": _speed(summary),
    }
    table = plain_table()
    table.add_column(style="bold")
    table.add_column()
    table.show_header = False
    for name, text in rows.items():
        if not text.startswith("- "):
            table.add_row("  " + name, text)
    for job in jobs_of(summary)[:JOBS_SHOWN]:
        table.add_row(f"  job {escape(job)}", took(summary["jobs"][job]))
    out(wide=True).print(table)
    for job, found in (summary.get("updates") or {}).items():
        for line in updates(job, found):
            say(line)
    for line in (*left(summary), *doubts(summary)):
        if line not in overturning:
            say(f"note: {line}")
    endless = (summary.get("endless") or {}).get("flows", 0)
    offered -= endless
    none = completed == 0 and (offered > 0 or not endless)
    early = none or (stop == "last-arrival" and completed < 0.9 * offered)
    if early and stop not in ("drain", "measured"):
        say('note: the run ended before many flows had finished; run.stop = "drain" waits for them')


def limiting(summary: Summary) -> Iterator[str]:
    """Yields the notes printed above the figures, which are not those of a steady state or of all
    flows: the run ended early, or its window does not carry the load."""
    if (cut := cuts.note([summary])) is not None:
        yield str(cut)
    window = summary.get("window")
    if window is not None and not window["stable"]:
        yield from doubts(summary)


def left(summary: Summary) -> Iterator[str]:
    """Explains `>` if a figure is shown as a bound."""
    if bounds.any_open({"": summary}, SHOWN_BOUNDS):
        missing = summary["flows_offered"] - summary["flows_completed"]
        flows = "flow was" if missing == 1 else "flows were"
        yield f"{missing:,} {flows} under way when the run ended; > marks a lower bound"


def _window(window: Summary | None) -> dict[str, str]:
    """Latency and throughput of the window, if one was measured."""
    if window is None:
        return {}
    span = f"{seconds(window['from_s'])} to {seconds(window['until_s'])}"
    mean = mean_latency([window], window["half_width_us"])
    both = {"window": window}
    percentiles = "  ".join(f"{p} {least(both, f'window.{p}_us')}" for p in ("p50", "p99"))
    carried = f"{window['accepted']:.4f} of {window['offered']:.4f} offered"
    due, half = _due(window), window["accepted_half_width"]
    if abs(due - window["offered"]) > OUTSIDE * window["offered"]:
        carried += f" ({due:.4f} due by its end)"
    return {
        "window": f"{counted(window['flows'], 'flow')} from {span}",
        "latency": f"mean {mean}  {percentiles}",
        "accepted": carried + (f", ± {half:.4f}" if half and half >= 5e-5 else ""),
    }


def _due(window: Summary) -> float:
    """The load that was due by the end of a window."""
    return float(window["paced"] if "paced" in window else window["offered"])


def doubts(summary: Summary) -> Iterator[str]:
    """Yields doubts about the figures of a window."""
    window = summary.get("window")
    if window is None:
        return
    mean_us = window["mean_us"]
    if window["flows"] and mean_us is None:
        yield (
            "no flow of the window had finished when the run ended: make run.limit longer than the "
            "time of a flow"
        )
    elif not window["stable"]:
        yield not_told([summary]) or not_carried([summary])
    elif mean_us is not None and window["half_width_us"] is None and window["flows"] >= LEAST:
        yield no_interval(summary)
    elif window["correlated"]:
        yield "successive latencies are correlated; lengthen run.warm_up or run.measure"


def not_told(seeds: Sequence[Summary]) -> str:
    """States why the windows of one fabric's seeds do not show whether the load is carried, by the
    rules of `compare`, and the remedy; empty if they do."""
    from lightloom.analysis.findings import carriage, headline, sentences

    if carriage.carriages_of_runs([seeds]) != ["unsettled"]:
        return ""
    label = str(seeds[0].get("label", ""))
    return sentences.of_one_run(headline.window_needed((label,), seeds, seeds))


def not_carried(seeds: Sequence[Summary]) -> str:
    """States that the windows of one fabric's seeds did not carry the load."""
    windows = [summary["window"] for summary in seeds]
    accepted = sum(float(w["accepted"]) for w in windows) / len(windows)
    due = sum(map(_due, windows)) / len(windows)
    return (
        f"the load was not carried: {accepted:.3g} of {due:.3g} was accepted; latency depends on "
        "the length of the window"
    )


def no_interval(summary: Summary) -> str:
    """States why the mean latency of a window has no interval, and the remedy."""
    needed = steady_state.least_s([summary])
    if needed is not None and steady_state.is_short_for_intervals(summary):
        return (
            "no interval: the window is too short for its queues; set run.measure to at least "
            f"{seconds(needed)}, or set run.repeat"
        )
    return (
        "latencies are correlated over too long a time: no interval of the mean; lengthen "
        "run.measure, or set run.repeat"
    )


def updates(job: str, found: Summary) -> Iterator[str]:
    """The updates per second of a job that counts them, and the reason why there are not more."""
    bare, framed = found["ceiling_per_s"], found["ceiling_framed_per_s"]
    room = f"links leave room for {per_second(bare)}"
    if framed is not None:
        room += f", with overhead for {per_second(framed)}"
    yield f"  {job}: {per_second(found['per_s'])} updates; {room}"
    if found["efficiency"] is not None:
        reached = f"    reached {found['efficiency']:.1%} of that"
        if framed is not None:
            reached += f"; overhead takes {1 - framed / bare:.0%} of their time"
        yield reached


def _drops(kind: str, lost: int) -> str:
    return f"{lost:,} {fabrics.of(kind)['drops']}" if lost else "- "


def _share(share: float | None) -> str:
    return "- " if share is None else f"{share:.1%} of the bytes delivered crossed one"


def _duty(lit: float | None, busy: float | None) -> str:
    if lit is None:
        return "- "
    used = "" if busy is None else f"; links busy to {busy:.1%} of their capacity"
    return f"circuits lit {lit:.1%} of the time{used}"


def _percentiles(summary: Summary, group: str) -> str:
    names = ("p50", "p99", "mean")
    return "  ".join(f"{n} {least(summary, f'fct.{group}.{n}_us')}" for n in names)


def _speed(summary: Summary) -> str:
    hops = summary["cell_hops"] or summary["packet_hops"]
    kernel, wall = summary["kernel_s"], summary["wall_s"]
    if not hops or not kernel:
        return f"{seconds(wall)} in total"
    unit = "cell" if summary["cell_hops"] else "packet"
    rate = f"{hops / kernel / 1e6:.1f} M {unit}-hops/s"
    return f"{rate}, {seconds(kernel)} in the kernel, {seconds(wall)} in total"
