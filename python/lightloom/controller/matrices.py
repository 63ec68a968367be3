"""Demand between the racks of a switch: a matrix of bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lightloom.control.files import Demand
from lightloom.controller.racks import Racks
from lightloom.errors import ConfigError, refusal

MOST = 2**62
"""Largest entry [bytes]."""
MOST_OF_ALL = 2**63 - 1
"""Largest sum of entries [bytes]."""
NO_TRAFFIC = "only zeros"
"""The value in the core's error of a demand without traffic, which cannot be planned for."""
Matrix = list[list[int]]


@dataclass(frozen=True)
class Seen:
    """Demand with its time and source."""

    matrix: Matrix
    """Racks × racks [bytes]."""
    at: float
    """Time of the measurement [s since 1970]."""
    source: str
    span_s: float | None = None
    """Time in which these bytes were sent [s]; None if they are the demand of one interval."""


def read_or_none(read: Callable[[], Demand]) -> Demand | None:
    """The demand that a function reads; None if it has no traffic, as in an idle network.

    Raises:
        ConfigError: if the input is not a demand.
    """
    try:
        return read()
    except ConfigError as problem:
        if problem.value == NO_TRAFFIC:
            return None
        raise


def matrix_of(demand: Demand | None, racks: Racks, key: str) -> Matrix:
    """The matrix of a demand between racks, matched by name if the demand has names; zeros if there
    is no traffic.

    Raises:
        ConfigError: if its size differs, or if the demand names none of the racks.
    """
    if demand is None:
        return [[0] * len(racks.names) for _ in racks.names]
    matrix = [[int(size) for size in row] for row in demand.matrix.tolist()]
    names = list(demand.names or [])
    return matrix_of_names(matrix, names, racks, key) if names else checked(matrix, racks, key)


def matrix_of_names(matrix: Matrix, names: Sequence[str], racks: Racks, key: str) -> Matrix:
    """The part of a matrix between racks, which are found by their names.

    Raises:
        ConfigError: if it names none of them.
    """
    at = {name: place for place, name in enumerate(names)}
    places = [at.get(name) for name in racks.names]
    if all(place is None for place in places):
        shown = ", ".join(names[:4])
        limit = f"names {shown} and none of the racks in {racks.file}"
        raise ConfigError(f"{key}: {limit}; use the names of the port map, or a map of hosts")
    return [[0 if a is None or b is None else matrix[a][b] for b in places] for a in places]


def checked(matrix: Sequence[Sequence[float]], racks: Racks, key: str) -> Matrix:
    """A matrix of bytes between the racks of a switch, without traffic of racks to themselves.

    Raises:
        ConfigError: if its size differs, an entry is not a byte count, or the total is too large.
    """
    count = len(racks.names)
    if len(matrix) != count:
        limit = f"the port map has {count} racks"
        raise refusal(key, f"{len(matrix)} rows", limit, f"send {count} × {count}")
    for a, row in enumerate(matrix):
        if len(row) != count:
            limit = f"the port map has {count} racks"
            raise refusal(f"{key}[{a}]", f"{len(row)} values", limit, f"send {count} × {count}")
        for b, size in enumerate(row):
            if not 0 <= size <= MOST:
                limit = "a byte count is 0 or more, and at most 2^62"
                raise refusal(f"{key}[{a}][{b}]", size, limit, "correct it")
    made = [
        [0 if a == b else round(size) for b, size in enumerate(r)] for a, r in enumerate(matrix)
    ]
    if (total := sum(map(sum, made))) > MOST_OF_ALL:
        limit = f"the sum must not exceed {MOST_OF_ALL}"
        raise refusal(key, f"a total of {total}", limit, "send less")
    return made
