"""The size at which one network costs the same as another; the unknown is a key of its table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from lightloom.config.experiment import Experiment
from lightloom.config.overrides import toml_literal
from lightloom.costs import network as networks
from lightloom.costs import pricing, rack_switches
from lightloom.costs.amounts import Form, Prices, Range, ratio
from lightloom.costs.book import Book
from lightloom.costs.equal import WIDTH, equal_ends
from lightloom.errors import ConfigError, refusal

#: Largest integer ÷ value in the table, and largest ratio, that are searched.
TIMES, MOST = 64, 1000
JUMP = Fraction(1, 1000)
"""Costs on both sides of a value that differ by more are those of different parts [share]."""


@dataclass(frozen=True)
class EqualCost:
    """The value of a key at which one fabric costs the same as another."""

    key: str
    other: str
    value: Range | None
    """The interval over all prices of the book; None if for some prices no value between `low` and
    `high` gives equal costs."""
    some: Fraction | None
    """If only some prices have such a value, the value at the end of these prices."""
    whole: bool
    """Whether the key is an integer; the result then lies between two integers."""
    low: Fraction
    high: Fraction
    jump: Range | None = None
    """Set if the cost jumps at the value, as parts come whole: the cost just before and just after
    it, as multiples of the other fabric's, at the prices of that end. No value costs the same."""
    more: rack_switches.More | None = None
    """For an integer: set if racks need more switches at that value than at present."""


def equal_cost(experiment: Experiment, asked: str, book: Book) -> EqualCost:
    """Solves `LABEL.KEY=OTHER`, such as `sirius.uplinks=clos` or `clos.oversubscription=sirius`.

    For an integer key, costs are interpolated between integers: 10.4 means that 10 costs less and
    11 more. If all prices of the book are certain, the result is one number.

    Raises:
        ConfigError: if the form is invalid, a label or key does not exist, or a part of the fabrics
            has no price.
    """
    label, key, other = _asked(experiment, asked)
    resolved = experiment.resolved()
    tables = {str(table["label"]): table for table in resolved["fabric"]}
    present = tables[label].get(key)
    if isinstance(present, bool) or not isinstance(present, int | float):
        remedy = "name a key with a number, as uplinks, planes or oversubscription"
        raise refusal("--equal-cost", f"{label}.{key}", "not a number of its table", remedy)
    whole = isinstance(present, int)
    target = pricing.of_network(other, networks.network_of(resolved, tables[other]), book)
    at = _costs(experiment, label, key, book, whole)
    first = at(Fraction(str(present)))
    if not whole:
        _check_varies(asked, f"{label}.{key}", at)
    missing = first.unpriced + target.unpriced
    if missing:
        remedy = f"set it: --price {missing[0]}=…"
        raise refusal("--equal-cost", asked, f"no price of {missing[0]}", remedy)
    prices = first.prices.joined(target.prices)
    if target.form.value(prices).low <= 0:
        limit = f"at these prices {other} may cost nothing, and no size of {label} costs as little"
        raise refusal("--equal-cost", asked, limit, "raise a price")
    # At the largest ratio the tier above is left out, so that the cost jumps there.
    below_most = Fraction(MOST) - WIDTH
    low = _least(at, Fraction(present)) if whole else _after_jump(at, prices)
    high = _largest(at, Fraction(present * TIMES), Fraction(present)) if whole else below_most
    top, falls = high if whole else Fraction(MOST), not whole
    forms = (lambda x: at(low + high - x).form) if falls else (lambda x: at(x).form)
    known = [end for end in equal_ends(forms, target.form, prices, low, high) if end is not None]
    if falls:
        known = [low + high - end for end in reversed(known)]
    value = Range(known[0], known[1]) if len(known) == 2 else None
    some = known[0] if len(known) == 1 else None
    more = rack_switches.more(at, int(present), known[-1]) if whole and known else None
    jumps = [] if whole else [_jump(at, end, target.form, prices) for end in known]
    jump = next((found for found in jumps if found is not None), None)
    return EqualCost(f"{label}.{key}", other, value, some, whole, low, top, jump, more)


def _jump(
    at: Callable[[Fraction], pricing.FabricCost], value: Fraction, target: Form, prices: Prices
) -> Range | None:
    """The costs on both sides of a value, as multiples of the target's, if they differ by more than
    `JUMP`; at the prices for which the target lies between them."""
    before, after = (
        ratio(at(max(Fraction(1), value + side)).form, target, prices)
        for side in (-2 * WIDTH, 2 * WIDTH)
    )
    ends = ((before.low, after.low), (before.high, after.high))
    found = [Range(min(pair), max(pair)) for pair in ends if abs(pair[0] - pair[1]) > JUMP]
    return next((r for r in found if r.low < 1 - WIDTH and r.high > 1 + WIDTH), None)


