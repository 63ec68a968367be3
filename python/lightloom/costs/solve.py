"""Which size of one network costs what another does: a key of its table is the unknown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from lightloom.config.experiment import Experiment
from lightloom.config.overrides import toml_literal
from lightloom.costs import network as networks
from lightloom.costs import pricing, rack_switches
from lightloom.costs.amounts import Prices, Range
from lightloom.costs.book import Book
from lightloom.costs.equal import WIDTH, equal_ends
from lightloom.errors import ConfigError, refusal

#: A whole number is searched up to this many times what the table has, a ratio up to MOST.
TIMES, MOST = 64, 1000


@dataclass(frozen=True)
class EqualCost:
    """At which value of a key one fabric costs what another does."""

    key: str
    other: str
    value: Range | None
    """Over all prices of the book; None where by some of them no value between `low` and `high`
    does."""
    some: Fraction | None
    """Where one does by some prices alone, that which does at their end."""
    whole: bool
    """Whether the key is a whole number: the answer lies between two of them."""
    low: Fraction
    high: Fraction
    more: rack_switches.More | None = None
    """Of a whole number, where racks need more switches at that value than they have."""


def equal_cost(experiment: Experiment, asked: str, book: Book) -> EqualCost:
    """Solves `LABEL.KEY=OTHER`, as `sirius.uplinks=clos` or `clos.oversubscription=sirius`.

    A whole number is interpolated between its neighbours, so that 10.4 says: 10 are cheaper,
    11 dearer. Where all prices of the book are certain the answer is one number.

    Raises:
        ConfigError: of another form, of labels and keys that there are not, or of fabrics with
            parts without a price.
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
    # At the highest ratio the tier above is left out, so that costs jump there.
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
    return EqualCost(f"{label}.{key}", other, value, some, whole, low, top, more)


def _after_jump(at: Callable[[Fraction], pricing.FabricCost], prices: Prices) -> Fraction:
    """The least ratio of an oversubscription: 1, or just above it where a network of fewer tiers is
    billed at 1, so that costs jump there."""
    one, above = Fraction(1), Fraction(1) + WIDTH
    jumps = at(one).form.value(prices).low < at(above).form.value(prices).low
    return above if jumps else one


def _costs(
    experiment: Experiment, label: str, key: str, book: Book, whole: bool
) -> Callable[[Fraction], pricing.FabricCost]:
    """The fabric's cost at a value of the key, all others as they are resolved: the rate of a
    circuit does not fall as planes or switches are added. Between whole numbers in proportion."""
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
    """Refuses a ratio that the fabric does not take at the ends of the search, in the words of
    its own refusal, but for the value, which is none of the user's.

    Raises:
        ConfigError: of `--equal-cost`.
    """
    for value in (Fraction(1), Fraction(MOST) - WIDTH):
        try:
            at(value)
        except ConfigError as problem:
            limit = f"{key} cannot be varied: {problem.limit or problem}"
            remedy = problem.remedy or "name another key, or the other fabric's"
            raise refusal("--equal-cost", asked, limit, remedy) from None


def _held(experiment: Experiment, label: str, key: str) -> list[str]:
    """Rates that would follow from the key, as the table leaves them out: those that change with
    it."""
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
    """Parts in proportion between two sizes."""
    lines = [
        pricing.Line(
            line.part, line.where, line.count * weight, line.formula, line.price, line.power
        )
        for cost, weight in ((low, 1 - share), (high, share))
        for line in cost.lines
    ]
    return pricing.FabricCost(low.label, low.network, low.book, lines)


def _least(at: Callable[[Fraction], Any], present: Fraction) -> Fraction:
    """The smallest whole number from 1 that the fabric takes; it takes the present one."""
    low, high = min(Fraction(1), present), present
    while low < high:
        middle = Fraction((low + high) // 2)
        low, high = (low, middle) if _takes(at, middle) else (middle + 1, high)
    return low


def _largest(at: Callable[[Fraction], Any], limit: Fraction, low: Fraction) -> Fraction:
    """The largest whole number up to a limit that the fabric takes, which takes `low`."""
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
    """Label, key and other label of `LABEL.KEY=OTHER`."""
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
