"""Single failures in the decision, by hand."""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from cli_support import ROOT
from decision_support import bought
from golden_support import golden

import lightloom
from lightloom import report
from lightloom.analysis.naming import Prose
from lightloom.costs.amounts import Range
from lightloom.decision import sentences
from lightloom.decision.breaking import (
    AfterFailures,
    Kept,
    NotModelled,
    after_failures,
    broken,
)
from lightloom.decision.purchases import CAPITAL, Purchase
from lightloom.failures.search import Search
from lightloom.report.decisions.read import CARRIED

# $500,000 and $385,000 to $446,800; each delivers 3,200 Gb/s.
ESN = bought("esn", switch=100)
SIRIUS = bought("sirius", switch=50, tunable_transceiver=300)
WHOLE = Kept(1.0, "core switch 0", carries=True)


def after(purchases: list[Purchase], kept: dict[str, Kept]) -> AfterFailures:
    found = after_failures(purchases, kept)
    assert isinstance(found, AfterFailures)
    return found


def test_the_pick_keeps_nine_tenths_and_is_still_the_cheapest() -> None:
    """$385,000 to $446,800 ÷ 2,944 Gb/s: 92 % of 3,200."""
    kept = {"sirius": Kept(0.92, "grating 3", carries=True), "esn": WHOLE}
    found = after([ESN, SIRIUS], kept)
    assert found.keeps == (("sirius", kept["sirius"]),)
    assert (found.then, found.same) == (("sirius",), True)
    assert found.cost is not None
    assert (round(found.cost.low), round(found.cost.high)) == (131, 152)
    assert (found.falls_out, found.missing) == ((), ())


def test_the_pick_changes_where_its_worst_part_costs_it_the_lead() -> None:
    """Even $385,000 ÷ (0.75 · 3,200) is more than $500,000 ÷ 3,200 = $156.25."""
    kept = {"sirius": Kept(0.75, "laser 0 of node 1 with its 8 transceivers", True), "esn": WHOLE}
    found = after([ESN, SIRIUS], kept)
    assert found.keeps == (("sirius", kept["sirius"]),)
    assert (found.then, found.same) == (("esn",), False)
    assert found.cost == Range(Fraction(625, 4), Fraction(625, 4))


def test_who_no_longer_carries_the_load_is_not_the_one_to_buy() -> None:
    kept = {"sirius": Kept(0.92, "grating 3", carries=False), "esn": WHOLE}
    found = after([ESN, SIRIUS], kept)
    assert (found.then, found.falls_out) == (("esn",), ("sirius",))
    assert broken(SIRIUS, Kept(0.0, "node", carries=True)).delivered is None


def test_broken_and_sound_carry_the_load_by_the_same_share() -> None:
    """The core has the same share, for `stable`."""
    core = (ROOT / "crates/metrics/src/span.rs").read_text(encoding="utf-8")
    assert re.findall(r"pub const CARRIED: f64 = ([\d.]+);", core) == [str(CARRIED)]


def test_level_once_all_have_their_worst_part_dead() -> None:
    """$385,000 to $446,800 ÷ 0.85: $453,000 to $526,000 for the goodput that costs $500,000 with
    the other fabric."""
    kept = {"sirius": Kept(0.85, "grating 3", carries=True), "esn": WHOLE}
    found = after([ESN, SIRIUS], kept)
    assert (found.then, found.cost, found.same) == (("sirius", "esn"), None, False)


def test_who_is_level_sound_and_broken_is_still_level() -> None:
    """This holds whichever of the two keeps slightly more."""
    level = [ESN, bought("twin", switch=100)]
    for first, second, both in ((0.99, 0.98, ("esn", "twin")), (0.98, 0.99, ("twin", "esn"))):
        kept = {"esn": Kept(first, "a", carries=True), "twin": Kept(second, "b", carries=True)}
        found = after(level, kept)
        assert (found.then, found.cost, found.same) == (both, None, True)


def test_what_is_not_modelled_is_not_weighed() -> None:
    assert after_failures([ESN, SIRIUS], {"esn": WHOLE}) == NotModelled(("sirius",))
    level = [ESN, bought("twin", switch=100)]
    assert after_failures(level, {"else": WHOLE}) == NotModelled(("esn", "twin"))
    found = after([ESN, SIRIUS], {"sirius": WHOLE})
    assert (found.keeps, found.missing) == ((("sirius", WHOLE),), ("esn",))
    assert after_failures([ESN, SIRIUS], {}) is None


