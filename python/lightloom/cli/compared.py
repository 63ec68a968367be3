"""The output of `compare`: tables, explanations, and doubts about the figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import lightloom
from lightloom.analysis import circuits, cuts, doubts, notes, workload_lines
from lightloom.cli import (
    by_size,
    completion,
    console,
    cost_text,
    jobs,
    latency,
    light,
    physics,
    repeats,
)
from lightloom.config import loads
from lightloom.results.summaries import Summary

if TYPE_CHECKING:
    from lightloom.report.decisions import Decision

Decisions = Sequence["Decision | None"]


def print_comparisons(
    name: str, comparisons: list[lightloom.Comparison], decided: Decisions, said: set[str]
) -> None:
    """Prints the subject of the comparison and its results: latency and saturation if a window was
    measured, else completion times; and costs. Lines that explain the table are printed once;
    `said` holds those that were printed."""
    measured, beside = [], []
    for comparison, decision in zip(comparisons, decided, strict=True):
        if latency.is_measured(comparison):
            measured.append(comparison)
            beside.append(
                {} if decision is None else cost_text.columns(decision.costs, decision.carrying)
            )
        else:
            _print_comparison(comparison, decision, said)
    if measured:
        latency.print_tables(name, measured, beside)
        for made in filter(None, decided):
            legend = cost_text.legend_of_columns(made.costs, made.carrying, windowed=True)
            explain(legend, said)
    for comparison in measured:
        for table in by_size.tables(_of_seeds(comparison)):
            console.out(wide=True).print(table)
        if light.takes_turns(comparison.results):
            _print_light(comparison, said)
        _print_physics(comparison, said)
        _print_notes(comparison)


def _print_physics(comparison: lightloom.Comparison, said: set[str]) -> None:
    """Prints the physics, and the idealisations of each fabric."""
    for line in physics.in_force(comparison.experiment):
        console.say(line)
    explain(physics.ideal(comparison), said)


def _of_seeds(comparison: lightloom.Comparison) -> Mapping[str, Sequence[Summary]]:
    """The summaries of every fabric."""
    return {label: comparison.of_label(label) for label in comparison.results}


def _print_comparison(
    comparison: lightloom.Comparison, decision: Decision | None, said: set[str]
) -> None:
    summaries = comparison.means
    first = next(iter(comparison.results.values()))
    rows, asked = first.flows.num_rows, loads.whole(comparison.experiment)
    workload = workload_lines.of_seeds(comparison.of_label(first.label), rows, asked)
    console.say(f"{comparison.name}: {workload}")
    of_seeds = _of_seeds(comparison)
    beside = None if decision is None else cost_text.columns(decision.costs, decision.carrying)
    console.out(wide=True).print(completion.table(summaries, of_seeds, beside))
    if comparison.seeds:
        explain([repeats.legend(len(comparison.seeds), comparison.experiment)], said)
    explain(completion.legend(summaries), said)
    if comparison.loads and (varied := loads.varied(comparison.experiment)):
        explain([varied], said)
    if decision is not None:
        explain(cost_text.legend_of_columns(decision.costs, decision.carrying), said)
    _print_physics(comparison, said)
    _print_light(comparison, said)
    screen = console.out(wide=True)
    for table in (
        *by_size.tables(of_seeds),
        *jobs.job_tables(summaries, screen.width, of_seeds if comparison.seeds else None),
        *jobs.update_tables(summaries, screen.width),
    ):
        console.say("")
        screen.print(table)
    for line in doubts.doubts(summaries, of_seeds):
        console.say(f"note: {line}")
    _print_notes(comparison)
    console.say("")


def _print_light(comparison: lightloom.Comparison, said: set[str]) -> None:
    """Prints how long circuits were lit, the utilisation of links, and losses."""
    table = light.table(comparison.results)
    if table is not None:
        console.say("" if not comparison.seeds else "\nof the first seed:")
        console.out(wide=True).print(table)
        explain(light.legend(comparison.results), said)


def explain(legend: Iterable[str], said: set[str]) -> None:
    """Prints lines that explain a table, each only once."""
    for line in legend:
        if line not in said:
            console.say(line)
            said.add(line)


def _print_notes(comparison: lightloom.Comparison) -> None:
    """Prints the doubts about the figures of all fabrics, and of each."""
    from lightloom import report

    for note in notes.of_traffic(next(iter(comparison.results.values()))):
        console.say(f"note: {note}")
    for note in (*cuts.of_loads(comparison), *notes.inexact_rates(comparison.means)):
        console.say(f"note: {note}")
    (verdict,) = report.first([comparison]).values()
    of_circuits = circuits.leading_notes if verdict is None else circuits.notes_beside_a_verdict
    for label, result in comparison.results.items():
        for note in (*of_circuits(result), *notes.notes_of_run(result)):
            console.say(f"note: {label}: {note}")
