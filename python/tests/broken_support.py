"""Broken inputs of simulations: a change of what a script of claims simulates, and the claims
that do not come out by it.

Cases are changed on their way to be run (`change_support`), and all that follows is the script's
own: what it reads off its runs, and how that is judged. So a claim that comes out all the same
measures something else than what was broken.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from change_support import Change, both, changed, unchanged

from lightloom.validation import Claim, Claims, Status
from lightloom.validation.by_readings import measured_by, of_fabric
from lightloom.validation.readings import Readings, estimated
from lightloom.validation.scripts import Script, find_validation, load_script
from lightloom.validation.verdicts import judged

FOLDER = find_validation()


@dataclass(frozen=True)
class Size:
    """How much is simulated, broken or not: less than all where the rest says nothing of these
    claims, more than quickly where they do not come out by so little."""

    sets: Mapping[str, Any] = field(default_factory=dict)
    """What is set in the script: fewer cases."""
    change: Change | None = None
    """The fate of cases: more flows."""
    whole: bool = False
    """As in a full run: of too few seeds there is no interval."""


@dataclass(frozen=True)
class Broken:
    """An input under which claims of a script fail."""

    script: str
    input: str
    """What is broken, in words."""
    change: Change
    fails: tuple[str, ...]
    """Claims that come out as not reproduced."""
    sets: Mapping[str, Any] = field(default_factory=dict)
    """What is broken in the script itself, where no case has it."""
    size: Size = Size()
    quick: bool = False
    """Whether it takes seconds, and is not left to `make test-long`."""


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
        found = outcomes(fabric, broken, monkeypatch)
        wanted = dict.fromkeys(broken.fails, "not reproduced")
        assert {claim: found[claim] for claim in broken.fails} == wanted
        before = sound(fabric, broken, monkeypatch)
        assert [claim for claim in broken.fails if before[claim] == "not reproduced"] == []

    return test


def _parameter(broken: Broken) -> Any:
    marks = () if broken.quick else (pytest.mark.long,)
    return pytest.param(broken, id=f"{broken.script}: {broken.input}", marks=marks)
