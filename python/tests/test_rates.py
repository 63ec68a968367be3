"""Sirius with rates: notes on inaccurate results, and errors."""

from typing import Any

import numpy as np
import pytest

import lightloom
from lightloom.analysis import rates


def experiment(pattern: Any, **fabric: Any) -> dict[str, Any]:
    return {
        "cluster": {"racks": 16, "servers_per_rack": 2, "rack_rate": "400 Gb/s"},
        "workload": {
            "arrivals": "poisson",
            "load": 0.05,
            "sizes": {"kind": "fixed", "size": "1 MB"},
            "pattern": pattern,
            "flows": 300,
        },
        "run": {"stop": "drain"},
        "fabric": [{"kind": "sirius", "detail": "flows", **fabric}],
    }


def test_even_traffic_of_long_flows_is_beyond_doubt() -> None:
    result = lightloom.run(experiment("uniform"))
    assert list(rates.notes(result)) == []
    assert result.summary["queue_peak_bytes"] is None
    hops = result.flows["hops"].to_numpy()
    apart = result.flows["src"].to_numpy() // 2 != result.flows["dst"].to_numpy() // 2
    # Two hops, except if the intermediate is one of the two ends of a flow among 16 racks.
    assert set(hops[apart]) == {np.float32(2 - 2 / 16)}


def test_cells_have_nothing_said_of_rates() -> None:
    table = experiment("uniform", detail="cells")
    table["workload"]["flows"] = 20
    assert list(rates.notes(lightloom.run(table))) == []


def test_padding_is_said() -> None:
    """A cell of 562 B carries 100 B, which is 462 % more."""
    table = experiment("uniform")
    table["workload"]["sizes"]["size"] = "100 B"
    (note,) = rates.notes(lightloom.run(table))
    assert "which would be 462% of the bytes" in note


def test_silent_racks_are_said(tmp_path: Any) -> None:
    trace = tmp_path / "trace.csv"
    rows = [f"{2 * k},{2 * (k + 1) % 16},1000000,0" for k in range(8)]
    trace.write_text("\n".join(["src,dst,bytes,arrival_ps", *rows]) + "\n", encoding="utf-8")
    table = {**experiment("uniform"), "workload": {"trace": str(trace)}}
    (note,) = rates.notes(lightloom.run(table))
    assert note.startswith("8 of 16 racks are nearly silent: with rates")


def test_queues_are_said_where_they_decide() -> None:
    table = experiment("uniform")
    table["workload"] |= {"load": 0.6, "flows": 2000}
    (note,) = rates.notes(lightloom.run(table))
    assert "flows wait in queues" in note


def test_short_flows_among_long_ones_are_said() -> None:
    """Short flows wait behind cells of long ones; with rates they do not."""
    table = experiment("uniform")
    table["workload"] |= {"sizes": {"kind": "published", "name": "web-search"}}
    said = list(rates.notes(lightloom.run(table)))
    assert any("short flows do not wait behind" in note for note in said)
    mixed = rates.mixed(np.array([1_000, 2_000, 99_000, 90_000, 100_000], np.uint64))
    assert list(mixed) == []  # most bytes belong to short flows


def test_failures_are_refused() -> None:
    table = experiment("uniform")
    table["fault"] = [{"at": "1 us", "element": "node", "node": 3}]
    with pytest.raises(lightloom.ConfigError, match="models failures by cells only; set fabric"):
        lightloom.run(table)
