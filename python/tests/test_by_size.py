"""Slowdowns by flow size (`run.size_limits`)."""

from typing import Any

import numpy as np
import pytest

import lightloom
from lightloom.analysis import reading, table
from lightloom.cli import by_size
from lightloom.results import repeats

EXPERIMENT: dict[str, Any] = {
    "cluster": {"racks": 4, "servers_per_rack": 2, "server_rate": "10 Gb/s"},
    "workload": {"load": 0.3, "sizes": "web-search", "flows": 2_000},
    "fabric": [{"kind": "clos", "label": "clos"}, {"kind": "tree", "label": "tree"}],
    "run": {"seed": 3, "stop": "drain", "size_limits": ["10 KB", "100 KB", "1 MB"]},
}
LIMITS = [0, 10_000, 100_000, 1_000_000]


def nearest_rank(values: np.ndarray, percent: int) -> float:
    """The percentile by nearest rank of sorted values."""
    return float(values[-(-len(values) * percent // 100) - 1])


def test_ranges_hold_what_the_flows_say() -> None:
    """The median and the 99th percentile of each range are those of the flows in
    `flows.parquet`."""
    result = lightloom.run(lightloom.load(EXPERIMENT), "clos")
    columns = (result.flows[name].to_numpy() for name in ("bytes", "arrival_ps", "finish_ps"))
    sizes, arrivals, ends = columns
    slowdown = (ends - arrivals) / (sizes * 800)  # 10 Gb/s: 800 ps per byte
    found = list(result.summary["by_size"].values())
    assert sum(one["flows"] for one in found) == 2_000
    for low, high, one in zip(LIMITS, [*LIMITS[1:], np.inf], found, strict=True):
        inside = np.sort(slowdown[(sizes >= low) & (sizes < high)])
        assert (one["flows"], one["unfinished"]) == (len(inside), 0)
        for percent in (50, 99):
            limits = one[f"p{percent}"]
            assert limits["low"] == limits["high"]
            assert limits["low"] == pytest.approx(nearest_rank(inside, percent), rel=1e-6)


def test_a_window_counts_what_arrived_in_it() -> None:
    changed = EXPERIMENT | {
        "workload": {"load": 0.3, "sizes": "web-search"},
        "run": {"seed": 3, "warm_up": "5 ms", "measure": "20 ms", "size_limits": ["100 KB"]},
    }
    summary = lightloom.run(lightloom.load(changed), "clos").summary
    counts = [one["flows"] for one in summary["by_size"].values()]
    assert sum(counts) == summary["window"]["flows"]


def test_flows_that_did_not_finish_are_bounds() -> None:
    changed = EXPERIMENT | {"run": EXPERIMENT["run"] | {"stop": "20 ms"}}
    summary = lightloom.run(lightloom.load(changed), "clos").summary
    largest = list(summary["by_size"].values())[-1]
    assert largest["unfinished"] > 0
    assert largest["p99"]["high"] is None
    assert "p99 >" in by_size.rows(summary)["slowdown, from 1 MB"]


def test_tables_have_a_row_for_each_fabric() -> None:
    comparison = lightloom.compare(lightloom.load(EXPERIMENT))
    of_seeds = {label: comparison.of_label(label) for label in comparison.results}
    (shown,) = by_size.tables(of_seeds)
    assert shown.row_count == 2
    assert len(shown.columns) == 5
    rows = dict(table.groups(reading.workload(comparison, reading.slots([comparison]))))[
        "Slowdown by flow size"
    ]
    assert len(rows) == 8


def test_without_limits_there_is_none() -> None:
    run = {key: value for key, value in EXPERIMENT["run"].items() if key != "size_limits"}
    summary = lightloom.run(lightloom.load(EXPERIMENT | {"run": run}), "clos").summary
    assert "by_size" not in summary
    assert not list(by_size.tables({"clos": [summary]}))


def test_limits_are_settings_and_no_means_over_seeds() -> None:
    run = EXPERIMENT["run"] | {"repeat": 2, "size_limits": ["100 KB"]}
    repeated = lightloom.repeat(lightloom.load(EXPERIMENT | {"run": run}), "clos")
    found = repeats.gathered([r.summary for r in repeated.results])["by_size"]
    assert [one["from_bytes"] for one in found.values()] == [0, 100_000]
    assert [one["below_bytes"] for one in found.values()] == [100_000, None]
    assert set(found["from 100 KB"]["flows"]) == {"mean", "half_width", "n"}
