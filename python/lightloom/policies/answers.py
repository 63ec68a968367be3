"""The return values of `decide`, converted to the core's form: circuits, with or without routes; a
schedule; or None, which keeps the present circuits.

Only the form is checked here. The core checks, as for every policy, whether racks, planes and ports
exist, work and are free, and whether routes have circuits.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lightloom.errors import refusal
from lightloom.policies.switch import Switch
from lightloom.units.counts import counted

#: The form of the core. Circuits are rows of racks and plane, with their direction and routes
#: (racks, planes); a schedule is permutations, days and night.
Rows = list[tuple[int, int, int]]
Paths = list[tuple[list[int], list[int]]]
Answer = tuple[Rows, tuple[bool, Paths | None]] | tuple[NDArray[np.int64], list[int], int] | None

SHOWN_MAX = 120
_COUNTED_MAX = 2**32 - 1


@dataclass(frozen=True, eq=False)
class Path:
    """A path of several circuits, on given planes.

    >>> Path(racks=[0, 3, 1], planes=[0, 2])
    Path(racks=[0, 3, 1], planes=[0, 2])
    """

    racks: Sequence[int]
    """The racks on the path, both ends included."""
    planes: Sequence[int]
    """The plane of each circuit; one fewer than the racks."""


@dataclass(frozen=True, eq=False)
class Circuits:
    """Circuits that lead in one direction only, or that carry traffic of other racks as well.

    >>> Circuits([(0, 1), (1, 2)], directed=True).directed
    True
    >>> line = Circuits([(0, 1), (1, 2)], routes=[[0, 1], [1, 2]])  # where planes allow it
    """

    pairs: ArrayLike | Iterable[Sequence[int]]
    """Rows of two racks, with the plane if there are several."""
    directed: bool = False
    """Whether each circuit leads only from its first rack to its second."""
    routes: Iterable[Sequence[int] | Path] | None = None
    """Routes over the circuits: lists of racks in which consecutive racks are connected by a
    circuit (on the lowest plane that connects them), or a `Path` with its planes. If two racks have
    several routes, their flows are spread over them. None: each circuit carries only the traffic
    between its own racks."""


def read(returned: Any, switch: Switch) -> Answer:
    """Converts the return value of a policy.

    Raises:
        ConfigError: if the value is not allowed.
    """
    if returned is None:
        return None
    if isinstance(returned, Circuits):
        rows = _rows(returned.pairs)
        directed = _flag(returned.directed)
        paths = None
        if returned.routes is not None:
            paths = _paths(returned.routes, _planes_of(rows, directed))
        return rows, (directed, paths)
    if hasattr(returned, "permutations"):
        return _schedule(returned, switch)
    return _rows(returned), (False, None)


def shown(returned: Any) -> str:
    """Formats a return value on one line, shortened if it is long."""
    try:
        line = " ".join(repr(returned).split())
    except Exception as problem:  # raised by the user's own repr
        line = f"<{type(returned).__name__}, whose repr raises {type(problem).__name__}>"
    return line if len(line) <= SHOWN_MAX else f"{line[: SHOWN_MAX - 1]}…"


_MAY = (
    "return pairs of racks like [(0, 1), (2, 3)], lightloom.policies.Circuits, "
    "a lightloom.control.Schedule, or None to keep what is lit"
)


def _bad(what: str, value: Any, limit: str, remedy: str) -> Exception:
    return refusal("decide()", shown(value), f"{what}{limit}", remedy)


def _rows(pairs: Any) -> Rows:
    """Converts circuits to rows of two racks and a plane."""
    if isinstance(pairs, np.ndarray):
        return _rows_of_array(pairs)
    if not isinstance(pairs, (list, tuple, set, frozenset)):
        kind = type(pairs).__name__
        raise _bad("", pairs, f"neither circuits nor a schedule, but of type {kind}", _MAY)
    return [_row(at, row) for at, row in enumerate(pairs)]


def _rows_of_array(pairs: NDArray[Any]) -> Rows:
    if pairs.size == 0:
        return []
    if pairs.ndim != 2 or pairs.shape[1] not in (2, 3):
        shape = " × ".join(map(str, pairs.shape))
        raise _bad("", pairs, f"an array of {shape}, not of 2 or 3 columns", _MAY)
    if pairs.dtype.kind == "f":
        _refuse_holes(pairs)
    return [_row(at, row) for at, row in enumerate(pairs.tolist())]


def _refuse_holes(pairs: NDArray[np.floating[Any]]) -> None:
    """Reports a NaN first: it makes all numbers of an array floats, which are not to blame."""
    for at, column in np.argwhere(~np.isfinite(pairs))[:1]:
        _whole(f"circuits[{at}] = ", pairs[at].tolist(), float(pairs[at, column]))


def _row(at: int, row: Any) -> tuple[int, int, int]:
    what = f"circuits[{at}] = "
    if not isinstance(row, (tuple, list, np.ndarray)) or len(row) not in (2, 3):
        limit = f"{shown(row)}: no circuit, which has two racks, and a plane"
        raise _bad(what, row, limit, "write (0, 1), or (0, 1, 2) for plane 2")
    a, b, plane = row if len(row) == 3 else (*row, 0)
    plain = type(a) is type(b) is type(plane) is int
    if plain and min(a, b, plane) >= 0 and max(a, b, plane) <= _COUNTED_MAX:
        return a, b, plane
    return _whole(what, row, a), _whole(what, row, b), _whole(what, row, plane)


def _whole(what: str, row: Any, number: Any) -> int:
    """Converts a rack or a plane to a whole number; NumPy numbers are accepted."""
    if isinstance(number, (bool, np.bool_)) or not hasattr(number, "__index__"):
        nan = isinstance(number, (float, np.floating)) and not math.isfinite(number)
        limit = "not a number" if nan else "not a whole number"
        remedy = "find out where it comes from" if nan else "convert it with int()"
        raise _bad(what, row, f"{shown(row)}: {shown(number)} is {limit}", remedy)
    whole = number.__index__()
    if whole < 0:
        limit = f"{shown(row)}: racks and planes are counted from 0"
        raise _bad(what, row, limit, "join racks that exist")
    if whole > _COUNTED_MAX:
        raise _bad(what, row, f"{shown(row)}: beyond what can be counted", "join racks that exist")
    return int(whole)


def _flag(directed: Any) -> bool:
    if isinstance(directed, (bool, np.bool_)):
        return bool(directed)
    raise _bad(
        "directed = ", directed, f"{shown(directed)}: neither True nor False", "use one of them"
    )


def _planes_of(rows: Rows, directed: bool) -> dict[tuple[int, int], int]:
    """The lowest plane that connects each pair of racks."""
    planes: dict[tuple[int, int], int] = {}
    for a, b, plane in rows:
        for pair in ((a, b),) if directed else ((a, b), (b, a)):
            planes[pair] = min(plane, planes.get(pair, plane))
    return planes


def _paths(routes: Any, planes: dict[tuple[int, int], int]) -> Paths:
    if not isinstance(routes, Iterable) or isinstance(routes, (str, bytes)):
        raise _bad("routes = ", routes, f"{shown(routes)}: no list of paths", "write [[0, 3, 1]]")
    return [_path(at, route, planes) for at, route in enumerate(routes)]


def _path(at: int, route: Any, planes: dict[tuple[int, int], int]) -> tuple[list[int], list[int]]:
    what = f"routes[{at}] = "
    given = route.racks if isinstance(route, Path) else route
    if not isinstance(given, (list, tuple, np.ndarray)) or len(given) < 2:
        limit = f"{shown(route)}: no path, which visits two racks or more"
        raise _bad(what, route, limit, "write it from end to end, like [0, 3, 1]")
    racks = [_whole(what, route, rack) for rack in given]
    if len(set(racks)) < len(racks):
        raise _bad(what, route, f"{shown(route)}: visits a rack twice", "leave the loop out")
    if not isinstance(route, Path):
        # The core reports a hop without a circuit, whichever plane is given.
        return racks, [planes.get(pair, 0) for pair in pairwise(racks)]
    if not isinstance(route.planes, (list, tuple, np.ndarray)):
        limit = f"{shown(route)}: planes = {shown(route.planes)} is no list of planes"
        raise _bad(what, route, limit, "name the plane of each circuit, like [0, 2]")
    if len(route.planes) != len(racks) - 1:
        several = counted(len(racks) - 1, "circuit")
        limit = f"{shown(route)}: {several}, on {counted(len(route.planes), 'plane')}"
        raise _bad(what, route, limit, "name the plane of each circuit")
    return racks, [_whole(what, route, plane) for plane in route.planes]


def _schedule(schedule: Any, switch: Switch) -> Answer:
    """Converts any object with `permutations`, `days_ps` and `night_ps`, such as
    `control.Schedule`."""
    permutations = _integers("permutations", schedule.permutations)
    days = _integers("days_ps", getattr(schedule, "days_ps", None))
    night = _integers("night_ps", getattr(schedule, "night_ps", None))
    if permutations.size == 0:
        permutations = permutations.reshape((0, switch.racks))
    if permutations.ndim != 2 or days.shape != permutations.shape[:1] or night.ndim != 0:
        limit = f"days of shape {days.shape} for permutations of {permutations.shape}"
        remedy = "give a row, and a day, for each slot, and one night"
        raise _bad("", schedule, limit, remedy)
    return permutations, [int(day) for day in days], int(night)


def _integers(name: str, value: Any) -> NDArray[np.int64]:
    try:
        array = np.asarray(value)
    except ValueError:
        array = np.asarray(None)
    if array.dtype.kind not in "iu" and array.size:
        limit = f"{name} are of type {array.dtype}, not whole numbers"
        raise _bad("", value, limit, "give whole numbers: ports, and picoseconds")
    return array.astype(np.int64)
