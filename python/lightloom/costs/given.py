"""Prices that the user sets in addition to a book: `PART=AMOUNT`, in the unit of the book."""

from __future__ import annotations

from collections.abc import Iterable

from lightloom.costs import book as books
from lightloom.costs.amounts import Range
from lightloom.costs.book import Book
from lightloom.costs.exact import written
from lightloom.errors import refusal


def with_prices(book: Book, pairs: Iterable[str], key: str = "--price") -> Book:
    """Returns the book with the price of each part set: `switch=5000`, `switch=200..700`.

    Args:
        key: the key that errors name.

    Raises:
        ConfigError: if the form or the amount is invalid, or no network has the part.
    """
    for pair in pairs:
        part, equals, amount = pair.partition("=")
        part = part.strip()
        if not equals:
            raise refusal(key, pair, "not of the form PART=AMOUNT", "write switch=5000")
        books.check_part(key, part)
        low, dots, high = amount.partition("..")
        texts = [low, high] if dots else [low]
        ends = [written(f"{key} {part}", text, "write 250, or 200..700") for text in texts]
        if ends[0] > ends[-1]:
            raise refusal(key, pair, "ends before it begins", "write the lower end first")
        book = book.with_price(part, Range(ends[0], ends[-1]), key)
    return book