def test_the_sentences_after_failures_are_those_of_the_golden_file() -> None:
    """To bless a change: LIGHTLOOM_BLESS=1, and look at the difference."""
    twin = bought("twin", switch=100)
    grating = Kept(0.92, "grating 3", carries=True)
    cases = (
        ([ESN, SIRIUS], {"sirius": grating, "esn": WHOLE}),
        ([ESN, SIRIUS], {"sirius": replace(grating, share=0.75, all_tried=False), "esn": WHOLE}),
        ([ESN, SIRIUS], {"sirius": replace(grating, carries=False), "esn": WHOLE}),
        ([ESN, SIRIUS], {"sirius": replace(grating, carries=False), "esn": Kept(0.0, "a", False)}),
        ([ESN, SIRIUS], {"sirius": replace(grating, share=0.85), "esn": WHOLE}),
        ([ESN, twin], {"esn": Kept(0.99, "a", True), "twin": Kept(0.98, "b", True)}),
        ([ESN, SIRIUS], {"esn": WHOLE}),
        ([ESN, twin], {"else": WHOLE}),
        ([ESN, SIRIUS], {"sirius": replace(WHOLE, all_tried=False)}),
        ([ESN, SIRIUS], {"sirius": WHOLE}),
    )
    found = (after_failures(purchases, kept) for purchases, kept in cases)
    golden("failures.txt", [sentences.after_failures(one) for one in found if one is not None])


def test_a_broken_fabric_costs_more_for_each_bit() -> None:
    sound, dead = (CAPITAL.value(p) for p in (SIRIUS, broken(SIRIUS, Kept(0.5, "x", True))))
    assert sound is not None
    assert dead == Range(sound.low * 2, sound.high * 2)


EXPERIMENT = """
[cluster]
racks = 16
servers_per_rack = 4
rack_rate = "200 Gb/s"

[workload]
arrivals = "poisson"
load = 0.4
flows = 400
sizes = { kind = "fixed", size = "20 KB" }

[run]
seed = 1
stop = "drain"

[decision]
prices = "sirius-2020"
worst_failure = true

[[fabric]]
kind = "sirius"
uplinks = 8
uplink_plan = "PLAN"

[[fabric]]
kind = "clos"
"""


@pytest.mark.parametrize("plan", ["wide", "rotor"])
def test_the_page_says_what_the_pick_keeps(plan: str, tmp_path: Path) -> None:
    """Checks the kept share in the table of failures, the answer of the decision, and the statement
    that a rotor is ideal."""
    path = tmp_path / "e.toml"
    path.write_text(EXPERIMENT.replace("PLAN", plan), encoding="utf-8")
    comparison = lightloom.compare(path, worst_failure=Search(1))
    (decision,) = report.decide([comparison])
    assert decision is not None
    assert comparison.resilience is not None
    (first,) = decision.leaders
    found = comparison.resilience.fabrics[first]
    assert found.kept is not None
    assert found.least is not None
    (said,) = (fact for fact in decision.facts if " fails" in fact)
    assert said.startswith(f"{first} is broken as")
    assert "parts that were tried" in said or found.kept >= 0.9995
    if found.kept < 0.9995:
        # 16 racks of 200 Gb/s are 3.2 Tb/s, which one switch of 25.6 Tb/s connects.
        assert found.least.part == "core switch 0"
        assert f"{first} keeps {100 * found.kept:.1f} %" in said
        assert "(core switch 0, the" in said
    rotors = [fact for fact in decision.facts if 'uplink_plan = "rotor" is an ideal' in fact]
    assert len(rotors) == (plan == "rotor")
    page = report.build([comparison], tmp_path).read_text(encoding="utf-8")
    prose = Prose(comparison.experiment)
    assert page.index(prose(said)) > page.index(prose(decision.sentence))
    assert ("rotor&#34; is an ideal" in page) == (plan == "rotor")


ONE_POD = """
[cluster]
racks = 4
servers_per_rack = 4
rack_rate = "100 Gb/s"

[workload]
arrivals = "at-once"
pattern = { kind = "permutation", of = "racks" }
sizes = { kind = "fixed", size = "1 MB" }
flows = 16

[run]
stop = "drain"

[decision]
prices = "sirius-2020"
counting = "whole"
worst_failure = true

[[fabric]]
kind = "clos"
tiers = 2
"""


@pytest.mark.parametrize(("own", "kept"), [(None, 0.0), (2, 0.5)])
def test_the_network_that_breaks_is_the_one_that_is_billed(own: int | None, kept: float) -> None:
    """Four racks need one box of 64 ports, which carries all traffic between racks; if the table
    has two aggregation switches, two boxes are bought, and each flow is half as fast after a
    failure."""
    table = tomllib.loads(ONE_POD)
    if own is not None:
        table["fabric"][0]["aggregation_switches"] = own
    comparison = lightloom.compare(table, worst_failure=True)
    (decision,) = report.decide([comparison])
    assert decision is not None
    assert comparison.resilience is not None
    found = comparison.resilience.fabrics["clos"]
    assert found.kept == pytest.approx(kept, abs=0.01)
    lines = [line for bill in decision.bills for line in bill.lines]
    (boxes,) = (line[2] for line in lines if line[:2] == ("switch", "layer 2"))
    (kind,) = (k for k in found.kinds if k.kind == "aggregation switch")
    assert int(boxes) == kind.members == (own or 1)
    assert not any("broken as simulated" in fact for fact in decision.facts)
