"""Tables of a measured run: names and types as in a simulation, and values by hand."""

import time
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from test_testbed_setup import CTHROUGH, MORDIA, setup, table

import lightloom
from lightloom.testbed import tables
from lightloom.testbed.agreement import circuit_share, compare_with_simulation, over_repetitions
from lightloom.testbed.measure import Observed, Samples


def application(**given: Any) -> dict[str, Any]:
    usual = {"from": 0, "to": 2, "begin_s": 1.0, "took_s": 2.0, "bytes": 1000, "name": "bulk"}
    return {**usual, "exit_code": 0, "goodput_bps": None, "timed_out": False, **given}


def measured(
    fabric: dict[str, Any], observed: list[Observed], scale: float = 1.0, **more: Any
) -> Any:
    """A run whose samples are a second apart, the first at its start."""
    raw = table(fabric) | {"testbed": {"time_scale": scale}}
    samples = Samples(
        observed=[replace(one, at=100.0 + second) for second, one in enumerate(observed)]
    )
    usual = {"circuits": [], "directed": False, "applications": [application()]}
    return SimpleNamespace(setup=setup(raw), samples=samples, began=100.0, **{**usual, **more})


def seen(delivered: int, *sizes: int, **more: Any) -> Observed:
    """Returns a reading of a plane with queues of these sizes: of rack 0, of rack 0, of the core,
    and so on."""
    places = [("rack 0", "e0"), ("rack 0", "h0.0"), ("core", "E1"), ("core", "E2")]
    queues = [(*place, size) for place, size in zip(places, sizes, strict=False)]
    return Observed(0.0, delivered, 3 * delivered, 7, queues, more.pop("waiting", 50), **more)


def test_the_tables_have_the_columns_of_a_simulation() -> None:
    simulated = lightloom.run(lightloom.load(table(CTHROUGH)))
    link = {("server to rack", 0, 0): 10}
    lit = [(0, 1, 0, 0, 1)]
    live = measured(CTHROUGH, [seen(0, links=link), seen(9, links=link)], circuits=lit)
    for name, made in [
        ("flows", tables.flow_table(live)),
        ("timeseries", tables.series_table(live)),
        ("circuits", tables.circuit_table(live)),
        ("links", tables.link_table(live)),
    ]:
        theirs = getattr(simulated, name).schema
        assert made is not None
        assert made.schema.equals(theirs.remove_metadata()), name
        metadata = made.schema.metadata
        assert metadata[b"lightloom.basis"] == b"testbed"
        assert {*theirs.metadata} | {b"lightloom.basis"} == {*metadata}


def test_transfers_are_flows_in_the_time_of_the_fabric() -> None:
    ones = [
        application(name="late", begin_s=3.0, took_s=0.5, bytes=70),
        application(),
        application(name="command", to=None, bytes=None),
    ]
    live = measured(CTHROUGH, [seen(0), seen(1)], scale=10, applications=ones)
    assert tables.flow_table(live).to_pylist() == [
        {
            "flow": at,
            "src": 0,
            "dst": 2,
            "bytes": size,
            "arrival_ps": arrival,
            "start_ps": None,
            "finish_ps": finish,
            "hops": None,
            "group": name,
        }
        for at, (name, size, arrival, finish) in enumerate(
            [("bulk", 100, 10**11, 3 * 10**11), ("late", 7, 3 * 10**11, 35 * 10**10)]
        )
    ]


def test_a_row_has_the_queues_and_what_went_by_since_the_last() -> None:
    """The network has four servers of 500 Mb/s with their links, and uplinks of 500 and 50 Mb/s."""
    fabric = {**CTHROUGH, "oversubscription": 10}
    live = measured(fabric, [seen(0), seen(50_000_000, 5, 6, 10), seen(50_000_000, 3, 0, 1)])
    rows = tables.series_table(live).to_pylist()
    assert rows[1] == {
        "time_ps": 10**12,
        "bytes_offered": None,
        "bytes_delivered": 50_000_000,
        "bytes_dropped": None,
        "bytes_in_flight": 71,
        "losses": 7,
        "queued_bytes": 21,
        "queued_bytes_worst": 11,
        "waiting_bytes": 50,
        "on_links_bytes": None,
        "carried_bytes": 150_000_000,
        "goodput_normalized": pytest.approx(0.4e9 / 2e9),
        "utilisation": pytest.approx(1.2e9 / (2 * 4 * (0.5e9 + 0.5e9 + 0.05e9))),
        "flows_offered": 1,
        "flows_completed": 0,
    }
    assert (rows[0]["goodput_normalized"], rows[2]["goodput_normalized"]) == (None, 0)
    assert tables.figures(live) == {
        "flows_offered": 1,
        "flows_completed": 1,
        "bytes_delivered": 50_000_000,
        "goodput_normalized": pytest.approx(0.1),
        "queue_peak_bytes": 11,
    }
    assert tables.queue_table(live).to_pylist() == [
        {"time_ps": at * 10**12, "node": node, "queue": queue, "bytes": size}
        for at, node, queue, size in [
            (1, "rack 0", "e0", 5),
            (1, "rack 0", "h0.0", 6),
            (1, "core", "E1", 10),
            (2, "rack 0", "e0", 3),
            (2, "core", "E1", 1),
        ]
    ]


