"""The output of `compare` about jobs: the duration of each on each fabric, and the updates per
second of those that count them.

Fabrics are columns, or rows if there are more fabrics than jobs or if only that fits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.markup import escape
from rich.table import Table

from lightloom.cli import console
from lightloom.results import repeats
from lightloom.results.summaries import JOBS_SHOWN, Summary, jobs_of, took
from lightloom.units import formats
from lightloom.units.intervals import over_runs

GAP = 2
NAME_MAX = 24
"""Largest width [columns] of a name; longer ones are folded."""


@dataclass(frozen=True)
class Grid:
    """Cells with headings; each row has a name."""

    corner: str
    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[str]]]

    def turned(self, corner: str) -> Grid:
        """Exchanges rows and columns."""
        rows = [(name, [c[i] for _, c in self.rows]) for i, name in enumerate(self.columns)]
        return Grid(corner, [name for name, _ in self.rows], rows)

    @property
    def head(self) -> int:
        """The width of the names of rows."""
        return max(min(len(name), NAME_MAX) for name in (self.corner, *(n for n, _ in self.rows)))

    @property
    def widths(self) -> list[int]:
        """The width of each column."""
        return [
            max(min(len(name), NAME_MAX), *(len(cells[i]) for _, cells in self.rows))
            for i, name in enumerate(self.columns)
        ]

    @property
    def width(self) -> int:
        """The total width."""
        return self.head + sum(GAP + w for w in self.widths)

    def tables(self, width: int) -> Iterator[Table]:
        """Divides the grid into tables of at most this width, with as many columns as fit."""
        block: list[int] = []
        used = self.head
        for i, w in enumerate(self.widths):
            if block and used + GAP + w > width:
                yield self._table(block)
                block, used = [], self.head
            block.append(i)
            used += GAP + w
        yield self._table(block)

    def _table(self, block: Sequence[int]) -> Table:
        made = console.plain_table(GAP)
        made.add_column(self.corner, overflow="fold", max_width=NAME_MAX)
        for i in block:
            made.add_column(
                escape(self.columns[i]), justify="right", overflow="fold", max_width=NAME_MAX
            )
        for name, cells in self.rows:
            made.add_row(escape(name), *(cells[i] for i in block))
        return made


def job_tables(
    summaries: Mapping[str, Summary],
    width: int,
    of_seeds: Mapping[str, Sequence[Summary]] | None = None,
) -> Iterator[Table | str]:
    """Tables of the time that each job took; none without jobs. The members of a mix,
    `gridmix/7-…`, are omitted, and only the first JOBS_SHOWN jobs are listed. With several seeds,
    each time is shown with the half-width of its interval."""
    jobs = jobs_of(next(iter(summaries.values()), {}))
    if not jobs:
        return
    rows = [
        (job, [_took(s, job, (of_seeds or {}).get(label, ())) for label, s in summaries.items()])
        for job in jobs[:JOBS_SHOWN]
    ]
    yield from fitted(Grid("job", list(summaries), rows), width)
    if len(jobs) > JOBS_SHOWN:
        yield f"{len(jobs) - JOBS_SHOWN} more, see jobs in summary.json"


def sweep_tables(
    groups: Mapping[str, Sequence[Summary]], width: int, corner: str
) -> Iterator[Table | str]:
    """Yields the duration of each job in each row of a sweep, over the seeds of each row; nothing
    without jobs."""
    every = dict.fromkeys(job for seeds in groups.values() for s in seeds for job in jobs_of(s))
    jobs = [*every][:JOBS_SHOWN]
    if not jobs:
        return
    rows = [(name, [_at_row(seeds, job) for job in jobs]) for name, seeds in groups.items()]
    yield from Grid(corner, [f"job {job}" for job in jobs], rows).tables(width)
    if len(every) > len(jobs):
        yield f"{len(every) - len(jobs)} jobs more, see jobs in sweep.json"


def _at_row(seeds: Sequence[Summary], job: str) -> str:
    """A job's duration over all seeds of a row; a dash if all of them failed."""
    if not seeds:
        return "-"
    return _took(repeats.means(seeds), job, seeds if len(seeds) > 1 else ())


def _took(summary: Summary, job: str, seeds: Sequence[Summary]) -> str:
    """The duration of a job; the mean over seeds with half of its 95 % interval."""
    times = summary.get("jobs", {}).get(job, {})
    text = took(times)
    if times.get("seconds") is None:  # in some seeds it did not end; the others are the fast ones
        return text
    found = over_runs(s.get("jobs", {}).get(job, {}).get("seconds") for s in seeds)
    half = None if found is None else found.half_width
    return text if half is None else formats.seconds_plus_minus(times["seconds"], half)


def update_tables(summaries: Mapping[str, Summary], width: int) -> Iterator[Table | str]:
    """Yields the updates per second of each job that counts them, and their share of the rate that
    their overhead permits; nothing without such jobs."""
    rows = []
    for job in next(iter(summaries.values()), {}).get("updates") or {}:
        found = [summary["updates"][job] for summary in summaries.values()]
        rows.append((job, [formats.per_second(f["per_s"]) for f in found]))
        rows.append(("  of the maximum", [formats.percent(f["efficiency"]) for f in found]))
    if rows:
        yield from fitted(Grid("updates", list(summaries), rows), width)


def fitted(grid: Grid, width: int) -> Iterator[Table]:
    """Shows fabrics as columns, or as rows if there are more fabrics than jobs or if only that
    fits."""
    turned = grid.turned("fabric")
    more = len(grid.columns) > len(grid.rows)
    return (turned if more or turned.width <= width < grid.width else grid).tables(width)
