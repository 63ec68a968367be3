"""The first table of `cost` if networks are counted in several ways: a row for each way, and notes
on their reliability."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from lightloom.cli import console
from lightloom.cli.cost_text import total
from lightloom.costs.readings import BASELINE, PROPOSED
from lightloom.costs.wording import MISSING, ends, span
from lightloom.units.counts import listed

if TYPE_CHECKING:
    from lightloom.costs.amounts import Range
    from lightloom.costs.costs import Costs
    from lightloom.costs.readings import Reading


def table(found: Sequence[Costs]) -> Table:
    """Returns a row for each way of counting and each fabric of the readings' paper, relative to
    the first baseline."""
    subjects, others = _labels(found[0], PROPOSED), _labels(found[0], BASELINE)[:1]
    made = console.plain_table(gap=2)
    made.add_column("counted\nby", no_wrap=True)
    if len(subjects) > 1:
        made.add_column("fabric", overflow="fold", max_width=16)
    than = [f"÷ {escape(other)}\n[%]" for other in others]
    for heading in ("capital", *than, "power", *than, "Fig 6\nmet"):
        made.add_column(heading, justify="right", no_wrap=True)
    for one in found:
        for label in subjects:
            named = [escape(label)] if len(subjects) > 1 else []
            made.add_row(_way(one.reading), *named, *_cells(one, label, others), _met(one.reading))
    return made


def _labels(found: Costs, kind: str) -> list[str]:
    return [label for label, cost in found.fabrics.items() if cost.network.kind == kind]


def _cells(found: Costs, label: str, others: Sequence[str]) -> Iterator[str]:
    cost, beside = found.fabrics[label], [found.fabrics[other] for other in others]
    yield total(cost)
    yield from (_percent(cost.relative_to(other)) for other in beside)
    yield ends(cost.power, "W")
    yield from (_percent(cost.power_relative_to(other)) for other in beside)


def heading(found: Sequence[Costs]) -> str:
    """The title of the table."""
    book, of = found[0].book, ", ".join(_labels(found[0], PROPOSED))
    return f"{found[0].name}: {of} in {len(found)} ways ({book.name}, {book.money})"


def said(found: Sequence[Costs]) -> Iterator[str]:
    """Explains the ways of counting."""
    if any(one.reading is None for one in found):
        yield (
            "By bills is derived from this configuration: the parts that each fabric's own table "
            "needs. Use this result."
        )
    chosen = [one.reading for one in found if one.reading is not None]
    each = "; ".join(_by_basis(chosen))
    yield (
        "Readings are ways in which the paper may have counted its Fig 6: parts on a path, "
        f"whatever the configuration: {each}."
    )


def _by_basis(chosen: Iterable[Reading]) -> Iterator[str]:
    """States which readings were fitted, and how many of the paper's figures each meets."""
    groups: dict[str, list[Reading]] = {}
    for reading in chosen:
        groups.setdefault(reading.basis, []).append(reading)
    for basis, readings in groups.items():
        names, met = listed(r.name for r in readings), listed(_met(r) for r in readings)
        how = f"{basis} to it" if basis == "fitted" else basis
        yield f"{names} ({how}) meet{'' if len(readings) > 1 else 's'} {met}"


def _way(reading: Reading | None) -> str:
    return "bills" if reading is None else f"{reading.name}, {reading.basis}"


def _met(reading: Reading | None) -> str:
    """Formats how many of the paper's figures a reading meets; a bill is not a reading."""
    if reading is None:
        return MISSING
    from lightloom.costs import book as books
    from lightloom.costs import readings

    paper = readings.published()
    figures = readings.figures(reading, *readings.components(books.load("sirius-2020")))
    return f"{sum(readings.meets(figures, paper).values())} of {len(paper)}"


def _percent(found: Range | None) -> str:
    """Formats `29.5–41.0`."""
    if found is None:
        return MISSING
    return span(found * 100, to="–")


def shown(found: Sequence[Costs]) -> bool:
    """Whether there is something to sum up: several ways, and a fabric of the readings' paper."""
    return len(found) > 1 and bool(_labels(found[0], PROPOSED))
