"""How what breaks is looked for."""

from __future__ import annotations

from dataclasses import dataclass

from lightloom.economics.book import Book
from lightloom.machine import check_count

#: Of a kind with more members, so many are tried.
TRIES = 8


@dataclass(frozen=True)
class Search:
    """How what breaks is looked for.

    Raises:
        ConfigError: of `tries` that are none.
    """

    tries: int = TRIES
    """Parts of each kind that are tried, at most: all of as many, of more a sample."""
    prices: str | Book | None = None
    """The book whose bills say of how many switches an electrical network is made, where its
    table does not; `sirius-2020` unless given."""

    def __post_init__(self) -> None:
        check_count("tries", self.tries)
