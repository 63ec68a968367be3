"""Which price decides: what each part's range does to the capital of a fabric.

A price moves together with those that the book ties to it (`share … of`); the range of such a share
has a bar of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from lightloom.costs.amounts import Amounts, Range, Tie
from lightloom.costs.pricing import FabricCost
from lightloom.errors import refusal

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Where a book gives one number, how much it is varied, each way.
VARIED = Fraction(1, 4)
_BAR, _MARGIN = 0.3, 1.3
_LOW, _HIGH = "#2a78d6", "#eb6834"


@dataclass(frozen=True)
class Bar:
    """Capital as one part's price goes from its lower end to its upper; others stay in the middle
    of theirs, and tied ones at the middle of their share."""

    part: str
    capital: Range
    published: bool
    """Whether the ends are the book's; otherwise the price is varied by a quarter each way."""
    tied: tuple[str, ...] = ()
    """Parts of the fabric whose prices move with it."""

    @property
    def width(self) -> Fraction:
        """From end to end."""
        return self.capital.high - self.capital.low


def sensitivity(cost: FabricCost) -> list[Bar]:
    """A bar for each part that costs something, the widest first.

    Raises:
        ConfigError: of a fabric with a part without a price.
    """
    if cost.unpriced:
        part = cost.unpriced[0]
        raise refusal("--tornado", cost.label, f"no price of {part}", f"set it: --price {part}=…")
    amounts = cost.prices
    names = [*amounts.free, *(part for part in amounts.ties if cost.form.counts.get(part))]
    bars = [_bar(cost, part, amounts) for part in dict.fromkeys(names)]
    return sorted((bar for bar in bars if bar.width), key=lambda bar: (-bar.width, bar.part))


def _bar(cost: FabricCost, part: str, amounts: Amounts) -> Bar:
    """The capital at both ends of a free price, or of the share of a tied one."""
    tie, counts = amounts.ties.get(part), cost.form.counts
    told = amounts.free[part] if tie is None else tie.share
    ends = (told.low, told.high)
    if told.certain:
        ends = (told.low * (1 - VARIED), told.high * (1 + VARIED))
    if tie is None:
        moved = [replace(amounts, free={**amounts.free, part: Range.of(end)}) for end in ends]
    else:
        shares = (Tie(tie.of, Range.of(end)) for end in ends)
        moved = [replace(amounts, ties={**amounts.ties, part: share}) for share in shares]
    low, high = (cost.form.at(at.middles()) for at in moved)
    tied = tuple(name for name in amounts.tied_to(part) if counts.get(name))
    return Bar(part, Range(low, high), not told.certain, tied)


def figure(costs: Sequence[FabricCost], currency: str) -> Figure:
    """The bars of several fabrics as a matplotlib figure, a panel each."""
    from matplotlib.figure import Figure as MplFigure

    bars = {cost.label: sensitivity(cost) for cost in costs}
    heights = [max(1, len(found)) * _BAR + _MARGIN for found in bars.values()]
    made = MplFigure(figsize=(7.2, sum(heights)), layout="constrained")
    axes = made.subplots(len(bars), 1, squeeze=False, gridspec_kw={"height_ratios": heights})
    for ax, cost in zip(axes[:, 0], costs, strict=True):
        _panel(ax, cost, bars[cost.label], currency)
    return made


def _panel(ax: object, cost: FabricCost, bars: list[Bar], currency: str) -> None:
    from typing import Any, cast

    axes = cast(Any, ax)
    base = float(cost.form.at(cost.prices.middles()))
    scale, unit = (1e6, f"million {currency}") if base >= 1e6 else (1.0, currency)
    for row, bar in enumerate(bars):
        for end, colour in ((bar.capital.low, _LOW), (bar.capital.high, _HIGH)):
            hatch = None if bar.published else "////"
            width = (float(end) - base) / scale
            axes.barh(row, width, 0.7, base / scale, color=colour, hatch=hatch, edgecolor="white")
    axes.set_yticks(range(len(bars)), [_name(bar) for bar in bars])
    axes.invert_yaxis()
    axes.axvline(base / scale, color="#333333", linewidth=0.8)
    axes.set_title(f"{cost.label}: capital at {cost.book.name}", loc="left", fontsize=10)
    axes.set_xlabel(unit)
    axes.ticklabel_format(axis="x", useOffset=False, style="plain")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _name(bar: Bar) -> str:
    """The part of a bar, and those that move with it."""
    name = "\nwith ".join((bar.part, ", ".join(bar.tied))) if bar.tied else bar.part
    return name if bar.published else f"{name} (±25 %)"


def svg(costs: Sequence[FabricCost], currency: str) -> str:
    """The same as SVG; the same costs give the same bytes."""
    import io

    from lightloom.plotting.backend_matplotlib import drawing

    text = io.StringIO()
    with drawing({"svg.hashsalt": "tornado", "svg.fonttype": "none"}):
        figure(costs, currency).savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()


def target(path: Path) -> Path:
    """Where the chart goes.

    Raises:
        ConfigError: of a name that does not end in .svg.
    """
    if path.suffix.lower() != ".svg":
        raise refusal("--tornado", path, "the chart is SVG", "name a file that ends in .svg")
    return path
