"""Which size of one network costs what another does: a key of its table is the unknown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from lightloom.config import Experiment
from lightloom.economics import network as networks
from lightloom.economics import pricing
from lightloom.economics.amounts import Range
from lightloom.economics.book import Book
from lightloom.economics.equal import equal_size
from lightloom.errors import refusal
from lightloom.overrides import toml_literal

#: A whole number is searched up to this many times what the table has, a ratio up to MOST.
TIMES, MOST = 64, 1000


@dataclass(frozen=True)
class EqualCost:
    """At which value of a key one fabric costs what another does."""

    key: str
    other: str
    value: Range | None
    """Over all prices of the book; None where no value between `low` and `high` does."""
    whole: bool
    """Whether the key is a whole number: the answer lies between two of them."""
    low: Fraction
    high: Fraction


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
    target = pricing.of_network(other, networks.of(resolved, tables[other]), book)
    at = _costs(experiment, label, key, book, whole)
    first = at(Fraction(str(present)))
    missing = first.unpriced + target.unpriced
    if missing:
        remedy = f"set it: --price {missing[0]}=…"
        raise refusal("--equal-cost", asked, f"no price of {missing[0]}", remedy)
    prices = {**first.prices, **target.prices}
    if target.form.value(prices).low <= 0:
        limit = f"at these prices {other} may cost nothing, and no size of {label} costs as little"
        raise refusal("--equal-cost", asked, limit, "raise a price")
    low = Fraction(1)
    high = _largest(at, Fraction(present * TIMES)) if whole else Fraction(MOST)
    falls = not whole
    forms = (lambda x: at(low + high - x).form) if falls else (lambda x: at(x).form)
    found = equal_size(forms, target.form, prices, low, high)
    if found is not None and falls:
        found = Range(low + high - found.high, low + high - found.low)
    return EqualCost(f"{label}.{key}", other, found, whole, low, high)


def _costs(
    experiment: Experiment, label: str, key: str, book: Book, whole: bool
) -> Callable[[Fraction], pricing.FabricCost]:
    """The fabric's cost at a value of the key, all others as they are resolved: the rate of a
    circuit does not fall as planes are added. Between whole numbers in proportion."""
    held = _held(experiment, label, key)
    cache: dict[Fraction, pricing.FabricCost] = {}

    def exact(value: Fraction) -> pricing.FabricCost:
        if value not in cache:
            text = str(int(value)) if whole else repr(float(value))
            made = experiment.only(label).with_overrides([*held, f"fabric.{key}={text}"])
            resolved = made.resolved()
            network = networks.of(resolved, resolved["fabric"][0])
            cache[value] = pricing.of_network(label, network, book)
        return cache[value]

    def at(value: Fraction) -> pricing.FabricCost:
        below = Fraction(value.numerator // value.denominator)
        if not whole or below == value:
            return exact(value)
        share = value - below
        return _between(exact(below), exact(below + 1), share)

    return at


def _held(experiment: Experiment, label: str, key: str) -> list[str]:
    """Rates that would follow from the key if the table left them out."""
    if key != "planes":
        return []
    tables = experiment.resolved()["fabric"]
    table = next(table for table in tables if str(table["label"]) == label)
    rate = table.get("circuit_rate")
    return [] if rate is None else [f"fabric.circuit_rate={toml_literal(rate)}"]


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


def _largest(at: Callable[[Fraction], Any], limit: Fraction) -> Fraction:
    """The largest whole number up to a limit that the fabric takes, by halving."""
    from lightloom.errors import ConfigError

    low, high = Fraction(1), limit
    while low < high:
        middle = Fraction((low + high + 1) // 2)
        try:
            at(middle)
            low = middle
        except ConfigError:
            high = middle - 1
    return low


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
