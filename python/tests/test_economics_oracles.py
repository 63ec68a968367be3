"""The calculations of the papers, exact to the cent and the watt."""

from fractions import Fraction
from pathlib import Path

import pytest
from cli_support import ROOT
from economics_support import book, counts, experiment, network
from scipy.optimize import brentq

import lightloom
from lightloom import costs as economics
from lightloom.cli.cost_text import solved
from lightloom.costs import book as books
from lightloom.costs import pricing, readings
from lightloom.costs.amounts import Range
from lightloom.costs.equal import break_evens
from lightloom.costs.given import with_prices
from lightloom.costs.papers import cthrough, hydra, sirius
from lightloom.costs.rack_switches import More
from lightloom.costs.solve import equal_cost

HYDRA = {"racks": 320, "servers_per_rack": 32, "server_rate": "10 Gb/s"}


def test_the_scale_tax_of_sirius() -> None:
    assert sirius.watts_per_tbps(0) == 50
    assert sirius.watts_per_tbps(4) == Fraction("486.71875")
    assert sirius.watts_per_tbps(4) * 100_000 == Fraction("48671875")  # 100 Pb/s: 48.7 MW
    assert sirius.reach(3) == 65_536


def test_a_clos_of_4000_racks() -> None:
    found = sirius.clos(4000, 12_800_000_000_000, 4)
    assert (found.switches, found.transceivers) == (14_000, 768_000)
    assert (found.power, found.cost) == (14_680_000, 377_200_000)


def test_the_bill_of_a_clos_of_4000_racks_is_the_same() -> None:
    cluster = {"racks": 4000, "servers_per_rack": 32, "server_rate": "400 Gb/s"}
    cost = pricing.of_network("clos", network("clos", cluster), books.load("sirius-2020"))
    found = counts(cost)
    assert (found["switch"], found["transceiver"]) == (14_000, 768_000)
    assert cost.capital == Range.of(377_200_000)
    assert cost.power == Range.of(14_680_000)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("F", (22.5, 25.6, 28.0, 53.4, 63.4)),
        ("G", (23.8, 25.9, 27.8, 53.1, 54.8)),
        ("H", (23.1, 25.7, 27.9, 53.3, 54.7)),
        ("A", (41.4, 44.9, 41.9, 75.3, 62.0)),
    ],
)
def test_the_readings_of_fig_6(name: str, expected: tuple[float, ...]) -> None:
    reading = readings.load(name)
    assert (reading.basis == "fitted") == (name != "A")
    found = readings.figures(reading, *readings.components(books.load("sirius-2020")))
    # 44.852 is rounded up in the specification.
    assert [float(v) for v in found.values()] == pytest.approx(expected, abs=0.06)


def test_which_figures_each_reading_meets() -> None:
    parts = readings.components(books.load("sirius-2020"))
    paper = readings.published()
    met = {
        name: [
            k
            for k, m in readings.meets(readings.figures(readings.load(name), *parts), paper).items()
            if m
        ]
        for name in readings.names()
    }
    assert met["A"] == []
    assert met["F"] == ["power_3x", "power_5x", "cost", "cost_osub"]
    assert met["G"] == ["power_5x", "cost", "cost_osub", "cost_electrical"]
    assert met["H"] == list(paper)


def test_table_one_of_hydra() -> None:
    none, one = hydra.price(hydra.hydra(0)), hydra.price(hydra.hydra(1))
    assert none == Range.of(16_696_320)
    assert one == Range.of(16_696_320 + 630_000)
    expected = {1: 58_764_800, 4: 32_982_400, 25: Fraction("22002380.8")}
    for beta, price in expected.items():
        assert hydra.price(hydra.fat_tree(beta)) == Range.of(price)


@pytest.mark.parametrize("planes", [1, 8, 32])
def test_the_bill_of_hydra_is_table_one(planes: int) -> None:
    made = network("hydra", HYDRA, planes=planes, circuit_rate="10 Gb/s")
    cost = pricing.of_network("hydra", made, books.load("hydra-2013"))
    assert cost.capital == Range.of(16_696_320 + 630_000 * planes)


