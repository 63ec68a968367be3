"""The figures of a summary, one row for each, in the order of the summary.

| column | type | meaning |
|---|---|---|
| `figure` | text | its dotted path in `summary.json`, which names the unit |
| `value` | f64 | the figure, or its lower limit if flows are unfinished; the mean over seeds |
| `upper` | f64 | the upper limit of the figure; null if unknown |
| `bound` | bool | whether `value` is only a lower limit, shown as `>` |
| `half_width` | f64 | half of the 95 % interval over seeds (Student's t); null for one seed |
| `seeds` | u32 | how many seeds have the figure |

Figures of flows describe all flows offered, whether or not they were finished when the run ended
(docs/results.md). Booleans, texts and settings are not included.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from lightloom.units import bounds
from lightloom.units.intervals import over_runs

Summary = Mapping[str, Any]
Row = tuple[str, float, float | None, bool, float | None, int]

SCHEMA = pa.schema(
    [
        ("figure", pa.string()),
        ("value", pa.float64()),
        ("upper", pa.float64()),
        ("bound", pa.bool_()),
        ("half_width", pa.float64()),
        ("seeds", pa.uint32()),
    ]
)
#: Keys of limits, which are columns of their figure, and of settings.
LEFT_OUT = frozenset(
    {"fct_bound", "slowdown_bound", "window.bound", "seed", "threads", "physics", "devices"}
)


def table(summaries: Sequence[Summary]) -> pa.Table:
    """Returns the figures of one fabric's summaries, one summary for each seed."""
    rows = [row for path in paths(summaries) if (row := _row(summaries, path)) is not None]
    return pa.Table.from_pylist([dict(zip(SCHEMA.names, row, strict=True)) for row in rows], SCHEMA)


def paths(summaries: Sequence[Summary]) -> list[tuple[str, ...]]:
    """Returns the paths of the figures in any of the summaries. Keys may contain dots."""
    return list(dict.fromkeys(path for summary in summaries for path in _leaves(summary, ())))


def _leaves(value: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    if ".".join(path) in LEFT_OUT:
        return
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from _leaves(part, (*path, str(key)))
    elif value is None or _is_figure(value):
        yield path


def _is_figure(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _row(summaries: Sequence[Summary], path: tuple[str, ...]) -> Row | None:
    """Returns the row of a figure over the seeds; None if no seed has it."""
    name = ".".join(path)
    if bounds.is_of_flows(name):
        found = [bounds.bound(summary, name) for summary in summaries]
        mean = bounds.mean(found)
        over = over_runs(None if b is None else b.low for b in found)
        if mean is None or over is None:
            return None
        upper = None if math.isinf(mean.high) else mean.high
        return name, over.mean, upper, not mean.exact, over.half_width, over.n
    over = over_runs(_at(summary, path) for summary in summaries)
    return None if over is None else (name, over.mean, over.mean, False, over.half_width, over.n)


def _at(summary: Summary, path: tuple[str, ...]) -> float | None:
    value: Any = summary
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return float(value) if _is_figure(value) else None
