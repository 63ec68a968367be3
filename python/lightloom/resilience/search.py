"""Whether what breaks is looked for, and how."""

from __future__ import annotations

from dataclasses import dataclass

from lightloom.config import Experiment
from lightloom.economics import book as books
from lightloom.economics.book import Book
from lightloom.experiment_schema import DECISION
from lightloom.machine import check_count

#: Of a kind with more members, so many are tried.
TRIES = 8
#: A run that ends when all is delivered ends at the latest when it takes so many times what the
#: sound network took: who is cut off waits for ever.
SLOWER = 100


@dataclass(frozen=True)
class Search:
    """How what breaks is looked for.

    Raises:
        ConfigError: of `tries` that are none.
    """

    tries: int = TRIES
    """Parts of each kind that are tried, at most: all of as many, of more a sample."""

    def __post_init__(self) -> None:
        check_count("tries", self.tries)


def search_of(experiment: Experiment, asked: Search | bool | None) -> Search | None:
    """How what breaks is looked for in an experiment; None if it is not.

    Args:
        asked: by the caller; None where `[decision]` of the experiment says whether.

    Raises:
        ConfigError: of a table that cannot be.
    """
    if isinstance(asked, Search):
        return asked
    wanted = _in_table(experiment) if asked is None else asked
    return Search() if wanted else None


def _in_table(experiment: Experiment) -> bool:
    if DECISION not in experiment.raw:
        return False
    from lightloom.decision import options

    found = options.read(experiment.raw)
    return found is not None and found.worst_failure


def book_of(experiment: Experiment) -> Book:
    """The prices by whose bills the switches of electrical networks are counted: those of the
    experiment, if it has some.

    Raises:
        ConfigError: of prices that cannot be read.
    """
    if DECISION not in experiment.raw:
        return books.load()
    from lightloom.decision import options

    return options.book(experiment.raw) or books.load()
