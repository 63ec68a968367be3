"""Small results for views: simulated ones, and ones with given completion times."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from cli_support import CLOS, SIRIUS, SMALL

import lightloom
from lightloom.results.result import Comparison, Result

#: Some flows are unfinished when it ends.
CUT = SMALL.replace("load = 0.5", "load = 0.9")
LOADS = "\n[compare]\nloads = [0.2, 0.5]\n"


def table(text: str) -> dict[str, Any]:
    """Returns an experiment in the form that `lightloom.load` accepts."""
    return tomllib.loads(text)


def one_seed() -> Comparison:
    """Returns two fabrics, some of whose flows are unfinished, at two loads."""
    return lightloom.compare(table(CUT + LOADS + SIRIUS + CLOS))


def three_seeds() -> Comparison:
    """Returns the same with three seeds."""
    repeated = CUT.replace("seed = 3", "seed = 3\nrepeat = 3")
    return lightloom.compare(table(repeated + LOADS + SIRIUS + CLOS))


def took(label: str, times_ps: Sequence[int | None]) -> Result:
    """Returns a result whose flows arrived at 0 and took these times; None is unfinished."""
    rows = len(times_ps)
    end_ps = max((t for t in times_ps if t is not None), default=0) + 1
    flows = pa.table(
        {
            "flow": pa.array(np.arange(rows, dtype=np.uint64)),
            "bytes": pa.array(np.full(rows, 1000, np.uint64)),
            "arrival_ps": pa.array(np.zeros(rows, np.int64)),
            "finish_ps": pa.array(list(times_ps), pa.int64()),
        }
    )
    series = pa.table({"time_ps": pa.array([0], pa.int64())})
    return Result(label, flows, series, {"seed": 1, "simulated_s": end_ps * 1e-12}, {})
