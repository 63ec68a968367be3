"""Reads the flows of a Parquet trace for a run. The core reads all other formats.

NumPy and Arrow are imported only if there is such a file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from lightloom import _core
from lightloom.config.own_tables import of_core
from lightloom.simulation.trace_formats import PLACES, Hosts, is_parquet


def columns_for(resolved: Mapping[str, Any]) -> dict[str, Any] | None:
    """Returns the flows of the Parquet trace of a resolved experiment, which the core does not
    read; None for other workloads."""
    workload = resolved["workload"]
    path = workload.get("trace")
    if path is None or not is_parquet(path, workload.get("trace_format")):
        return None
    from lightloom.simulation import traces

    names = workload.get("trace_columns")
    hosts: Hosts | None = None
    if "trace_hosts" in workload:
        told = json.dumps(of_core(resolved))

        def hosts(named: list[str]) -> list[int | None]:
            return _core.trace_hosts(told, named)

    columns = names if isinstance(names, Mapping) else {}
    return traces.columns_of_file(path, columns, _unit_of(workload), hosts)


def _unit_of(workload: Mapping[str, Any]) -> str | None:
    """The unit of a trace's times, if the experiment states it."""
    unit = workload.get("trace_unit")
    return unit if unit in PLACES else None
