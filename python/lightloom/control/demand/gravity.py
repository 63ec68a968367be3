"""An estimate of the demand between pairs from counters of interfaces: the bytes that each node
sends and receives.

The gravity model assumes that the demand of a pair is proportional to the bytes that its source
sends and to those that its destination receives. Because no node sends to itself, rows and columns
are scaled alternately until they have the counted sums (iterative proportional fitting).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lightloom.control.demand.folding import in_order
from lightloom.control.demand.json_form import parse
from lightloom.control.demand.prometheus import Counter, counters_of, is_prometheus, needs_unit
from lightloom.control.demand.records import Record, Records
from lightloom.control.demand.source import Source
from lightloom.control.demand.times import iso
from lightloom.control.demand.units import Unit
from lightloom.errors import ConfigError, refusal

ESTIMATES = ("gravity",)
"""Values of `--estimate`."""
ROUNDS = 1_000
CLOSE = 1e-9
"""Relative difference from the counted sums at which fitting ends."""


TITLE = "counters of interfaces"
"""The name of the source in messages."""


def estimated(
    source: Source, named: Mapping[str, str], unit: Unit
) -> tuple[NDArray[np.int64], list[str], list[str]]:
    """Returns the demand estimated from counters of interfaces [bytes], its nodes, and notes.

    Raises:
        ConfigError: if a series is invalid, or if nodes cannot have sent what others received.
    """
    counters = counters_of(source, _answer(source), named, unit).each
    names = in_order({one.node for one in counters})
    out, came = _sums(counters, names, unit)
    notes = [f"demand of pairs is estimated by gravity from {len(counters):,} counters"]
    matrix = from_sums(source.name, names, out, came)
    lost = came.sum() / out.sum() - 1
    if abs(lost) > 0.01:
        notes.append(
            f"nodes received {100 * abs(lost):.1f} % {'fewer' if lost < 0 else 'more'} bytes than "
            "they sent; received bytes are scaled to the total sent"
        )
    return matrix, names, notes


def estimated_by_time(
    source: Source,
    named: Mapping[str, str],
    unit: Unit,
    slot: Callable[[int], int | None],
    asked_us: int | None = None,
) -> Records:
    """Estimates demand for each interval and returns it as records of bytes; the records of each
    time have the sums that were counted in it.

    Args:
        slot: returns the interval of a sample that began at a time [µs].
        asked_us: the step that the user gives, for times that do not show one [µs].

    Raises:
        ConfigError: as for `estimated`; it names the time.
    """
    counters, step_us, gaps = counters_of(source, _answer(source), named, unit, asked_us)
    names = in_order({one.node for one in counters})
    by_slot: dict[int | None, list[Counter]] = defaultdict(list)
    for one in counters:
        by_slot[slot(one.time_us)].append(one)
    each: list[Record] = []
    for time_us, those in by_slot.items():
        where = source.name if time_us is None else f"{source.name}: {iso(time_us)}"
        each += _records_of(where, names, time_us, _sums(those, names, unit))
    records = Records(TITLE, source.name, each, timed=True)
    records.covers_us = step_us
    counted = f"{len(counters):,} counters"
    records.notes.append(f"demand of pairs is estimated by gravity from {counted}, each interval")
    if gaps:
        records.notes.append(f"{gaps:,} samples of counters are missing and counted as no traffic")
    return records


def _records_of(
    where: str,
    names: Sequence[str],
    time_us: int | None,
    sums: tuple[NDArray[np.float64], NDArray[np.float64]],
) -> list[Record]:
    """The demand between nodes in an interval; at least one record for each node."""
    nothing = [Record(where, name, name, 0, time_us) for name in names]
    if not sums[0].any() and not sums[1].any():
        return nothing
    matrix = from_sums(where, names, *sums)
    rows = zip(*(ends.tolist() for ends in matrix.nonzero()), strict=True)
    return nothing + [
        Record(where, names[a], names[b], int(matrix[a, b]), time_us) for a, b in rows
    ]


def _sums(
    counters: Sequence[Counter], names: Sequence[str], unit: Unit
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The bytes that each node sent, and those that it received."""
    at = {name: place for place, name in enumerate(names)}
    sums = {"out": np.zeros(len(names)), "in": np.zeros(len(names))}
    for one in counters:
        sums[one.direction][at[one.node]] += float(one.amount * unit.size)
    return sums["out"], sums["in"]


def _answer(source: Source) -> Any:
    """The Prometheus response in a source."""
    value = parse(source)
    if not is_prometheus(value):
        limit = f"{source.name} has no series of Prometheus, whose counters it needs"
        raise refusal("estimate", ESTIMATES[0], limit, "save the answer of query_range")
    return value


def from_sums(
    name: str, names: Sequence[str], out: NDArray[np.float64], came: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Estimates the demand between nodes from the bytes that each sent and received [bytes].

    Args:
        name: the name of the source in messages.
        names: the nodes.
        out: bytes that each node sent.
        came: bytes that each node received; scaled to the sum of `out`.

    Raises:
        ConfigError: if a direction is missing, or nodes cannot have sent what others received.
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
    """Returns a matrix with these row sums and column sums, and zeros on its diagonal."""
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


def check(estimate: str, map: str | Path | None, unit: str | None) -> None:
    """Raises an error for an unknown estimator, and for a map of hosts, which have no counters.

    Raises:
        ConfigError: if `estimate` or `map` is invalid, or `unit` is missing.
    """
    if estimate not in ESTIMATES:
        raise refusal("estimate", estimate, "no such way", f"use {', '.join(ESTIMATES)}")
    if map is not None:
        limit = "an estimate is between the nodes of counters"
        raise refusal("map", str(map), limit, "name racks by a label: --columns node=LABEL")
    if unit is None:
        raise needs_unit()
