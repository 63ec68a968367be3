"""Responses of Prometheus: JSON of `/api/v1/query_range` or of `/api/v1/query`.

A series is a pair, named by its labels. Samples are amounts of a step, as returned by
`increase(bytes[5m])` for a step of 5 minutes, or rates, as returned by `rate(bytes[5m])`. The unit,
"B" or "B/s", distinguishes the two.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

from lightloom.control.demand.amounts import Amount, UnreadableError, amount_of, shown
from lightloom.control.demand.columns import find
from lightloom.control.demand.long_form import LONG
from lightloom.control.demand.raw_counters import check_not_raw
from lightloom.control.demand.records import Record, Records
from lightloom.control.demand.source import Source
from lightloom.control.demand.steps import US, NoStepError, step_of
from lightloom.control.demand.units import Unit
from lightloom.control.names import printable
from lightloom.errors import ConfigError, refusal

TITLE = "Prometheus range query"
INTERFACES = {"device", "ifname", "ifdescr", "ifalias", "ifindex", "interface", "port"}
"""Labels of counters of interfaces, as exporters of SNMP, gNMI and Linux name them."""
NODES = ("rack", "tor", "node", "instance", "host", "sysName", "device", "source")
"""Labels that name the node of an interface, the most likely one first."""
WAYS = {
    "out": re.compile(r"out|tx|transmit|sent|egress", re.IGNORECASE),
    "in": re.compile(r"in|rx|receive|ingress", re.IGNORECASE),
}
"""Patterns of directions in names of counters, or in a label `direction`."""
ENDS = {name for role in ("src", "dst") for name in LONG.names[role]}
GROWING = 3
"""Number of samples from which a series that only grows is treated as a counter."""
Series = tuple[str, str, str, list[tuple[int, str]]]
"""Position, source, destination, and samples: time [µs] and text."""


def is_prometheus(value: Any) -> bool:
    """Whether a JSON value is a response of Prometheus."""
    return isinstance(value, dict) and "status" in value and ("data" in value or "error" in value)


def read_prometheus(
    source: Source,
    value: Any,
    named: Mapping[str, str],
    unit: Unit,
    asked_us: int | None = None,
) -> Records:
    """Returns a record for each sample, in units of amounts; its time is the start of its step.

    Args:
        source: the origin of the response.
        value: the response.
        named: role → label, as the user names them.
        unit: the unit of samples, which may be a rate.
        asked_us: the step that the user gives, for times that do not show one [µs].

    Raises:
        ConfigError: if a sample is invalid; it names the series and the sample.
    """
    series = [*_series(source, value, named)]
    step_us = _step(source.name, series, asked_us)
    if unit.is_rate and step_us is None:
        limit = "rates of one moment, without a step"
        raise ConfigError(f"{source.name}: {limit}; ask for a range with a step, by query_range")
    records = Records(TITLE, source.name, _records(series, step_us, unit), timed=True)
    records.covers_us = step_us
    if not unit.is_rate and series and all(_grows(samples) for *_, samples in series):
        records.notes.append("no series ever falls; if they are counters, query increase(…[step])")
    gaps = _gaps(series, step_us)
    if gaps:
        are = "sample is" if gaps == 1 else "samples are"
        step = f" (step {(step_us or 0) / US:g} s)"
        records.notes.append(f"{gaps:,} {are} missing{step} and counted as no traffic")
    return records


class Counter(NamedTuple):
    """The bytes of an interface in a step."""

    node: str
    """The node that has the interface."""
    direction: str
    """"in" or "out"."""
    amount: Amount
    """The amount, in the unit of the samples."""
    time_us: int
    """Start of the step, since 1970 [µs]."""


class Counters(NamedTuple):
    """The samples of a response."""

    each: list[Counter]
    """The counters, in the order of the response."""
    step_us: int | None
    """The step of the query [µs]; None for a single time."""
    gaps: int
    """Samples that series lack [count]."""


def counters_of(
    source: Source,
    value: Any,
    named: Mapping[str, str],
    unit: Unit,
    asked_us: int | None = None,
) -> Counters:
    """Returns counters of interfaces. A label states the node; another label, or the name of the
    metric, states the direction. Rates are converted to amounts. Arguments are those of
    `read_prometheus`.

    Raises:
        ConfigError: if a series is invalid; it names the series.
    """
    check_success(source.name, value)
    entries = _entries(source, value)
    series: list[Series] = []
    for at, (entry, kind) in enumerate(entries):
        where = f"{source.name}: result[{at}]"
        node, direction = _node(where, entry, named.get("node"))
        series.append((where, node, direction, _samples(where, entry, kind)))
    step_us = _step(source.name, series, asked_us)
    if unit.is_rate and step_us is None:
        limit = "rates of one moment, without a step"
        raise ConfigError(f"{source.name}: {limit}; ask for a range with a step, by query_range")
    each = [
        Counter(record.src, record.dst, record.amount, record.time_us or 0)
        for record in _records(series, step_us, unit)
    ]
    return Counters(each, step_us, _gaps(series, step_us))


def _node(where: str, entry: Any, named: str | None) -> tuple[str, str]:
    """The node of a series, and its direction."""
    labels = entry.get("metric") if isinstance(entry, dict) else None
    if not isinstance(labels, dict) or not all(isinstance(v, str) for v in labels.values()):
        raise ConfigError(f"{where}: no labels; write it as Prometheus does")
    check_not_raw(where, labels)
    key = next((key for key in ([named] if named else NODES) if key in labels), None)
    if key is None:
        wanted = named or ", ".join(NODES)
        limit = f"no label {wanted}, which would name the node"
        raise ConfigError(f"{where}: {limit}; give --columns node=LABEL")
    said = labels.get("direction") or labels.get("__name__") or ""
    direction = next((way for way, form in WAYS.items() if form.search(said)), None)
    if direction is None:
        limit = "neither its name nor a label `direction` contains in or out"
        remedy = 'add it: label_replace(…, "direction", "out", "", "")'
        raise ConfigError(f"{where}: {limit}; {remedy}")
    return printable(labels[key]).strip(), direction


def check_success(name: str, value: Mapping[str, Any]) -> None:
    """Raises the error that a response reports, with the text of Prometheus, before its samples are
    read.

    Raises:
        ConfigError: with the `errorType` and `error` of the response.
    """
    if value.get("status") == "success":
        return
    said = printable(str(value.get("error", f"status is {value.get('status')}")))
    kind = printable(str(value["errorType"])) if "errorType" in value else ""
    limit = f"Prometheus refused ({kind}): {said}" if kind else f"Prometheus refused: {said}"
    asked_too_much = kind in ("timeout", "canceled", "unavailable", "internal")
    remedy = "ask again, for less" if asked_too_much else "mend the query"
    raise ConfigError(f"{name}: {limit}; {remedy}, and save its answer")


def needs_unit() -> ConfigError:
    """Returns the error for samples whose unit is unknown."""
    limit = "samples of Prometheus are rates or amounts"
    remedy = "use B/s for rate(…), B for increase(…)"
    return refusal("unit", "(missing)", limit, remedy)


def _series(source: Source, value: dict[str, Any], named: Mapping[str, str]) -> Iterator[Series]:
    seen: dict[tuple[str, str], str] = {}
    for at, (entry, kind) in enumerate(_entries(source, value)):
        where = f"{source.name}: result[{at}]"
        src, dst = _ends(where, entry, named)
        if (src, dst) in seen:
            limit = f"`{src}` to `{dst}` again, as in {seen[src, dst]}"
            raise ConfigError(f"{where}: {limit}; add them up in the query: sum by (src, dst)")
        seen[src, dst] = f"result[{at}]"
        yield where, src, dst, _samples(where, entry, kind)


def _entries(source: Source, value: dict[str, Any]) -> list[tuple[Any, str]]:
    """The series of a response, each with its kind: matrix or vector."""
    data = value.get("data")
    data = data if isinstance(data, dict) else {}
    kind = data.get("resultType")
    if kind not in ("matrix", "vector") or not isinstance(data.get("result"), list):
        limit = f"data.resultType = {printable(str(kind))}: no series"
        raise ConfigError(f"{source.name}: {limit}; ask for a range by query_range")
    if not data["result"]:
        raise ConfigError(f"{source.name}: no series in it; look at the query and its range")
    return [(entry, kind) for entry in data["result"]]


def _ends(where: str, entry: Any, named: Mapping[str, str]) -> tuple[str, str]:
    labels = entry.get("metric") if isinstance(entry, dict) else None
    if not isinstance(labels, dict) or not all(isinstance(v, str) for v in labels.values()):
        raise ConfigError(f"{where}: no labels; write it as Prometheus does")
    _check_kind(where, entry, {} if named else labels)
    check_not_raw(where, labels)
    header = [*labels, "bytes"] if "bytes" not in labels else [*labels]
    wanted = {role: name for role, name in named.items() if role in ("src", "dst")}
    found = find(where, [printable(cell) for cell in header], LONG, wanted)
    values = [*labels.values(), ""]
    return printable(values[found.src]).strip(), printable(values[found.dst]).strip()


def _check_kind(where: str, entry: dict[str, Any], labels: Mapping[str, str]) -> None:
    """Raises an error for series without amounts between pairs: native histograms, and counters of
    interfaces.

    Raises:
        ConfigError: which states the query to use instead.
    """
    if {"histogram", "histograms"} & entry.keys() and not {"value", "values"} & entry.keys():
        limit = "a native histogram, which has counts by size and no bytes"
        remedy = "ask for its sum: histogram_sum(rate(…)), by (src, dst)"
        raise ConfigError(f"{where}: {limit}; {remedy}")
    small = {label.lower() for label in labels}
    if small & {*INTERFACES, "direction"} and not small & ENDS:
        limit = "counters of an interface, which do not name pairs"
        remedy = "export flows (NetFlow, sFlow, IPFIX), or use --estimate gravity for an estimate"
        raise ConfigError(f"{where}: {limit}; {remedy}")


def _samples(where: str, entry: dict[str, Any], kind: str) -> list[tuple[int, str]]:
    found = entry.get("values") if kind == "matrix" else [entry.get("value")]
    if not isinstance(found, list):
        raise ConfigError(f"{where}: no values; write it as Prometheus does")
    samples = []
    for at, sample in enumerate(found):
        pair = sample if isinstance(sample, list) and len(sample) == 2 else (None, None)
        when, text = pair
        if isinstance(when, bool) or not isinstance(when, int | float) or not isinstance(text, str):
            limit = "no pair of a time and a value in quotes"
            raise ConfigError(f"{where}.values[{at}]: {limit}; write it as Prometheus does")
        samples.append((round(when * 1000) * 1000, text))
    if any(a[0] >= b[0] for a, b in pairwise(samples)):
        raise ConfigError(f"{where}: times do not go up; write it as Prometheus does")
    return samples


def _step(name: str, series: list[Series], asked_us: int | None) -> int | None:
    """Returns the step of the query [µs]: that of the times of all series, because Prometheus
    evaluates all series on one grid and omits samples that a series lacks. If the times are on no
    grid, it is the step that the user gave, provided that no two samples are closer.

    Raises:
        ConfigError: if the times are on no grid, as those of scrapes.
    """
    times = sorted({when for *_, samples in series for when, _ in samples})
    try:
        return step_of(times)
    except NoStepError as problem:
        own = [b - a for *_, samples in series for (a, _), (b, _) in pairwise(samples)]
        if asked_us is not None and asked_us <= min(own, default=0):
            return asked_us
        remedy = "ask for a range with a step, by query_range"
        least = f", at most {min(own) / US:g} s" if own else ""
        remedy += f'; or give it to `replay-demand`{least}, as with --every "5 min"'
        raise ConfigError(f"{name}: {problem}; {remedy}") from None


def _records(series: list[Series], step_us: int | None, unit: Unit) -> Iterator[Record]:
    for where, src, dst, samples in series:
        for at, (when, text) in enumerate(samples):
            try:
                amount = amount_of(text)
            except UnreadableError as problem:
                value = f"{where}.values[{at}] = {shown(text)}"
                raise ConfigError(f"{value}: {problem.limit}; {problem.remedy}") from None
            if unit.is_rate and step_us is not None:
                amount *= Fraction(step_us, US)
            yield Record(where, src, dst, amount, when - (step_us or 0))


def _grows(samples: list[tuple[int, str]]) -> bool:
    try:
        values = [float(text) for _, text in samples]
    except ValueError:
        return False
    return len(values) >= GROWING and values[0] < values[-1] and values == sorted(values)


def _gaps(series: list[Series], step_us: int | None) -> int:
    """The number of samples of the grid that series lack."""
    times = {when for *_, samples in series for when, _ in samples}
    steps = (max(times) - min(times)) // step_us + 1 if step_us else len(times)
    return sum(steps - len(samples) for *_, samples in series)
