"""Small runs whose results follow only from sizes, times and capacities."""

from pathlib import Path
from typing import Any

import pytest

import lightloom as ll


def cluster(racks: int, servers: int, rate: str = "10 Gb/s") -> dict[str, Any]:
    return {"racks": racks, "servers_per_rack": servers, "server_rate": rate}


def run(where: dict[str, Any], workload: Any, fabric: dict[str, Any], **more: Any) -> Any:
    return ll.run({"cluster": where, "workload": workload, "fabric": [fabric], **more})


def trace(folder: Path, *rows: tuple[int, int, int, int]) -> dict[str, Any]:
    """Writes flows: source, destination, bytes, arrival [ps]."""
    lines = ["src,dst,bytes,arrival_ps", *(",".join(map(str, row)) for row in rows)]
    path = folder / "flows.csv"
    path.write_text("\n".join(lines) + "\n")
    return {"trace": str(path)}


@pytest.mark.parametrize("rotorlb", ["per-rack", "per-host"])
def test_what_goes_to_relays_is_carried_as_it_crosses(tmp_path: Path, rotorlb: str) -> None:
    """Half of the bytes that a slot relays count by its middle: in any 20 us, circuits carry at
    most their capacity, within one packet in 33. Regression: the relayed bytes of a slot were all
    counted at its end."""
    flows = [(i, (i + 2) % 16, 5_000_000, 0) for i in range(16)]
    fabric = {"kind": "rotornet", "switches": 1, "rotorlb": rotorlb}
    result = run(cluster(8, 2), trace(tmp_path, *flows), fabric, run={"sample": "20 us"})
    seen = result.timeseries.column("utilisation").drop_null().to_pylist()
    assert max(seen) <= 1 + 1 / 33
    assert max(seen) > 0.9


@pytest.mark.parametrize("detail", ["packets", "flows"])
def test_a_clos_of_two_tiers_has_no_links_to_a_core(detail: str) -> None:
    """60 of 63 partners are in other racks, so the uplinks have this share of the load of 0.8."""
    traffic = {
        "arrivals": "poisson",
        "load": 0.8,
        "sizes": {"kind": "fixed", "size": "20 KB"},
        "pattern": "uniform",
    }
    span = {"warm_up": "1 ms", "measure": "3 ms"}
    fabric = {"kind": "clos", "tiers": 2, "detail": detail}
    result = run(cluster(16, 4, "25 Gb/s"), traffic, fabric, run=span)
    assert set(result.links.column("tier").to_pylist()) == {
        "server to rack",
        "rack to pod",
        "pod to rack",
        "rack to server",
    }
    assert result.utilisation == pytest.approx(0.8 * 60 / 63, rel=0.04)


def test_a_run_that_a_dead_node_ends_says_since_when_nothing_moves(tmp_path: Path) -> None:
    """Node 0 fails at 3 ms, when 100 ms of its flow remain.

    Regression: the run was reported to end with the only delivered flow, at 0.5 ms.
    """
    flows = trace(tmp_path, (0, 7, 125_000_000, 0), (0, 7, 1, 500_000_000))
    fabric = {"kind": "sirius", "channel_rate": "10 Gb/s", "uplinks": 8}
    dead = {"element": "node", "node": 0, "at": "3 ms"}
    summary = run(cluster(8, 1), flows, fabric, fault=[dead]).summary
    assert 0.003 <= summary["simulated_s"] < 0.004
    assert 0.003 <= summary["cut"]["still_since_s"] < 0.004
    assert summary["cut"]["flows_unfinished"] == 1
    assert summary["bytes_delivered"] == pytest.approx(3_750_000, rel=0.01)


@pytest.mark.parametrize("link_rate", ["10 Gb/s", "40 Gb/s"])
def test_a_lone_flow_takes_the_same_by_rates_as_by_packets(tmp_path: Path, link_rate: str) -> None:
    """10,000 B to another pod: the first packet reaches the last link, which needs 8 us for all,
    after 2.4 us (40 Gb/s). Regression: with rates, the short last packet overtook the others there:
    9.6 us."""
    sizes = (200, 1_500, 5_000, 10_000, 100_700)
    rows = [(0, 60, size, i * 10**9) for i, size in enumerate(sizes)]
    fabric = {"kind": "clos", "link_rate": link_rate}
    both = [
        run(cluster(16, 4), trace(tmp_path, *rows), {**fabric, "detail": detail})
        for detail in ("packets", "flows")
    ]
    packets, rates = (
        [flow["finish_ps"] - flow["arrival_ps"] for flow in result.flows.to_pylist()]
        for result in both
    )
    assert rates == pytest.approx(packets, abs=2)
    if link_rate == "40 Gb/s":
        assert packets[3] == 10_400_000


def test_a_circuit_carries_on_while_its_pair_gets_another(tmp_path: Path) -> None:
    """Two flows of a pair; with the second one, which arrives at 11 ms, the demand exceeds one
    circuit. The first flow has 2 Gb/s of the tree until then and half of it until 12 ms, half of
    the circuit until a second one is lit at 22 ms, and then a whole circuit. Regression: both flows
    were on the tree again from 20 ms to 22 ms."""
    fabric = {
        "kind": "hydra",
        "planes": 2,
        "circuit_rate": "10 Gb/s",
        "oversubscription": 10,
        "interval": "10 ms",
        "threshold": "0 B",
        "retag": "2 ms",
        **dict.fromkeys(("settle", "link_up", "rule", "transport_recovery"), "0 s"),
    }
    flows = trace(tmp_path, (0, 2, 12_000_000, 0), (1, 3, 40_000_000, 11 * 10**9))
    result = run(cluster(8, 2), flows, fabric)
    left = 12e6 * 8 - 11e-3 * 2e9 - 1e-3 * 1e9 - 10e-3 * 5e9
    took_ms = result.flows.column("finish_ps")[0].as_py() / 1e9
    assert took_ms == pytest.approx(22 + left / 10e9 * 1e3, abs=0.01)


def test_a_circuit_carries_on_while_another_of_its_pair_goes(tmp_path: Path) -> None:
    """20 MB have two circuits from 12 ms on, and need only one at 20 ms.

    The flow has the 10 Gb/s of the server's link from 12 ms to its end at 28 ms. Regression: the
    flow was stopped until 22 ms.
    """
    fabric = {
        "kind": "hybrid",
        "preset": "mesh",
        "planes": 2,
        "circuit_rate": "10 Gb/s",
        "interval": "10 ms",
        "settle": "2 ms",
        "ramp": "0 s",
        "dip": "0 s",
    }
    result = run(cluster(8, 2), trace(tmp_path, (0, 2, 20_000_000, 0)), fabric)
    took_ms = result.flows.column("finish_ps")[0].as_py() / 1e9
    assert took_ms == pytest.approx(12 + 16, abs=0.01)
