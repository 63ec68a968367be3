"""Whether Q of Sirius covers the time from a grant to the second hop, compared with the behaviour
of cells."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import lightloom
from lightloom.analysis.reading import held_back
from lightloom.config import physics

ROOT = Path(__file__).parents[2]
REALISTIC = {"propagation": "500 ns", "switch_latency": "600 ns", "fec_latency": "102.4 ns"}


def experiment(racks: int, servers: int, **fabric: Any) -> dict[str, Any]:
    return {
        "cluster": {"racks": racks, "servers_per_rack": servers, "rack_rate": "400 Gb/s"},
        "workload": {
            "arrivals": "poisson",
            "load": 0.5,
            "sizes": {"kind": "fixed", "size": "200 KB"},
            "flows": 3000,
        },
        "run": {"stop": "drain"},
        "fabric": [{"kind": "sirius", "slot": "100 ns", **fabric}],
    }


def remedy(racks: int, queue: int = 2, **fabric: Any) -> str:
    """Returns the remedy of the finding on a queue, for 12 uplinks; empty without a finding."""
    made = lightloom.load(experiment(racks, 8, queue=queue, **fabric)).resolved()
    (one,) = physics.assumptions(made)
    return "".join(f["remedy"] for f in one["findings"] if f["parameter"] == "queue")


def test_what_covers_by_hand() -> None:
    # 64 racks with 12 uplinks have epochs of 16/3 slots. Without crossing time the lag is 1: 2.5
    # epochs and a slot.
    assert remedy(64) == "raise it to 3"
    assert remedy(64, queue=4) == ""
    # A crossing of 1,202.4 ns is three epochs of 5 slots, a lag of 4: 5.5 epochs and 1,302.4 ns /
    # 533.3 ns.
    assert remedy(64, **REALISTIC) == "raise it to 8"
    assert remedy(64, queue=8, **REALISTIC) == ""


def test_cells_carry_the_load_with_the_queue_that_covers() -> None:
    """With fibres of 250 m, Q = 4 carries less than half of an offered load of a half."""

    def delivered(queue: int) -> tuple[float, str]:
        made = lightloom.run(experiment(16, 2, propagation="1.25 us", queue=queue))
        (found,) = physics.assumptions(made.experiment)
        share = made.summary["load_delivered"] / made.summary["load_offered"]
        return share, held_back(found["findings"])

    starved, why = delivered(4)
    assert starved < 0.5
    assert why == "fabric.queue = 4 (raise it to 26)"
    share, why = delivered(26)
    assert share > 0.9
    assert why == ""


def test_the_page_and_the_example_have_the_queue_that_covers() -> None:
    """docs/fabrics/sirius.md: 8 for 64 racks, 15 for 32, under realistic physics."""
    assert [remedy(racks, **REALISTIC) for racks in (64, 32)] == ["raise it to 8", "raise it to 15"]
    page = (ROOT / "docs" / "fabrics" / "sirius.md").read_text(encoding="utf-8")
    assert "| 64 | 12 | 5.33 slots | 4 | 8 |" in page
    assert "| 32 | 12 | 2.67 slots | 8 | 15 |" in page
    sirius, *_ = lightloom.load(ROOT / "examples" / "realistic.toml").resolved()["fabric"]
    assert sirius["queue"] == 8
