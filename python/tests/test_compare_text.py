"""The output of `compare` for fabrics whose figures cannot be compared directly."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from rich.console import Console

from lightloom.analysis import doubts, notes
from lightloom.cli import completion
from lightloom.cli.jobs import job_tables
from lightloom.config import fabrics
from lightloom.results.result import Result


def summary(completed: int, queue: int | None = None, **derived: float) -> dict[str, Any]:
    """As little of a summary as the table reads."""
    us = {"p50_us": 123.4, "p99_us": 123.4}
    return {
        "goodput_normalized": 0.123,
        "flows_offered": 1000,
        "flows_completed": completed,
        "fct": {"short": us, "long": us},
        "queue_peak_bytes": queue,
        "reorder_peak_bytes": queue,
        "hops_mean": 1.23,
        "circuit_share": 0.5,
        "derived": derived,
    }


def printed(table: Any, width: int = 80) -> list[str]:
    console = Console(width=width)
    with console.capture() as capture:
        console.print(table)
    return capture.get().splitlines()


def test_who_hardly_finished_anything_is_told_in_a_column_and_a_note() -> None:
    summaries = {"tree": summary(1000), "mesh": summary(57), "ring": summary(930)}
    lines = printed(completion.table(summaries))
    assert "done" in lines[1]
    assert [line.split()[2] for line in lines[2:]] == ["100.0%", "5.7%", "93.0%"]
    (note,) = doubts.doubts(summaries)
    assert "mesh 5.7%" in note
    assert "tree" not in note
    assert "ring" not in note  # above nine tenths of the largest value


def test_where_all_finish_alike_the_column_makes_room() -> None:
    summaries = {"tree": summary(1000), "ring": summary(930)}
    assert "done" not in "".join(printed(completion.table(summaries)))
    assert list(doubts.doubts(summaries)) == []


def test_the_column_fits_beside_queues_in_80() -> None:
    summaries = {"cthrough": summary(1000, 10**6), "mesh": summary(57)}
    lines = printed(completion.table(summaries))
    assert len(lines) == 5
    assert "hops" in lines[1]
    assert [line.split()[-2] for line in lines[3:]] == ["1.23", "1.23"]
    assert not any("…" in line for line in lines)


def test_inexact_rates_are_told_once() -> None:
    both = {"a": summary(1, rate_precision=0.001), "b": summary(1, rate_precision=0.001)}
    (note,) = notes.inexact_rates(both)
    assert note.values == {"exact": "rates to 0.1 %", "fabrics": "all fabrics"}
    (note,) = notes.inexact_rates({**both, "sirius": summary(1)})
    assert note.values == {"exact": "rates to 0.1 %", "fabrics": "a, b"}
    assert list(notes.inexact_rates({"sirius": summary(1)})) == []


def test_a_dash_under_by_circuit_is_explained_for_sirius_alone() -> None:
    lit, sirius = {"mordia": summary(1)}, {**summary(1), "fabric": "sirius", "circuit_share": None}
    without_circuits = completion.LEGEND_NO_CIRCUITS.format(
        "Sirius", fabrics.of("sirius")["no_circuits"]
    )
    assert without_circuits not in list(completion.legend(lit))
    assert without_circuits in list(completion.legend({**lit, "s": sirius}))
    assert without_circuits not in list(completion.legend({"s": sirius}))


def run_of(offered: list[int], delivered: list[int], **changes: Any) -> Result:
    """Returns the part of a run that the note reads, with a sample every ms."""
    series = pa.table(
        {
            "time_ps": [10**9 * i for i in range(len(offered))],
            "bytes_offered": offered,
            "bytes_delivered": delivered,
        }
    )
    figures = {"load_offered": 0.5, "window": None, **changes}
    return Result("x", pa.table({}), series, figures, {})


def test_who_delivers_less_than_is_offered_is_told() -> None:
    """100 B per sample are offered up to the 100th sample, then none."""
    offered = [100 * min(i, 100) for i in range(120)]
    (note,) = notes.overloaded(run_of(offered, [70 * i for i in range(120)]))
    assert note.kind == "late bytes: overloaded or filling"
    assert note.values["share"] == pytest.approx(0.7, abs=0.01)
    # A lag of any length that does not grow is not an overload.
    late = [max(0, 100 * min(i, 100) - 3_000) for i in range(120)]
    assert notes.delivered_late(run_of(offered, late)) == 1
    assert not list(notes.overloaded(run_of(offered, offered)))
    # Jobs, windows, bursts at the start or at the end, and short runs are not an overload either.
    short = [60 * i for i in range(120)]
    assert not list(notes.overloaded(run_of(offered, short, load_offered=None)))
    assert not list(notes.overloaded(run_of(offered, short, window={})))
    assert not list(notes.overloaded(run_of([9_000] * 120, short)))
    assert not list(notes.overloaded(run_of([0] * 60 + [9_000] * 60, short)))
    assert not list(notes.overloaded(run_of(offered[:30], short[:30])))
    assert not list(notes.overloaded(run_of([], [])))


def jobs_on(fabrics: list[str], names: list[str]) -> dict[str, Any]:
    """The j-th job takes 100 + 10 i + j seconds on the i-th fabric."""
    return {
        fabric: {
            "jobs": {
                job: {"start_s": 0.0, "seconds": 100.0 + 10 * i + j} for j, job in enumerate(names)
            }
        }
        for i, fabric in enumerate(fabrics)
    }


NINE = ["electrical", "cthrough", "threshold", "hydra", "full-bisection", "mordia", "solstice"]
NINE += ["rotation", "eclipse"]
FOUR_JOBS = ["vm-migration", "vm-migration-128KB", "sort", "fft"]


def test_more_fabrics_than_jobs_are_rows() -> None:
    (table,) = job_tables(jobs_on(NINE, FOUR_JOBS), 80)
    lines = printed(table)
    assert lines[0].split() == ["fabric", *FOUR_JOBS]
    assert [line.split()[0] for line in lines[1:]] == NINE
    assert lines[2].split()[1:] == ["110", "s", "111", "s", "112", "s", "113", "s"]


@pytest.mark.parametrize("width", [60, 80, 10_000])
@pytest.mark.parametrize("fabrics", [NINE, NINE[:2]])
@pytest.mark.parametrize("names", [FOUR_JOBS, [f"all-reduce-{i}" for i in range(12)]])
def test_no_name_is_cut_or_folded(fabrics: list[str], names: list[str], width: int) -> None:
    tables = [printed(t, width) for t in job_tables(jobs_on(fabrics, names), width)]
    text = "\n".join(line for lines in tables for line in lines)
    words = text.split()
    assert {*fabrics, *names} <= set(words)
    assert "…" not in text
    assert all(len(line.rstrip()) <= width for lines in tables for line in lines)
    # Every time occurs once.
    times = sum(len(line.split()) // 2 for lines in tables for line in lines[1:])
    assert times == len(fabrics) * len(names)


def test_labels_are_no_markup() -> None:
    (table,) = job_tables(jobs_on(["[bold]a", "b"], ["[gradients]"]), 80)
    assert [line.split()[0] for line in printed(table)] == ["fabric", "[bold]a", "b"]
    assert "[gradients]" in printed(table)[0]
