"""The output of `run` and `compare` about slowdowns by flow size (`run.size_limits`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.markup import escape
from rich.table import Table

from lightloom.cli import console
from lightloom.results.summaries import Summary
from lightloom.units import bounds
from lightloom.units.counts import counted
from lightloom.units.formats import ratio_bound

PERCENTILES = ("p50", "p99")


def rows(summary: Summary) -> dict[str, str]:
    """Returns a row of a run's table for each range of sizes with flows."""
    return {
        f"slowdown, {name}": f"{_both([summary], name)}  ({counted(found['flows'], 'flow')})"
        for name, found in (summary.get("by_size") or {}).items()
        if found["flows"]
    }


def tables(of_seeds: Mapping[str, Sequence[Summary]]) -> Iterator[Table]:
    """Yields tables with a column for each range of sizes with flows and a row for each fabric:
    median and 99th percentile, as means over several seeds."""
    every = [seed for seeds in of_seeds.values() for seed in seeds]
    names = dict.fromkeys(
        name
        for seed in every
        for name, found in (seed.get("by_size") or {}).items()
        if found["flows"]
    )
    if not names:
        return
    table = console.plain_table()
    table.add_column("  slowdown by size:\n  p50 / p99")
    for name in names:
        table.add_column(name.replace(" to ", "\nto "), justify="right")
    for label, seeds in of_seeds.items():
        cells = (" / ".join(_shown(seeds, name, p) for p in PERCENTILES) for name in names)
        table.add_row(f"  {escape(label)}", *cells)
    yield table


def _both(seeds: Sequence[Summary], name: str) -> str:
    return "  ".join(f"{p} {_shown(seeds, name, p)}" for p in PERCENTILES)


def _shown(seeds: Sequence[Summary], name: str, percentile: str) -> str:
    found = [(seed.get("by_size") or {}).get(name) for seed in seeds]
    limits = [bounds.of_limits(one[percentile]) for one in found if one is not None]
    return ratio_bound(bounds.mean(limits))
