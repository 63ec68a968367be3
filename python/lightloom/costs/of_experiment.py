"""The prices in `[decision]` of an experiment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from lightloom.config.decision import completed, read
from lightloom.config.own_tables import DECISION
from lightloom.costs import book as books
from lightloom.costs.book import Book
from lightloom.costs.given import with_prices


def book(raw: Mapping[str, Any]) -> Book | None:
    """Returns the prices of an experiment; None without the table.

    Raises:
        ConfigError: if the book cannot be read, or a price is invalid.
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
    """Returns the experiment with `--prices` and `--price` applied. Another book replaces that of
    the table and its `price`, which is in the units of the old book; `--price` adds prices.

    Raises:
        ConfigError: naming the flag or the key of the table.
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
