"""The tables of a decision: the figures of each fabric, and its bill of materials."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lightloom.analysis.model import Fabric
from lightloom.costs.amounts import NOTHING, Range
from lightloom.costs.book import Book
from lightloom.costs.pricing import FabricCost, Line
from lightloom.costs.wording import digits, ends, sign
from lightloom.decision.purchases import CAPITAL, POWER, Purchase
from lightloom.plotting.spec import STAR
from lightloom.units import quantities

from .read import Read


@dataclass(frozen=True)
class Row:
    """A fabric and its figures, in the order of the headings."""

    label: str
    slot: int
    cells: tuple[str, ...]


@dataclass(frozen=True)
class Bill:
    """The bill of materials of a fabric."""

    label: str
    slot: int
    total: str
    lines: tuple[tuple[str, ...], ...]
    bought: tuple[tuple[str, ...], ...]
    """The lines of the bill without parts that the source leaves out."""


BILL_HEADINGS = ("part", "where", "count", "each", "cost", "power", "how many", "source of price")


def headings(made: Read) -> tuple[str, ...]:
    """The headings of the columns after the fabric."""
    currency = sign(made.costs.book.currency).strip()
    first = () if made.criterion is None else (made.criterion.name.removeprefix("the "),)
    return (
        *(*first, *_arrived(made), "capital"),
        *(f"{currency} per Gb/s delivered", "power"),
        *("W per Tb/s delivered", "Pareto front"),
    )


def _arrived(made: Read) -> tuple[str, ...]:
    """The headings of the delivered bits: the figure for carrying the load, and the priced
    figure."""
    if made.windowed:
        return ("accepted in the window",)
    return ("load delivered, until the last arrival", "goodput, whole run")


def rows(made: Read, behind: Mapping[str, Sequence[str]]) -> list[Row]:
    """A row for each fabric."""
    pairs = zip(made.workload.fabrics, made.purchases, strict=True)
    return [Row(f.label, f.slot, tuple(_cells(made, f, p, behind))) for f, p in pairs]


def _cells(
    made: Read, fabric: Fabric, purchase: Purchase, behind: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    before = sign(made.costs.book.currency)
    if made.criterion is not None:
        score = made.scores.get(fabric.label)
        undone = purchase.undone or quantities.MISSING
        yield undone if score is None else made.criterion.shown(score)
    carried = quantities.show(fabric.carried, "share")
    yield carried if purchase.carries else f"{carried}, not carried"
    priced = purchase.delivered
    if not made.windowed:
        yield quantities.MISSING if priced is None else quantities.show(priced.mean, "share")
    cost = purchase.cost
    unranked = "" if purchase.carries else ", not ranked"
    yield _cell(_total(cost, before))
    yield _cell(_three(CAPITAL.value(purchase), before=before), unranked)
    yield _cell(_three(cost.power, "W"))
    yield _cell(_three(POWER.value(purchase)), unranked)
    yield _place(fabric.label, behind)


def _cell(amount: str, unranked: str = "") -> str:
    """Formats an amount with a line break only between its ends; adds `unranked` for a fabric that
    does not carry the traffic."""
    if amount == quantities.MISSING:
        return amount
    return " – ".join(end.replace(" ", quantities.GLUE) for end in amount.split(" – ")) + unranked


def _place(label: str, behind: Mapping[str, Sequence[str]]) -> str:
    """States whether a fabric is on the front, or names the fabrics that are better."""
    if label not in behind:
        return quantities.MISSING
    return f"behind {quantities.listed(behind[label])}" if behind[label] else f"{STAR} on it"


def _three(found: Range | None, unit: str = "", before: str = "") -> str:
    """Formats an amount with three digits, as in sentences: the delivered bits are not more
    exact."""
    return ends(found, unit, before, digits)


def bills(made: Read) -> list[Bill]:
    """The bill of each fabric."""
    before = sign(made.costs.book.currency)
    made_of = zip(made.workload.fabrics, made.purchases, strict=True)
    return [_bill(f, p.cost, before) for f, p in made_of]


def _bill(fabric: Fabric, cost: FabricCost, before: str) -> Bill:
    lines = [(line.cost != NOTHING, _shown(cost.book, line, before)) for line in cost.lines]
    bought = tuple(shown for counts, shown in lines if counts)
    every = tuple(shown for _, shown in lines)
    return Bill(fabric.label, fabric.slot, _total(cost, before), every, bought)


def _total(cost: FabricCost, before: str) -> str:
    if cost.capital is None:
        return f"{_three(cost.known_capital, before=before)} + ?"
    return _three(cost.capital, before=before)


def _shown(book: Book, line: Line, before: str) -> tuple[str, ...]:
    """A line of a bill."""
    count = float(line.count)
    return (
        *(line.part, line.where, f"{count:,.6g}" if count < 1e6 else f"{count:,.0f}"),
        *(_three(line.price, before=before), _three(line.cost, before=before)),
        *(_three(line.watts, "W"), line.how, source(book, line)),
    )


def sources(made: Read) -> list[str]:
    """The sources of the prices."""
    found = {
        source(p.cost.book, line)
        for p in made.purchases
        for line in p.cost.lines
        if line.cost is not None and line.cost != NOTHING
    }
    return sorted(found)


def source(book: Book, line: Line) -> str:
    """The source and year of a part's price, and whether it is fitted, assumed or left out."""
    part = book.part(line.part)
    if book.variable(line.part) in book.given:
        return "set by hand"
    if part is None or (part.price is None and part.excluded is None):
        return quantities.MISSING
    if part.excluded is not None:
        return f"left out: {part.excluded}"
    assert part.price is not None
    if not part.price.source:
        return f"unknown: {part.price.note}"
    basis = "" if part.price.basis == "published" else f", {part.price.basis}"
    year = "" if str(part.price.year) in part.price.source else f", {part.price.year}"
    return f"{part.price.source}{year}{basis}"
