"""Broken inputs of simulations: a change of the cases that a script of claims simulates, and the
claims that then fail.

`change_support` changes the cases immediately before they are run. The script itself reads and
judges the results, as always. A claim that does not fail therefore does not measure the broken
part.
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
    """The size of the simulation with and without the broken input: smaller than a full run if the
    rest does not affect these claims, larger than a quick run if they do not fail in one."""

    sets: Mapping[str, Any] = field(default_factory=dict)
    """Variables of the script that are set, to simulate fewer cases."""
    change: Change | None = None
    """A change of the cases, for example more flows."""
    whole: bool = False
    """Whether the script runs as in a full run, because few seeds give no interval."""


@dataclass(frozen=True)
class Broken:
    """An input under which claims of a script fail."""

    script: str
    input: str
    """A description of the broken input."""
    change: Change
    fails: tuple[str, ...]
    """Claims whose outcome is "not reproduced"."""
    sets: Mapping[str, Any] = field(default_factory=dict)
    """Variables of the script that are broken, if no case contains them."""
    size: Size = Size()
    quick: bool = False
    """Whether the test takes only seconds; otherwise `make test-long` runs it."""


def outcomes(fabric: str, broken: Broken, patch: pytest.MonkeyPatch) -> dict[str, Status]:
    """Returns the outcomes of the script's claims, judged as in a full run; a claim can fail
    without a full measurement."""
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


#: Outcomes without a broken input, by fabric, script and size.
_sound: list[tuple[str, str, Size, dict[str, Status]]] = []


def sound(fabric: str, broken: Broken, patch: pytest.MonkeyPatch) -> dict[str, Status]:
    """Returns the outcomes without the broken input."""
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
    """Returns the test of a table: the claims of each row fail with its input, and do not fail
    without it."""

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
