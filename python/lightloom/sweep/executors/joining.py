"""Joining a Dask cluster, and checks before anything is sent to it."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from lightloom.errors import refusal
from lightloom.storage import reading
from lightloom.sweep.executors import build
from lightloom.sweep.executors.cluster import KEY, Cluster, other_build

if TYPE_CHECKING:
    from distributed import Client

FILE_KEY = "--scheduler-file"
#: Longest wait for the scheduler [s].
CONNECT_S = 10.0
#: Interval of checks for the first worker [s].
POLL_S = 0.2
#: Longest wait for the builds of all workers [s].
ANSWER_S = 30.0
#: The question about their build, as text, so that a worker with another Lightloom, or none, can
#: evaluate it.
QUESTION = "__import__('lightloom.sweep.executors.build', fromlist=['here']).here()"


@contextmanager
def joined(
    address: str | None,
    file: Path | None = None,
    told: Callable[[str], object] = lambda line: None,
) -> Iterator[Cluster]:
    """Connects to the scheduler at an address, or to the one that wrote its address into a file.
    `told` is called with texts about the cluster and about workers that die. Waits for the first
    worker.

    Raises:
        ConfigError: if there is no cluster, or a worker does not answer or has another build; it
            names the address.
    """
    key, where = _where(address, file)
    client = _client(key, where)
    try:
        cluster = Cluster(client, lambda line: told(f"note: {line}"))
        _wait(client, where, told)
        workers = _builds(client, ANSWER_S)
        others = {worker: found for worker, found in workers.items() if found != build.here()}
        if others:
            raise other_build(build.here(), others)
        link = f"; dashboard {cluster.dashboard}" if cluster.dashboard else ""
        told(f"{where}: {len(workers)} workers, {cluster.at_once} threads{link}")
        yield cluster
    finally:
        client.close(timeout=2)


def _builds(client: Client, within_s: float) -> dict[str, object]:
    """Returns the build of each worker, or the exception that it raised.

    Raises:
        ConfigError: naming a worker that does not answer in time.
    """
    there = list(client.nthreads())
    found: dict[str, object] = client.sync(_answers, client, there, within_s)
    silent = [worker for worker in there if worker not in found]
    if silent:
        more = f" (and {len(silent) - 1} more)" if len(silent) > 1 else ""
        limit = f"does not answer within {within_s:g} s"
        raise refusal("worker", f"{silent[0]}{more}", limit, "restart it, or end it")
    return found


async def _answers(client: Client, there: Sequence[str], within_s: float) -> dict[str, object]:
    """The answers in time. Each worker is asked individually, so that one that hangs is
    identified."""
    asked = [
        asyncio.ensure_future(
            client.run(eval, QUESTION, workers=[worker], on_error="return", asynchronous=True)
        )
        for worker in there
    ]
    answered, late = await asyncio.wait(asked, timeout=within_s)
    for one in late:
        one.cancel()
    return {worker: answer for one in answered for worker, answer in one.result().items()}


def _where(address: str | None, file: Path | None) -> tuple[str, str]:
    """The address of the scheduler, and the option that states it."""
    if address is not None and file is not None:
        raise refusal(FILE_KEY, file, f"{KEY} is also given", "give one of them")
    if address is not None:
        return KEY, address
    assert file is not None, "one of them is given"
    try:
        found = json.loads(reading.text(file))["address"]
    except OSError as problem:
        reason = (problem.strerror or str(problem)).lower()
        raise refusal(FILE_KEY, file, reason, "start `dask scheduler --scheduler-file`") from None
    except (ValueError, KeyError, TypeError, RecursionError):
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
    # Messages about lost connections are printed by this package, once.
    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    # Large tasks are intended, because files are sent with them.
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
