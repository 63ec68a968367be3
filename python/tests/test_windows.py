"""A comparison at several loads measures a window that is chosen for it, unless its experiment sets
one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lightloom
from lightloom import sweep
from lightloom.results import steady_state
from lightloom.simulation import windows
from lightloom.units.durations import duration_ps

SIZES = {"kind": "exponential", "mean": "20 KB"}


def experiment(**tables: Any) -> dict[str, Any]:
    made: dict[str, Any] = {
        "cluster": {"racks": 2, "servers_per_rack": 2, "server_rate": "10 Gb/s"},
        "workload": {"load": 0.3, "sizes": SIZES},
        "compare": {"loads": [0.3, 0.5]},
        "fabric": [{"kind": "clos"}],
    }
    for name, table in tables.items():
        made[name] = {**made.get(name, {}), **table}
    return made


def chosen(**tables: Any) -> windows.Chosen | None:
    return windows.chosen(lightloom.load(experiment(**tables)))


def test_the_window_is_22_relaxation_times_at_the_highest_load() -> None:
    """The flow of a random byte has 40 KB, twice the mean: 32 us; at load 0.5 the relaxation time
    is four times that."""
    found = chosen()
    assert found is not None
    relaxation = 40_000 * 8 / 10e9 / 0.5**2
    assert found.needed_s == pytest.approx(20 * relaxation, rel=0.05)
    assert found.measure_s == pytest.approx(22 * relaxation, rel=0.05)
    assert found.warm_up_s == pytest.approx(5 * relaxation, rel=0.05)
    assert found.measure_s >= 22 * relaxation
    assert not found.is_bounded
    assert found.line().endswith("chosen for intervals at load 0.5")


def test_loads_beyond_the_highest_take_its_window() -> None:
    full, high = chosen(compare={"loads": [0.1, 1.0]}), chosen(compare={"loads": [0.1, 0.9]})
    assert full is not None
    assert high is not None
    assert (full.load, full.measure_s) == (0.9, high.measure_s)


def test_loads_as_percentages_are_the_same_loads() -> None:
    assert chosen(compare={"loads": ["30%", "50 %"]}) == chosen()
    assert chosen(compare={"loads": ["30%", "half"]}) is None


def test_a_window_that_takes_too_long_is_bounded_and_says_so() -> None:
    """4 servers of 10 Gb/s at load 0.9 offer 20 GB in 4.44 s; web search would need 20 s."""
    found = chosen(workload={"sizes": "web-search"}, compare={"loads": [0.5, 0.9]})
    assert found is not None
    assert found.is_bounded
    assert found.needed_s is not None
    assert found.warm_up_s + found.measure_s == pytest.approx(20e9 * 8 / (0.9 * 40e9), rel=0.05)
    assert found.needed_s > found.measure_s
    heavy = chosen(workload={"sizes": {"kind": "pareto", "shape": 1.05, "mean": "100 KB"}})
    assert heavy is not None
    assert heavy.needed_s is None
    assert "no theory gives" in heavy.line()


def test_queues_inside_a_fabric_lengthen_the_window() -> None:
    """At load 0.1 the racks of 4 servers of 10 Gb/s send 28/31 of 4 Gb/s over 8 Gb/s, where a flow
    of 100 KB takes 100 us; at 0.3 these links are overloaded, so no window is chosen for that."""
    many = {
        "cluster": {"racks": 8, "servers_per_rack": 4, "server_rate": "10 Gb/s"},
        "workload": {"sizes": {"kind": "fixed", "size": "100 KB"}},
        "compare": {"loads": [0.1, 0.3]},
    }
    slow = {"kind": "tree", "label": "t5", "oversubscription": 5}
    servers = 20 * 80e-6 / 0.7**2
    wide, narrow = (lightloom.load({**experiment(**many), "fabric": f}) for f in ([TREE], [slow]))
    found = windows.chosen(wide), windows.chosen(narrow)
    assert found[0] is not None
    assert found[1] is not None
    assert found[0].needed_s == pytest.approx(servers, rel=0.05)
    assert (found[1].needed_s or 0.0) > 0.9 * 20 * 100e-6 / (1 - 0.1 * 40 * 28 / 31 / 8) ** 2
    assert found[1].measure_s > found[0].measure_s


TREE = {"kind": "tree"}
HOT = {"label": "hot", "set": {"workload.sizes": {"kind": "exponential", "mean": "40 KB"}}}


def test_cases_without_a_count_measure_the_window_of_the_slowest() -> None:
    """With 40 KB in place of 20 KB, a random byte is in a flow of 80 KB, and all times are
    doubled."""
    found = chosen(compare={"case": [{"label": "as it is"}, HOT]})
    assert found is not None
    relaxation = 80_000 * 8 / 10e9 / 0.5**2
    assert found.measure_s == pytest.approx(22 * relaxation, rel=0.05)
    made = windows.measured(lightloom.load(experiment(compare={"case": [{"label": "a"}, HOT]})))
    for case in made.cases():
        length = duration_ps("measure", case.raw["run"]["measure"]) / 1e12
        assert length == pytest.approx(found.measure_s)


@pytest.mark.parametrize(
    "own", [{"workload.flows": 50}, {"run.measure": "3 us"}, {"run.stop": "last-arrival"}]
)
def test_a_case_with_an_end_of_its_own_keeps_it(own: dict[str, Any]) -> None:
    assert chosen(compare={"case": [{"label": "a"}, {"label": "b", "set": own}]}) is None


@pytest.mark.parametrize(
    "own",
    [
        {"workload": {"flows": 100}},
        {"run": {"warm_up": "1 us", "measure": "3 us"}},
        {"run": {"stop": "last-arrival"}},
        {"workload": {"arrivals": "at-once"}},
        {"compare": {"loads": []}},
        {"workload": {"load": 12.0}, "compare": {"loads": [12.0]}},
    ],
)
def test_an_end_of_its_own_wins(own: dict[str, Any]) -> None:
    made = lightloom.load(experiment(**own))
    assert windows.chosen(made) is None
    assert windows.measured(made) is made


def test_compare_records_the_window_and_repeats_to_the_byte() -> None:
    found = chosen()
    assert found is not None
    made = lightloom.compare(experiment())
    table = made.results["clos"].experiment["run"]
    assert duration_ps("measure", table["measure"]) / 1e12 == pytest.approx(found.measure_s)
    assert duration_ps("warm_up", table["warm_up"]) / 1e12 == pytest.approx(found.warm_up_s)
    for at_load in made.loads["clos"]:
        assert at_load["window"]["half_width_us"] is not None
        assert not steady_state.is_short_for_intervals(at_load)
    again = lightloom.compare(experiment())
    assert again.results["clos"].flows.equals(made.results["clos"].flows)


def test_a_sweep_over_loads_measures_a_window(tmp_path: Path) -> None:
    base = tmp_path / "base.toml"
    table = experiment()
    del table["compare"]
    base.write_text(lightloom.config.experiment.to_toml(table), encoding="utf-8")
    path = tmp_path / "sweep.toml"
    path.write_text('base = "base.toml"\n[grid]\n"workload.load" = [0.3, 0.5]\n', encoding="utf-8")
    study = sweep.read(path)
    window, found = sweep.chosen_window(study), chosen()
    assert window is not None
    assert window == found
    for point in sweep.expand(study):
        assert point.experiment.raw["run"]["measure"] == "2.9 ms"
    path.write_text(
        'base = "base.toml"\n[grid]\n"workload.load" = [0.3, 0.5]\n"workload.flows" = [50]\n',
        encoding="utf-8",
    )
    assert sweep.chosen_window(sweep.read(path)) is None
