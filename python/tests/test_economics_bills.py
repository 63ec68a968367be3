"""Counts of bills, compared with networks that are built edge by edge, and with worked examples."""

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from economics_support import book, counts, experiment, network
from hypothesis import given, settings
from hypothesis import strategies as st

import lightloom
from lightloom import _core, costs
from lightloom.config import price_books
from lightloom.costs import book as books
from lightloom.costs import pricing
from lightloom.costs.bills import bill_of, needs_of
from lightloom.costs.needs import stages
from lightloom.costs.parts import PARTS
from lightloom.failures import probing

KINDS = [entry["kind"] for entry in json.loads(_core.registry())]


def test_every_fabric_has_a_bill() -> None:
    assert [kind for kind in KINDS if bill_of(kind) is None] == []
    assert bill_of("wires") is bill_of("circuits") is None


@pytest.mark.parametrize("kind", KINDS)
def test_a_bill_names_known_parts_and_says_how_it_counts(kind: str) -> None:
    for name in price_books.names():
        needs = needs_of(network(kind), books.load(name))
        assert needs
        for need in needs:
            assert need.part in PARTS
            assert need.formula
            assert need.count(books.load(name)) >= 0


@pytest.mark.parametrize("kind", KINDS)
def test_doubling_the_servers_of_a_rack_never_saves(kind: str) -> None:
    if kind in ("lions", "flattened-butterfly"):
        pytest.skip("joins single nodes")
    few = {"racks": 16, "servers_per_rack": 4, "server_rate": "50 Gb/s"}
    many = few | {"servers_per_rack": 8}
    at = books.load("sirius-2020").with_price("circuit-switch", costs.Range.of(1, 2))
    for part in ("dwdm-transceiver", "wss-output", "rotor-switch"):
        at = at.with_price(part, costs.Range.of(10, 20))
    small, large = (pricing.of_network("x", network(kind, c), at).capital for c in (few, many))
    assert small is not None
    assert large is not None
    assert small.low <= large.low
    assert small.high <= large.high


@pytest.mark.parametrize("kind", KINDS)
@given(where=st.lists(st.fractions(0, 1), min_size=8, max_size=8))
@settings(max_examples=10, deadline=None)
def test_the_capital_of_every_fabric_contains_that_at_any_prices(
    kind: str, where: list[Fraction]
) -> None:
    made, at = network(kind), books.load("sirius-2020")
    for name in PARTS:
        if at.variable(name) == name:
            at = at.with_price(name, costs.Range.of(3, 10))
    cost = pricing.of_network("x", made, at)
    exact = at
    for name, share in zip(sorted(cost.form.counts), where, strict=False):
        exact = exact.with_price(name, costs.Range.of(3 + 7 * share))
    one = pricing.of_network("x", made, exact)
    assert cost.capital is not None
    assert one.capital is not None
    assert cost.capital.low <= one.capital.low
    assert one.capital.high <= cost.capital.high
    share = one.relative_to(cost)
    assert share is not None
    assert share.low <= 1 <= share.high


