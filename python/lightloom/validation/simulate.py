"""Runs the simulations of figure scripts.

Figures share points (the default set-up is in all of them); a simulation that one figure has run is
not repeated for another.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

import lightloom
from lightloom.sweep.executors import Executor, Failed, Job, Local

Summary = dict[str, Any]
Key = TypeVar("Key", bound=Hashable)
#: An experiment and the label of the fabric to run.
Case = tuple[lightloom.Experiment, str]

_known: dict[str, Summary] = {}
_observer: Callable[[int, int], None] | None = None
_executor: Executor | None = None


def simulate(cases: Mapping[Key, Case], workers: int) -> dict[Key, Summary]:
    """Runs each case and returns its summary under the same key; in `workers` processes, unless
    `simulated_by` selects an executor."""
    digests = {key: _digest(*case) for key, case in cases.items()}
    missing = {digest: cases[key] for key, digest in digests.items() if digest not in _known}
    finished = 0

    def count(index: int, summary: Summary | Failed) -> None:
        nonlocal finished
        finished += 1
        if _observer is not None:
            _observer(finished, len(missing))

    if _observer is not None:
        _observer(0, len(missing))
    jobs = [Job(experiment, label, whole=False) for experiment, label in missing.values()]
    came = (_executor or Local(workers)).run_jobs(jobs, count)
    for digest, summary in zip(missing, came, strict=True):
        assert not isinstance(summary, Failed), "the first that fails is raised"
        _known[digest] = summary
    return {key: _known[digest] for key, digest in digests.items()}


@contextmanager
def observed(observer: Callable[[int, int], None]) -> Iterator[None]:
    """Calls `observer(finished, total)` while simulations run in the block."""
    global _observer
    before, _observer = _observer, observer
    try:
        yield
    finally:
        _observer = before


@contextmanager
def simulated_by(executor: Executor | None) -> Iterator[None]:
    """Runs the simulations of the block in an executor instead of processes; None changes
    nothing."""
    global _executor
    before, _executor = _executor, executor
    try:
        yield
    finally:
        _executor = before


def _digest(experiment: lightloom.Experiment, label: str) -> str:
    resolved = experiment.only(label).resolved()
    return hashlib.sha256(json.dumps(resolved, sort_keys=True, default=str).encode()).hexdigest()
