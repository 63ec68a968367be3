"""Bytes carried by links (`links.parquet`)."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lightloom
from lightloom.results.result import Result

RACKS, EACH = 8, 4
FABRICS: dict[str, dict[str, Any]] = {
    "clos": {"kind": "clos", "racks_per_pod": 4},
    "flows": {"kind": "clos", "racks_per_pod": 4, "detail": "flows"},
    "tree": {"kind": "tree", "levels": 3, "racks_per_pod": 4, "oversubscription": 4},
    "flat": {"kind": "tree", "levels": 2},
    "cthrough": {"kind": "cthrough"},
}


def run(table: dict[str, Any], seed: int = 5, **workload: Any) -> Result:
    drawn = {"load": 0.3, "sizes": {"kind": "exponential", "mean": "200 KB"}, "flows": 500}
    merged = {key: value for key, value in (drawn | workload).items() if value is not None}
    cluster: dict[str, Any] = {"racks": RACKS, "servers_per_rack": EACH, "server_rate": "10 Gb/s"}
    if table["kind"] == "flattened-butterfly":
        cluster = {"hosts": 64, "server_rate": "10 Gb/s"}
    return lightloom.run(
        lightloom.load(
            {
                "cluster": cluster,
                "workload": merged,
                "fabric": [table],
                "run": {"seed": seed, "stop": "drain"},
            }
        )
    )


def columns(result: Result) -> dict[str, np.ndarray]:
    assert result.links is not None
    return {
        name: result.links[name].to_numpy(zero_copy_only=False)
        for name in result.links.column_names
    }


@pytest.mark.parametrize("name", [n for n in FABRICS if n != "cthrough"])
def test_every_tier_carries_what_flows_send_through_it(name: str) -> None:
    """Links of servers carry all bytes; links of a rack carry the flows that leave or enter it;
    links of a pod carry the flows between pods."""
    result = run(FABRICS[name])
    links = columns(result)
    src, dst, sizes = (result.flows[c].to_numpy() for c in ("src", "dst", "bytes"))
    racks, pods = (src // EACH, dst // EACH), (src // EACH // 4, dst // EACH // 4)
    above = "core" if name == "flat" else "pod"
    leaves, crosses = racks[0] != racks[1], pods[0] != pods[1]
    expected = {
        "server to rack": ("from", src, sizes > 0),
        "rack to server": ("to", dst, sizes > 0),
        f"rack to {above}": ("from", racks[0], leaves),
        f"{above} to rack": ("to", racks[1], leaves),
    }
    if above == "pod":
        expected |= {
            "pod to core": ("from", pods[0], crosses),
            "core to pod": ("to", pods[1], crosses),
        }
    assert set(links["tier"]) == set(expected)
    for tier, (end, at, through) in expected.items():
        of_tier = links["tier"] == tier
        for number, carried in zip(links[end][of_tier], links["bytes"][of_tier], strict=True):
            sent = sizes[through & (at == number)].sum()
            # Bytes of a flow with rates are rounded down, once per link.
            assert abs(int(carried) - int(sent)) <= 1


def test_a_lone_flow_uses_its_links_for_as_long_as_it_sends() -> None:
    """10 MB at 10 Gb/s take 8 ms, which is the whole run except for the time of the last packet.

    The links of both servers are busy for this time, and other links of the path in proportion to
    their rates.
    """
    result = run(
        {"kind": "tree", "levels": 2, "oversubscription": 1},
        load=None,
        arrivals="at-once",
        flows=1,
        sizes={"kind": "fixed", "size": "10 MB"},
        pattern={"kind": "incast", "fan_in": 1, "target": 0},
    )
    links = columns(result)
    used = links["utilisation"][links["bytes"] > 0]
    sends = 8e-3 / result.summary["simulated_s"]
    assert 0.999 < sends <= 1.0
    assert sorted(used)[-2:] == pytest.approx([sends, sends])
    assert sorted(used)[:-2] == pytest.approx([sends / EACH, sends / EACH])


@pytest.mark.parametrize("speedup", [1, 2])
def test_routers_carry_each_packet_over_its_hops(speedup: int) -> None:
    """Links between routers carry the flits of each flow on its hops, except the last hop, which
    leads to its host. The links of a host carry the data that it sends and receives, in whole flits
    without headers."""
    result = run(
        {"kind": "flattened-butterfly", "header": "0 B", "speedup": speedup},
        sizes={"kind": "fixed", "size": "2560 B"},
        flows=400,
    )
    links = columns(result)
    hops = result.flows["hops"].to_numpy()
    moved = (result.flows["bytes"].to_numpy() * (hops - 1)).sum()
    between = links["tier"] == "router to router"
    assert links["bytes"][between].sum() == pytest.approx(moved, rel=1e-6)
    sizes = result.flows["bytes"].to_numpy()
    ends = {"server to router": ("from", "src"), "router to server": ("to", "dst")}
    for tier, (end, of_flow) in ends.items():
        chosen = links["tier"] == tier
        expected = np.bincount(result.flows[of_flow].to_numpy(), sizes, minlength=64)
        carried = np.zeros(64)
        carried[links[end][chosen].astype(int)] = links["bytes"][chosen]
        assert chosen.sum() == 64
        assert (carried == expected).all()
    assert set(links["tier"]) == {"router to router", *ends}


def test_circuits_leave_the_tree_what_they_do_not_carry() -> None:
    result = run(FABRICS["cthrough"])
    links = columns(result)
    servers = links["bytes"][links["tier"] == "server to rack"].sum()
    tree = links["bytes"][links["tier"] == "rack to core"].sum()
    assert servers == pytest.approx(result.flows["bytes"].to_numpy().sum(), abs=RACKS * EACH)
    assert 0 < tree <= servers


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(
    "keys",
    [
        {"kind": "hybrid", "settle": "1 ms", "report_queue": "1 MB"},
        {"kind": "cthrough", "reconfiguration_delay": "1 ms"},
    ],
    ids=lambda keys: keys["kind"],
)
def test_servers_links_carry_all_that_moves_between_paths(keys: dict[str, Any], seed: int) -> None:
    """Regression: a flow that rises to its share after a move, and then joins equal flows, did not
    add the bytes that it had sent in between to its links: 2.6 MB of 45 MB."""
    sent: dict[str, Any] = {"load": 0.1, "sizes": "web-search", "flows": 1_000}
    result = run({"interval": "10 ms", **keys}, seed, **sent)
    links = columns(result)
    src, dst, sizes = (result.flows[c].to_numpy() for c in ("src", "dst", "bytes"))
    for tier, end, hosts in (("server to rack", "from", src), ("rack to server", "to", dst)):
        chosen = links["tier"] == tier
        carried = np.bincount(links[end][chosen].astype(int), links["bytes"][chosen])
        expected = np.bincount(hosts, sizes, minlength=len(carried))
        assert abs(carried - expected).max() <= 1


def test_a_folder_has_them_where_they_are_counted(tmp_path: Path) -> None:
    result = run(FABRICS["clos"])
    result.save(tmp_path / "clos")
    assert Result.load(tmp_path / "clos").links == result.links
    assert run({"kind": "rotornet"}).links is None
