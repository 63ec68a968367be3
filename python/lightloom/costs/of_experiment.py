"""The prices that `[decision]` of an experiment asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from lightloom.config.decision import completed, read
from lightloom.config.schema import DECISION
from lightloom.costs import book as books
from lightloom.costs.book import Book
from lightloom.costs.given import with_prices


def book(raw: Mapping[str, Any]) -> Book | None:
    """The prices of an experiment; None of one without the table.

    Raises:
        ConfigError: of a book that cannot be read, or a price that is none.
    """
    options = read(raw)
    if options is None:
        return None
    found = books.load(options.prices, f"{DECISION}.prices")
    if options.counting is not None:
        found = replace(found, counting=options.counting)
    return with_prices(found, options.price, f"{DECISION}.price")


def with_flags(
    raw: Mapping[str, Any], prices: str | None, price: Sequence[str] | None
) -> dict[str, Any]:
    """The experiment with what `--prices` and `--price` say: another book takes the place of the
    table's and of its own prices, which are in the units of that; a price is added.

    Raises:
        ConfigError: that names the flag, of either; that names the key, of the table.
    """
    if prices is None and not price:
        return dict(raw)
    table = completed(raw).get(DECISION, {})
    if prices is not None:
        table = {**table, "prices": prices, "price": []}
        found = books.load(prices)
    else:
        found = book({DECISION: table}) or books.load(None)
    with_prices(found, price or [])
    table["price"] = [*table.get("price", []), *(price or [])]
    return {**raw, DECISION: table}
