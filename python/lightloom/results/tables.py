"""The core's columns as Arrow tables; their metadata state the run that they come from."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from lightloom import _core
from lightloom.config import inputs
from lightloom.results.columns import column, numbers, words

Table = dict[str, Any]

#: Columns of flows that exist only if some flows send until the run ends.
ENDLESS = ("delivered", "endless")


def mean_over_time(timeseries: pa.Table, name: str) -> float | None:
    """Returns the mean over a run of a rate that each row of its time series states for the
    interval that ends there; None if there is no such figure."""
    if name not in timeseries.column_names:
        return None
    values = numbers(timeseries[name]).astype(float)
    widths = np.diff(numbers(timeseries["time_ps"]).astype(float), prepend=0.0)
    known = np.isfinite(values) & (widths > 0)
    return float(np.average(values[known], weights=widths[known])) if known.any() else None


def flow_table(columns: Mapping[str, Any], experiment: Table) -> pa.Table:
    """Converts the core's columns of flows to an Arrow table."""
    rows = len(columns["src"])
    endless = {name: column(columns[name]) for name in ENDLESS if name in columns}
    groups = pa.DictionaryArray.from_arrays(
        column(columns["group"].astype(np.int32)), words(columns["groups"])
    )
    return _table(
        {
            "flow": column(np.arange(rows, dtype=np.uint64)),
            "src": column(columns["src"]),
            "dst": column(columns["dst"]),
            "bytes": column(columns["bytes"]),
            "arrival_ps": _instants(columns["arrival_ps"]),
            "start_ps": _instants(columns["start_ps"]),
            "finish_ps": _instants(columns["finish_ps"]),
            "hops": _numbers(columns["hops"]),
            "group": groups,
            **endless,
        },
        experiment,
    )


def series_table(
    columns: Mapping[str, Any], experiment: Table, unknown: Collection[str] = ()
) -> pa.Table:
    """The time series of the core as an Arrow table; columns that are `unknown` are null."""
    return _named_table(columns, experiment, unknown)


def circuit_table(columns: Mapping[str, Any] | None, experiment: Table) -> pa.Table | None:
    """Converts the core's circuits to an Arrow table; None if the fabric has none."""
    return None if columns is None else _named_table(columns, experiment)


def link_table(
    columns: Mapping[str, Any] | None, simulated_s: float, experiment: Table
) -> pa.Table | None:
    """Converts the core's byte counts of links to an Arrow table with the utilisation over the
    whole run; None if the fabric does not count them."""
    if columns is None:
        return None
    capacity = columns["links"].astype(float) * columns["rate_bps"] * simulated_s
    used = np.divide(
        columns["bytes"] * 8.0, capacity, out=np.full(len(capacity), np.nan), where=capacity > 0
    )
    ends = {name: column(columns[name], columns[name] < 0) for name in ("from", "to")}
    return _table(
        {
            "tier": words(columns["tier"]),
            **ends,
            **{name: column(columns[name]) for name in ("links", "rate_bps", "bytes")},
            "utilisation": _numbers(used),
        },
        experiment,
    )


def _named_table(
    columns: Mapping[str, Any], experiment: Table, unknown: Collection[str] = ()
) -> pa.Table:
    """Columns under their names; values that are not numbers, and `unknown` columns, are null."""
    arrays = {
        name: _numbers(values) if values.dtype.kind == "f" else column(values)
        for name, values in columns.items()
    }
    arrays |= {name: pa.nulls(len(arrays[name]), arrays[name].type) for name in unknown}
    return _table(arrays, experiment)


def _instants(values: Any) -> pa.Array:
    return column(values, values == _core.NEVER)


def _numbers(values: Any) -> pa.Array:
    return column(values, np.isnan(values))


def _table(arrays: dict[str, pa.Array], experiment: Table) -> pa.Table:
    """Makes a table whose metadata state its run. Values that differ between equal runs (threads,
    times of day, names, folders of files, whether a log is recorded) are excluded, so that equal
    runs give equal bytes."""
    origin = inputs.named({key: value for key, value in experiment.items() if key != "name"})
    origin["run"] = {k: v for k, v in experiment["run"].items() if k != "controller_log"}
    metadata = {
        "lightloom.version": _core.__version__,
        "lightloom.seed": str(experiment["run"]["seed"]),
        "lightloom.experiment": json.dumps(origin, sort_keys=True),
        "lightloom.inputs": json.dumps(inputs.digests(experiment), sort_keys=True),
    }
    return pa.table(arrays).replace_schema_metadata(metadata)
