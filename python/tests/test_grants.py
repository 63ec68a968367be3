"""Whether Q of Sirius covers the way from a grant to the second hop, against what cells do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import lightloom
from lightloom.analysis import grants

ROOT = Path(__file__).parents[2]
#: 64 racks, 12 uplinks: epochs of 64 / 12 slots of 100 ns.
DERIVED = {"uplinks": 12, "base_uplinks": 8, "cell_bytes": 544, "epoch_slots": 64 / 12}
CLUSTER = {"racks": 64, "servers_per_rack": 8, "rack_rate": "400 Gb/s"}


def table(propagation: str = "0 ns", **more: Any) -> dict[str, Any]:
    return {"kind": "sirius", "slot": "100 ns", "queue": 4, "propagation": propagation, **more}


def test_what_covers_by_hand() -> None:
    # No crossing: a lag of 1; 2.5 epochs and a slot, 2.69 epochs.
    assert grants.covering(table(), DERIVED) == 3
    # 1,202.4 ns: three epochs of 5 slots, a lag of 4; 5.5 epochs and 1,302.4 ns / 533.3 ns.
    realistic = table("500 ns", switch_latency="600 ns", fec_latency="102.4 ns")
    assert grants.covering(realistic, DERIVED) == 8
    assert grants.covering({"kind": "clos"}, {}) is None
    assert grants.covering(table(mode="ideal"), DERIVED) is None


def test_it_is_said_with_a_remedy_where_q_is_the_limit_alone() -> None:
    assert not list(grants.notes(table(), DERIVED, CLUSTER))
    (said,) = grants.notes(table("1.2 us"), DERIVED, CLUSTER)
    assert said.endswith("raise fabric.queue: 8 covers it")
    assert not list(grants.notes(table("1.2 us", queue=8), DERIVED, CLUSTER))


def test_cells_carry_the_load_with_the_queue_that_covers() -> None:
    """Of half of what servers send, Q = 4 lets less than half through over fibres of 250 m."""

    def delivered(queue: int) -> tuple[float, dict[str, Any]]:
        made = lightloom.run(
            {
                "cluster": {"racks": 16, "servers_per_rack": 2, "rack_rate": "400 Gb/s"},
                "workload": {
                    "arrivals": "poisson",
                    "load": 0.5,
                    "sizes": {"kind": "fixed", "size": "200 KB"},
                    "flows": 3000,
                },
                "run": {"stop": "drain"},
                "fabric": [{"kind": "sirius", "propagation": "1.25 us", "queue": queue}],
            }
        )
        share = made.summary["load_delivered"] / made.summary["load_offered"]
        return share, {**made.experiment["fabric"][0], "derived": made.summary["derived"]}

    starved, resolved = delivered(4)
    needed = grants.covering(resolved, resolved["derived"])
    assert needed is not None
    assert starved < 0.5
    assert delivered(needed)[0] > 0.9


def test_the_page_and_the_example_have_the_queue_that_covers() -> None:
    """docs/fabrics/sirius.md: 8 for 64 racks, 15 for 32, under realistic physics."""
    realistic = table("500 ns", switch_latency="600 ns", fec_latency="102.4 ns")
    covering = {n: grants.covering(realistic, DERIVED | {"epoch_slots": n / 12}) for n in (64, 32)}
    assert covering == {64: 8, 32: 15}
    page = (ROOT / "docs" / "fabrics" / "sirius.md").read_text(encoding="utf-8")
    assert "| 64 | 12 | 5.33 slots | 4 | 8 |" in page
    assert "| 32 | 12 | 2.67 slots | 8 | 15 |" in page
    sirius, *_ = lightloom.load(ROOT / "examples" / "realistic.toml").resolved()["fabric"]
    assert sirius["queue"] == grants.covering(sirius, DERIVED) == 8
