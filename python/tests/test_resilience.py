"""Single failures: the parts that can fail, those that are tried, and the cost, compared with
values by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import lightloom
from lightloom import _core
from lightloom.config import physics
from lightloom.errors import refusal
from lightloom.failures import probing, sentences
from lightloom.failures.elements import KINDS, Population
from lightloom.failures.measure import with_worst_failures
from lightloom.failures.sample import Traffic, chosen
from lightloom.failures.search import Search
from lightloom.results.failures import OfFabric, OfKind, Resilience

#: A load above the capacity of every network below, from single nodes, so that no traffic stays
#: within a rack.
OVERLOAD = {
    "arrivals": "poisson",
    "load": 2.0,
    "flows": 4000,
    "sizes": {"kind": "fixed", "size": "20 KB"},
}
RUN = {"seed": 1, "stop": "last-arrival"}
#: Four spines are the bottleneck: a rack has 200 Gb/s, and 50 Gb/s to the core.
SPINES = {
    "kind": "clos",
    "racks_per_pod": 1,
    "oversubscription": 4,
    "link_rate": "12.5 Gb/s",
    "aggregation_switches": 4,
    "core_switches": 4,
}


def experiment(racks: int, *fabrics: dict[str, Any], **changes: Any) -> dict[str, Any]:
    cluster = {"racks": racks, "servers_per_rack": 1, "rack_rate": "200 Gb/s"}
    made = {"cluster": cluster, "workload": OVERLOAD, "run": RUN, "fabric": list(fabrics)}
    return {**made, **changes}


def broken(table: dict[str, Any], tries: int = 8) -> Resilience:
    found = lightloom.compare(table, worst_failure=Search(tries)).resilience
    assert found is not None
    return found


def kept(fabric: OfFabric, kind: str) -> list[float]:
    """Returns the goodput with each failed part of a kind ÷ that of the fault-free network."""
    found = next(of for of in fabric.kinds if of.kind == kind)
    return [run.figures.goodput / fabric.sound.goodput for run in found.runs]


def kinds(fabric: OfFabric) -> dict[str, OfKind]:
    return {of.kind: of for of in fabric.kinds}


@pytest.mark.parametrize("detail", ["packets", "flows"])
def test_one_of_four_spines_takes_a_quarter_where_the_core_is_the_bottleneck(detail: str) -> None:
    clos = broken(experiment(8, {**SPINES, "detail": detail}), 4).fabrics["clos"]
    assert kept(clos, "core switch") == pytest.approx([0.75] * 4, abs=0.002)
    assert kinds(clos)["core switch"].chosen == "all"
    # The 16 links of a rack below its pod have four times the capacity of the core.
    assert kept(clos, "transceiver") == pytest.approx([1.0] * 4, abs=0.002)
    assert clos.least.part.startswith("core switch")
    assert clos.kept == pytest.approx(0.75, abs=0.002)
    aggregation, core = clos.switches
    assert aggregation.startswith("aggregation switches: 4 a")
    assert core.startswith("core switches: 4, ")
    assert all(line.endswith("table says") for line in clos.switches)


def test_a_transceiver_of_sirius_takes_its_two_of_all_links() -> None:
    """A saturated uniform load uses all N · U links evenly (§4.5), and a failed transceiver removes
    one in each direction."""
    fabric = {"kind": "sirius", "uplinks": 4, "uplink_plan": "wide"}
    workload = {**OVERLOAD, "flows": 20_000}
    sirius = broken(experiment(16, fabric, workload=workload), 2).fabrics["sirius"]
    assert kept(sirius, "transceiver") == pytest.approx([1 - 2 / 64] * 2, abs=0.005)
    # The servers of a node fail with it: 2/16 of the pairs, except those of a node with itself.
    assert kept(sirius, "node") == pytest.approx([1 - 2 / 16] * 2, abs=0.01)
    assert kinds(sirius)["node"].takes_servers
    assert "node" not in sirius.least.part


def test_gratings_of_sirius_are_not_alike_and_the_worst_of_all_is_found() -> None:
    """16 nodes, 4 gratings of 4 ports a group.

    Of the 240 ordered pairs of nodes, 12 meet over the grating of a group with itself, and 16 over
    that of two groups. These pairs do not relay in the other direction either, because requests use
    one direction and grants the other.
    """
    fabric = {"kind": "sirius", "uplinks": 4, "uplink_plan": "wide"}
    workload = {**OVERLOAD, "flows": 20_000}
    sirius = broken(experiment(16, fabric, workload=workload), 16).fabrics["sirius"]
    shares = sorted(kept(sirius, "grating"))
    assert kinds(sirius)["grating"].tried == "16"
    between, within = shares[:12], shares[12:]
    assert within == pytest.approx([1 - 12 / 240] * 4, abs=0.01)
    assert 1 - 32 / 240 < between[0] <= between[-1] < 1 - 16 / 240
    assert sirius.kept == between[0]


def test_under_skewed_traffic_the_part_that_matters_is_found(tmp_path: Path) -> None:
    """All nodes send to node 5: its two links are full, and those of other nodes have a load of a
    seventh."""
    trace = tmp_path / "trace.csv"
    rows = [f"{src},5,100000,{1_000_000 * k}" for k in range(40) for src in range(8) if src != 5]
    trace.write_text("src,dst,bytes,arrival_ps\n" + "\n".join(rows) + "\n", encoding="utf-8")
    clos = {**SPINES, "oversubscription": 1, "link_rate": "100 Gb/s"}
    del clos["aggregation_switches"], clos["core_switches"]
    table = experiment(8, clos, workload={"trace": str(trace)}, run={**RUN, "stop": "40 us"})
    found = broken(table, 16).fabrics["clos"]
    transceivers = kinds(found)["transceiver"]
    assert transceivers.tried == "16"
    assert transceivers.least.part in ("transceiver 0 of node 5", "transceiver 1 of node 5")
    shares = dict(zip((r.part for r in transceivers.runs), kept(found, "transceiver"), strict=True))
    mine = [share for part, share in shares.items() if part.endswith("node 5")]
    others = [share for part, share in shares.items() if not part.endswith("node 5")]
    assert mine == pytest.approx([0.5, 0.5], abs=0.03)
    assert min(others) > 0.97
    # One of the two tried parts belongs to the busiest rack.
    few = kinds(broken(table, 2).fabrics["clos"])["transceiver"]
    assert few.runs[0].part == "transceiver 0 of node 5"
    assert "busiest rack, 1 drawn" in few.chosen
    assert few.tried == "2 of 16"


def test_a_sample_begins_with_those_that_carry_most_and_is_drawn_by_its_seed() -> None:
    flows = pa.table(
        {
            "src": pa.array([0, 2, 4, 6, 7], pa.uint32()),
            "dst": pa.array([1, 4, 2, 0, 6], pa.uint32()),
            "bytes": pa.array([10**9, 30, 10, 5, 10**9], pa.uint64()),
        }
    )
    traffic = Traffic.of(flows, racks=4, servers_per_rack=2, racks_per_pod=2)
    # Traffic within racks 0 and 3 does not count.
    assert traffic.of_racks.tolist() == [5.0, 40.0, 40.0, 5.0]
    assert traffic.racks() == [1, 2, 0, 3]
    by_name = {kind.name: kind for kind in KINDS}
    links = Population(by_name["transceiver"], (4, 6))
    parts, why = chosen(links, traffic, 4, 1, "clos")
    assert [part.numbers for part in parts[:2]] == [(1, 0), (2, 0)]
    assert "2 busiest racks, 2" in why
    assert why.endswith("drawn by seed 1")
    assert len(set(parts)) == 4
    assert chosen(links, traffic, 4, 1, "clos") == (parts, why)
    seeds = [chosen(links, traffic, 4, seed, "clos")[0] for seed in range(1, 9)]
    assert any(other != parts for other in seeds)
    switches = Population(by_name["aggregation switch"], (16,))
    parts, why = chosen(switches, traffic, 3, 1, "clos")
    assert [part.numbers for part in parts[:2]] == [(0,), (8,)]  # the first of each pod
    assert "2 busiest pods, 1" in why
    assert why.endswith("drawn by seed 1")
    assert chosen(links, traffic, 24, 1, "clos") == (list(links.parts()), "all")
    silent = Traffic(np.zeros(4))
    assert chosen(links, silent, 2, 1, "clos")[0][0].numbers == (0, 0)


def test_every_place_of_a_population_is_the_part_at_it() -> None:
    population = Population(KINDS[3], (3, 4))
    assert [population.at(place) for place in range(12)] == list(population.parts())


def test_every_element_that_a_fault_may_name_is_a_kind_here() -> None:
    schema = json.loads(_core.schema())["$defs"]
    elements = {
        name
        for way in [schema["ElementKind"], *schema["ElementKind"].get("oneOf", [])]
        for name in [*way.get("enum", []), *([way["const"]] if "const" in way else [])]
    }
    tiers = {way["const"] for way in schema["TierName"]["oneOf"]}
    assert elements == {kind.table["element"] for kind in KINDS}
    assert tiers == {kind.table["tier"] for kind in KINDS if "tier" in kind.table}


#: Additional keys of the kinds of fabrics whose defaults do not fit 8 nodes.
TABLES: dict[str, dict[str, Any]] = {"sirius": {"uplinks": 4, "uplink_plan": "wide"}}
#: Kinds without parts that can fail; all other kinds have some.
UNBREAKABLE = {"lions", "flattened-butterfly"}
REGISTRY = [entry["kind"] for entry in json.loads(_core.registry())]


@pytest.mark.parametrize("kind", REGISTRY)
def test_the_core_says_what_of_a_fabric_dies(kind: str) -> None:
    """The last part of each kind is accepted, and the next number is refused; the assumptions of a
    fabric on failures are stated only for fabrics with parts that can fail."""
    table = experiment(8, {"kind": kind, **TABLES.get(kind, {})})
    if kind in ("lions", "flattened-butterfly"):
        table["cluster"] = {"hosts": 8, "server_rate": "10 Gb/s"}
    loaded = lightloom.load(table)
    parts = probing.parts_of(loaded, kind)
    bare = probing.with_one_flow(loaded, kind)
    for population in parts.populations:
        last = [count - 1 for count in population.shape]
        assert probing.refusal_of(bare, kind, population.kind, last) is None
        for place in range(len(last)):
            beyond = [*last[:place], last[place] + 1, *last[place + 1 :]]
            assert probing.refusal_of(bare, kind, population.kind, beyond) is not None
    assert bool(parts.populations) == (kind not in UNBREAKABLE)
    told = physics.assumptions_of(loaded.resolved(), kind)["failures"]
    assert bool(told) == bool(parts.populations)
    assert bool(parts.why_none) == (not parts.populations)


def test_a_fabric_that_models_no_failures_says_so_and_runs_no_more() -> None:
    ideal = {"kind": "sirius", "label": "ideal", "mode": "ideal", "uplinks": 4}
    workload = {**OVERLOAD, "flows": 200}
    table = experiment(8, {"kind": "lions"}, ideal, SPINES, workload=workload)
    table["cluster"] = {"hosts": 8, "server_rate": "200 Gb/s"}
    found = broken(table, 1)
    assert not found.fabrics["lions"].kinds
    assert found.fabrics["lions"].kept is None
    assert found.fabrics["lions"].why_none == "lions does not model failures yet"
    # The remedy is that of the core, because it has one.
    assert "fabric.mode" in found.fabrics["ideal"].why_none
    lines = list(sentences.legend(found))
    assert any(line.startswith("lions: not modelled: ") for line in lines)
    said = sentences.answer(
        found, sentences.Shown("{:.0%}".format, lambda p99: p99.text("{:.0f}".format))
    )
    assert "Of lions, ideal it" in said
    clos = found.fabrics["clos"]
    assert f"clos {clos.kept:.0%} (core switch 0)." in said
    longest = clos.slowest.figures.p99.text("{:.0f}".format)
    assert f"for it: clos {longest}" in said
    assert [row["part"] for row in found.rows() if row["fabric"] == "lions"] == [None]


def test_sirius_by_its_default_plan_says_that_it_has_no_gratings_to_die() -> None:
    workload = {**OVERLOAD, "flows": 200}
    table = experiment(8, {"kind": "sirius", "uplinks": 4}, workload=workload)
    sirius = broken(table, 1).fabrics["sirius"]
    assert [kind.kind for kind in sirius.kinds] == ["transceiver", "node"]
    assert "no gratings" in sirius.refused["grating"]
    assert 'uplink_plan = "wide"' in sirius.assumed


def test_where_a_table_leaves_it_open_switches_are_those_of_the_bill() -> None:
    """128 racks of 400 Gb/s: 51.2 Tb/s are two switches of 25.6 Tb/s in the core, and the 16 racks
    of a pod need half of a switch in its layer: one switch, whose failure isolates its pod."""
    table = experiment(128, {"kind": "clos"}, workload={**OVERLOAD, "flows": 300})
    table["cluster"]["rack_rate"] = "400 Gb/s"
    clos = broken(table, 1).fabrics["clos"]
    book = "its bill at the prices of sirius-2020"
    aggregation, core = clos.switches
    assert aggregation.startswith("aggregation switches: 1 a")
    assert aggregation.endswith(f"by {book}, which has 0.5")
    assert core == f"core switches: 2, by {book}"
    # The keys determine the links that fail with a switch, and do not affect the fault-free
    # network.
    given = ["fabric.aggregation_switches=1", "fabric.core_switches=2"]
    sound = lightloom.run(lightloom.load(table, given)).summary["load_delivered"]
    assert sound == clos.sound.goodput
    assert {kind.kind: kind.members for kind in clos.kinds} == {
        "core switch": 2,
        "aggregation switch": 8,
        "transceiver": 1024,
    }


def test_the_only_plane_of_mirrors_leaves_the_electrical_network_alone() -> None:
    """The effect equals that of a failed controller, and the goodput that of a tree of the same
    oversubscription."""
    hybrid = {"kind": "cthrough", "oversubscription": 4, "interval": "5 us"}
    hybrid |= {"reconfiguration_delay": "1 us"}
    tree = {"kind": "tree", "oversubscription": 4}
    workload = {**OVERLOAD, "pattern": "permutation"}
    found = broken(experiment(8, hybrid, tree, workload=workload), 1)
    mirrors = kinds(found.fabrics["cthrough"])
    plane = mirrors["plane"].least.figures
    assert mirrors["plane"].members == 1
    assert plane == mirrors["controller"].least.figures
    assert plane.goodput == pytest.approx(found.fabrics["tree"].sound.goodput, rel=1e-9)
    assert plane.goodput < mirrors["optical port"].least.figures.goodput


def test_each_of_several_planes_takes_the_ports_of_all_racks_with_it() -> None:
    table = experiment(8, {"kind": "hydra", "planes": 3}, workload={**OVERLOAD, "flows": 200})
    planes = kinds(broken(table, 3).fabrics["hydra"])["plane"]
    assert planes.members == 3
    for number, run in enumerate(planes.runs):
        faults = lightloom.load(table, run.set).resolved()["fault"]
        assert [(f["element"], f["plane"]) for f in faults] == [("plane", number)]


@pytest.mark.parametrize("kind", ["hydra", "cthrough", "hybrid"])
def test_a_plane_dies_as_the_ports_of_all_racks_to_it(kind: str) -> None:
    own: dict[str, dict[str, Any]] = {
        "hydra": {"planes": 2, "settle": "1 us", "retag": "0 s", "rule": "0 s", "threshold": "1 B"},
        "cthrough": {"reconfiguration_delay": "1 us"},
        "hybrid": {
            "settle": "1 us",
            "planes": 2,
            "policy": {"kind": "hydra", "threshold": "1 B"},
        },
    }
    fabric = {"kind": kind, "interval": "20 us", "oversubscription": 4, **own[kind]}
    drain = {"seed": 1, "stop": "drain"}
    table = experiment(8, fabric, workload={**OVERLOAD, "flows": 200}, run=drain)
    fault = {"at": "30 us", "plane": 0, "repair_at": "90 us"}
    whole = [{**fault, "element": "plane"}]
    ports = [{**fault, "element": "optical-port", "node": node} for node in range(8)]
    one, all_ports, sound = (
        lightloom.run(lightloom.load({**table, "fault": faults})) for faults in (whole, ports, [])
    )
    assert one.flows.equals(all_ports.flows)
    assert not one.flows.equals(sound.flows)


def test_one_of_four_rotors_takes_a_quarter_of_what_goes_directly() -> None:
    """All-to-all traffic beyond capacity: a rotor has a quarter of the pairs, two of eight
    matchings."""
    fabric = {"kind": "rotornet", "switches": 4, "slot": "2 us", "night": "200 ns"}
    fabric |= {"indirect": "none"}
    workload = {**OVERLOAD, "flows": 30_000}
    rotornet = broken(experiment(9, fabric, workload=workload), 4).fabrics["rotornet"]
    assert kept(rotornet, "plane") == pytest.approx([0.75] * 4, abs=0.01)
    assert kinds(rotornet)["plane"].tried == "4"


def test_pairs_of_a_dead_rotor_wait_unless_relays_join_them() -> None:
    fabric = {"kind": "rotornet", "switches": 4, "slot": "2 us", "night": "200 ns"}
    table = experiment(9, fabric, run={"seed": 1, "stop": "drain", "limit": "20 ms"})
    table["workload"] = {**OVERLOAD, "flows": 400}
    table["fault"] = [{"at": "0 s", "element": "plane", "plane": 1}]
    for indirect in ("none", "rotorlb"):
        table["fabric"] = [{**fabric, "indirect": indirect}]
        flows = lightloom.run(lightloom.load(table)).flows.to_pandas()
        waits = flows.finish_ps.isna()
        apart = (flows.dst.astype(int) - flows.src.astype(int)) % 9
        served_by_it = (apart - 1) % 4 == 1
        assert (waits == (served_by_it & (indirect == "none"))).all()


def test_opera_goes_on_without_a_rotor() -> None:
    """Low-latency flows cross the remaining expander, and bulk flows use relays."""
    fabric = {"kind": "opera", "switches": 5, "slice": "2 us", "night": "200 ns"}
    fabric |= {"low_latency": "15 KB"}
    workload = {**OVERLOAD, "load": 0.3, "sizes": {"kind": "exponential", "mean": "20 KB"}}
    table = experiment(10, fabric, workload={**workload, "flows": 500}, run={"stop": "drain"})
    opera = broken(table, 5).fabrics["opera"]
    rotors = kinds(opera)["plane"]
    assert rotors.members == 5
    for run in rotors.runs:
        broken_run = lightloom.run(lightloom.load(table, run.set), "opera")
        assert broken_run.flows.to_pandas().finish_ps.notna().all()
        assert run.figures.goodput <= opera.sound.goodput * (1 + 1e-9)


def test_the_experiment_and_set_of_a_run_give_it_again(tmp_path: Path) -> None:
    workload = {**OVERLOAD, "flows": 300}
    hybrid = {"kind": "cthrough", "label": "my hybrid", "oversubscription": 4}
    hybrid |= {"interval": "5 us", "reconfiguration_delay": "1 us"}
    table = experiment(8, SPINES, hybrid, workload=workload, run={"seed": 2, "repeat": 2})
    comparison = lightloom.compare(table, worst_failure=Search(2))
    comparison.save(tmp_path)
    saved = json.loads((tmp_path / "resilience.json").read_text(encoding="utf-8"))
    assert saved["seed"] == 2
    for label, fabric in saved["fabrics"].items():
        for kind in fabric["kinds"]:
            run = kind["runs"][-1]
            again = lightloom.run(lightloom.load(saved["experiment"], run["set"]), label)
            assert again.summary["load_delivered"] == run["goodput"]
            assert again.summary["fct_bound"]["short"]["p99_us"]["low"] == run["p99_us"][0]
            element = again.experiment["fault"][0]["element"]
            assert element in kind["kind"].replace(" ", "-")
    loaded = lightloom.Comparison.load(tmp_path)
    assert loaded.resilience is not None
    assert loaded.resilience.to_json() == comparison.resilience.to_json()
    frame = loaded.table("failures").to_pylist()
    assert len(frame) == len(comparison.resilience.rows())


def test_the_same_seed_gives_the_same_whatever_the_threads() -> None:
    fabric = {"kind": "sirius", "uplinks": 4, "uplink_plan": "wide"}
    table = experiment(8, fabric, SPINES, workload={**OVERLOAD, "flows": 400})
    one = broken(table, 3).to_json()
    made = lightloom.compare(table, threads=2, worst_failure=Search(3)).resilience
    assert made is not None
    assert made.to_json() == one


def test_faults_of_the_experiment_are_left_out_of_all_these_runs() -> None:
    """Results are then those of one failure, not of two."""
    workload = {**OVERLOAD, "flows": 1000}
    fault = {"at": "0 s", "element": "switch", "tier": "core", "switch": 1}
    table = experiment(8, SPINES, workload=workload)
    comparison = lightloom.compare({**table, "fault": [fault]}, worst_failure=Search(1))
    clos = comparison.resilience.fabrics["clos"]
    assert clos == broken(table, 1).fabrics["clos"]
    with_own = comparison.results["clos"].summary["load_delivered"]
    assert with_own == pytest.approx(0.75 * clos.sound.goodput, rel=0.01)


def test_who_is_cut_off_waits_no_longer_than_a_hundred_times_the_sound_run() -> None:
    """A rack has one uplink: jobs that need it never end, and jobs that depend on them never
    begin."""
    job = {"kind": "all-reduce", "name": "ring", "algorithm": "ring", "bytes": "1 MB"}
    table = experiment(4, {"kind": "tree"}, workload={"jobs": [job]}, run={"seed": 1})
    comparison = lightloom.compare(table, worst_failure=Search(1))
    tree = comparison.resilience.fabrics["tree"]
    worst = kinds(tree)["core switch"].least
    assert worst.figures.goodput is None
    assert worst.figures.jobs_s is None
    assert worst.figures.missing == 1.0
    assert tree.kept == 0.0
    assert tree.sound.missing == 0.0
    assert tree.sound.jobs_s is not None
    limit = next(text for text in worst.set if text.startswith("run.limit="))
    took = comparison.results["tree"].summary["simulated_s"]
    cut = lightloom.run(lightloom.load(table, worst.set)).summary["simulated_s"]
    assert cut == pytest.approx(100 * took, rel=1e-6), limit


def test_a_run_that_fails_is_told_with_its_fabric_and_part() -> None:
    table = experiment(8, SPINES, workload={**OVERLOAD, "flows": 100})
    loaded = lightloom.load(table)
    compared = lightloom.compare(loaded)

    def simulate(one: Any, label: str | None = None, **how: Any) -> Any:
        if one.raw["fault"][0].get("switch") == 2:
            raise refusal("fabric.policy", "x", "cannot decide", "correct it")
        return lightloom.run(one, label, **how)

    with pytest.raises(lightloom.ConfigError) as caught:
        with_worst_failures([compared], [loaded], simulate, asked=Search(4))
    said = "clos, core switch 2 dead: fabric.policy = x: cannot decide; correct it"
    assert str(caught.value) == said


def test_a_search_of_nothing_is_refused() -> None:
    with pytest.raises(lightloom.ConfigError, match="tries = 0: "):
        Search(0)
