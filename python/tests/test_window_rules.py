"""Windows that are too short never show that a load is not carried, in any output, by
arithmetic."""

from __future__ import annotations

from typing import Any

import pytest

import lightloom
from lightloom.analysis.findings import NoneCarries, WindowTooShort
from lightloom.analysis.findings.carriage import carriages_of_runs
from lightloom.analysis.reading import read
from lightloom.analysis.verdicts.first import First, first
from lightloom.report.sweeps import gathered
from lightloom.results import window_rules
from lightloom.results.saturation import search
from lightloom.results.window_rules import can_deny, judged

MISSING = {
    "accepted": 0.30,
    "accepted_half_width": 0.001,
    "paced": 0.50,
    "stable": False,
    "from_s": 1e-3,
    "until_s": 26e-3,
    "flows": 1000,
}
CLUSTER = {"racks": 16, "servers_per_rack": 2, "server_rate": "10 Gb/s"}


def summary(**more: Any) -> dict[str, Any]:
    return {"window": MISSING, **more}


def verdict(run: dict[str, Any], load: float, *fabrics: dict[str, Any]) -> First:
    comparison = lightloom.compare(
        {
            "cluster": CLUSTER,
            "workload": {
                "arrivals": "poisson",
                "load": load,
                "sizes": {"kind": "fixed", "size": "20 KB"},
            },
            "run": run,
            "fabric": list(fabrics),
        }
    )
    (workload,) = read([comparison])
    found = first(workload)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("figures", "expected"),
    [
        ({"largest_alone_s": 1e-3}, "short"),
        ({"largest_alone_s": 1.1e-3}, "unsettled"),  # longer than the warm-up of 1 ms
        ({"cycle_s": 1e-3}, "short"),
        ({"cycle_s": 1.1e-3}, "unsettled"),
        ({"cycle_s": 1.1e-3, "load_asked": 1.1}, "short"),
        ({"load_offered": 1.1}, "short"),
        ({"load_offered": 1.1, "load_asked": 0.9, "cycle_s": 1.1e-3}, "unsettled"),
    ],
)
def test_sweep_and_compare_judge_alike(figures: dict[str, float], expected: str) -> None:
    seeds = [summary(**figures) for _ in range(3)]
    assert carriages_of_runs([seeds]) == [expected]
    (cell,) = gathered([({"load": 0.5}, "clos", seed) for seed in seeds])
    assert cell.carriage == expected
    assert can_deny([judged(seed) for seed in seeds]) == (expected == "short")


def test_a_search_by_short_windows_is_no_saturation() -> None:
    def measured(cycle_s: float) -> bool:
        def measure(load: float) -> dict[str, Any]:
            accepted = min(load, 0.5)
            return {
                **judged(summary(cycle_s=cycle_s)),
                "accepted": accepted,
                "accepted_busiest": accepted,
                "stable": load < 0.5,
            }

        return search(measure, 1.0, 0.02).is_told

    assert (measured(0.5e-3), measured(2e-3)) == (True, False)


def test_a_window_below_the_cycle_of_rotornet_denies_it_no_load() -> None:
    """With 16 racks and one switch the cycle is 15 slots of 200 us, 3 ms."""
    rotornet = {"kind": "rotornet", "switches": 1}
    found = verdict({"warm_up": "500 us", "measure": "2 ms"}, 0.5, {"kind": "clos"}, rotornet)
    assert "cannot carry" not in found.answer
    assert found.leaders != ("rotornet",)
    assert "fabric.switches = 1 (set" in " ".join(found.overturned)


@pytest.mark.parametrize(("switches", "cycle_s"), [(1, 3e-3), (5, 0.6e-3), (15, 0.2e-3)])
def test_cycles_by_hand(switches: int, cycle_s: float) -> None:
    made = lightloom.run(
        {
            "cluster": CLUSTER,
            "workload": {
                "arrivals": "poisson",
                "load": 0.1,
                "sizes": {"kind": "fixed", "size": "20 KB"},
                "flows": 100,
            },
            "run": {"stop": "drain"},
            "fabric": [{"kind": "rotornet", "switches": switches}],
        }
    )
    assert made.summary["cycle_s"] == pytest.approx(cycle_s)
    assert made.summary["largest_alone_s"] == pytest.approx(20e3 * 8 / 10e9)
    assert made.summary["load_asked"] == 0.1


@pytest.mark.parametrize("measure", ["200 us", "5 ms"])
def test_a_load_above_one_is_carried_by_no_fabric(measure: str) -> None:
    tree = {"kind": "tree", "oversubscription": 2, "label": "tree"}
    found = verdict({"warm_up": "50 us", "measure": measure}, 1.2, {"kind": "clos"}, tree)
    assert isinstance(found.finding, NoneCarries)
    assert found.finding.beyond == 1.2
    assert not isinstance(found.finding, WindowTooShort)


def test_queues_that_grow_beyond_chance_deny_a_load_before_the_theory_of_queues_tells() -> None:
    """A tree 2:1 carries 0.5 ÷ (28 ÷ 31) = 0.554 of uniform traffic, because 28 of 31 other servers
    are in other racks. At 0.6 its queues grow; at 0.5 and at the limit they do not."""
    sizes = {"kind": "fixed", "size": "100 KB"}
    found = {}
    for load in (0.5, 0.554, 0.6):
        made = lightloom.run(
            {
                "cluster": {"racks": 8, "servers_per_rack": 4, "server_rate": "10 Gb/s"},
                "workload": {"load": load, "sizes": sizes},
                "run": {"warm_up": "10 ms", "measure": "100 ms", "seed": 1},
                "fabric": [{"kind": "tree", "oversubscription": 2}],
            }
        )
        found[load] = carriages_of_runs([[made.summary]])
    assert found == {0.5: ["carried"], 0.554: ["unsettled"], 0.6: ["short"]}


@pytest.mark.parametrize("seconds", [0.01, 0.1, 1.0])
def test_a_length_at_which_growth_would_be_seen_shows_it(seconds: float) -> None:
    """Both rules agree: in a window of the advised length, the missing bytes are visible."""
    base = {"from_s": 10.0, "load": 0.5, "largest_alone_s": 1e-4, "cycle_s": None}
    missed = 0.05
    needed = window_rules.growing_s(base, missed)
    assert needed == pytest.approx(1e-4 / 0.5 * (1.5 / 0.05) ** 2)
    window = {**base, "until_s": 10.0 + seconds * needed}
    assert window_rules.grows(window, missed * 1.0001) == (seconds >= 1.0)
    assert not window_rules.grows({**window, "cycle_s": 5.0}, missed * 1.0001)