@pytest.mark.parametrize(("beta", "spared"), [(1, 0), (4, 40)])
def test_the_bill_of_the_fat_tree_differs_from_table_one_in_two_counts(
    beta: int, spared: int
) -> None:
    """The paper counts 5,120 cables for 10,240 servers of the tree, and 10,240 for those of HydRA.

    For the middle level it counts 320 ÷ √β switches, in which a quarter of the ports have no link
    at β = 4.
    """
    made = network("tree", HYDRA, levels=3, racks_per_pod=16, oversubscription=beta)
    cost = pricing.of_network("tree", made, books.load("hydra-2013"))
    table = hydra.price(hydra.fat_tree(beta))
    assert cost.capital == Range.of(table.low + 5_120 * 28 - spared * 30_000)


@pytest.mark.parametrize("beta", [2, 3, 4, 10, 25, 40])
def test_equal_cost_pairs_are_those_of_brentq(beta: int) -> None:
    def excess(planes: float) -> float:
        tree = 320 + 320 / beta**0.5 + 160 / beta
        ends = 10_240 + 20_480 / beta**0.5 + 20_480 / beta
        cables = 5_120 + 10_240 / beta**0.5 + 10_240 / beta
        fat = tree * 30_000 + ends * 665 + cables * 28
        own = 320 * 30_000 + 10_240 * 665 + 10_240 * 28
        return own + planes * (320 * 1600 + 110_000 + 320 * 25) - fat

    assert float(hydra.equal_planes(beta)) == pytest.approx(brentq(excess, -50, 200), rel=1e-9)


def test_the_low_rate_network_is_a_parameter() -> None:
    assert hydra.equal_planes(4) - hydra.equal_planes(4, 630_000) == 1


def test_the_cost_paragraph_of_cthrough() -> None:
    assert cthrough.price() == Range.of(52 * 700 + 52 * 350 + 80 * 200, 110_600)
    assert cthrough.large_switches() == (7, 4)


def test_the_bill_of_cthrough_is_its_paragraph() -> None:
    cluster = {"racks": 52, "servers_per_rack": 40, "server_rate": "1 Gb/s"}
    made = network("cthrough", cluster, circuit_rate="10 Gb/s")
    cost = pricing.of_network("cthrough", made, books.load("cthrough-2010"))
    assert cost.capital == cthrough.price()


def test_at_its_break_even_two_fabrics_cost_the_same() -> None:
    cluster = {"racks": 64, "servers_per_rack": 8, "server_rate": "800 Gb/s"}
    book = books.load("ai-cluster-2026")
    clos = pricing.of_network("clos", network("clos", cluster), book)
    mirrors = network("hybrid", cluster, preset="mesh", planes=8)
    costs = [clos, pricing.of_network("mirrors", mirrors, book)]
    (even,) = break_evens(costs, "circuit-switch")
    assert (even.label, even.other, even.unit) == ("mirrors", "clos", "port")
    assert even.price is not None
    for end in (even.price.low, even.price.high):
        at = book.with_price("circuit-switch", Range.of(end))
        share = pricing.of_network("mirrors", mirrors, at).relative_to(clos)
        assert share is not None
        assert Fraction(1) in share
        assert end in (even.price.low, even.price.high)
    below = book.with_price("circuit-switch", Range.of(even.price.low - 1))
    cheaper = pricing.of_network("mirrors", mirrors, below).relative_to(clos)
    assert cheaper is not None
    assert cheaper.high < 1


def test_at_equal_cost_two_fabrics_cost_the_same() -> None:
    from lightloom import load

    table = experiment("hydra", HYDRA, planes=8, circuit_rate="10 Gb/s")
    tree = {"kind": "tree", "levels": 3, "racks_per_pod": 16, "oversubscription": 4}
    table["fabric"].append(tree)
    found = equal_cost(load(table), "hydra.planes=tree", books.load("hydra-2013"))
    assert found.value is not None
    costs = economics.cost(table, "hydra-2013").fabrics
    target = costs["tree"].capital
    assert target is not None
    exact = (target.low - 16_696_320) / 630_000
    assert float(found.value.low) == pytest.approx(float(exact), abs=2e-3)


