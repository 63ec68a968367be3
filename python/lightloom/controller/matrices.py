"""Demand between the racks of a switch: a matrix of bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lightloom.control.files import Demand
from lightloom.controller.racks import Racks
from lightloom.errors import ConfigError, refusal

MOST = 2**62
"""No entry is larger [bytes]."""
Matrix = list[list[int]]


@dataclass(frozen=True)
class Seen:
    """Demand at one time."""

    matrix: Matrix
    """Racks × racks [bytes]."""
    at: float
    """When it was measured [s since 1970]."""
    source: str


def matrix_of(demand: Demand, racks: Racks, key: str) -> Matrix:
    """The matrix of a demand between racks: by their names if the demand has names.

    Raises:
        ConfigError: of another size, or if the demand names none of the racks.
    """
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
    """A matrix of bytes between the racks of a switch.

    Raises:
        ConfigError: of another size, or of an entry that is no byte count.
    """
    count = len(racks.names)
    if len(matrix) != count or any(len(row) != count for row in matrix):
        shape = f"{len(matrix)} × {len(matrix[0]) if matrix else 0}"
        raise refusal(key, shape, f"the port map has {count} racks", f"send {count} × {count}")
    for a, row in enumerate(matrix):
        for b, size in enumerate(row):
            if not 0 <= size <= MOST:
                limit = "a byte count is 0 or more, and below 2^62"
                raise refusal(f"{key}[{a}][{b}]", size, limit, "correct it")
    return [[int(size) for size in row] for row in matrix]
