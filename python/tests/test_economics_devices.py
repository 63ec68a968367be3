"""Bills of fabrics that name their devices, compared with counts and sums by hand."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from economics_support import counts, experiment

from lightloom import costs as economics
from lightloom.costs import wording
from lightloom.costs.bills import circuits, rotor
from lightloom.costs.network import Network
from lightloom.costs.pricing import FabricCost, Line
from lightloom.devices.of_fabrics import lasers_of

#: 32 racks with 12 uplinks have 384 transceivers of 50 Gb/s, which are 48 of the price book's.
CLUSTER = {"racks": 32, "servers_per_rack": 8, "rack_rate": "400 Gb/s"}


def sirius(share: int, **changes: Any) -> dict[str, Any]:
    devices = {"preset": "sirius", "link": {"share": share}, **changes}
    return experiment("sirius", CLUSTER, uplinks=12, uplink_plan="wide", devices=devices)


def priced(table: dict[str, Any], book: str = "sirius-2020") -> FabricCost:
    (found,) = economics.cost(table, book).fabrics.values()
    return found


def line(cost: FabricCost, part: str) -> Line:
    (found,) = [one for one in cost.lines if one.part == part]
    return found


@pytest.mark.parametrize("share", [2, 3, 4, 6])
def test_sirius_buys_a_chip_for_so_many_transceivers_as_share_it(share: int) -> None:
    cost = priced(sirius(share))
    found = counts(cost)
    assert found["laserless-transceiver"] == 48
    assert found["tunable-laser"] == Fraction(32 * 12, share)
    assert "tunable-transceiver" not in found
    chips = f"32 racks × {12 // share} chips"
    said = f"{chips}; from devices: one feeds {share} transceivers, of 12 a rack"
    assert line(cost, "tunable-laser").formula == said


def test_the_last_chip_of_a_rack_is_bought_whole() -> None:
    assert counts(priced(sirius(8)))["tunable-laser"] == 32 * 2


def test_a_bank_is_bought_laser_by_laser() -> None:
    """Slots of 100 ns hide 92 ns of tuning with two lasers, and a third laser is a spare (§4.5)."""
    for share, chips in ((8, 2), (1, 12)):
        cost = priced(sirius(share, laser={"kind": "tunable-bank"}, slot="100 ns"))
        found = line(cost, "tunable-laser")
        assert found.count == 32 * chips * 3
        assert found.formula.startswith(f"32 racks × {chips} chips × 3 lasers; ")
    four = sirius(8, laser={"kind": "tunable-bank", "spares": 2}, slot="100 ns")
    assert counts(priced(four))["tunable-laser"] == 32 * 2 * 4


def test_the_transceivers_of_sirius_by_hand_to_the_cent() -> None:
    """48 transceivers of $400 cost 1 − 0.16 to 1 − 0.0625 of this without their fixed laser.

    A tunable laser costs 3 · 0.0625 to 5 · 0.16 of a transceiver, for any rate of the uplinks that
    it supplies.
    """
    for share, lasers in ((8, 64), (4, 96), (1, 384)):
        cost = priced(sirius(share))
        bare, laser = (line(cost, part).cost for part in ("laserless-transceiver", "tunable-laser"))
        assert bare is not None
        assert laser is not None
        assert (bare.low, bare.high) == (Fraction("16128.00"), Fraction("18000.00"))
        assert (laser.low, laser.high) == (lasers * 75, lasers * 320)


def test_what_is_without_a_laser_and_one_laser_are_the_transceiver_of_the_book() -> None:
    """At each limit of l and m, if a channel has the rate of the book's transceiver: 1 − l +
    l·m."""
    devices = {"preset": "sirius", "channel_rate": "400 Gb/s", "cdr": {"jitter": "0 ps"}}
    devices |= {"link": {"share": 1}, "slot": "100 ns"}
    cluster = {"racks": 32, "servers_per_rack": 8, "rack_rate": "3200 Gb/s"}
    table = experiment("sirius", cluster, uplinks=12, uplink_plan="wide", devices=devices)
    own = priced(table)
    whole = line(own, "tunable-transceiver")
    assert whole.count == 384  # of 32 racks
    assert whole.formula.endswith("; from devices: a laser each")
    prices = {part: own.book.price(part) for part in ("laserless-transceiver", "tunable-laser")}
    bare, laser = prices.values()
    assert bare is not None
    assert laser is not None
    assert whole.price is not None
    assert (bare.high + laser.low, bare.low + laser.high) == (whole.price.low, whole.price.high)


def test_lasers_that_are_shared_draw_as_few_as_there_are() -> None:
    shared, own = (priced(sirius(share)).power for share in (4, 1))
    assert shared is not None
    assert own is not None
    # 96 and 384 lasers of 3 to 5 W; the 48 transceivers draw 9 W without a laser.
    assert (own.low - shared.low, own.high - shared.high) == (288 * 3, 288 * 5)


def test_a_fabric_that_names_no_devices_has_the_transceivers_of_the_book() -> None:
    """One transceiver of the book serves eight uplinks and has one laser, as many uplinks as a
    laser supplies by the devices."""
    bare = experiment("sirius", CLUSTER, uplinks=8, uplink_plan="wide")
    shared = sirius(8)
    shared["fabric"][0]["uplinks"] = 8
    one, other = priced(bare), priced(shared)
    assert counts(one)["tunable-transceiver"] == counts(other)["tunable-laser"] == 32
    assert not any("from devices" in line.formula for line in one.lines)
    assert one.power is not None
    assert other.power is not None
    assert one.power.low == other.power.low  # 12 W, and 9 W and 3 W
    assert len(list(wording.lasers(economics.cost(bare)))) == 1
    assert not list(wording.lasers(economics.cost(shared)))


def test_gratings_are_those_of_the_devices_by_the_port_of_the_books() -> None:
    """The plan `wide`: 3 banks of 4 uplinks, with 16 gratings each of 8 ports for 32 racks.

    The book's grating has 64 ports and costs up to a quarter of $5,000.
    """
    for ports in (16, 100):
        cost = priced(sirius(4, grating={"ports": ports}))
        found = line(cost, "grating")
        assert found.count == Fraction(48 * ports, 64)
        assert found.cost is not None
        assert found.cost.high == Fraction(48 * ports, 64) * 1250
        assert found.formula.endswith(f"; from devices: of {ports} ports, 8 in use")
    table = sirius(4, grating={"ports": 100})
    said = list(wording.by_devices(economics.cost(table, "sirius-2020")))
    (note,) = said
    assert "of 100 ports" in note
    assert "prices one of 64" in note
    assert not list(wording.by_devices(economics.cost(sirius(4, grating={"ports": 64}))))


@pytest.mark.parametrize(
    ("kind", "preset", "book", "ports", "boxes"),
    [
        ("cthrough", "mems-cthrough", "cthrough-2010", 320, Fraction(320, 80)),
        ("hydra", "mems-hydra", "hydra-2013", 320, Fraction(2)),
        ("cthrough", "mems-cthrough", "hydra-2013", 64, Fraction(64, 320)),
    ],
)
def test_circuit_switches_are_those_of_the_devices(
    kind: str, preset: str, book: str, ports: int, boxes: Fraction
) -> None:
    more = {"planes": 2} if kind == "hydra" else {}
    devices = {"preset": preset, "ports": ports}
    table = experiment(kind, circuit_rate="10 Gb/s", devices=devices, **more)
    cost = priced(table, book)
    found = line(cost, "circuit-switch")
    assert found.count == boxes
    assert found.formula.endswith(f"; from devices: of {ports} ports")
    said = list(wording.by_devices(economics.cost(table, book)))
    of_the_book = {"cthrough-2010": 80, "hydra-2013": 320}[book]
    assert bool(said) == (ports != of_the_book)


def test_a_port_of_a_circuit_switch_costs_what_the_book_says() -> None:
    table = experiment("cthrough", circuit_rate="10 Gb/s", devices="mems-cthrough")
    found = line(priced(table, "cthrough-2010"), "circuit-switch")
    assert found.cost is not None
    assert (found.cost.low, found.cost.high) == (320 * 200, 320 * 700)


@pytest.mark.parametrize(("racks", "boxes"), [(160, 1), (161, 5)])
def test_two_stages_for_a_link_of_several_ports_are_said(racks: int, boxes: int) -> None:
    """With two pairs of fibres per link, 160 racks fill 320 ports, and 161 racks need three leaves
    and two spines; the link budget is that of one switch."""
    cluster = {"racks": racks, "servers_per_rack": 8, "server_rate": "800 Gb/s"}
    table = experiment("cthrough", cluster, circuit_rate="800 Gb/s", devices="mems-cthrough")
    costs = economics.cost(table, "ai-cluster-2026")
    found = line(costs.fabrics["cthrough"], "circuit-switch")
    assert found.count == Fraction(boxes * 320, 136)
    told = [text for text in wording.by_devices(costs) if "two stages" in text]
    assert len(told) == (boxes > 1)
    assert all("2 ports by ai-cluster-2026" in t for t in told)
    assert all(", 322 a plane" in t for t in told)


def test_a_ring_says_how_many_wavelengths_its_devices_have() -> None:
    table = experiment("mordia", {"racks": 16, "rack_rate": "10 Gb/s"}, devices="wss-ring")
    found = line(priced(table), "wss-output")
    assert found.count == 16
    assert found.formula == "16 racks; from devices: a ring has 44 wavelengths"


@pytest.mark.parametrize("bill", [circuits.beside_tree, rotor.bill])
def test_every_fabric_of_circuits_that_names_a_switch_is_billed_by_it(bill: Any) -> None:
    fabric = {
        "devices": {"constraint": "matching", "ports": 96},
        **{"planes": 2, "switches": 2, "electrical": False},
        **{"circuit_rate": "10 Gb/s", "link_rate": "10 Gb/s"},
    }
    network = Network("x", 16, 4, Fraction(10**10), fabric)
    boxes = [n for n in bill(network, economics.prices("hydra-2013")) if "switch" in n.part][-1]
    assert boxes.formula.count("from devices: of 96 ports") == 1


def test_the_share_of_a_laser_does_not_depend_on_how_many_ports_are_in_use() -> None:
    """With slots of a microsecond, an epoch over gratings of 16 ports is so long that clocks and
    gains drift too far; a fabric of 4 racks uses 4 ports."""
    devices = {"preset": "sirius", "laser": {"kind": "dsdbr"}}
    devices["amplitude"] = {"drift": "40000 dB/s"}
    cluster = {"racks": 32, "servers_per_rack": 8, "rack_rate": "400 Gb/s"}
    table = experiment("sirius", cluster, uplinks=12, devices=devices)
    assert priced(table).lines
    design = {"laser": {"kind": "dsdbr", "output": "16 dBm"}, "grating": {"ports": 16}}
    found = lasers_of({"uplinks": 12, "devices": design})
    assert found is not None
    assert (found.share, found.chips) == (8, 2)