def _after_jump(at: Callable[[Fraction], pricing.FabricCost], prices: Prices) -> Fraction:
    """Returns the smallest ratio of an oversubscription: 1, or slightly more if a network with
    fewer tiers is billed at 1, so that the cost jumps there."""
    one, above = Fraction(1), Fraction(1) + WIDTH
    jumps = at(one).form.value(prices).low < at(above).form.value(prices).low
    return above if jumps else one


def _costs(
    experiment: Experiment, label: str, key: str, book: Book, whole: bool
) -> Callable[[Fraction], pricing.FabricCost]:
    """Returns the function from a value of the key to the fabric's cost. All other keys keep their
    resolved values; for example, the rate of a circuit does not fall if planes or switches are
    added. Between integers, costs are interpolated."""
    held = _held(experiment, label, key)
    cache: dict[Fraction, pricing.FabricCost] = {}

    def exact(value: Fraction) -> pricing.FabricCost:
        if value not in cache:
            text = str(int(value)) if whole else repr(float(value))
            made = experiment.only(label).with_overrides([*held, f"fabric.{key}={text}"])
            resolved = made.resolved()
            network = networks.network_of(resolved, resolved["fabric"][0])
            cache[value] = pricing.of_network(label, network, book)
        return cache[value]

    def at(value: Fraction) -> pricing.FabricCost:
        below = Fraction(value.numerator // value.denominator)
        if not whole or below == value:
            return exact(value)
        share = value - below
        return _between(exact(below), exact(below + 1), share)

    return at


def _check_varies(asked: str, key: str, at: Callable[[Fraction], Any]) -> None:
    """Raises an error for a ratio that the fabric does not accept at the ends of the search, with
    the text of the fabric's own error but without its value, which the user did not write.

    Raises:
        ConfigError: for `--equal-cost`.
    """
    for value in (Fraction(1), Fraction(MOST) - WIDTH):
        try:
            at(value)
        except ConfigError as problem:
            limit = f"{key} cannot be varied: {problem.limit or problem}"
            remedy = problem.remedy or "name another key, or the other fabric's"
            raise refusal("--equal-cost", asked, limit, remedy) from None


def _held(experiment: Experiment, label: str, key: str) -> list[str]:
    """Returns the rates that would change with the key, because the table leaves them out."""
    alone = experiment.only(label)
    table = alone.resolved()["fabric"][0]
    for other in (2 * table[key], table[key] + 1, table[key] - 1):
        try:
            changed = alone.with_overrides([f"fabric.{key}={other}"]).resolved()["fabric"][0]
        except ConfigError:
            continue
        rates = (k for k, value in table.items() if _is_rate(value) and changed.get(k) != value)
        return [f"fabric.{rate}={toml_literal(table[rate])}" for rate in rates]
    return []


def _is_rate(value: Any) -> bool:
    return isinstance(value, str) and value.endswith("b/s")


def _between(
    low: pricing.FabricCost, high: pricing.FabricCost, share: Fraction
) -> pricing.FabricCost:
    """Interpolates the parts between two sizes."""
    lines = [
        pricing.Line(
            line.part, line.where, line.count * weight, line.formula, line.price, line.power
        )
        for cost, weight in ((low, 1 - share), (high, share))
        for line in cost.lines
    ]
    return pricing.FabricCost(low.label, low.network, low.book, lines)


def _least(at: Callable[[Fraction], Any], present: Fraction) -> Fraction:
    """Returns the smallest integer from 1 that the fabric accepts; it accepts the present one."""
    low, high = min(Fraction(1), present), present
    while low < high:
        middle = Fraction((low + high) // 2)
        low, high = (low, middle) if _takes(at, middle) else (middle + 1, high)
    return low


def _largest(at: Callable[[Fraction], Any], limit: Fraction, low: Fraction) -> Fraction:
    """Returns the largest integer up to a limit that the fabric accepts; it accepts `low`."""
    high = limit
    while low < high:
        middle = Fraction((low + high + 1) // 2)
        low, high = (middle, high) if _takes(at, middle) else (low, middle - 1)
    return low


def _takes(at: Callable[[Fraction], Any], size: Fraction) -> bool:
    try:
        at(size)
    except ConfigError:
        return False
    return True


def _asked(experiment: Experiment, asked: str) -> tuple[str, str, str]:
    """Parses `LABEL.KEY=OTHER` to label, key and other label."""
    left, equals, other = asked.partition("=")
    label, dot, key = left.rpartition(".")
    if not (equals and dot and label and key and other):
        remedy = "write sirius.uplinks=clos"
        raise refusal("--equal-cost", asked, "not of the form LABEL.KEY=OTHER", remedy)
    for name in (label, other):
        if name not in experiment.labels:
            remedy = f"choose one of {', '.join(experiment.labels)}"
            raise refusal("--equal-cost", name, "no such fabric", remedy)
    return label, key, other
