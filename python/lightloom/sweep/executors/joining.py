"""Joining a cluster of Dask, and the checks before anything is sent there."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from lightloom.errors import refusal
from lightloom.sweep.executors import build
from lightloom.sweep.executors.cluster import KEY, Cluster, other_build

if TYPE_CHECKING:
    from distributed import Client

FILE_KEY = "--scheduler-file"
#: Seconds that a scheduler has to answer.
CONNECT_S = 10.0
#: Seconds between two looks for the first worker.
POLL_S = 0.2
#: What workers are asked. As text: one that has another Lightloom, or none, can read it.
QUESTION = "__import__('lightloom.sweep.executors.build', fromlist=['here']).here()"


@contextmanager
def joined(
    address: str | None,
    file: Path | None = None,
    told: Callable[[str], object] = lambda line: None,
) -> Iterator[Cluster]:
    """The cluster of the scheduler at an address, or of one that wrote its address into a
    file; `told` hears who that is. Waits for the first worker.

    Raises:
        ConfigError: if there is none, or if a worker's Lightloom is of another build, by its
            address.
    """
    key, where = _where(address, file)
    client = _client(key, where)
    try:
        cluster = Cluster(client)
        _wait(client, where, told)
        workers = client.run(eval, QUESTION, on_error="return")
        others = {worker: found for worker, found in workers.items() if found != build.here()}
        if others:
            raise other_build(build.here(), others)
        link = f"; dashboard {cluster.dashboard}" if cluster.dashboard else ""
        told(f"{where}: {len(workers)} workers, {cluster.at_once} threads{link}")
        yield cluster
    finally:
        client.close(timeout=2)


def _where(address: str | None, file: Path | None) -> tuple[str, str]:
    """The scheduler's address, and the option that says it."""
    if address is not None and file is not None:
        raise refusal(FILE_KEY, file, f"{KEY} is given, too", "give one of them")
    if address is not None:
        return KEY, address
    assert file is not None, "one of them is given"
    try:
        found = json.loads(file.read_text(encoding="utf-8"))["address"]
    except OSError as problem:
        reason = (problem.strerror or str(problem)).lower()
        raise refusal(FILE_KEY, file, reason, "start `dask scheduler --scheduler-file`") from None
    except (ValueError, KeyError, TypeError):
        limit, remedy = "has no address of a scheduler", "name what `dask scheduler` wrote"
        raise refusal(FILE_KEY, file, limit, remedy) from None
    return FILE_KEY, str(found)


def _client(key: str, address: str) -> Client:
    try:
        import dask
        import distributed
    except ImportError:
        limit = "needs Dask distributed, which is not installed"
        raise refusal(key, address, limit, 'install "lightloom[cluster]"') from None
    # What it has to say of lost connections is said here, once.
    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    # Files travel with tasks on purpose.
    dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"})
    try:
        return distributed.Client(
            address, timeout=CONNECT_S, set_as_default=False, name="lightloom"
        )
    except (OSError, ValueError, TypeError) as problem:
        reason = " ".join(str(problem).split()) or type(problem).__name__
        limit = f"no scheduler answers there ({reason})"
        raise refusal(key, address, limit, "start one with `dask scheduler`") from None


def _wait(client: Client, where: str, told: Callable[[str], object]) -> None:
    """Waits for the first worker."""
    if not client.nthreads():
        told(f"{where}: no workers yet, waiting for the first")
    while not client.nthreads():
        time.sleep(POLL_S)
