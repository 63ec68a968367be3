"""The simulation of the next interval in a dry run, compared with closed forms."""

from pathlib import Path
from typing import Any

import pytest
from controller_support import Lab, Reached, matrix

from lightloom.controller.config import NetworkTable, config_of
from lightloom.controller.forecast import DECISIONS, PARTS, carried
from lightloom.controller.matrices import Seen
from lightloom.errors import ConfigError

S, MS = 10**12, 10**9
CIRCUIT = NetworkTable(circuit_rate="100 Gb/s")
BOTH = NetworkTable(circuit_rate="100 Gb/s", packet_rate="10 Gb/s")
SECOND = 12_500_000_000
"""Number of bytes that a circuit carries in a second."""


def demand(*entries: tuple[int, int, int]) -> list[list[int]]:
    made = [[0] * 4 for _ in range(4)]
    for a, b, size in entries:
        made[a][b] = size
    return made


@pytest.mark.parametrize("settle_ms", [0, 10, 200])
@pytest.mark.parametrize("load", [0.5, 1.0])
def test_a_new_circuit_carries_its_demand_after_the_dark_time(settle_ms: int, load: float) -> None:
    """No other network connects the racks: traffic that arrived in the dark time is delivered
    later, if the circuit is fast enough; the last part of the demand is offered a hundredth of the
    interval before its end."""
    seen = demand((0, 2, round(load * SECOND)))
    kept = carried(CIRCUIT, seen, [(0, 1)], [(0, 1)], S, settle_ms * MS)
    assert kept.delivered == 0
    changed = carried(CIRCUIT, seen, [(0, 1)], [(0, 2)], S, settle_ms * MS)
    lit = 1 - settle_ms / 1_000 - 1 / DECISIONS
    assert changed.delivered == pytest.approx(min(1, lit / load), abs=1e-6)
    assert changed.on_circuits == changed.delivered


@pytest.mark.parametrize(("network", "by_packets"), [(CIRCUIT, 0.0), (BOTH, 0.1)])
def test_nothing_is_lit_before_or_after(network: NetworkTable, by_packets: float) -> None:
    """The first circuit of a switch, and the removal of the last one; the packet network has a
    tenth of the rate of a circuit."""
    seen = demand((0, 2, SECOND))
    dark = carried(network, seen, [], [], S, 100 * MS)
    assert dark.on_circuits == 0
    assert dark.delivered == pytest.approx(by_packets, abs=2e-3)
    first = carried(network, seen, [], [(0, 2)], S, 100 * MS)
    assert first.on_circuits == pytest.approx(0.9, abs=2e-2)
    last = carried(network, seen, [(0, 2)], [], S, 100 * MS)
    assert last.delivered == pytest.approx(by_packets, abs=2e-3)


def test_a_kept_circuit_is_not_dark() -> None:
    seen = demand((0, 1, SECOND), (2, 3, SECOND))
    found = carried(CIRCUIT, seen, [(0, 1)], [(0, 1), (2, 3)], S, 500 * MS)
    half = 0.5 - 1 / DECISIONS
    assert found.delivered == pytest.approx((1 + half) / 2, abs=1e-6)


