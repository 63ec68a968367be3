"""Arbiters of switches: matchings of inputs and outputs in one slot, by round-robin pointers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from lightloom import _core
from lightloom.control.arrays import Booleans, Integers, booleans, count
from lightloom.errors import refusal
from lightloom.units.counts import counted

Pointers = tuple[ArrayLike, ArrayLike]


@dataclass(frozen=True, eq=False)
class Agreement:
    """The matching of one slot."""

    output_of: Integers
    """The output with which each input is matched; -1 if it is not matched."""
    pointers: tuple[Integers, Integers]
    """The pointers for the next slot. For iSLIP: the input that each output grants first, and the
    output that each input accepts first. For DRRM: the output that each input requests first, and
    the input that each output grants first."""


def islip(
    requests: ArrayLike, *, iterations: int = 1, pointers: Pointers | None = None
) -> Agreement:
    """Computes the matching of one slot by iSLIP (McKeown, 1999).

    Each free output grants the next input that requests it; each input accepts the next output that
    granted it. Pointers advance only if a grant of the first iteration was accepted.

    Args:
        requests: N × N Booleans, row = input: whether it has packets for each output.
        iterations: largest number of iterations [count]; it stops if one adds no match.
        pointers: those after the previous slot. Default: all at port 0.

    Raises:
        ConfigError: if an argument is invalid.

    >>> requests = [[1, 0, 1], [1, 0, 0], [0, 0, 0]]
    >>> first = islip(requests)
    >>> second = islip(requests, pointers=first.pointers)
    >>> first.output_of, second.output_of
    (array([ 0, -1, -1]), array([ 2,  0, -1]))
    """
    return _agree(_core.control_islip, requests, iterations, pointers)


def drrm(
    requests: ArrayLike, *, iterations: int = 1, pointers: Pointers | None = None
) -> Agreement:
    """Computes the matching of one slot by DRRM (Chao & Park, 1998): each input requests one
    output, each output grants one input.

    Arguments and errors are those of `islip`.

    >>> drrm([[1, 0, 1], [1, 0, 0], [0, 0, 0]], iterations=2).output_of
    array([ 0, -1, -1])
    """
    return _agree(_core.control_drrm, requests, iterations, pointers)


Arbiter = Callable[[Booleans, list[int], list[int], int], tuple[Integers, Integers, Integers]]


def _agree(
    arbiter: Arbiter, requests: ArrayLike, iterations: int, pointers: Pointers | None
) -> Agreement:
    table = booleans("requests", requests)
    ports = len(table)
    if table.shape != (ports, ports) or not ports:
        shape = f"{table.shape[0]} x {table.shape[1]} values"
        raise refusal("requests", shape, "not square", "give a row and a column for each port")
    first, second = pointers if pointers is not None else (np.zeros(ports, int),) * 2
    starts = _ports("pointers[0]", first, ports), _ports("pointers[1]", second, ports)
    output_of, *after = arbiter(table, *starts, count("iterations", iterations))
    return Agreement(output_of, (after[0], after[1]))


def _ports(name: str, values: ArrayLike, ports: int) -> list[int]:
    row = np.asarray(values)
    if row.shape != (ports,):
        raise refusal(
            name,
            counted(row.size, "pointer"),
            f"there {'is' if ports == 1 else 'are'} {counted(ports, 'port')}",
            "give one each",
        )
    return [count(f"{name}[{at}]", port, 0, ports - 1) for at, port in enumerate(row.tolist())]