def test_queues_for_circuits_of_days_wait_at_their_sources() -> None:
    """The queues are those of the simulation of Mordia. Bytes are those of the fabric: a fifth."""
    last = seen(100, 40, 20, waiting=60, offered=160, at_sources=True)
    live = measured(MORDIA, [seen(0, offered=0, at_sources=True), last], scale=5)
    row = tables.series_table(live).to_pylist()[1]
    keys = ("bytes_offered", "bytes_delivered", "waiting_bytes", "queued_bytes", "time_ps")
    assert [row[key] for key in keys] == [32, 20, 12, 0, 2 * 10**11]
    assert row["queued_bytes_worst"] == 0
    assert tables.figures(live)["queue_peak_bytes"] == 12
    assert tables.circuit_table(live) is tables.link_table(live) is None


def test_circuits_have_the_lower_rack_first_unless_they_lead_one_way() -> None:
    lit = [(3, 1, 0, 0.5, 2.0)]
    ends = []
    for directed in (False, True):
        made = tables.circuit_table(measured(CTHROUGH, [seen(0)], circuits=lit, directed=directed))
        assert made is not None
        ends.append(made.select(["a", "b", "directed", "from_ps", "until_ps"]).to_pylist())
    half, two = 5 * 10**11, 2 * 10**12
    assert ends == [
        [{"a": 1, "b": 3, "directed": False, "from_ps": half, "until_ps": two}],
        [{"a": 3, "b": 1, "directed": True, "from_ps": half, "until_ps": two}],
    ]


def test_links_carry_what_came_by_since_the_first_sample() -> None:
    up, down = ("rack to core", 1, None), ("rack to server", 1, 3)
    first, last = {up: 1000, down: 5}, {up: 1000 + 12_500_000, down: 5}
    fabric = {**CTHROUGH, "oversubscription": 10}
    live = measured(fabric, [seen(0, links=first), seen(0), seen(0, links=last)])
    made = tables.link_table(live)
    assert made is not None
    assert made.to_pylist() == [
        {
            "tier": tier,
            "from": 1,
            "to": to,
            "links": 1,
            "rate_bps": rate,
            "bytes": size,
            "utilisation": pytest.approx(size * 8 / (2 * rate)),
        }
        for tier, to, rate, size in [
            ("rack to core", None, 50_000_000, 12_500_000),
            ("rack to server", 3, 500_000_000, 0),
        ]
    ]


def test_without_transfers_there_is_a_table_without_rows() -> None:
    live = measured(CTHROUGH, [seen(0), seen(1)], applications=[application(bytes=None)])
    assert tables.flow_table(live).num_rows == 0
    assert tables.series_table(live)["flows_offered"].to_pylist() == [0, 0]
    assert pa.types.is_uint64(tables.series_table(live).schema.field("bytes_offered").type)


def test_an_observation_that_takes_long_is_made_less_often() -> None:
    def slow() -> Observed:
        at = time.monotonic()
        time.sleep(0.02)
        return replace(seen(0), at=at)

    samples = Samples()
    samples.look(lambda: replace(seen(0), at=time.monotonic()))
    assert samples.next_look - samples.observed[-1].at >= 0.05
    samples.look(slow)
    assert samples.next_look - samples.observed[-1].at >= 20 * 0.02
    assert len(samples.observed) == 2


def test_equal_transfers_are_each_beside_their_own_simulation() -> None:
    """When the second transfer begins, the circuit for which the first one waited is lit."""
    equal = {"bytes": 60_000_000, "goodput_bps": 400e6}
    ones = [application(begin_s=at, took_s=1.2, name=f"{at}", **equal) for at in (1.6, 0.2)]
    fidelity = SimpleNamespace(load=0.0, processors=2)
    fabric = {**CTHROUGH, "interval": "1 s", "oversubscription": 10}
    live = measured(fabric, [seen(0)], applications=ones, fidelity=fidelity)
    found = {one["name"]: one["simulated"] for one in compare_with_simulation(live)}
    # 0.8 s at 50 Mb/s, then the rest at the rate of the circuit, which it shares with the other
    # transfer.
    assert found["0.2"] < 0.7 * found["1.6"]


def test_the_share_of_circuits_is_what_the_electrical_network_did_not_carry() -> None:
    """Hosts received 100 bytes; racks sent 10 and 5 of them over the electrical network."""
    live = measured(CTHROUGH, [seen(0)])
    live.samples.columns |= {"host 0": [5, 65], "host 2": [0, 40], "e0": [7, 17], "e1": [0, 5]}
    live.samples.columns["o0.0"] = [0, 1000]
    assert circuit_share(live) == pytest.approx(0.85)
    live.applications[0]["to"] = 0
    assert circuit_share(live) is None
    assert circuit_share(measured(MORDIA, [seen(0)])) is None


def test_repeated_runs_give_differences_an_interval() -> None:
    """The differences are 0, 10 and 21 %: their mean, and Student's interval with two degrees of
    freedom."""

    def row(difference: float, why: str) -> dict[str, Any]:
        values = {"measured": 100 * (1 + difference), "simulated": 100.0}
        return {
            "name": "a",
            "metric": "goodput_bps",
            "difference": difference,
            "why": why,
            **values,
        }

    (found,) = over_repetitions([[row(0.0, "x")], [row(0.1, "y")], [row(0.21, "z")]])
    assert found["difference"] == pytest.approx(0.31 / 3)
    assert found["half_width"] == pytest.approx(4.303 * 0.10504 / 3**0.5, rel=1e-3)
    assert (found["runs"], found["measured"], found["why"]) == (3, pytest.approx(110.33, 1e-3), "z")
    (alone,) = over_repetitions([[row(0.0, "x")]])
    assert (alone["half_width"], alone["why"]) == (None, "within 10 %")
