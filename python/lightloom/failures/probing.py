"""The parts of a fabric that can fail, and their number, as the core reports them.

The core checks the faults of an experiment before it simulates, and raises an error for a part that
does not exist. Therefore nothing here repeats the model of a fabric: a kind is modelled if the core
accepts its first part, and its number is the first one that the core rejects.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from lightloom.config import inputs
from lightloom.config.experiment import Experiment
from lightloom.devices import of_fabrics
from lightloom.errors import ConfigError
from lightloom.failures.elements import KINDS, Kind, Parts, Population, lasers_of
from lightloom.simulation.trials import tried

#: The smallest workload; the parts of a fabric do not depend on the traffic.
_ONE_FLOW = {
    "arrivals": "poisson",
    "load": 0.01,
    "flows": 1,
    "sizes": {"kind": "fixed", "size": "1 KB"},
    "pattern": "uniform",
}


def parts_of(experiment: Experiment, label: str) -> Parts:
    """Returns the parts of a fabric that can fail in its model.

    Raises:
        ConfigError: if the fabric cannot run.
    """
    bare = with_one_flow(experiment, label)
    resolved = bare.resolved()
    racks = int(resolved["cluster"]["racks"])
    lasers = of_fabrics.lasers_of(resolved["fabric"][0])
    share = 1 if lasers is None else lasers.share
    found, refused = [], {}
    for kind in KINDS:
        why = refusal_of(bare, label, kind, [0] * len(kind.keys))
        if why is None:
            population = Population(kind, _shape(bare, label, kind, racks))
            found += [p for p in (lasers_of(population, share), population) if p is not None]
        else:
            refused[kind.name] = why
    return Parts(found, refused)


def with_one_flow(experiment: Experiment, label: str) -> Experiment:
    """Returns an experiment with one fabric on the same cluster, a single flow and no faults."""
    alone = experiment.only(label)
    kept = ("name", "cluster", "physics", "inputs", "fabric")
    raw = copy.deepcopy({key: alone.raw[key] for key in kept if key in alone.raw})
    raw |= {"workload": dict(_ONE_FLOW), "run": {"seed": 1, "stop": "last-arrival"}}
    inputs.kept(raw, alone.raw)
    return replace(alone, raw=raw)


def refusal_of(
    experiment: Experiment, label: str, kind: Kind, numbers: Sequence[int]
) -> str | None:
    """Returns the reason why a fabric has no such part; None if it has the part.

    Raises:
        ConfigError: if the experiment is invalid for another reason.
    """
    faults = kind.part(numbers).faults(label)
    failing = replace(experiment, raw={**experiment.raw, "fault": faults})
    try:
        tried(failing, label, seconds=0.0)
    except ConfigError as problem:
        if problem.key is None or not problem.key.startswith("fault[0]"):
            raise
        return "; ".join(text for text in (problem.limit, _remedy(problem)) if text)
    return None


def _remedy(problem: ConfigError) -> str:
    """The remedy that the core gives for making a failure possible, if it fits: the user wrote no
    fault that could be removed."""
    remedy = problem.remedy or ""
    return remedy.removesuffix(", or remove it") if "fabric." in remedy else ""


def _shape(bare: Experiment, label: str, kind: Kind, racks: int) -> tuple[int, ...]:
    """The number of values of each key of a kind."""

    def accepts(place: int, number: int) -> bool:
        numbers = [number if i == place else 0 for i in range(len(kind.keys))]
        return refusal_of(bare, label, kind, numbers) is None

    def count(place: int, key: str) -> int:
        return racks if key == "node" else first_refused(lambda n: accepts(place, n))

    return tuple(count(place, key) for place, key in enumerate(kind.keys))


def first_refused(accepts: Callable[[int], bool]) -> int:
    """Returns the smallest positive number that is not accepted; all smaller ones are.

    >>> first_refused(lambda n: n < 12)
    12
    """
    high = 1
    while accepts(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if accepts(middle) else (low, middle)
    return high


def switch_count_refused(experiment: Experiment, label: str, key: str, count: int) -> bool:
    """Whether a fabric cannot have this number of switches in the tier of that key.

    Raises:
        ConfigError: if the experiment is invalid for another reason.
    """
    bare: dict[str, Any] = with_one_flow(experiment, label).raw
    raw = {**bare, "fabric": [{**bare["fabric"][0], key: count}]}
    try:
        replace(experiment, raw=raw).resolved()
    except ConfigError as problem:
        if problem.key != f"fabric.{key}":
            raise
        return True
    return False