def test_the_packet_network_carries_what_no_circuit_joins() -> None:
    """A tenth of its rate is offered, so all traffic arrives except that of the last part, which is
    still in transmission."""
    size = SECOND // 100
    seen = demand((0, 1, SECOND // 2), (0, 3, size))
    found = carried(BOTH, seen, [(0, 1)], [(0, 1)], S, 10 * MS)
    assert found.delivered == pytest.approx(1, abs=1e-6)
    assert found.on_circuits == pytest.approx((SECOND // 2) / (SECOND // 2 + size), abs=1e-6)


def test_the_parts_of_a_demand_add_up_to_it() -> None:
    """The demand has fewer bytes than parts, or a number that the parts do not divide."""
    for size in (1, PARTS - 1, 10_007):
        found = carried(CIRCUIT, demand((0, 1, size)), [(0, 1)], [(0, 1)], S, 0)
        assert found.delivered == 1


@pytest.fixture
def dry(tmp_path: Path) -> Reached:
    return Reached(tmp_path, network={"circuit_rate": "100 Gb/s", "packet_rate": "10 Gb/s"})


BODY: dict[str, Any] = {"circuits": [["a", "c"]], "dry_run": True}


def test_a_dry_run_simulates_the_next_interval(dry: Reached) -> None:
    """The demand fills the circuit, which is ten times as fast as the packet network."""
    lab = dry.lab
    lab.controller.want("east", [(1, 2), (2, 1)], "admin")
    lab.controller.cycle()
    lab.controller.switches["east"].decider = None
    lab.send(matrix((0, 2, SECOND)))
    lab.controller.cycle()
    shown = dry.ask("PUT", "/switches/east/circuits", BODY).json()
    forecast = shown["forecast"]
    assert shown["no_forecast"] is None
    assert forecast["interval_s"] == 1
    assert forecast["now"]["delivered"] == pytest.approx(0.1, abs=0.01)
    assert forecast["changed"]["delivered"] > 0.95
    assert lab.lit() == [(1, 2), (2, 1)]


@pytest.mark.parametrize(("span_s", "share"), [(None, 1.0), (10.0, 0.1), (0.5, 2.0)])
def test_demand_of_a_span_is_scaled_to_the_interval(
    dry: Reached, span_s: float | None, share: float
) -> None:
    """In one second, the packet network delivers a tenth of the bytes that a circuit carries."""
    one = dry.lab.controller.switches["east"]
    dry.lab.controller.cycle()
    one.demand = Seen(matrix((0, 2, SECOND)), dry.lab.now, "x", span_s)
    shown = dry.ask("PUT", "/switches/east/circuits", BODY).json()["forecast"]
    assert shown["now"]["delivered"] == pytest.approx(0.1 / share, abs=0.01)


def test_a_clients_demand_is_that_of_an_interval(tmp_path: Path) -> None:
    """Even if a source with a span is configured."""
    lines = [f"{rack},gnmi://127.0.0.1:1,e{rack}\n" for rack in "abcd"]
    (tmp_path / "tors.csv").write_text("rack,target,interface\n" + "".join(lines))
    network = {"circuit_rate": "100 Gb/s", "packet_rate": "10 Gb/s"}
    demand = {"counters": {"interfaces": "tors.csv", "span": "1 min"}}
    reached = Reached(tmp_path, network=network, demand=demand)
    one = reached.lab.controller.switches["east"]
    reached.lab.controller.cycle()
    reached.ask("POST", "/switches/east/demand", {"matrix": matrix((0, 2, SECOND))})
    source = reached.lab.controller.collector._source
    source.latest = lambda *_: None  # type: ignore[union-attr,method-assign]
    reached.lab.controller.cycle()
    assert one.demand is not None
    assert one.demand.span_s is None
    shown = reached.ask("PUT", "/switches/east/circuits", BODY).json()["forecast"]
    assert shown["now"]["delivered"] == pytest.approx(0.1, abs=0.01)


@pytest.mark.parametrize("fails", [False, True])
def test_old_demand_is_used_for_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    """Neither for the forecast nor for the figures, also if the source fails meanwhile."""
    network = {"circuit_rate": "100 Gb/s", "packet_rate": "10 Gb/s"}
    reached = Reached(tmp_path, network=network, demand={"folder": "demand", "older": "1 min"})
    lab, one = reached.lab, reached.lab.controller.switches["east"]
    lab.controller.want("east", [(1, 2), (2, 1)], "ann")
    lab.send(matrix((0, 1, SECOND)))
    lab.controller.cycle()
    assert one.share(one.lit) == 1.0
    if fails:
        (tmp_path / "demand").rmdir()
    lab.now += 50
    lab.controller.cycle()
    assert one.share(one.lit) == 1.0
    lab.now += 20
    lab.controller.cycle()
    state = reached.ask("GET", "/state").json()["switches"][0]
    assert (state["demand"], state["carried"], state["heaviest"]) == (None, 0.0, [])
    shown = reached.ask("PUT", "/switches/east/circuits", BODY).json()
    assert (shown["forecast"], shown["no_forecast"]) == (None, "there is no demand")


def test_without_demand_there_is_no_forecast(dry: Reached) -> None:
    shown = dry.ask("PUT", "/switches/east/circuits", BODY).json()
    assert shown["forecast"] is None
    assert shown["no_forecast"] == "there is no demand"


def test_without_rates_there_is_no_forecast(reached: Reached) -> None:
    reached.lab.send(matrix((0, 2, 5)))
    reached.lab.controller.cycle()
    shown = reached.ask("PUT", "/switches/east/circuits", BODY).json()
    assert shown["forecast"] is None
    assert "[network]" in shown["no_forecast"]


@pytest.mark.parametrize("key", ["circuit_rate", "packet_rate"])
@pytest.mark.parametrize("rate", ["fast", "100", "0 Gb/s", "-1 Gb/s"])
def test_a_rate_that_is_none_is_refused(lab_table: dict[str, Any], key: str, rate: str) -> None:
    network = {"circuit_rate": "100 Gb/s", key: rate}
    with pytest.raises(ConfigError) as problem:
        config_of({**lab_table, "network": network})
    assert problem.value.key == f"network.{key}"


@pytest.fixture
def lab_table(tmp_path: Path) -> dict[str, Any]:
    Lab(tmp_path)
    return {"switch": [{"name": "x", "url": "scpi://127.0.0.1:1", "ports": "ports.csv"}]}
