"""Demand, and how it is read: a matrix of bytes between nodes, from any supported source.

Errors name their position: file, line and column of text, the entry of binary data. Rows with names
are sorted into the order of the columns; records, which have no order, into the order of their
names.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from lightloom import _core
from lightloom.control.arrays import LARGEST, Integers, Numbers
from lightloom.control.demand.columns import asked
from lightloom.control.demand.folding import Folded, fold, in_order, matrix_of
from lightloom.control.demand.formats import read
from lightloom.control.demand.gravity import TITLE as COUNTERS
from lightloom.control.demand.gravity import check as check_estimate
from lightloom.control.demand.gravity import estimated
from lightloom.control.demand.hosts import HostMap, read_hosts
from lightloom.control.demand.matrices import Matrix
from lightloom.control.demand.reading import Reading
from lightloom.control.demand.records import Records
from lightloom.control.demand.source import Source, source_of
from lightloom.control.demand.times import iso
from lightloom.control.demand.units import Unit, unit_of
from lightloom.errors import ConfigError, refusal
from lightloom.units.counts import counted, shown

Place = Callable[[int, int], str]
ARGUMENTS = ("DEMAND", "unit", "format", "map", "columns", "estimate")
"""Arguments of `read_demand`; errors about them have no position in a file."""


@dataclass(frozen=True, eq=False)
class Demand:
    """The number of bytes that each node has for each other node."""

    matrix: Integers
    """N × N: row = source, column = destination [bytes]. Row i and column i are the same node."""
    names: list[str] = field(default_factory=list)
    """The name of each node, without duplicates; empty if the file has none."""
    place: Place | None = None
    """A function from an entry to its position in the file, as `:line:column`, or its row and
    column; None if the position in the file is that in the matrix."""
    reading: Reading | None = None
    """Its format, unit and counts; None if it was not read from a file."""

    def __post_init__(self) -> None:
        nodes, limit = len(self.matrix), ""
        if len(self.names) not in (0, nodes):
            limit = f"there {'is' if nodes == 1 else 'are'} {counted(nodes, 'node')}"
        elif len({*self.names} - {""}) != len(self.names):
            limit = "a name is empty or comes twice"
        if limit:
            raise refusal("names", counted(len(self.names), "name"), limit, "name every node once")


def read_demand(
    path: str | Path,
    *,
    unit: str | None = None,
    format: str | None = None,
    map: str | Path | None = None,
    columns: str | None = None,
    strict: bool = False,
    estimate: str | None = None,
) -> Demand:
    """Reads demand: a matrix, or records that are added up.

    Matrices are in CSV, NPY, Parquet or JSON, with a row for each source. Nodes have the order of
    the columns; if rows also have names, each is moved to the position of the column of the same
    name. If only rows or only columns have names, both have these names, in the same order.

    Records are the long form (`src,dst,bytes`; CSV, Parquet, JSON), the CSV exports of nfdump,
    pmacct and sflowtool, and series of Prometheus. Nodes have the order of their names, so that the
    order of records does not matter.

    Args:
        path: a file, or "-" for standard input.
        unit: the unit of the numbers, such as "GB" or "1 MB" (default: bytes); for series of
            Prometheus a rate if they are rates, such as "B/s". Fractions of a byte are rounded;
            it is an error if that would distort the demand.
        format: one of `demand.formats.FORMATS`; recognised by default.
        map: CSV file that names the rack of each host, address or prefix; the racks are then the
            nodes, including those without demand.
        columns: the columns (or labels) of roles: "src=NAME,dst=NAME,bytes=NAME".
        strict: raise an error for hosts that `map` does not name, instead of leaving them out.
        estimate: "gravity": estimate the demand of pairs from counters of interfaces, which are
            series of Prometheus with a label for the node; the name or the label `direction`
            states in or out.

    Raises:
        ConfigError: naming file, line and column, or file and entry; or the argument.
        OSError: if a file cannot be opened.

    >>> demand = read_demand("examples/demand-8.csv")
    >>> demand.matrix.shape, demand.names[:2]
    ((8, 8), ['gpu-0', 'gpu-1'])
    """
    source = source_of(path)
    named, hosts = asked(columns), None if map is None else read_hosts(map)
    if estimate is not None:
        check_estimate(estimate, map, unit)
        return _estimated(source, named, unit_of(str(unit), rates=True))
    found: Matrix | Records | None = None
    place: Place | None = None
    try:
        found = read(source, format, named, unit)
        if isinstance(found, Records):
            measure = unit_of(unit or "1 B", rates=True)
            if measure.is_rate and found.covers_us is None:
                measure = unit_of(str(unit))
            folded = fold(found, hosts, strict=strict)
            names = in_order(folded.nodes)
            place = between(names)
            return _folded(found, folded, names, measure, map)
        measure = unit_of(unit or "1 B")
        place = found.place
        return _of_matrix(source.name, found, measure, hosts, strict)
    except ConfigError as problem:
        if problem.key is None or problem.key in ARGUMENTS:
            raise
        raise placed(source.name, problem, place) from None


def _estimated(source: Source, named: dict[str, str], unit: Unit) -> Demand:
    """The demand estimated from counters of interfaces."""
    matrix, names, notes = estimated(source, named, unit)
    reading = Reading(COUNTERS, unit.text, total=int(matrix.sum()), notes=tuple(notes))
    return Demand(_core.control_demand(matrix), names, between(names), reading)


def between(names: list[str]) -> Place:
    """Returns a function that names entries by their nodes."""
    return lambda i, j: f", {names[i]} to {names[j]}"


def _folded(
    found: Records, folded: Folded, names: list[str], unit: Unit, map: str | Path | None
) -> Demand:
    """The demand that records add up to."""
    sums = folded.amounts.get(None, {})
    if map is not None and not any(sums.values()):
        _check_left(found.name, str(map), folded)
    matrix = _core.control_demand(matrix_of(found.name, sums, names, unit.size))
    return Demand(matrix, names, between(names), reading_of(found, folded, unit, map))


def _check_left(name: str, map: str, folded: Folded) -> None:
    """Raises an error if no records between racks remain, because the map names too few hosts or
    assigns all of them to one rack.

    Raises:
        ConfigError: with the number of such hosts, and the first of them.
    """
    strangers, total = [*folded.strangers], folded.total
    if folded.unknown:
        unnamed = counted(len(strangers), "host")
        limit = f"{map} does not name {unnamed} of its records ({shown(strangers)})"
        share = f"{100 * float(folded.unknown) / float(total):.3g} % of the bytes"
        raise ConfigError(
            f"{name}: {limit}, and with {share} left out nothing is left between racks; "
            "add them there, or their prefixes"
        )
    if folded.within:
        limit = f"by {map} all of its bytes stay within racks"
        raise ConfigError(f"{name}: {limit}; look at its racks, or plan for hosts without --map")


def reading_of(found: Records, folded: Folded, unit: Unit, map: str | Path | None) -> Reading:
    """Describes how records were added up."""
    times = sorted(at for at in folded.times if at is not None)
    several: tuple[str, ...] = ()
    if len(times) > 1:
        end = times[-1] + (found.covers_us or 0)
        span = f"from {iso(times[0])} to {iso(end)}"
        several = (f"times {span} are added up; `lightloom replay-demand` plays them in turn",)
    within, unknown, total = (
        round(amount * unit.size) for amount in (folded.within, folded.unknown, folded.total)
    )
    return Reading(
        found.title,
        unit.text,
        folded.records,
        None if map is None else str(map),
        len(folded.hosts),
        total,
        within,
        unknown,
        tuple(folded.strangers),
        (*found.notes, *several),
    )


def in_bytes(found: Matrix, unit: Unit) -> Integers:
    """Returns the entries of a matrix in integer bytes; unlike a demand, all may be 0.

    Raises:
        ConfigError: if an entry is invalid; it names the entry.
    """
    values = _times(found.values, int(unit.size))
    rows, columns = values.shape
    if rows and rows == columns and not values.any():
        return np.zeros((rows, rows), np.int64)
    return _core.control_demand(values)


def _of_matrix(name: str, found: Matrix, unit: Unit, hosts: HostMap | None, strict: bool) -> Demand:
    """Returns the demand in a matrix of hosts or of racks."""
    matrix = _core.control_demand(_times(found.values, int(unit.size)))
    total = int(matrix.sum())
    if hosts is None:
        reading = Reading(found.title, unit.text, total=total)
        return Demand(matrix, found.names, found.place, reading)
    if not found.names:
        raise refusal("map", hosts.name, f"{name} does not name its hosts", "leave it out")
    return _grouped(name, matrix, found, unit, hosts, strict)


def _grouped(
    name: str, matrix: Integers, found: Matrix, unit: Unit, hosts: HostMap, strict: bool
) -> Demand:
    """Returns the demand of racks from a matrix of hosts."""
    names = in_order(hosts.racks)
    at = {rack: place for place, rack in enumerate(names)}
    racks = [hosts.rack_of(host) for host in found.names]
    strangers = [host for host, rack in zip(found.names, racks, strict=True) if rack is None]
    if strangers and strict:
        limit = f"{strangers[0]} = (no rack): {hosts.name} does not name this host"
        raise ConfigError(f"{name}: {limit}; add it there")
    # Unknown hosts are added up in an additional last row and column.
    group = np.array([len(names) if rack is None else at[rack] for rack in racks])
    folded = np.zeros((len(names) + 1,) * 2, np.int64)
    rows = np.zeros((len(names) + 1, len(racks)), np.int64)
    np.add.at(rows, group, matrix)
    np.add.at(folded.T, group, rows.T)
    total, kept = int(matrix.sum()), folded[:-1, :-1].copy()
    within = int(np.trace(kept))
    np.fill_diagonal(kept, 0)
    if not kept.any():
        unknown, missing = total - within, dict.fromkeys(strangers)
        left = Folded(total=total, within=within, unknown=unknown, strangers=missing)
        _check_left(name, hosts.name, left)
    reading = Reading(
        f"{found.title} of hosts",
        unit.text,
        None,
        hosts.name,
        len(racks) - len(strangers),
        total,
        within,
        total - within - int(kept.sum()),
        tuple(strangers),
    )
    return Demand(_core.control_demand(kept), names, between(names), reading)


def _times(values: Numbers, size: int) -> Numbers:
    """Converts the numbers to bytes."""
    if size == 1 or not values.size or values.min() < 0:
        return values  # negative numbers are reported later, as written
    most = np.unravel_index(values.argmax(), values.shape)
    if np.isfinite(values[most]) and int(values[most]) > LARGEST // size:
        limit = f"does not fit 63 bits when multiplied by the unit, {size} B"
        key = f"demand[{most[0]}][{most[1]}]"
        raise refusal(key, values[most], limit, "choose a smaller unit")
    return values * size


def placed(path: str | Path, problem: ConfigError, place: Place | None) -> ConfigError:
    """Returns the error about an entry with its position in the file."""
    entry = re.fullmatch(r"demand\[(\d+)\]\[(\d+)\]( \+ .*)?", problem.key or "")
    where = place(int(entry[1]), int(entry[2])) if entry and place else ""
    error = ConfigError(f"{path}{where}: {problem}")
    error.key, error.value = problem.key, problem.value
    error.limit, error.remedy = problem.limit, problem.remedy
    return error