@pytest.mark.parametrize(
    ("servers", "planes", "oversubscription", "known"),
    [
        # 10 Gb/s per port, 64 ports: 32 servers leave 32 ports for planes, and 40 servers leave 24.
        (32, 8, 1, (32, 1, 2)),
        (40, 8, 1, (24, 1, 2)),
        (32, 40, 1, None),  # two switches already
        (32, 8, 4, None),  # the tree costs less, and no second one is needed
    ],
)
def test_racks_that_need_a_second_switch_at_equal_cost_are_told(
    servers: int, planes: int, oversubscription: int, known: tuple[int, int, int] | None
) -> None:
    table = experiment("hydra", HYDRA, planes=planes, circuit_rate="10 Gb/s")
    table["cluster"]["servers_per_rack"] = servers
    tree = {"kind": "tree", "levels": 3, "racks_per_pod": 16, "oversubscription": oversubscription}
    table["fabric"].append(tree)
    more = equal_cost(lightloom.load(table), "hydra.planes=tree", books.load("hydra-2013")).more
    assert more == (None if known is None else More(*known))


def test_an_oversubscription_that_costs_what_another_network_does() -> None:
    from lightloom import load

    table = experiment("clos", oversubscription_at="rack", tiers=3)
    table["fabric"].append({"kind": "sirius"})
    at = books.load("sirius-2020").with_price("grating", Range.of(1250))
    at = at.with_price("tunable-transceiver", Range.of(500))
    found = equal_cost(load(table), "clos.oversubscription=sirius", at).value
    assert found is not None
    assert float(found.low) == pytest.approx(float(found.high), rel=0.01)
    table["fabric"][0]["oversubscription"] = float(found.low)
    costs = economics.cost(table, at).fabrics
    share = costs["clos"].relative_to(costs["sirius"])
    assert share is not None
    assert float(share.middle) == pytest.approx(1, abs=2e-3)


@pytest.mark.parametrize("racks", [16, 64, 256])
def test_an_equal_oversubscription_has_the_digits_that_are_printed(racks: int) -> None:
    """Counted by shares, a Clos that is oversubscribed at its racks costs a + b ÷ β."""
    at = books.load("sirius-2020").with_price("grating", Range.of(1250))
    at = at.with_price("tunable-transceiver", Range.of(500))
    cluster = {"racks": racks, "servers_per_rack": 8, "server_rate": "50 Gb/s"}
    shape = {"oversubscription_at": "rack", "tiers": 3}
    table = experiment("clos", cluster, **shape)
    table["fabric"].append({"kind": "sirius"})
    clos = [
        pricing.of_network(
            "clos", network("clos", cluster, **shape, oversubscription=beta), at
        ).capital
        for beta in (1, 2)
    ]
    sirius = pricing.of_network("sirius", network("sirius", cluster), at).capital
    assert clos[0] is not None
    assert clos[1] is not None
    assert sirius is not None
    part = 2 * (clos[0].low - clos[1].low)
    exact = part / (sirius.low - clos[0].low + part)
    found = equal_cost(lightloom.load(table), "clos.oversubscription=sirius", at)
    assert found.value is not None
    assert float(found.value.low) == pytest.approx(float(exact), abs=3e-6)
    assert solved(found).startswith(f"clos.oversubscription = {float(exact):.4g}: ")


def test_circuits_keep_their_rate_as_planes_are_added() -> None:
    """By default, the rate of a circuit is the rack's ÷ planes.

    When the cost is solved for planes, it is the rate of the experiment's table, so that the cost
    grows by $0.630 M per plane (Table I).
    """
    table = lightloom.load(ROOT / "examples" / "hydra-cost.toml").raw
    for fabric in table["fabric"]:
        if fabric["kind"] == "tree":
            fabric["oversubscription"] = 4
    book = books.load("hydra-2013")
    left_out = equal_cost(lightloom.load(table), "hydra.planes=tree", book).value
    for fabric in table["fabric"]:
        if fabric["kind"] == "hydra":
            fabric["circuit_rate"] = "10 Gb/s"
    given = equal_cost(lightloom.load(table), "hydra.planes=tree", book).value
    assert left_out is not None
    assert left_out == given


