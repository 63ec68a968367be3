"""The tables of results, of repeated results, and of comparisons.

A result has the tables `flows`, `timeseries`, `circuits` and `links` (if its fabric has them) and
`summary`. Tables of several seeds begin with a column `seed`, those of comparisons with `fabric`
and `seed`, so that rows can be told apart; a `summary` covers all seeds and has no column `seed`. A
comparison with `[compare].loads` also has the table `loads`, with a summary at each load; one with
single failures has `failures`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lightloom.frames import figures
from lightloom.results.result import Comparison, Repeated, Result

if TYPE_CHECKING:
    from lightloom.results.failures import Resilience
    from lightloom.results.views import Tables

Runs = Result | Repeated | Comparison

#: The tables of a single run, by the attribute of the result that holds them.
OF_RUNS = ("flows", "timeseries", "circuits", "links")
Keys = dict[str, Any]
Made = dict[str, Callable[[], pa.Table]]


def tables(runs: Runs) -> Tables:
    """The tables of a result, of repeated results or of a comparison, by name; `flows` is first."""
    if isinstance(runs, Result):
        return of_result(runs)
    return of_seeds(runs) if isinstance(runs, Repeated) else of_comparison(runs)


def of_result(result: Result) -> Tables:
    """The tables of one run, as in its files."""
    there = [name for name in OF_RUNS if getattr(result, name) is not None]
    made: Made = {name: partial(getattr, result, name) for name in there}
    return {**made, "summary": lambda: figures.table([result.summary])}


def of_seeds(repeated: Repeated) -> Tables:
    """The tables of one fabric with several seeds."""
    runs = [({"seed": _seed(r)}, r) for r in repeated.results]
    return {
        **_joined(runs),
        "summary": lambda: figures.table([r.summary for r in repeated.results]),
    }


def of_comparison(comparison: Comparison) -> Tables:
    """The tables of all fabrics and seeds of a comparison."""
    runs = [
        ({"fabric": label, "seed": _seed(result)}, result)
        for one in comparison.seeds or [comparison]
        for label, result in one.results.items()
    ]
    made = {
        **_joined(runs),
        "summary": lambda: _stacked(
            ({"fabric": label}, figures.table(comparison.of_label(label)))
            for label in comparison.results
        ),
    }
    if any(comparison.loads.values()):
        made["loads"] = lambda: _stacked(_loads(comparison))
    if (resilience := comparison.resilience) is not None:
        made["failures"] = lambda: _failures(resilience)
    return made


def _joined(runs: Sequence[tuple[Keys, Result]]) -> Made:
    """Concatenates the tables of runs."""

    def of(name: str) -> Callable[[], pa.Table]:
        there = [(keys, found) for keys, r in runs if (found := getattr(r, name)) is not None]
        return lambda: _stacked(there)

    return {n: of(n) for n in OF_RUNS if any(getattr(r, n) is not None for _, r in runs)}


def _loads(comparison: Comparison) -> Iterable[tuple[Keys, pa.Table]]:
    """The figures of each fabric at each requested load."""
    asked = comparison.experiment["compare"]["loads"]
    for label in comparison.loads:
        seeds = [one.loads[label] for one in comparison.seeds or [comparison]]
        for load, summaries in zip(asked, zip(*seeds, strict=True), strict=True):
            yield {"fabric": label, "load": float(load)}, figures.table(summaries)


def _failures(resilience: Resilience) -> pa.Table:
    """The fault-free fabric and each part that was tried, one row for each."""
    schema = [
        *((name, pa.string()) for name in ("fabric", "kind", "part")),
        *((name, pa.float64()) for name in ("goodput", "p99_us", "p99_us_upper", "missing")),
        *((name, pa.int64()) for name in ("unfinished", "drops")),
        ("jobs_s", pa.float64()),
    ]
    rows = []
    for row in resilience.rows():
        low, high = row["p99_us"] or (None, None)
        rows.append({**row, "p99_us": low, "p99_us_upper": high})
    return pa.Table.from_pylist(rows, pa.schema(schema))


def _seed(result: Result) -> int:
    return int(result.summary["seed"])


def _stacked(tables: Iterable[tuple[Keys, pa.Table]]) -> pa.Table:
    """Concatenates tables and adds columns that identify each."""
    told = [_behind(keys, table.replace_schema_metadata(None)) for keys, table in tables]
    return pa.concat_tables(told, promote_options="default").unify_dictionaries()


def _behind(keys: Keys, table: pa.Table) -> pa.Table:
    for at, (name, value) in enumerate(keys.items()):
        table = table.add_column(at, name, _constant(value, table.num_rows))
    return table


def _constant(value: str | float, rows: int) -> pa.Array:
    if isinstance(value, str):
        return pa.DictionaryArray.from_arrays(np.zeros(rows, np.int32), pa.array([value]))
    return pa.array(np.full(rows, value, np.uint64 if isinstance(value, int) else np.float64))
