"""Changes of the cases that a script simulates. A case is an experiment and the label of one of its
fabrics; a change replaces it immediately before its run.
"""

import importlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

import lightloom
from lightloom.validation import Case, study

#: Imported by name, because the package has a function of the same name.
SIMULATE = importlib.import_module("lightloom.validation.simulate")

#: A function from a case to the changed case.
Change = Callable[[lightloom.Experiment, str], Case]


def given(*overrides: str, of: str | None = None, **at: Any) -> Change:
    """Sets keys; if `of` is given, only of this fabric, and if `at` is given, only if the workload
    has these values (`arrivals="at-once"`)."""

    def change(experiment: lightloom.Experiment, label: str) -> Case:
        workload = experiment.raw["workload"]
        meant = of in (None, label) and all(workload.get(key) == to for key, to in at.items())
        return (experiment.with_overrides(overrides) if meant else experiment), label

    return change


def as_if(labels: Mapping[str, str]) -> Change:
    """Simulates one network in place of another, if the experiment has both."""

    def change(experiment: lightloom.Experiment, label: str) -> Case:
        other = labels.get(label, label)
        return experiment, other if other in experiment.labels else label

    return change


def turned(key: str, to: Mapping[Any, Any], *, of: str) -> Change:
    """Replaces the values of a fabric's key by those of a mapping, for example small ones by large
    ones."""

    def change(experiment: lightloom.Experiment, label: str) -> Case:
        fabric = experiment.raw["fabric"][experiment.index(label)]
        if label != of or fabric.get(key) not in to:
            return experiment, label
        return experiment.with_overrides([f'fabric."{label}".{key}={to[fabric[key]]}']), label

    return change


def instead(of: str, **table: Any) -> Change:
    """Simulates another network under the label of a fabric."""

    def change(experiment: lightloom.Experiment, label: str) -> Case:
        if label != of:
            return experiment, label
        other = {**experiment.raw, "fabric": [{"label": label, **table}]}
        return replace(experiment, raw=other), label

    return change


def both(*changes: Change) -> Change:
    """Applies changes one after another."""

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
    """Changes cases immediately before they are simulated, in groups or one at a time.

    Results are stored as those of the changed cases.
    """
    simulate, run = SIMULATE.simulate, lightloom.run
    within = False

    def simulated(cases: Mapping[Any, Case], workers: int) -> Any:
        nonlocal within
        within = True  # the group is run by the function for single cases
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
