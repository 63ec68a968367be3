"""The output of `cost`: tables with ranges, bills, break-evens."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Table

from lightloom.cli import console
from lightloom.costs.amounts import Range
from lightloom.costs.wording import (
    as_if,
    by_devices,
    ends,
    fractions,
    idle_tiers,
    lasers,
    left_out,
    narrow,
    sign,
    simulated_otherwise,
    span,
    tiers,
)

if TYPE_CHECKING:
    from pathlib import Path

    from lightloom.costs.book import Book
    from lightloom.costs.costs import Costs
    from lightloom.costs.equal import BreakEven
    from lightloom.costs.pricing import FabricCost
    from lightloom.costs.readings import Reading
    from lightloom.costs.solve import EqualCost


def heading(found: Costs) -> str:
    """Names the prices."""
    book = found.book
    reading = "" if found.reading is None else f", sirius and clos by reading {found.reading.name}"
    given = f", {', '.join(book.given)} by --price" if book.given else ""
    return f"{found.name}: {book.title} ({book.name}, {book.money}{given}){reading}"


def table(found: Costs, late: Collection[str] = ()) -> Table:
    """A row for each fabric; the cost per delivered bit in parentheses for those that are `late`:
    not known to carry the load."""
    made = console.plain_table(gap=2)
    made.add_column("fabric", overflow="fold", max_width=16)
    before = sign(found.book.currency)
    headings = ["capital", f"{before.strip()} per\nGb/s", "power", "W per\nTb/s"]
    if found.goodput:
        headings.append(f"{before.strip()} per Gb/s\ndelivered")
    for text in headings:
        made.add_column(text, justify="right", no_wrap=True)
    for label, cost in found.fabrics.items():
        cells = [total(cost), ends(cost.per_gbps), ends(cost.power, "W"), ends(cost.watts_per_tbps)]
        if found.goodput:
            delivered = ends(cost.per_delivered(found.goodput.get(label)))
            cells.append(f"({delivered})" if label in late else delivered)
        made.add_row(escape(label), *cells)
    return made


def not_carrying(late: Collection[str]) -> Iterator[str]:
    """States which fabrics are not known to carry the load of the results."""
    if late:
        yield (
            f"( ): {', '.join(late)} may not carry the load of these results: no lower cost for "
            "the same traffic."
        )


NOT_RANKED = "( ): of a fabric that does not carry the traffic; not ranked."


def columns(found: Costs, carrying: Collection[str]) -> dict[str, dict[str, str]]:
    """Returns cost and power per delivered bit as columns of the table of a comparison; in
    parentheses for fabrics that are not among those `carrying` the traffic."""
    money = sign(found.book.currency).strip()
    heads = (f"{money} per\nGb/s", "W per\nTb/s")
    made: dict[str, dict[str, str]] = {head: {} for head in heads}
    for label, cost in found.fabrics.items():
        goodput = found.goodput.get(label)
        figures = cost.per_delivered(goodput), cost.watts_per_delivered(goodput)
        for head, figure in zip(heads, figures, strict=True):
            shown = "-" if figure is None else span(figure, to="–")
            made[head][label] = shown if figure is None or label in carrying else f"({shown})"
    return made


def legend_of_columns(
    found: Costs, carrying: Collection[str], *, windowed: bool = False
) -> Iterator[str]:
    """Explains these columns: per bit accepted in the window, or per bit of goodput."""
    yield _of_what(found, windowed=windowed)
    if any("(" in cell for cells in columns(found, carrying).values() for cell in cells.values()):
        yield NOT_RANKED


def _of_what(found: Costs, *, windowed: bool) -> str:
    """The bits by which cost and power are divided."""
    money = sign(found.book.currency).strip()
    if windowed:
        lead = f"{money} per Gb/s, W per Tb/s: per bit accepted in the window"
        return f"{lead}: {_goodputs(found)}."
    return (
        f"{money} per Gb/s, W per Tb/s: of goodput, over the whole run, which counts the time in "
        f"which it drains: {_goodputs(found)}."
    )


def _goodputs(found: Costs) -> str:
    """Formats `clos 44.9 %, sirius 43.8 %`: the divisor of each price."""
    each = (f"{label} {100 * share:.3g} %" for label, share in found.goodput.items())
    return ", ".join(each) or "none"


def legend(found: Costs) -> Iterator[str]:
    """Explains the figures, and lists parts without a price."""
    yield "Per Gb/s and Tb/s that the servers can send. Ranges are those of the book's sources."
    for label, cost in found.fabrics.items():
        if cost.unpriced:
            parts = ", ".join(cost.unpriced)
            yield f"note: {label}: no price of {parts}, so no total: --price, --break-even"
        left = sorted(set(cost.unpowered) - set(cost.unpriced))
        if left and cost.capital is not None:
            yield f"note: {label}: no power of {', '.join(left)}"
    yield from (f"note: {line}" for line in notes(found))
    yield from (f"note: {line}" for line in found.book.notes)


def notes(found: Costs) -> Iterator[str]:
    """Notes on the bills."""
    for said in (
        narrow,
        tiers,
        idle_tiers,
        simulated_otherwise,
        fractions,
        as_if,
        lasers,
        by_devices,
        left_out,
    ):
        yield from said(found)


def cheapest(found: Costs, by: str = "") -> Iterator[str]:
    """States which fabric costs least, and the ratios of the others to it, `by` which way to count;
    empty if only one has a total."""
    known = [c for c in found.fabrics.values() if c.capital is not None and c.capital.high > 0]
    if len(known) < 2:
        return
    least = min(known, key=_middle)
    ratios = [(c, c.relative_to(least)) for c in known if c is not least]
    same = [c.label for c, r in ratios if r is not None and r.low == r.high == 1]
    first = " and ".join([least.label, *same])
    if len(same) == len(ratios):
        yield f"{by}{first} cost the same to buy."
        return
    dearer = [(c.label, r) for c, r in ratios if r is not None and c.label not in same]
    said = [f"{label} {span(r, to='–')}" for label, r in dearer]
    level = [label for label, r in dearer if r.low <= 1]
    doubt = f"; at some prices {', '.join(level)} would be cheaper, or as cheap" if level else ""
    where = "" if len(known) == len(found.fabrics) else " of those with a total"
    if said:
        costs = "cost" if same else "costs"
        yield (
            f"{by}{first} {costs} least to buy{where}, at middle prices; relative cost of the "
            f"others: {', '.join(said)}{doubt}."
        )


def _middle(cost: FabricCost) -> Fraction:
    assert cost.capital is not None
    return cost.capital.middle


def total(cost: FabricCost) -> str:
    """Formats the cost of all parts; `+ ?` if one has no price."""
    before = sign(cost.book.currency)
    if cost.capital is None:
        return f"{ends(cost.known_capital, before=before)} + ?"
    return ends(cost.capital, before=before)


def bill(rows: Sequence[dict[str, Any]], currency: str) -> Table:
    """The lines of a bill."""
    made = console.plain_table(gap=2)
    for text, right in (
        *(("part", False), ("where", False), ("count", True), ("each", True)),
        *(("cost", True), ("power", True), ("how many", False)),
    ):
        made.add_column(text, justify="right" if right else "left", overflow="fold")
    before = sign(currency)
    for row in rows:
        each, cost, power = (
            _range(row, "unit_price"),
            _range(row, "cost"),
            _range(row, "power", "_w"),
        )
        count = f"{float(row['count']):,.6g}" if row["count"] < 10**6 else f"{int(row['count']):,}"
        made.add_row(
            *(row["part"], escape(row["where"]), count, ends(each, before=before)),
            *(ends(cost, before=before), ends(power, "W"), escape(row["formula"])),
        )
    return made


def _range(row: dict[str, Any], name: str, unit: str = "") -> Range | None:
    low = row[f"{name}_low{unit}"]
    return None if low is None else Range(low, row[f"{name}_high{unit}"])


def break_evens(evens: Iterable[BreakEven], book: Book) -> Iterator[str]:
    """Formats `hybrid is cheaper than clos below $1,200 a port of circuit-switch`."""
    before = sign(book.currency)
    for even in evens:
        unit = "each" if even.unit == "piece" else f"a {even.unit}"
        tied = f"; {', '.join(even.tied)} in proportion" if even.tied else ""
        lead, of = f"{even.label} is cheaper than {even.other} below", f"({even.part}{tied})"
        if even.surely_below is not None:
            price = f"{before}{_price(even.surely_below)}, {unit} {of}"
            yield f"{lead} {price}; by some shares of {' and '.join(even.tied)} above it, too"
        elif even.price is None:
            yield f"break-even of {even.part}: {even.label} and {even.other}: none: {even.why}"
        else:
            low, high = (f"{before}{_price(end)}" for end in (even.price.low, even.price.high))
            price = low if low == high else f"{low} to {high}, by the other prices"
            yield f"{lead} {price}, {unit} {of}"


def _price(amount: Fraction) -> str:
    """Formats an amount to the cent; below a unit of the currency with three digits.

    >>> _price(Fraction(12005, 10)), _price(Fraction(63, 1000)), _price(Fraction(0))
    ('1,200.50', '0.063', '0')
    """
    return f"{float(amount):,.2f}" if amount >= 1 else f"{float(amount):.3g}"


def not_drawn(found: Costs, path: Path) -> str | None:
    """States which fabrics the chart of prices leaves out; None if none."""
    out = {label: cost.unpriced for label, cost in found.fabrics.items() if cost.unpriced}
    if not out:
        return None
    each = "; ".join(f"{label} (no price of {', '.join(parts)})" for label, parts in out.items())
    return f"{path} leaves out {each}; --price sets one"


def solved(found: EqualCost) -> str:
    """States the value of a key at which two fabrics cost the same."""
    if found.value is None:
        reach = f"{float(found.low):g} to {float(found.high):g}"
        if found.some is None:
            return f"{found.key}: no value from {reach} costs the same as {found.other}"
        end = f"{float(found.some):.4g}"
        return (
            f"{found.key} = {end} costs the same as {found.other} at one end of the prices; at the "
            f"other end, no value from {reach} does"
        )
    low, high = (f"{float(end):.4g}" for end in (found.value.low, found.value.high))
    value = low if low == high else f"{low} to {high}, by the prices"
    if found.jump is not None:
        below, above = (f"{float(end):.4g}" for end in (found.jump.low, found.jump.high))
        return (
            f"{found.key} = {value}: the cost jumps there, because parts are bought whole, between "
            f"{below} and {above} times what {found.other} costs; no value costs the same"
        )
    if found.whole and low == high and found.value.low.denominator > 1:
        under = found.value.low.numerator // found.value.low.denominator
        return f"{found.key}: {under} costs less than {found.other}, {under + 1} more"
    return f"{found.key} = {value}: costs the same as {found.other}"


def more_switches(solved: Iterable[EqualCost]) -> Iterator[str]:
    """States where the equal-cost size needs more switches in each rack."""
    for found in solved:
        if (more := found.more) is not None:
            yield (
                f"note: {found.key} above {more.until}: a rack needs {more.then} switches, not "
                f"{more.now}, which that cost holds"
            )


def readings(chosen: Sequence[Reading]) -> Table:
    """A table of claims × readings: each figure of Fig 6 by each reading, and which it meets."""
    from lightloom.costs import book as books
    from lightloom.costs import readings as data

    names = data.names()
    read = [data.load(name) for name in names]
    read += [reading for reading in chosen if reading not in read]
    parts = data.components(books.load("sirius-2020"))
    found = [data.figures(reading, *parts) for reading in read]
    paper = data.published()
    made = console.plain_table(gap=2)
    made.add_column("figure")
    made.add_column("paper", justify="right")
    for reading in read:
        mark = " ←" if reading in chosen and len(chosen) < len(read) else ""
        basis = "" if reading.basis == "measured" else f"\n({reading.basis})"
        made.add_column(f"{reading.name}{mark}{basis}", justify="right")
    for key, value in paper.items():
        cells = [f"{float(f[key]):.1f}{'*' if data.meets(f, paper)[key] else ' '}" for f in found]
        made.add_row(_NAMES[key], f"{float(value):g}", *cells)
    return made


_NAMES = {
    "power_3x": "power ÷ ESN, laser 3×",
    "power_5x": "power ÷ ESN, laser 5×",
    "cost": "cost ÷ ESN",
    "cost_osub": "cost ÷ ESN at 3:1",
    "cost_electrical": "cost ÷ Sirius with switches",
}
