"""A guess of who sends to whom, from counters of interfaces: what each node sends and what it
receives in all.

The gravity model takes demand to be in proportion to what the source sends and what the
destination receives. As no node sends to itself here, rows and columns are scaled in turn
until they have the sums that were counted (iterative proportional fitting).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lightloom.control.demand.folding import in_order
from lightloom.control.demand.prometheus import counters_of
from lightloom.control.demand.source import Source
from lightloom.control.demand.units import Unit
from lightloom.errors import ConfigError, refusal

ESTIMATES = ("gravity",)
"""What `--estimate` takes."""
ROUNDS = 1_000
CLOSE = 1e-9
"""Difference of a sum [ratio] at which fitting ends."""


def estimated(
    source: Source, value: Any, named: Mapping[str, str], unit: Unit
) -> tuple[NDArray[np.int64], list[str], list[str]]:
    """The demand that counters of interfaces suggest [bytes], its nodes, and notes.

    Raises:
        ConfigError: naming the series; if nodes cannot have sent what they received.
    """
    counters = counters_of(source, value, named, unit)
    names = in_order({one.node for one in counters})
    at = {name: place for place, name in enumerate(names)}
    sums = {"out": np.zeros(len(names)), "in": np.zeros(len(names))}
    for one in counters:
        sums[one.direction][at[one.node]] += float(one.amount * unit.size)
    out, came = sums["out"], sums["in"]
    notes = [f"who sends to whom is estimated by gravity from {len(counters):,} counters"]
    matrix = from_sums(source.name, names, out, came)
    lost = came.sum() / out.sum() - 1
    if abs(lost) > 0.01:
        notes.append(f"all nodes received {100 * lost:+.1f} % of what they sent: scaled to that")
    return matrix, names, notes


def from_sums(
    name: str, names: Sequence[str], out: NDArray[np.float64], came: NDArray[np.float64]
) -> NDArray[np.int64]:
    """The demand between nodes of which is known what each sent and received [bytes].

    Args:
        name: what messages call the source.
        names: the nodes.
        out: what each sent.
        came: what each received; scaled to the sum of `out`.

    Raises:
        ConfigError: if a direction is missing, or a node cannot have sent what it received.
    """
    if not out.sum() or not came.sum():
        missing = "sent" if not out.sum() else "received"
        limit = f"nothing was {missing}: both directions are needed"
        raise ConfigError(f"{name}: {limit}; ask for counters in and out")
    matrix = _fitted(name, out, came * out.sum() / came.sum(), names)
    return np.rint(matrix).astype(np.int64)


def _fitted(
    name: str, out: NDArray[np.float64], came: NDArray[np.float64], names: Sequence[str]
) -> NDArray[np.float64]:
    """A matrix with these sums of rows and of columns, and zeros on its diagonal."""
    total = out.sum()
    over = next((n for n, a, b in zip(names, out, came, strict=True) if a + b > total * 1.0001), "")
    if over:
        limit = f"`{over}` sends and receives more than all others"
        raise ConfigError(f"{name}: {limit}; add the counters of the others")
    matrix = np.outer(out, came)
    np.fill_diagonal(matrix, 0)
    for _ in range(ROUNDS):
        matrix *= _scales(out, matrix.sum(axis=1))[:, np.newaxis]
        matrix *= _scales(came, matrix.sum(axis=0))
        if np.abs(matrix.sum(axis=1) - out).max() <= CLOSE * total:
            break
    return matrix


def _scales(wanted: NDArray[np.float64], there: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(wanted, there, out=np.zeros_like(wanted), where=there > 0)


def check(estimate: str) -> None:
    """Refuses what is no way of estimating.

    Raises:
        ConfigError: of `estimate`.
    """
    if estimate not in ESTIMATES:
        raise refusal("estimate", estimate, "no such way", f"use {', '.join(ESTIMATES)}")
