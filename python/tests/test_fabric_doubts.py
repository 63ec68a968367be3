"""Doubts of a fabric about the figures of a run: Sirius by rates, and with few uplinks."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lightloom
from lightloom.analysis import notes
from lightloom.analysis.fabric_doubts import Doubts, doubts_of


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


def doubts(table: dict[str, Any]) -> dict[str, float]:
    """Cause → value of the doubts about traffic."""
    return {doubt.cause: doubt.value for doubt in doubts_of(lightloom.run(table)).traffic}


def noted_causes(result: lightloom.Result) -> list[str]:
    """The causes that the notes on a run name."""
    return [note.values["cause"] for note in notes.notes_of_run(result) if note.kind == "fabric"]


def test_even_traffic_of_long_flows_is_beyond_doubt() -> None:
    result = lightloom.run(experiment("uniform"))
    assert doubts_of(result) == Doubts()
    assert result.summary["queue_peak_bytes"] is None
    hops = result.flows["hops"].to_numpy()
    apart = result.flows["src"].to_numpy() // 2 != result.flows["dst"].to_numpy() // 2
    # Two but for the two of 16 racks that are its own ends.
    assert set(hops[apart]) == {np.float32(2 - 2 / 16)}


def test_cells_and_other_fabrics_have_no_doubts_about_traffic() -> None:
    table = experiment("uniform")
    table["workload"] |= {"flows": 20, "sizes": {"kind": "fixed", "size": "100 B"}}
    table["fabric"] = [{"kind": "sirius"}]
    assert doubts(table) == {}
    table["fabric"] = [{"kind": "tree"}]
    assert doubts(table) == {}


def test_padding_is_doubted() -> None:
    """Of 100 B a cell of 562 B carries: 462 % more."""
    table = experiment("uniform")
    table["workload"]["sizes"]["size"] = "100 B"
    assert doubts(table) == {"padding": pytest.approx(4.62)}


def test_silent_racks_are_doubted(tmp_path: Path) -> None:
    trace = tmp_path / "trace.csv"
    rows = [f"{2 * k},{2 * (k + 1) % 16},1000000,0" for k in range(8)]
    trace.write_text("\n".join(["src,dst,bytes,arrival_ps", *rows]) + "\n", encoding="utf-8")
    table = {**experiment("uniform"), "workload": {"trace": str(trace)}}
    assert doubts(table) == {"silent racks": 8}


def test_queues_are_doubted_where_they_decide() -> None:
    table = experiment("uniform")
    table["workload"] |= {"load": 0.6, "flows": 2000}
    result = lightloom.run(table)
    (doubt,) = doubts_of(result).traffic
    assert (doubt.cause, doubt.value) == ("queues", result.summary["goodput_normalized"])
    assert doubt.cause in noted_causes(result)


def test_short_flows_among_long_ones_are_doubted() -> None:
    table = experiment("uniform")
    table["workload"] |= {"sizes": {"kind": "published", "name": "web-search"}}
    result = lightloom.run(table)
    size = result.flows["bytes"].to_numpy()
    apart = result.flows["src"].to_numpy() // 2 != result.flows["dst"].to_numpy() // 2
    long = size[apart & (size >= 100_000)].sum() / size[apart].sum()
    assert doubts(table)["long flows"] == pytest.approx(long)


def test_few_uplinks_are_doubted() -> None:
    table = experiment("uniform", uplinks=6)
    result = lightloom.run(table)
    (doubt,) = doubts_of(result).capacity
    assert (doubt.cause, doubt.value) == ("few uplinks", 6 / 8)
    assert doubt.cause in noted_causes(result)


def test_a_table_of_another_version_has_no_doubts() -> None:
    result = lightloom.run(experiment("uniform", uplinks=6))
    result.experiment["fabric"][0]["unknown"] = 1
    assert doubts_of(result) == Doubts()


def test_failures_are_refused() -> None:
    table = experiment("uniform")
    table["fault"] = [{"at": "1 us", "element": "node", "node": 3}]
    with pytest.raises(lightloom.ConfigError, match="by cells only"):
        lightloom.run(table)
