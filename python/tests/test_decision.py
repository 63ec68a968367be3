"""The decision on a fabric: sentences, break-even prices and the Pareto front, compared with
computation by hand and by brute force."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from decision_support import BOOK, bought
from golden_support import golden
from hypothesis import assume, example, given
from hypothesis import strategies as st

from lightloom.costs.amounts import Range
from lightloom.decision import remarks, sentences, verdict
from lightloom.decision.lead import (
    Lead,
    Least,
    NoneCarries,
    NoTotal,
    Only,
    PricesDecide,
    Same,
    Times,
    TooShort,
    lead,
    unsettled,
)
from lightloom.decision.order import ahead, leaders, share
from lightloom.decision.overturns import Overturn, nearest, of_unknown
from lightloom.decision.pareto import behind
from lightloom.decision.purchases import CAPITAL, POWER, Purchase
from lightloom.decision.verdict import (
    AloneCarries,
    Cheapest,
    Level,
    NoneBought,
    Offer,
    Single,
    Unpriced,
)
from lightloom.report.decisions import headline
from lightloom.report.decisions.leaders import LeastPower, SamePower, least_power

# $500,000 against $250,000 and 300 tunable transceivers, $385,000 to $446,800 in total.
ESN = bought("esn", switch=100)
SIRIUS = bought("sirius", switch=50, tunable_transceiver=300)


def bounds(found: Range | None) -> tuple[float, float]:
    """Returns the ends of a range in three digits."""
    assert found is not None
    low, high = (float(f"{float(end):.3g}") for end in (found.low, found.high))
    return low, high


def price_of(found: Overturn | None) -> tuple[str, bool, str, tuple[float, float]]:
    """Returns the rival, whether it is cheaper below the price, the part, and the price."""
    assert found is not None
    return found.rival, found.below, found.part, bounds(found.price)


def test_a_winner_with_the_price_that_would_overturn_it() -> None:
    """($500,000 − $250,000) ÷ 300 = $833.33, 2.08 × $400; delivered are 3,200 Gb/s."""
    found = verdict.verdict([ESN, SIRIUS])
    assert isinstance(found, Cheapest)
    assert (found.winner.label, bounds(found.winner.cost)) == ("sirius", (120, 140))
    assert price_of(found.overturn) == ("esn", False, "tunable-transceiver", (833, 833))
    assert found.overturn is not None
    assert found.overturn.of == "transceiver"
    assert bounds(found.overturn.times) == (2.08, 2.08)
    assert bounds(found.overturn.book) == (450, 656)
    assert bounds(found.overturn.book_times) == pytest.approx((1.13, 1.64), abs=0.01)
    assert lead([ESN, SIRIUS]) == Least("sirius", undone=False, some=False)
    times = remarks.multiples([ESN, SIRIUS], CAPITAL)
    assert times is not None
    assert times.leaders == ("sirius",)
    assert [(label, bounds(x)) for label, x in times.others] == [("esn", (1.12, 1.3))]


def test_where_ranges_overlap_nobody_wins_and_the_price_that_decides_is_told() -> None:
    """$430,000 to $512,400 against $500,000: the costs are equal at $250,000 ÷ 400 = $625."""
    level = bought("sirius", switch=50, tunable_transceiver=400)
    found = lead([ESN, level])
    assert isinstance(found, Times)
    assert (found.dearer, found.cheaper, found.undone) == ("esn", "sirius", False)
    assert (float(found.times.low), float(found.times.high)) == pytest.approx(
        (0.976, 1.163), abs=1e-3
    )
    both = verdict.verdict([ESN, level])
    assert isinstance(both, Level)
    costs = [(one.label, bounds(one.cost)) for one in both.offers]
    assert costs == [("sirius", (134, 160)), ("esn", (156, 156))]
    assert price_of(both.overturn) == ("sirius", True, "tunable-transceiver", (625, 625))
    assert remarks.other_prices([ESN, level]) == []


def test_a_price_that_both_share_does_not_make_them_level() -> None:
    """Ranges overlap widely, but one bill has all parts of the other, and $50,000 more."""
    less, more = (
        bought(name, switch=switches, tunable_transceiver=900)
        for name, switches in (("less", 50), ("more", 60))
    )
    values = [CAPITAL.value(p) for p in (less, more)]
    assert values[0] is not None
    assert values[1] is not None
    assert values[0].high > values[1].low
    assert [p.label for p in leaders([less, more], CAPITAL)] == ["less"]


def test_less_than_3_percent_is_level() -> None:
    both = [bought("a", switch=100), bought("b", switch=102)]
    assert lead(both) == Same(("a", "b"), undone=False)
    found = verdict.verdict(both)
    assert isinstance(found, Level)
    assert ([one.label for one in found.offers], found.overturn, found.near) == (
        ["a", "b"],
        None,
        True,
    )
    assert [bounds(one.cost) for one in found.offers] == [(156, 156), (159, 159)]


def test_what_arrives_counts_and_not_what_was_bought() -> None:
    """Both fabrics have the same parts, and one delivered a quarter more: no price changes that."""
    more, less = bought("more", switch=100), bought("less", switch=100, delivered=0.4)
    found = verdict.verdict([less, more])
    assert isinstance(found, Cheapest)
    assert (found.winner.label, bounds(found.winner.cost)) == ("more", (156, 156))
    assert found.overturn is None


def test_an_unknown_price_has_a_break_even() -> None:
    """($385,000 to $446,800 − $250,000) ÷ 10 per rotor switch."""
    opera = bought("opera", switch=50, rotor_switch=10)
    (lacking,) = verdict.unpriced([SIRIUS, opera])
    assert (lacking.label, lacking.parts, lacking.than) == ("opera", ("rotor-switch",), "sirius")
    assert price_of(lacking.below) == ("opera", True, "rotor-switch", (13_500, 19_700))
    assert lead([ESN, SIRIUS, opera]) == Least("sirius", undone=False, some=True)
    dear = bought("dear", switch=200, rotor_switch=1)
    (unpriced,) = verdict.unpriced([SIRIUS, dear])
    assert unpriced == Unpriced("dear", ("rotor-switch",), than="sirius", below=None)
    missing = Unpriced("opera", ("rotor-switch",))
    assert verdict.verdict([opera]) == NoneBought("no total", (missing,))


def test_one_fabric_and_who_alone_carries_the_load() -> None:
    cost = Range(Fraction(625, 4), Fraction(625, 4))
    assert lead([ESN]) == Only("esn", cost, ESN.cost.book.currency)
    offer = Offer("esn", cost, ESN.cost.book.currency)
    assert verdict.verdict([ESN]) == Single(offer)
    late = bought("half", switch=50, carries=False)
    assert lead([ESN, late]) == Only("esn", cost, ESN.cost.book.currency, others=True)
    assert lead([ESN, replace(late, limit_s=0.01)]).limit_s == 0.01
    assert lead([late]) == NoneCarries()
    assert lead([bought("x", rotor_switch=1)]) == NoTotal()
    alone = verdict.verdict([ESN, late])
    assert isinstance(alone, AloneCarries)
    assert (alone.winner, [one.label for one in alone.late]) == (offer, ["half"])
    lower = remarks.lower_load([ESN, late])
    assert lower is not None
    assert (lower.leader, [label for label, _ in lower.fabrics]) == ("esn", ["half"])
    assert [bounds(cost) for _, cost in lower.fabrics] == [(39.1, 39.1)]
    assert bounds(lower.most) == (78.1, 78.1)
    nothing = bought("dead", switch=1, delivered=0)
    assert verdict.verdict([nothing]) == NoneBought("nothing delivered")


def test_seeds_are_compared_one_by_one() -> None:
    """The drawn load differs by half between seeds; the fabrics differ by the same quarter in each
    seed."""
    one = bought("one", seeds=(0.40, 0.50, 0.60), switch=100)
    other = bought("other", seeds=(0.32, 0.40, 0.48), switch=100)
    found = share(other, one, CAPITAL)
    assert found is not None
    assert float(found.low) == pytest.approx(1.25)
    assert float(found.high) == pytest.approx(1.25)
    assert ahead(one, other, CAPITAL)
    torn = bought("torn", seeds=(0.60, 0.40, 0.32), switch=100)
    assert not ahead(one, torn, CAPITAL)
    level = verdict.verdict([one, torn])
    assert isinstance(level, Level)
    assert (level.overturn, level.near) == (None, False)


def test_power_is_told_where_another_draws_less() -> None:
    """50 kW against 25 kW and 300 × 12 to 14 W; a fabric of MEMS switches has no known power
    here."""
    found = remarks.multiples([ESN, SIRIUS], POWER)
    assert found is not None
    assert (found.leaders, bounds(found.least)) == (("sirius",), (8_940, 9_120))
    assert [(label, bounds(x)) for label, x in found.others] == [("esn", (1.71, 1.75))]
    assert remarks.less_power([ESN, SIRIUS]) is None
    # 10 × 500 W + 200 × 12 to 14 W, and $140,000 or more, against 10 kW and $100,000.
    dark = bought("dark", switch=10, tunable_transceiver=200)
    bright = bought("bright", switch=20)
    assert [p.label for p in leaders([dark, bright], CAPITAL)] == ["bright"]
    less = remarks.less_power([dark, bright])
    assert less is not None
    assert (less.leaders, bounds(less.least)) == (("dark",), (2_310, 2_440))


def test_the_sentences_of_decisions_are_those_of_the_golden_file() -> None:
    """To bless a change: LIGHTLOOM_BLESS=1, and look at the difference."""
    opera, dear = bought("opera", switch=50, rotor_switch=10), bought("dear", rotor_switch=99)
    late = bought("half", switch=50, carries=False)
    dark = bought("dark", switch=10, tunable_transceiver=200)
    more, less = bought("more", switch=100), bought("less", switch=100, delivered=0.4)
    cases = (
        *([ESN], [ESN, SIRIUS], [ESN, late], [late], [more, less], [opera], [SIRIUS, opera]),
        *([ESN, bought("sirius", switch=50, tunable_transceiver=400)], [dark, SIRIUS, opera]),
        *([bought("a", switch=100), bought("b", switch=102)], [bought("dead", delivered=0)]),
    )
    lines = [sentences.verdict(verdict.verdict(one)) for one in cases]
    lines += [sentences.unpriced(one) for one in verdict.unpriced([SIRIUS, opera, dear])]
    for measure in (CAPITAL, POWER):
        lines.append(sentences.multiples(remarks.multiples([ESN, SIRIUS], measure)))
    lower, power = remarks.lower_load([ESN, late]), remarks.less_power([dark, SIRIUS])
    assert lower is not None
    lines.append(sentences.lower_load(lower))
    lines += [] if power is None else [sentences.less_power(power)]
    golden("decisions.txt", lines)


counts = st.integers(0, 60)
fabrics = st.lists(st.tuples(counts, counts, st.integers(1, 5)), min_size=1, max_size=6)


def purchases(found: list[tuple[int, int, int]]) -> list[Purchase]:
    return [
        bought(str(i), switch=switches + 1, tunable_transceiver=lasers)
        for i, (switches, lasers, _) in enumerate(found)
    ]


@example([(40, 0, 1), (39, 0, 2)])  # 2.5 % in dollars and watts: one mark, not two
@given(fabrics)
def test_the_front_is_that_of_a_search_of_all_pairs_and_corners(
    found: list[tuple[int, int, int]],
) -> None:
    """A fabric is better if it is not worse in all three values at every corner of the prices, and
    certainly better in one, in dollars or watts by 3 %. Among the remaining ones, it is also better
    if it is faster and costs at most 3 % more at every corner."""
    figures = {str(i): figure for i, (_, _, figure) in enumerate(found)}

    def standing(one: str, other: str) -> int:
        a, b = figures[one], figures[other]
        return 0 if a == b else (1 if a < b else -1)

    def corners(switches: int, lasers: int) -> tuple[list[int], list[int]]:
        parts = switches + 1
        dollars = [5000 * parts + laser * lasers for laser in (450, 656)]
        return dollars, [500 * parts + laser * lasers for laser in (12, 14)]

    def at_corners(other: int, one: int) -> list[list[tuple[int, int]]]:
        return [
            list(zip(a, b, strict=True))
            for a, b in zip(corners(*found[other][:2]), corners(*found[one][:2]), strict=True)
        ]

    def beats(other: int, one: int) -> bool:
        pairs = at_corners(other, one)
        better = standing(str(other), str(one))
        if better < 0 or any(a > b for pair in pairs for a, b in pair):
            return False
        return better > 0 or any(all(a < 0.97 * b for a, b in pair) for pair in pairs)

    def beats_at_equal_cost(other: int, one: int) -> bool:
        faster = standing(str(other), str(one)) > 0
        return faster and all(100 * a <= 103 * b for p in at_corners(other, one) for a, b in p)

    everyone = range(len(found))
    better = {one: [o for o in everyone if o != one and beats(o, one)] for one in everyone}
    left = [one for one in everyone if not better[one]]
    better |= {o: [p for p in left if p != o and beats_at_equal_cost(p, o)] for o in left}
    expected = {str(one): [str(o) for o in others] for one, others in better.items()}
    assert behind(purchases(found), standing) == expected
    assert [] in expected.values()


@given(st.tuples(counts, counts), st.tuples(counts, counts))
def test_at_the_overturning_price_the_order_turns(
    one: tuple[int, int], other: tuple[int, int]
) -> None:
    """Slightly beyond this price, and at every price of the other parts, the fabric that was behind
    is cheaper."""
    pair = [
        bought(name, switch=switches + 1, tunable_transceiver=lasers)
        for name, (switches, lasers) in {"a": one, "b": other}.items()
    ]
    first = leaders(pair, CAPITAL)
    assume(len(first) == 1)
    rival = next(p for p in pair if p is not first[0])
    found = nearest(first[0], rival)
    if found is None:
        return
    beyond = found.price.low * Fraction(999, 1000) if found.below else found.price.high * 2
    book = BOOK.with_price(found.part, Range.of(beyond))
    totals = {p.label: p.cost.form for p in pair}
    prices = {part: book.price(part) for part in ("switch", "tunable-transceiver")}
    for corner in product(*({r.low, r.high} for r in prices.values() if r)):
        at = dict(zip(prices, corner, strict=True))
        assert totals[rival.label].at(at) < totals[first[0].label].at(at)


@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 20))
def test_an_unknown_price_breaks_even_where_totals_are_equal(
    switches: int, own: int, rotors: int
) -> None:
    first = bought("first", switch=switches)
    found = of_unknown(first, bought("rotor", switch=own, rotor_switch=rotors))
    if found is None:
        assert own >= switches
        return
    assert 5000 * own + rotors * found.price.low == 5000 * switches


def test_who_delivered_less_and_still_carried_the_load_is_named() -> None:
    best, near = bought("a", delivered=0.5, switch=3), bought("b", delivered=0.48, switch=2)
    less, late = (
        bought("c", delivered=0.45, switch=1),
        bought("d", delivered=0.2, switch=1, carries=False),
    )
    assert remarks.less_goodput([best, near]) is None
    told = (
        "Over the whole run the goodput of c is 10 % less than that of a. Each fabric's cost is "
        "divided by its own goodput."
    )
    found = remarks.less_goodput([best, near, less, late])
    assert sentences.less_goodput(found, "Over the whole run") == told


def test_a_run_that_waited_for_its_last_flows_prices_nobody() -> None:
    """Equal bills; one fabric delivered half of the other's goodput in a run whose last flows
    arrived long after the others, so that the load that it carries is unknown."""
    fat, thin = (bought(name, switch=50, tunable_transceiver=400) for name in ("fat", "thin"))
    assert fat.delivered is not None
    half = replace(fat.delivered, mean=fat.delivered.mean / 2)
    slow = replace(thin, delivered=half, waited=True, windowed=False)
    assert leaders([fat, slow], CAPITAL) == []
    assert [p.label for p in unsettled([fat, slow])] == ["thin"]
    assert lead([fat, slow]) == TooShort(windowed=False)
    assert [p.label for p in leaders([fat, replace(slow, waited=False)], CAPITAL)] == ["fat"]


ONE = Only("a", Range(Fraction(2), Fraction(3)), "USD", others=True)
#: Every title that a page and a terminal print.
TITLES: dict[str, Lead] = {
    "The window is too short to tell which fabric costs least": TooShort(windowed=True),
    "The run is too short to tell which fabric costs least": TooShort(windowed=False),
    "No fabric carries this traffic": NoneCarries(),
    "No fabric that carries this traffic has a total price": NoTotal(),
    "a costs $2.00 to $3.00 per Gb/s delivered": replace(ONE, others=False),
    "a delivers the most by the end of the run, at $2.00 to $3.00 per Gb/s delivered": replace(
        ONE, undone=True
    ),
    "Only a carries this traffic, at $2.00 to $3.00 per Gb/s delivered": ONE,
    "Only a carries this traffic within run.limit = 10.0 ms, "
    "at $2.00 to $3.00 per Gb/s delivered": replace(ONE, limit_s=0.01),
    "a, b and c cost the same per delivered Gb/s": Same(("a", "b", "c"), undone=False),
    "a costs 1.10 to 1.20 times as much as b per delivered Gb/s": Times(
        "a", "b", Range(Fraction(11, 10), Fraction(6, 5)), undone=False
    ),
    "Prices decide which of a and b costs least per delivered Gb/s": PricesDecide(
        ("a", "b"), undone=False
    ),
    "a costs least per delivered Gb/s of those with prices": Least("a", undone=False, some=True),
    "The run ended before its flows did: a costs least per delivered Gb/s": Least(
        "a", undone=True, some=False
    ),
}


@pytest.mark.parametrize("title", TITLES)
def test_each_lead_has_its_title(title: str) -> None:
    assert sentences.title(TITLES[title]).replace("\u00a0", " ") == title


def test_the_fabric_that_draws_the_least_power() -> None:
    """50 kW against 25 kW and 300 transceivers of 12 to 14 W.

    A difference below 3 % counts as level.
    """
    times = Range(Fraction(50_000, 29_200), Fraction(50_000, 28_600))
    third, near = bought("third", switch=300), bought("near", switch=101)
    assert least_power([ESN, SIRIUS]) == LeastPower(("sirius",), None, times)
    assert least_power([ESN, SIRIUS, third]) == LeastPower(("sirius",), "esn", times)
    assert least_power([ESN, near, third]) == LeastPower(("esn", "near"))
    assert least_power([ESN, near]) == SamePower()
    assert least_power([ESN]) is None


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (
            LeastPower(("a",), None, Range(Fraction(5, 4), Fraction(5, 4))),
            "a draws 20 % less power",
        ),
        (LeastPower(("a",), "b", None), "a draws less power than b"),
        (LeastPower(("a", "b")), "a and b draw the least power"),
        (SamePower(), "the fabrics draw about the same power"),
        (None, ""),
    ],
)
def test_each_finding_about_power_has_its_words(found: Any, text: str) -> None:
    assert headline.power(found) == text
