"""Whether what breaks is looked for, and how."""

from __future__ import annotations

from dataclasses import dataclass

from lightloom.config import decision as options
from lightloom.config.decision import TRIES
from lightloom.config.experiment import Experiment
from lightloom.costs import book as books
from lightloom.costs import of_experiment
from lightloom.costs.book import Book
from lightloom.simulation.machine import check_count

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
    table = _table(experiment)
    wanted = table.worst_failure if asked is None else asked
    return Search(table.worst_of) if wanted else None


def _table(experiment: Experiment) -> options.Options:
    """What `[decision]` says, or its defaults."""
    return options.read(experiment.raw) or options.Options()


def book_of(experiment: Experiment) -> Book:
    """The prices by whose bills the switches of electrical networks are counted: those of the
    experiment, if it has some.

    Raises:
        ConfigError: of prices that cannot be read.
    """
    return of_experiment.book(experiment.raw) or books.load()
