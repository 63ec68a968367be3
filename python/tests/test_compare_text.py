"""What `compare` prints of fabrics that cannot be set beside each other as they are."""

from __future__ import annotations

from typing import Any

from rich.console import Console

from lightloom.cli import completion, notes


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
    (note,) = completion.doubts(summaries)
    assert "mesh 5.7%" in note
    assert "tree" not in note
    assert "ring" not in note  # above nine tenths of the most


def test_where_all_finish_alike_the_column_makes_room() -> None:
    summaries = {"tree": summary(1000), "ring": summary(930)}
    assert "done" not in "".join(printed(completion.table(summaries)))
    assert list(completion.doubts(summaries)) == []


def test_the_column_fits_beside_queues_in_80() -> None:
    summaries = {"cthrough": summary(1000, 10**6), "mesh": summary(57)}
    lines = printed(completion.table(summaries))
    assert len(lines) == 4
    assert not any("…" in line for line in lines)


def test_inexact_rates_are_told_once() -> None:
    both = {"a": summary(1, rate_precision=0.001), "b": summary(1, rate_precision=0.001)}
    (note,) = notes.inexact_rates(both)
    assert note.startswith("rates to 0.1 % in all fabrics (run.rate_precision)")
    (note,) = notes.inexact_rates({**both, "sirius": summary(1)})
    assert note.startswith("rates to 0.1 % in a, b (run.rate_precision)")
    assert list(notes.inexact_rates({"sirius": summary(1)})) == []
