"""`--scheduler` and `--scheduler-file`: the cluster that simulations run on, if any."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lightloom import console
from lightloom.errors import refusal

if TYPE_CHECKING:
    from lightloom.sweep.executors.cluster import Cluster

Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Simulate on the workers of the Dask scheduler there, like tcp://10.0.0.1:8786; "
        "needs lightloom[cluster].",
    ),
]
SchedulerFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="The same, where a file that the scheduler wrote says."),
]


@contextmanager
def cluster(
    scheduler: str | None, file: Path | None, workers: int | None = None
) -> Iterator[Cluster | None]:
    """The cluster that is asked for, joined; None where none is."""
    if scheduler is None and file is None:
        yield None
        return
    if workers is not None:
        limit = "a cluster has its own workers"
        raise refusal("--workers", workers, limit, "leave it out, or --scheduler")
    from lightloom.sweep.executors import joining

    screen = console.err()
    with joining.joined(scheduler, file, lambda line: screen.print(line, markup=False)) as joined:
        yield joined
