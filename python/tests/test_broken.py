"""Each claim that is recorded as reproduced has an input under which it fails: in the table of its
fabric or, for devices, clocks and cost, in test_claims_fail.py."""

import importlib
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

import pytest
from broken_support import FOLDER, claims
from test_claims_fail import SCRIPTS

from lightloom.validation.record import fabrics

TABLES: dict[str, ModuleType] = {
    module.FABRIC: module
    for path in sorted(Path(__file__).parent.glob("test_broken_*.py"))
    for module in [importlib.import_module(path.stem)]
}


def tried(fabric: str) -> dict[str, set[str]]:
    """Returns the claims that fail by an input of the fabric's table, by script."""
    found: dict[str, set[str]] = {}
    for broken in TABLES[fabric].BROKEN if fabric in TABLES else ():
        found.setdefault(broken.script, set()).update(broken.fails)
    return found


@pytest.mark.parametrize("fabric", fabrics(FOLDER))
def test_every_claim_that_is_reproduced_has_an_input_under_which_it_fails(fabric: str) -> None:
    reproduced: dict[str, set[str]] = {}
    for claim in claims(fabric):
        if claim.status == "reproduced" and claim.script not in SCRIPTS.get(fabric, ()):
            reproduced.setdefault(claim.script, set()).add(claim.id)
    known = tried(fabric)
    assert {s: of - known.get(s, set()) for s, of in reproduced.items()} == _none(reproduced)


@pytest.mark.parametrize("fabric", TABLES)
def test_a_table_has_claims_of_its_scripts(fabric: str) -> None:
    of_script: dict[str, set[str]] = {}
    for claim in claims(fabric):
        of_script.setdefault(claim.script, set()).add(claim.id)
    known = tried(fabric)
    assert {s: of - of_script.get(s, set()) for s, of in known.items()} == _none(known)


def _none(scripts: Iterable[str]) -> dict[str, set[str]]:
    """Returns an empty set for each of these scripts."""
    return {script: set() for script in scripts}
