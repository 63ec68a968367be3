"""Adds up records to matrices by pair of racks, and counts omitted records."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from lightloom.control.arrays import LARGEST, MAX_NODES, Numbers
from lightloom.control.demand.amounts import Amount
from lightloom.control.demand.hosts import HostMap
from lightloom.control.demand.records import Record, Records
from lightloom.control.names import printable
from lightloom.errors import ConfigError
from lightloom.units.counts import counted, shown

Pair = tuple[str, str]


@dataclass
class Folded:
    """Records that were added up."""

    amounts: dict[int | None, dict[Pair, Amount]] = field(default_factory=dict)
    """Start of the interval (None if times do not matter) → pair of racks → amount."""
    nodes: set[str] = field(default_factory=set)
    """The racks that occur."""
    records: int = 0
    total: Amount = 0
    """The sum of all records, including those left out."""
    within: Amount = 0
    """The sum between hosts of one rack."""
    unknown: Amount = 0
    """The sum of hosts that the map does not name."""
    strangers: dict[str, None] = field(default_factory=dict)
    """Hosts that the map does not name, in the order of the file."""
    hosts: set[str] = field(default_factory=set)
    """Hosts that the map names."""
    unprintable: dict[str, str] = field(default_factory=dict)
    """Names with control characters, by the form in which they are shown."""
    times: set[int | None] = field(default_factory=set)
    """The times of records, if they have times [µs]."""


def fold(
    records: Records,
    hosts: HostMap | None,
    *,
    strict: bool = False,
    slot: Callable[[Record], int | None] = lambda record: None,
) -> Folded:
    """Adds up records by pair of racks, and by the interval that `slot` returns.

    Args:
        records: the records; they are read once.
        hosts: the racks of hosts; without it, records name racks.
        strict: raise an error for hosts that the map does not name.
        slot: returns the interval of a record.

    Raises:
        ConfigError: if a record is invalid; it names the record.
    """
    found = Folded(nodes=set() if hosts is None else {*hosts.racks})
    known: dict[Pair, Pair | None] = {}
    for record in records.records:
        found.records += 1
        if records.timed:
            found.times.add(record.time_us)
        found.total += record.amount
        pair = record.src, record.dst
        if pair not in known:
            known[pair] = _racks(record, hosts, found, strict)
        ends = known[pair]
        if ends is None:
            found.unknown += record.amount
            continue
        sums = found.amounts.setdefault(slot(record), {})
        if ends[0] == ends[1]:
            found.within += record.amount
        else:
            sums[ends] = sums.get(ends, 0) + record.amount
    _check(records, hosts, found)
    return found


def _racks(record: Record, hosts: HostMap | None, found: Folded, strict: bool) -> Pair | None:
    """Returns the racks of both ends; None if one is unknown. Counts unknown hosts and other
    findings in `found`."""
    if not record.src or not record.dst:
        end = "source" if not record.src else "destination"
        raise ConfigError(f"{record.where}: no {end}; name both ends of every record")
    if hosts is None:
        own = _called(record, record.src, found), _called(record, record.dst, found)
        found.nodes.update(own)
        return own
    ends = hosts.rack_of(record.src), hosts.rack_of(record.dst)
    for host, rack in zip((record.src, record.dst), ends, strict=True):
        if rack is not None:
            found.hosts.add(host)
            continue
        if strict:
            limit = f"{printable(host)} = (no rack): {hosts.name} does not name this host"
            raise ConfigError(f"{record.where}: {limit}; add it there, or leave out --strict")
        found.strangers[printable(host)] = None
    a, b = ends
    return None if a is None or b is None else (a, b)


def _called(record: Record, name: str, found: Folded) -> str:
    """Returns the printable form of a name.

    Two names with the same form are an error, because they would become one node.
    """
    shown_as = printable(name)
    if shown_as == name and shown_as not in found.unprintable:
        return shown_as
    if found.unprintable.setdefault(shown_as, name) != name:
        limit = f"`{shown_as}` is two names that differ only in control characters"
        raise ConfigError(f"{record.where}: {limit}; rename one of them")
    return shown_as


def _check(records: Records, hosts: HostMap | None, found: Folded) -> None:
    """Raises an error if the sum is no demand for a plan."""
    if not found.records:
        raise ConfigError(f"{records.name}: no records; give a line for every pair")
    if hosts is not None and not found.hosts:
        several = counted(len(found.strangers), "host")
        limit = f"{hosts.name} names none of its {several} ({shown([*found.strangers])})"
        raise ConfigError(f"{records.name}: {limit}; list them there, or their prefixes")
    if len(found.nodes) > MAX_NODES:
        limit = f"{len(found.nodes):,} nodes, more than {MAX_NODES:,}"
        raise ConfigError(f"{records.name}: {limit}; put them together in racks with --map")


def in_order(names: Iterable[str]) -> list[str]:
    """Sorts names with numbers in numeric order, rack-2 before rack-10, so that the order of
    records does not matter.

    >>> in_order(["rack-10", "rack-2", "a"])
    ['a', 'rack-2', 'rack-10']
    """

    def key(name: str) -> tuple[list[tuple[int, int, str]], str]:
        parts = re.split(r"([0-9]+)", name)
        counted = [(0, int(p[:18]), p) if p[:1].isdigit() else (1, 0, p) for p in parts if p]
        return counted, name

    return sorted(names, key=key)


def matrix_of(
    name: str, amounts: Mapping[Pair, Amount], names: list[str], size: Fraction
) -> Numbers:
    """Returns amounts as a matrix in bytes, as int64 if all are integers.

    Raises:
        ConfigError: if an amount exceeds 63 bits.
    """
    at = {name: place for place, name in enumerate(names)}
    sizes = {pair: amount * size for pair, amount in amounts.items()}
    for (a, b), amount in sizes.items():
        if amount > LARGEST:
            limit = f"{a} to {b}: {float(amount):.4g} B do not fit 63 bits"
            raise ConfigError(f"{name}: {limit}; choose a smaller unit")
    whole = all(Fraction(amount).denominator == 1 for amount in sizes.values())
    shape = (len(names), len(names))
    matrix: Numbers = np.zeros(shape, np.int64) if whole else np.zeros(shape, np.float64)
    for (a, b), amount in sizes.items():
        matrix[at[a], at[b]] = int(amount) if whole else float(amount)
    return matrix
