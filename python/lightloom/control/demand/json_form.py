"""Demand as JSON: a matrix, `{"names": …, "matrix": …}`, `{"a": {"b": 5}}`, or records."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from lightloom.control.arrays import numbers
from lightloom.control.demand.amounts import UnreadableError, amount_from, sampled, shown
from lightloom.control.demand.columns import Columns, Layout, find
from lightloom.control.demand.goflow2 import GOFLOW2
from lightloom.control.demand.long_form import LONG
from lightloom.control.demand.long_or_matrix import check_matrix
from lightloom.control.demand.matrices import Matrix
from lightloom.control.demand.pmacct import PMACCT
from lightloom.control.demand.raw_counters import check_not_raw
from lightloom.control.demand.records import Record, Records
from lightloom.control.demand.source import Source
from lightloom.control.demand.times import Clock
from lightloom.control.names import once, printable
from lightloom.errors import ConfigError
from lightloom.units.counts import counted

KEYS = Layout(
    "records in JSON",
    {role: (*names, *PMACCT.names.get(role, ())) for role, names in LONG.names.items()},
)
"""Accepted key names of records."""
SHAPES = (
    "write a list of rows, "
    '{"names": [...], "matrix": [...]}, {"a": {"b": 5}}, or records {"src", "dst", "bytes"}'
)
Placed = tuple[str, Any]
"""A value and its position."""


def parse(source: Source) -> Any:
    """Parses JSON; returns JSON lines as a list of values with their line numbers.

    Raises:
        ConfigError: if the JSON is invalid; it names line and column.
    """
    try:
        text = source.content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigError(f"{source.name}: not UTF-8; save it as UTF-8") from None
    try:
        return _loads(source, text)
    except json.JSONDecodeError as problem:
        if problem.msg == "Extra data" and text.lstrip().startswith("{"):
            return Lines(_lines(source, text))
        raise _no_json(source, problem, problem.lineno) from None


class Lines(list[Placed]):
    """The values of JSON lines, each with its position."""


def read_json(source: Source, value: Any, named: Mapping[str, str]) -> Matrix | Records:
    """Converts a JSON value to a matrix or to records.

    Raises:
        ConfigError: if a value is neither a matrix nor a record.
    """
    if isinstance(value, Lines):
        return _records(source, value, named)
    if isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
        return _records(
            source, [(f"{source.name}: [{at}]", row) for at, row in enumerate(value)], named
        )
    if isinstance(value, list) and value and all(isinstance(row, list) for row in value):
        values = numbers("demand", value)
        check_matrix(source.name, [], values, 'write {"names": [...], "matrix": [...]}')
        return Matrix("matrix in JSON", values)
    if isinstance(value, dict) and {"names", "matrix"} <= value.keys():
        return _named(source, value)
    if isinstance(value, dict) and _is_record(value, named):
        return _records(source, [(source.name, value)], named)
    if isinstance(value, dict) and value and all(isinstance(row, dict) for row in value.values()):
        return Records("map in JSON", source.name, _mapped(source, value), timed=False)
    raise ConfigError(f"{source.name}: neither a matrix nor records; {SHAPES}")


def _is_record(value: Mapping[str, Any], named: Mapping[str, str]) -> bool:
    """Whether an object is a single record, as in a file of one line: by its keys, or by keys that
    the user names."""
    if any(isinstance(cell, dict) for cell in value.values()):
        return "metric" in value
    header = [*value]
    return (
        any(layout.fits(header) for layout in (GOFLOW2, KEYS))
        or {*named.values()} & {*value} != set()
    )


def _loads(source: Source, text: str) -> Any:
    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(found)
        if len(made) < len(found):
            seen: set[str] = set()
            twice = next(key for key, _ in found if key in seen or seen.add(key))  # type: ignore[func-returns-value]
            limit = f"`{printable(twice)}` comes twice in one object"
            raise ConfigError(f"{source.name}: {limit}; keep one of them")
        return made

    def constant(name: str) -> NoReturn:
        remedy = "write the bytes, or leave the record out"
        raise ConfigError(f"{source.name}: {name} is not a finite number; {remedy}")

    try:
        return json.loads(text, object_pairs_hook=pairs, parse_constant=constant)
    except (RecursionError, ValueError) as problem:
        if isinstance(problem, json.JSONDecodeError | ConfigError):
            raise
        raise ConfigError(
            f"{source.name}: not JSON (too deep, or a number too long); {SHAPES}"
        ) from None


def _lines(source: Source, text: str) -> Iterator[Placed]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield f"{source.name}:{number}", _loads(source, line)
            except json.JSONDecodeError as problem:
                raise _no_json(source, problem, number) from None


def _no_json(source: Source, problem: json.JSONDecodeError, line: int) -> ConfigError:
    where = f"{source.name}:{line}:{problem.colno}"
    return ConfigError(f"{where}: not JSON ({problem.msg.lower()}); {SHAPES}")


def _named(source: Source, value: dict[str, Any]) -> Matrix:
    names, rows = value["names"], value["matrix"]
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ConfigError(f"{source.name}: names: not a list of names; name every node once")
    called = [printable(name) for name in names]
    once("row", called, lambda _, at: f"{source.name}: names[{at}]")
    values = numbers("demand", rows)
    if values.shape != (len(called),) * 2:
        limit = f"{counted(len(called), 'name')} for {values.shape[0]} x {values.shape[1]} numbers"
        raise ConfigError(f"{source.name}: {limit}; name every node once and give it a row")
    return Matrix("matrix in JSON", values, called)


def _mapped(source: Source, value: dict[str, Any]) -> Iterator[Record]:
    for src, row in value.items():
        for dst, amount in row.items():
            where = f"{source.name}: {printable(src)}.{printable(dst)}"
            try:
                yield Record(where, src.strip(), dst.strip(), amount_from(amount), None)
            except UnreadableError as problem:
                said = f"{where} = {shown(json.dumps(amount))}"
                raise ConfigError(f"{said}: {problem.limit}; {problem.remedy}") from None


def _records(source: Source, values: list[Placed], named: Mapping[str, str]) -> Records:
    where, first = values[0]
    if not isinstance(first, dict):
        raise ConfigError(f"{where}: no record; write one like {_EXAMPLE}")
    if isinstance(first.get("metric"), dict):
        raise _of_series(where, first["metric"])
    header = list(first)
    layout = GOFLOW2 if GOFLOW2.fits(header) else KEYS
    columns = find(where, header, layout, named)
    clock = Clock.of("" if columns.time is None else header[columns.time])
    records = _taken(values, header, columns, clock)
    timed = columns.time is not None
    return Records(
        layout.title, source.name, records, timed=timed, clock=clock, notes=columns.notes
    )


def _of_series(where: str, labels: Mapping[str, Any]) -> ConfigError:
    """Returns the error for a Prometheus series outside a response."""
    check_not_raw(where, labels)
    limit = "a series of Prometheus, outside its answer"
    return ConfigError(f"{where}: {limit}; save the whole answer of query_range")


_EXAMPLE = '{"src": "a", "dst": "b", "bytes": 5}'


def _taken(
    values: list[Placed], header: list[str], columns: Columns, clock: Clock
) -> Iterator[Record]:
    src, dst, amount = header[columns.src], header[columns.dst], header[columns.bytes]
    time, rate = (None if at is None else header[at] for at in (columns.time, columns.sampling))
    for where, value in values:
        if not isinstance(value, dict):
            raise ConfigError(f"{where}: no record; write one like {_EXAMPLE}")
        for key in (src, dst, amount, *(key for key in (time, rate) if key)):
            if key not in value:
                raise ConfigError(f"{where}: no `{key}`; give every record what the first has")
        check_not_raw(where, value)
        key = amount
        try:
            size = amount_from(value[key])
            key = rate or amount
            size = size if rate is None else sampled(size, amount_from(value[key]))
            key = time or key
            when = None if time is None else clock.time_of(value[key])
        except UnreadableError as problem:
            said = f"{key} = {shown(json.dumps(value[key]))}"
            raise ConfigError(f"{where}: {said}: {problem.limit}; {problem.remedy}") from None
        yield Record(where, _end(where, src, value), _end(where, dst, value), size, when)


def _end(where: str, key: str, value: dict[str, Any]) -> str:
    end = value[key]
    if isinstance(end, bool) or not isinstance(end, str | int):
        said = f"{key} = {shown(json.dumps(end))}"
        raise ConfigError(f"{where}: {said}: no name; write text")
    return str(end).strip()
