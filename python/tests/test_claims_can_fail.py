"""Every claim of every paper can fail, and states the data that its verdict needs."""

from math import inf

import pytest

from lightloom.validation import Claim, Claims, Estimate, Expectation, judge
from lightloom.validation.record import fabrics
from lightloom.validation.scripts import find_validation, load_script

FOLDER = find_validation()
#: Possible values by default: shares, ratios, counts and times.
ANY = Expectation(at_least=0)
CLAIMS = [
    pytest.param(fabric, claim, id=f"{fabric}/{claim.id}")
    for fabric in fabrics(FOLDER)
    for claim in Claims.read(FOLDER / fabric / "claims.toml").claim
    if claim.expect is not None
]


def judged(fabric: str, claim: Claim, value: float) -> str:
    return judge(fabric, claim, Estimate(value, 0.0, 3), quick=False).outcome


def candidates(claim: Claim) -> list[float]:
    """Returns values around the limits of the expected and of the possible values."""
    expect, possible = claim.expect, claim.possible or ANY
    assert expect is not None
    given = [expect.at_least, expect.above, expect.at_most, expect.below]
    given += [possible.at_least, possible.at_most]
    if expect.value is not None and expect.tolerance is not None:
        given += [expect.value - expect.tolerance, expect.value, expect.value + expect.tolerance]
    ends = [end for end in given if end is not None]
    off = [end + step for end in ends for step in (-1.0, -1e-6, 0.0, 1e-6, 1.0)]
    return [*ends, *off, *(2 * end for end in ends), *(end / 2 for end in ends)]


@pytest.mark.parametrize(("fabric", "claim"), CLAIMS)
def test_there_is_a_value_under_which_it_fails_and_one_under_which_it_holds(
    fabric: str, claim: Claim
) -> None:
    possible = claim.possible or ANY
    values = [value for value in candidates(claim) if possible.holds(value)]
    assert {judged(fabric, claim, value) for value in values} >= {"reproduced", "not reproduced"}


@pytest.mark.parametrize(("fabric", "claim"), CLAIMS)
def test_an_interval_that_reaches_beyond_what_is_expected_decides_nothing(
    fabric: str, claim: Claim
) -> None:
    wide = judge(fabric, claim, Estimate(0.0, inf, 2), quick=False)
    assert wide.outcome == "undecided"
    assert wide.wants == "1 more seed"


@pytest.mark.parametrize(("fabric", "claim"), CLAIMS)
def test_a_number_without_an_interval_decides_only_where_no_chance_is(
    fabric: str, claim: Claim
) -> None:
    found = judge(fabric, claim, 1.0, quick=False).outcome
    assert (found == "undecided") == (claim.exact is None)


def test_what_cannot_be_expected_is_a_claim_that_cannot_fail() -> None:
    """Checks that the test above detects a claim that cannot fail."""
    base = next(one.values[1] for one in CLAIMS if one.id == "sirius/fig09-goodput-close-to-esn")
    assert isinstance(base, Claim)
    fields = base.model_dump(exclude_none=True) | {"expect": {"at_least": 0}}
    always = Claim.model_validate(fields)
    values = [value for value in candidates(always) if ANY.holds(value)]
    assert {judged("sirius", always, value) for value in values} == {"reproduced"}


def test_every_claim_is_of_a_script_that_there_is() -> None:
    for fabric in fabrics(FOLDER):
        for claim in Claims.read(FOLDER / fabric / "claims.toml").claim:
            load_script(FOLDER, fabric, claim.script)
