"""Options of the search for single failures."""

from __future__ import annotations

from dataclasses import dataclass

from lightloom.config import decision as options
from lightloom.config.decision import TRIES
from lightloom.config.experiment import Experiment
from lightloom.costs import book as books
from lightloom.costs import of_experiment
from lightloom.costs.book import Book
from lightloom.simulation.machine import check_count

#: Time limit of a run that ends when all flows are delivered ÷ duration of the fault-free run;
#: flows without a path would otherwise wait for ever.
SLOWER = 100


@dataclass(frozen=True)
class Search:
    """Options of the search for single failures.

    Raises:
        ConfigError: if `tries` is invalid.
    """

    tries: int = TRIES
    """The largest number of parts of each kind that are tried; a kind with more parts is
    sampled."""

    def __post_init__(self) -> None:
        check_count("tries", self.tries)


def search_of(experiment: Experiment, asked: Search | bool | None) -> Search | None:
    """Returns the options of the search in an experiment; None if it is not requested.

    Args:
        asked: the options of the caller; None: `[decision]` of the experiment decides.

    Raises:
        ConfigError: if the table is invalid.
    """
    if isinstance(asked, Search):
        return asked
    table = _table(experiment)
    wanted = table.worst_failure if asked is None else asked
    return Search(table.worst_of) if wanted else None


def _table(experiment: Experiment) -> options.Options:
    """The options in `[decision]`, or their defaults."""
    return options.read(experiment.raw) or options.Options()


def book_of(experiment: Experiment) -> Book:
    """Returns the prices whose bills determine the number of switches of electrical networks: those
    of the experiment, if it has any.

    Raises:
        ConfigError: if the prices cannot be read.
    """
    return of_experiment.book(experiment.raw) or books.load()
