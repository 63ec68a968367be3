"""Each claim that is on record as reproduced has an input under which it fails: in the table of
its fabric or, of devices, clocks and cost, in test_claims_fail.py."""

import importlib
from pathlib import Path
from types import ModuleType

import pytest
from broken_support import FOLDER, claims
from test_claims_fail import SCRIPTS

from lightloom.reproduce.record import fabrics

TABLES: dict[str, ModuleType] = {
    module.FABRIC: module
    for path in sorted(Path(__file__).parent.glob("test_broken_*.py"))
    for module in [importlib.import_module(path.stem)]
}
#: Claims that no input makes fail, and why.
EXCEPT: dict[str, str] = {}


def tried(fabric: str) -> dict[str, set[str]]:
    """What inputs of its table make fail, by script."""
    found: dict[str, set[str]] = {}
    for broken in TABLES[fabric].BROKEN:
        found.setdefault(broken.script, set()).update(broken.fails, broken.undecided)
    return found


@pytest.mark.parametrize("fabric", fabrics(FOLDER))
def test_every_claim_that_is_reproduced_has_an_input_under_which_it_fails(fabric: str) -> None:
    known = {claim for of in tried(fabric).values() for claim in of} | set(EXCEPT)
    elsewhere = SCRIPTS.get(fabric, ())
    reproduced = [c for c in claims(fabric) if c.status == "reproduced"]
    lacking = [c.id for c in reproduced if c.script not in elsewhere and c.id not in known]
    assert lacking == []


@pytest.mark.parametrize("fabric", TABLES)
def test_a_table_has_claims_of_its_scripts(fabric: str) -> None:
    of_script: dict[str, set[str]] = {}
    for claim in claims(fabric):
        of_script.setdefault(claim.script, set()).add(claim.id)
    assert {script: of - of_script[script] for script, of in tried(fabric).items()} == {
        script: set() for script in tried(fabric)
    }


def test_no_claim_is_excepted_that_an_input_makes_fail() -> None:
    failing = {claim for fabric in TABLES for of in tried(fabric).values() for claim in of}
    assert failing & set(EXCEPT) == set()