def fat_tree(ports: int, pods: int) -> nx.MultiGraph:
    """Returns a fat tree of switches with this number of ports, built cable by cable."""
    half = ports // 2
    graph = nx.MultiGraph()
    cores = -(-pods * half * half // ports)
    for pod in range(pods):
        for rack in range(half):
            for agg in range(half):
                graph.add_edge(("rack", pod, rack), ("agg", pod, agg))
        for link in range(half * half):
            graph.add_edge(("agg", pod, link // half), ("core", (pod * half * half + link) % cores))
    return graph


@pytest.mark.parametrize(("ports", "pods"), [(4, 4), (4, 2), (8, 8), (8, 4), (8, 6)])
def test_a_clos_has_the_boxes_and_cables_of_one_that_is_built(
    ports: int, pods: int, tmp_path: Path
) -> None:
    half = ports // 2
    graph = fat_tree(ports, pods)
    assert all(
        degree + (half if node[0] == "rack" else 0) <= ports for node, degree in graph.degree()
    )
    path = tmp_path / "book.toml"
    path.write_text(book(ports))
    cluster = {"racks": pods * half, "servers_per_rack": half, "server_rate": "10 Gb/s"}
    shape = {"racks_per_pod": half, "link_rate": "10 Gb/s", "tiers": 3}
    cost = pricing.of_network("clos", network("clos", cluster, **shape), books.load(path))
    found = counts(cost)
    assert found["switch"] == graph.number_of_nodes()
    assert found["cable"] == graph.number_of_edges()
    assert found["transceiver"] == 2 * graph.number_of_edges()
    assert found["server-cable"] == pods * half * half


@pytest.mark.parametrize(
    ("racks", "more", "tiers"),
    [
        (32, {}, 2),  # 64 ports: 1,024 servers in racks of 32, and 32 boxes above
        (64, {}, 2),
        (66, {}, 3),
        (64, {"oversubscription": 3}, 3),  # between pods and core
        (64, {"oversubscription": 3, "oversubscription_at": "rack"}, 2),
        (64, {"tiers": 3}, 3),
        (64, {"tiers": 4}, 4),
        (66, {"tiers": 2}, 3),
        (2048, {}, 3),
        (2112, {}, 4),
    ],
)
def test_a_clos_has_as_few_tiers_as_its_ports_allow(
    racks: int, more: dict[str, Any], tiers: int, tmp_path: Path
) -> None:
    """Boxes of 64 ports have 32 links down and 32 up, so that each further tier connects 32 times
    as many racks, and the last one 64 times."""
    path = tmp_path / "book.toml"
    path.write_text(book(64))
    cluster = {"racks": racks, "servers_per_rack": 32, "server_rate": "10 Gb/s"}
    made = network("clos", cluster, link_rate="10 Gb/s", **more)
    cost = pricing.of_network("clos", made, books.load(path))
    places = {line.where for line in cost.lines if line.part == "switch"}
    assert places == {"racks"} | {f"layer {tier}" for tier in range(2, tiers + 1)}
    if tiers == 2 and not more:
        # The number of links between the tiers is that of the servers; each box of the second tier
        # has 64 of them.
        assert counts(cost)["switch"] == racks + math.ceil(racks * 32 / 64)


def places(kind: str, path: Path, **keys: Any) -> dict[str, Fraction]:
    """Returns the number of switches of a network of 8 racks, by their place."""
    cluster = {"racks": 8, "servers_per_rack": 8, "server_rate": "10 Gb/s"}
    cost = pricing.of_network(kind, network(kind, cluster, **keys), books.load(path))
    found: dict[str, Fraction] = {}
    for line in cost.lines:
        found[line.where] = found.get(line.where, Fraction(0)) + line.count
    return found


@pytest.mark.parametrize(
    ("kind", "keys", "kept", "left_out"),
    [
        ("tree", {}, {"racks"}, {"layer 2"}),
        ("tree", {"levels": 3, "racks_per_pod": 4}, {"racks", "layer 2"}, {"layer 3"}),
        ("clos", {"racks_per_pod": 4}, {"racks", "layer 2"}, {"layer 3"}),
        ("clos", {"oversubscription_at": "rack"}, {"racks"}, {"layer 2"}),
        ("cthrough", {}, {"racks"}, {"beside circuits: layer 2"}),
        ("hydra", {}, {"racks"}, {"beside circuits: racks", "beside circuits: layer 2"}),
    ],
)
def test_a_tier_that_carries_nothing_is_not_billed(
    kind: str, keys: dict[str, Any], kept: set[str], left_out: set[str], tmp_path: Path
) -> None:
    """At 1,000:1 the tier has no boxes; at 999:1 all its boxes and the links to them are billed."""
    tree = 'ports = 8\nrate = "10 Gb/s"\nprice = 500\npower = 50'
    path = tmp_path / "book.toml"
    path.write_text(book(8, **{"tree-switch": tree}))
    low = places(kind, path, oversubscription=999, **keys)
    idle = places(kind, path, oversubscription=1000, **keys)
    named = {where for where in low if "layer" in where or where.endswith("racks")}
    assert kept | left_out <= named
    assert kept <= {*idle}
    beside = "beside circuits: " if kind in ("cthrough", "hydra") else ""
    links = {f"{beside}{end}" for where in idle for end in where.split(" to ")[1:]}
    assert not left_out & ({*idle} | links)
    assert sum(idle.values()) < sum(low.values())


def test_a_hybrid_of_1000_to_1_has_the_bill_of_one_without_a_tree(tmp_path: Path) -> None:
    path = tmp_path / "book.toml"
    path.write_text(book(8))
    alone = places("hybrid", path, policy="rotation", electrical=False)
    assert places("hybrid", path, policy="rotation", oversubscription=1000) == alone


@pytest.mark.parametrize(
    ("sizes", "hosts"), [([4, 4], 4), ([3, 3], 2), ([2, 4], 3), ([3, 3, 2], 4)]
)
def test_a_butterfly_has_the_wires_of_one_that_is_built(
    sizes: list[int], hosts: int, tmp_path: Path
) -> None:
    graph = nx.complete_graph(sizes[0])
    for size in sizes[1:]:
        graph = nx.cartesian_product(graph, nx.complete_graph(size))
    radix = hosts + max(degree for _, degree in graph.degree())
    path = tmp_path / "book.toml"
    path.write_text(book(radix))
    cluster = {"hosts": hosts * graph.number_of_nodes(), "server_rate": "10 Gb/s"}
    made = network("flattened-butterfly", cluster, routers=sizes, concentration=hosts)
    found = counts(pricing.of_network("mesh", made, books.load(path)))
    assert found["switch"] == graph.number_of_nodes()
    assert found["cable"] == graph.number_of_edges()
    assert found["transceiver"] == 2 * graph.number_of_edges()


@pytest.mark.parametrize(("racks", "beta"), [(8, 1), (8, 4), (16, 2)])
def test_a_tree_has_the_cables_of_one_that_is_built(racks: int, beta: int, tmp_path: Path) -> None:
    servers = 8
    graph = nx.MultiGraph()
    for rack in range(racks):
        graph.add_edges_from([(("rack", rack), "core")] * (servers // beta))
    path = tmp_path / "book.toml"
    path.write_text(book(16))
    cluster = {"racks": racks, "servers_per_rack": servers, "server_rate": "10 Gb/s"}
    made = network("tree", cluster, oversubscription=beta)
    found = counts(pricing.of_network("tree", made, books.load(path)))
    degrees = dict(graph.degree())
    boxes = sum(-(-(degrees[("rack", r)] + servers) // 16) for r in range(racks))
    assert found["switch"] == boxes + -(-degrees["core"] // 16)
    assert found["cable"] == graph.number_of_edges()


def test_sirius_counts_a_laser_an_uplink_and_gratings_that_hold_them() -> None:
    cluster = {"racks": 128, "servers_per_rack": 24, "rack_rate": "400 Gb/s"}
    made = network("sirius", cluster, uplinks=12)
    gratings = {n.part: n for n in needs_of(made, books.load("sirius-2020"))}["grating"]
    # 128 racks × 12 uplinks on gratings of 128 ÷ 8 = 16 ports (§4.1).
    assert (gratings.number, gratings.ports) == (96, 16)  # type: ignore[attr-defined]
    cost = counts(pricing.of_network("sirius", made, books.load("sirius-2020")))
    assert cost["tunable-transceiver"] == Fraction(128 * 12 * 50, 400)


@pytest.mark.parametrize("plan", ["wide", "mixed"])
@pytest.mark.parametrize(("racks", "uplinks"), [(24, 6), (24, 8), (24, 12), (32, 12), (16, 16)])
def test_sirius_buys_the_gratings_that_its_plan_has(plan: str, racks: int, uplinks: int) -> None:
    """The number equals that of the gratings that can fail in a simulation."""
    cluster = {"racks": racks, "servers_per_rack": 1, "rack_rate": "400 Gb/s"}
    table = {"kind": "sirius", "uplinks": uplinks, "uplink_plan": plan}
    if plan == "mixed" and 0 < uplinks < 8:
        table["grating_ports"] = racks // uplinks
    settings = {key: value for key, value in table.items() if key != "kind"}
    needs = needs_of(network("sirius", cluster, **settings), books.load("sirius-2020"))
    gratings = [need for need in needs if need.part == "grating"]
    experiment = lightloom.load(
        {"cluster": cluster, "fabric": [table], "run": {"stop": "last-arrival"}}
    )
    populations = probing.parts_of(experiment, "sirius").populations
    members = {found.kind.name: found.members for found in populations}
    assert sum(need.number for need in gratings) == members["grating"]
    # Every uplink has a port.
    assert sum(need.number * need.ports for need in gratings) == racks * uplinks


@pytest.mark.parametrize(
    ("architecture", "ports", "transmitters", "memories"),
    [("slb", 65, 64, 1), ("mlb", 80, 64, 16), ("dlb", 128, 256, 64), ("drop", 64, 0, 0)],
)
def test_lions_counts_as_its_table_one(
    architecture: str, ports: int, transmitters: int, memories: int
) -> None:
    timing = {"timing": "slotted"} if architecture == "drop" else {}
    extra = {"hosts_per_queue": 4} if architecture == "mlb" else {}
    made = network("lions", architecture=architecture, **timing, **extra)
    needs = {n.part: n for n in needs_of(made, books.load("sirius-2020"))}
    at = books.load("cthrough-2010")
    assert needs["grating"].ports == ports  # type: ignore[attr-defined]
    found = {name: needs[name].count(at) for name in needs}
    assert found.get("loopback-transmitter", 0) == transmitters
    assert found.get("buffer-memory", 0) == memories
    assert found["wavelength-converter"] == 64


def test_circuit_switches_that_are_too_small_are_joined_in_two_stages() -> None:
    assert stages(1000, 320) == (7, 4)  # c-Through §7.3
    for ports in range(1, 2000, 37):
        leaves, spines = stages(ports, 32)
        if spines:
            assert leaves * 16 >= ports
            assert spines * 32 >= leaves * 16


def test_rotor_switches_take_an_uplink_of_every_rack() -> None:
    for kind in ("rotornet", "opera"):
        cost = costs.cost(experiment(kind, switches=4), "sirius-2020").fabrics[kind]
        found = counts(cost)
        assert found["rotor-switch"] == 4
        assert found["circuit-cable"] == 16 * 4
        assert cost.unpriced == ["rotor-switch"]
        assert cost.capital is None


@pytest.mark.parametrize(("rate", "boxes"), [(10, 1), (11, 1), (20, 1), (21, 2), (40, 2), (41, 3)])
def test_a_rotor_switch_has_a_port_for_each_fibre_pair(
    rate: int, boxes: int, tmp_path: Path
) -> None:
    """16 links of `rate` need ⌈rate ÷ 10⌉ transceivers of 10 Gb/s each, which are 16, 32, 48, 64 or
    80 ports, at switches of 32 ports."""
    rotor = "ports = 32\nprice = 400\npower = 10"
    transceiver = 'rate = "10 Gb/s"\nprice = 10\npower = 1'
    parts = {"rotor-switch": rotor, "circuit-transceiver": transceiver}
    path = tmp_path / "book.toml"
    path.write_text(book(64, **parts))
    made = network("rotornet", switches=3, link_rate=f"{rate} Gb/s")
    needs = [need for need in needs_of(made, books.load(path)) if need.part == "rotor-switch"]
    assert [need.count(books.load(path)) for need in needs] == [3 * boxes]
