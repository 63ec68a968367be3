"""Changes of what a script simulates: each makes another case of a case, an experiment and the
label of one of its fabrics, on the way to where it is run.
"""

import importlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

import lightloom
from lightloom.validation import Case, study

#: By its name, as the package has a function of the same.
SIMULATE = importlib.import_module("lightloom.validation.simulate")

#: The fate of a case.
Change = Callable[[lightloom.Experiment, str], Case]


def given(*overrides: str, of: str | None = None, **at: Any) -> Change:
    """With keys set: of one fabric, and where the workload has these values
    (`arrivals="at-once"`), if that is said."""

    def change(experiment: lightloom.Experiment, label: str) -> Case:
        workload = experiment.raw["workload"]
        meant = of in (None, label) and all(workload.get(key) == to for key, to in at.items())
        return (experiment.with_overrides(overrides) if meant else experiment), label

    return change


def as_if(labels: Mapping[str, str]) -> Change:
    """One network in place of another, where an experiment has both."""

    def change(experiment: lightloom.Experiment, label: str) -> Case:
        other = labels.get(label, label)
        return experiment, other if other in experiment.labels else label

    return change


def turned(key: str, to: Mapping[Any, Any], *, of: str) -> Change:
    """Other values of a key of a fabric, by those that it has: the large for the small."""

    def change(experiment: lightloom.Experiment, label: str) -> Case:
        fabric = experiment.raw["fabric"][experiment.index(label)]
        if label != of or fabric.get(key) not in to:
            return experiment, label
        return experiment.with_overrides([f'fabric."{label}".{key}={to[fabric[key]]}']), label

    return change


def instead(of: str, **table: Any) -> Change:
    """Another network under the label of one."""

    def change(experiment: lightloom.Experiment, label: str) -> Case:
        if label != of:
            return experiment, label
        other = {**experiment.raw, "fabric": [{"label": label, **table}]}
        return replace(experiment, raw=other), label

    return change


def both(*changes: Change) -> Change:
    """One after the other."""

    def change(experiment: lightloom.Experiment, label: str) -> Case:
        for one in changes:
            experiment, label = one(experiment, label)
        return experiment, label

    return change


def unchanged(experiment: lightloom.Experiment, label: str) -> Case:
    """The case itself."""
    return experiment, label


@contextmanager
def changed(change: Change, patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Has cases changed on their way to be simulated, many at once or one by one. What comes of
    them is kept as that of the changed ones."""
    simulate, run = SIMULATE.simulate, lightloom.run
    within = False

    def simulated(cases: Mapping[Any, Case], workers: int) -> Any:
        nonlocal within
        within = True  # they are run by what runs single ones
        try:
            return simulate({key: change(*case) for key, case in cases.items()}, workers)
        finally:
            within = False

    def ran(source: Any, fabric: str | None = None, **options: Any) -> Any:
        if within:
            return run(source, fabric, **options)
        experiment = source if isinstance(source, lightloom.Experiment) else lightloom.load(source)
        return run(*change(experiment, experiment.labels[experiment.index(fabric)]), **options)

    with patch.context() as here:
        here.setattr(SIMULATE, "simulate", simulated)
        here.setattr(study, "simulate", simulated)
        here.setattr(lightloom, "run", ran)
        yield