@pytest.mark.parametrize(("kind", "switches", "rate"), [("rotornet", 4, 100), ("opera", 4, 100)])
def test_links_keep_their_rate_as_rotors_are_added(kind: str, switches: int, rate: int) -> None:
    """By default, a link has the rack's 400 Gb/s ÷ switches, so that further switches would not
    change the cost of the racks."""
    book = with_prices(books.load("sirius-2020"), ["rotor-switch=3000"])
    found = []
    for more in ({}, {"link_rate": f"{rate} Gb/s"}):
        table = experiment(kind, switches=switches, **more)
        table["fabric"].append({"kind": "clos"})
        found.append(equal_cost(lightloom.load(table), f"{kind}.switches=clos", book).value)
    assert found[0] is not None
    assert found[0] == found[1]


def test_where_one_end_of_the_prices_alone_has_an_equal_the_other_end_is_said() -> None:
    """With transceivers at $1,500 there is a tree of equal cost; with those at $1 there is none,
    because the racks of any tree keep their links."""
    table = experiment("clos", tiers=3)
    table["fabric"].append({"kind": "sirius", "uplinks": 8})
    asked, part = "clos.oversubscription=sirius", "tunable-transceiver"
    book = books.load("sirius-2020").with_price("grating", Range.of(0))
    ranges = [Range(Fraction(1), Fraction(1500)), Range.of(1500), Range.of(1)]
    some, dear, cheap = (
        equal_cost(lightloom.load(table), asked, book.with_price(part, price)) for price in ranges
    )
    assert (some.value, cheap.value, cheap.some) == (None, None, None)
    assert some.some is not None
    assert dear.value is not None
    assert float(some.some) == pytest.approx(float(dear.value.low), abs=2e-3)
    assert "the other end, no" in solved(some)
    assert "no value from 1" in solved(cheap)
    assert "other end" not in solved(cheap)


def test_a_cost_that_jumps_over_another_is_never_equal(tmp_path: Path) -> None:
    """Eight uplinks ÷ o are whole numbers: 4 from o = 2 on ($33,440, by hand 16 × 1,000 + 128 ×
    100 + 64 × 10 + 4 × 1,000) and 3 from 8/3 on ($29,080); RotorNet costs $33,280."""
    same = {"circuit-transceiver": "transceiver", "circuit-cable": "cable"}
    same |= {f"tree-{part}": part for part in ("switch", "transceiver", "cable")}
    path = tmp_path / "book.toml"
    parts = {"switch": 'ports = 16\nrate = "10 Gb/s"\nprice = 1000\npower = 100'}
    parts |= {"transceiver": 'rate = "10 Gb/s"\nprice = 100\npower = 1'}
    parts |= {
        "cable": "price = 10\npower = 0",
        "rotor-switch": "ports = 32\nprice = 400\npower = 1",
    }
    text = book(16, **parts).replace("price = 5\n", "price = 0\n")
    text = text.replace("price = 1\npower = 0", "price = 0\npower = 0")
    path.write_text(text + "".join(f'[part.{a}]\nsame_as = "{b}"\n' for a, b in same.items()))
    clos = {"kind": "clos", "tiers": 2, "oversubscription_at": "rack", "link_rate": "10 Gb/s"}
    fabrics = [
        {"kind": "rotornet", "switches": 8},
        {**clos, "label": "c", "oversubscription": 2},
        {"kind": "tree", "label": "t"},
    ]
    cluster = {"racks": 16, "servers_per_rack": 8, "server_rate": "10 Gb/s"}
    loaded = lightloom.load(experiment("tree", cluster) | {"fabric": fabrics})
    found = equal_cost(loaded, "c.oversubscription=rotornet", books.load(path))
    assert found.value is not None
    assert float(found.value.low) == pytest.approx(8 / 3, abs=1e-4)
    assert found.jump is not None
    assert float(found.jump.low) == pytest.approx(29080 / 33280)
    assert float(found.jump.high) == pytest.approx(33440 / 33280)
    level = equal_cost(loaded, "t.oversubscription=c", books.load(path))
    assert level.value is not None
    assert float(level.value.low) == pytest.approx(2, abs=1e-4)
    assert level.jump is None
