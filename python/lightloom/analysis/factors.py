"""Ratios between two figures, limited by their intervals.

The ratio of two figures is misleading if one has a wide interval: 302 ± 260 µs is between 2.6 and
40 times 15 ± 1 µs. Ratios are therefore ranges, from the nearest ends of two intervals to the
farthest; "at least" is used if an interval has no end.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from lightloom.units import quantities

from .ranking import NAMED, Figure, Ranking, Score
from .statement import Statement

NOTABLE = 1.1  # times; smaller factors are printed in percent

Tell = Callable[[float], str]


@dataclass(frozen=True)
class Factor:
    """The ratio of a larger figure to a smaller one."""

    low: float
    value: float
    high: float  # infinite if there is no upper limit
    bound: bool = False  # only a lower bound of the larger figure is known

    def __format__(self, form: str) -> str:
        """The factor as text: `long` as `2.2× as long`, `ratio` as `2.2×`, `less` and `more` as
        `12 %`."""
        forms = {"long": as_long, "ratio": times_text, "less": less_by, "more": more_by}
        return forms[form](self)


def between(larger: Score, smaller: Score) -> Factor | None:
    """The ratio of two figures; None if the smaller is zero."""
    if smaller.within <= 0:
        return None
    high = larger.high / smaller.low if smaller.low > 0 else math.inf
    # The interval over seeds may reach down to 0; the bound remains valid.
    least = larger.value if larger.least and larger.low <= 0 else larger.low
    low = least / max(smaller.high, smaller.within)
    return Factor(low, larger.value / smaller.within, high, larger.least)


def factor_text(factor: Factor, share: Tell) -> tuple[str, bool]:
    """The factor as text, and whether it is in percent; `share` formats a factor that is less than
    notable.

    >>> factor_text(Factor(2.6, 20.0, 40.1), percent_more)
    ('2.6 to 40×', False)
    >>> factor_text(Factor(2.6, 20, math.inf), percent_more)
    ('at least 2.6×', False)
    """
    decides = factor.low if math.isinf(factor.high) else factor.value
    if decides < NOTABLE:
        return ranged(factor, share, f"{quantities.GLUE}%"), True
    return times_text(factor), False


def times_text(factor: Factor) -> str:
    """The factor as text, however small it is."""
    return ranged(factor, lambda x: quantities.times(x).removesuffix("×"), "×")


def ranged(factor: Factor, tell: Tell, unit: str) -> str:
    """Both ends as text, or one text if they are equal."""
    low = tell(factor.low)
    if math.isinf(factor.high):
        return f"{'more than' if factor.bound else 'at least'} {low}{unit}"
    high = tell(factor.high)
    if low == high:
        return f"{low}{unit}"
    return f"up to {high}{unit}" if low == tell(1.0) else f"{low} to {high}{unit}"


def percent_more(ratio: float) -> str:
    """The percentage by which the larger exceeds the smaller: `4`."""
    return f"{(ratio - 1) * 100:.0f}"


def percent_less(ratio: float) -> str:
    """The percentage by which the smaller is below the larger: `4`."""
    return f"{(1 - 1 / ratio) * 100:.0f}"


def slower(ranking: Ranking) -> tuple[Statement, ...]:
    """By how much the other fabrics are slower, for a value that is a time."""
    behind = [(s, f) for s in ranking.rest if (f := between(s, ranking.leaders[0]))]
    if not behind:
        return ()
    if len(behind) > NAMED:
        (near, first), (far, last) = behind[0], behind[-1]
        least, most = nearest(first), farthest(last)
        if as_long(least) == as_long(most):
            return (Statement("others all slower", factor=least),)
        ends = (near.fabric.label, far.fabric.label)
        return (Statement("others slower", near=ends[0], least=least, far=ends[1], most=most),)
    each = tuple(
        Statement("slower", label=s.fabric.label, factor=f, figure=Figure(s, "time"))
        for s, f in behind
    )
    return (Statement("each slower", each=each),)


def nearest(factor: Factor) -> Factor:
    """Its lower end alone, printed after "from"."""
    bound = factor.bound and math.isinf(factor.high)
    return Factor(factor.low, factor.low, math.inf if bound else factor.low, factor.bound)


def farthest(factor: Factor) -> Factor:
    """Its upper end alone, printed after "to"."""
    end = factor.low if math.isinf(factor.high) else factor.high
    return Factor(end, end, factor.high, factor.bound)


def as_long(factor: Factor) -> str:
    """`2.2× as long`, or `4 % longer` if `1.0×` is not informative."""
    words, percent = factor_text(factor, percent_more)
    return f"{words} {'longer' if percent else 'as long'}"


def longer(ratio: float) -> str:
    """`as_long` for figures without an interval."""
    return as_long(_exactly(ratio))


def less(ranking: Ranking) -> tuple[Statement, ...]:
    """By how much the other fabrics carry less, for a value that is a share."""
    best = ranking.scores[0]
    behind = [(s, f) for s in ranking.rest if (f := lacking(s, best))]
    if not behind:
        return ()
    if len(behind) > NAMED:
        (near, first), (far, last) = behind[0], behind[-1]
        least, most = _exactly(first.low), _exactly(last.high)
        if less_by(least) == less_by(most):
            return (Statement("others all carry less", factor=least),)
        ends = (near.fabric.label, far.fabric.label)
        return (Statement("others carry less", near=ends[0], least=least, far=ends[1], most=most),)
    each = tuple(
        Statement("carries less", label=s.fabric.label, factor=f, figure=Figure(s, "share"))
        for s, f in behind
    )
    return (Statement("each carries less", each=each),)


def _exactly(ratio: float) -> Factor:
    return Factor(ratio, ratio, ratio)


def lacking(smaller: Score, larger: Score) -> Factor | None:
    """The ratio of the larger to the smaller; infinite if the smaller is zero, None if both are."""
    if larger.value <= 0:
        return None
    return between(larger, smaller) or Factor(math.inf, math.inf, math.inf)


def more_by(factor: Factor) -> str:
    """`12 %`, or `10 to 14 %`."""
    return ranged(factor, percent_more, f"{quantities.GLUE}%")


def less_by(factor: Factor) -> str:
    """`12 %`, or `10 to 14 %`; 100 % if the smaller may be zero."""
    low, high = percent_less(factor.low), percent_less(factor.high)
    shown = low if low == high else f"up to {high}" if low == "0" else f"{low} to {high}"
    return f"{shown}{quantities.GLUE}%"
