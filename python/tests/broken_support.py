"""Broken inputs of simulations: a change of what a script of claims simulates, and the claims
that do not come out by it.

A script simulates cases, each an experiment and the label of one of its fabrics. A change makes
another case of each, and all that follows is the script's own: what it reads off its runs, and
how that is judged. So a claim that comes out all the same measures something else than what was
broken.
"""

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

import lightloom
from lightloom.reproduce import Case, Claim, Claims, Status, study
from lightloom.reproduce.by_readings import measured_by, of_fabric
from lightloom.reproduce.readings import Readings, estimated
from lightloom.reproduce.scripts import Script, find_validation, load_script
from lightloom.reproduce.verdicts import judged

FOLDER = find_validation()
#: By its name, as the package has a function of the same.
SIMULATE = importlib.import_module("lightloom.reproduce.simulate")

#: What becomes of a case.
Change = Callable[[lightloom.Experiment, str], Case]


@dataclass(frozen=True)
class Broken:
    """An input under which claims of a script fail."""

    script: str
    input: str
    """What is broken, in words."""
    change: Change
    fails: tuple[str, ...]
    """Claims that come out as not reproduced."""
    undecided: tuple[str, ...] = ()
    """Claims that are no longer reproduced, but undecided: where even the broken network leaves
    an interval that the criterion is in."""
    sets: Mapping[str, Any] = field(default_factory=dict)
    """What is broken in the script itself, where no case has it."""
    size: "Size" = field(default_factory=lambda: Size())
    quick: bool = False
    """Whether it takes seconds, and is not left to `make test-long`."""


@dataclass(frozen=True)
class Size:
    """How much is simulated, broken or not: less than all where the rest says nothing of these
    claims, more than quickly where they do not come out by so little."""

    sets: Mapping[str, Any] = field(default_factory=dict)
    """Of the script: fewer cases."""
    change: "Change | None" = None
    """Of cases: more flows."""
    whole: bool = False
    """As in a full run: quickly too few seeds are measured."""


def given(*overrides: str, of: str | None = None, **at: Any) -> Change:
    """With keys set; of one fabric, or where keys have these values (`load=1.0`), if that is
    said. Keys are those of the workload."""

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


def outcomes(fabric: str, broken: Broken, patch: pytest.MonkeyPatch) -> dict[str, Status]:
    """Of the claims of its script, judged as in a full run: to fail, a claim does not need to be
    measured in full."""
    size = broken.size
    with changed(both(size.change or unchanged, broken.change), patch):
        script = load_script(FOLDER, fabric, broken.script)
        for name, value in {**size.sets, **broken.sets}.items():
            patch.setitem(script.measure.__globals__, name, value)
        values = _measured(script, quick=not size.whole)
    return {c.id: judged(c, values.get(c.id)) for c in claims(fabric) if c.script == broken.script}


def _measured(script: Script, quick: bool) -> dict[str, Any]:
    found = measured_by(script, of_fabric(FOLDER / script.fabric), quick, 1)
    readings: Readings | None = found.get("readings")
    values = found["claims"] | ({} if readings is None else readings.measured())
    return {claim: estimated(value) for claim, value in values.items()}


#: Outcomes with nothing broken, by fabric, script and size.
_sound: list[tuple[str, str, Size, dict[str, Status]]] = []


def sound(fabric: str, broken: Broken, patch: pytest.MonkeyPatch) -> dict[str, Status]:
    """The same with nothing broken."""
    for *key, known in _sound:
        if key == [fabric, broken.script, broken.size]:
            return known
    nothing = replace(broken, change=unchanged, sets={})
    found = outcomes(fabric, nothing, patch)
    _sound.append((fabric, broken.script, broken.size, found))
    return found


def claims(fabric: str) -> Sequence[Claim]:
    return Claims.read(FOLDER / fabric / "claims.toml").claim


def each(fabric: str, table: Sequence[Broken]) -> Any:
    """The test of a table, an input each: claims that fail by it do not fail without it."""

    @pytest.mark.parametrize("broken", [_parameter(broken) for broken in table])
    def test(broken: Broken, monkeypatch: pytest.MonkeyPatch) -> None:
        named = dict.fromkeys(broken.fails, "not reproduced")
        named |= dict.fromkeys(broken.undecided, "undecided")
        found = outcomes(fabric, broken, monkeypatch)
        assert {claim: found[claim] for claim in named} == named
        before = sound(fabric, broken, monkeypatch)
        assert [claim for claim in broken.fails if before[claim] == "not reproduced"] == []
        assert [claim for claim in broken.undecided if before[claim] != "reproduced"] == []

    return test


def _parameter(broken: Broken) -> Any:
    marks = () if broken.quick else (pytest.mark.long,)
    return pytest.param(broken, id=f"{broken.script}: {broken.input}", marks=marks)
