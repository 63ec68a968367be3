"""`--scheduler` and `--scheduler-file`: the cluster on which simulations run, if any."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from lightloom.cli import console
from lightloom.errors import refusal

if TYPE_CHECKING:
    from lightloom.sweep.executors.cluster import Cluster

Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Simulate on the workers of this Dask scheduler, like tcp://10.0.0.1:8786; "
        "needs lightloom\\[cluster].",
    ),
]
SchedulerFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Simulate on the workers of the Dask scheduler that wrote this file."
    ),
]


@contextmanager
def cluster(
    scheduler: str | None,
    file: Path | None,
    workers: int | None = None,
    screen: Console | None = None,
) -> Iterator[Cluster | None]:
    """Joins the requested cluster; None if none is requested. Its messages are printed on standard
    error, or on the screen of a bar."""
    if scheduler is None and file is None:
        yield None
        return
    if workers is not None:
        limit = "a cluster has its own workers"
        raise refusal("--workers", workers, limit, "leave it out, or --scheduler")
    from lightloom.sweep.executors import joining

    told = partial((screen or console.err()).print, markup=False)
    with joining.joined(scheduler, file, told) as joined:
        yield joined
