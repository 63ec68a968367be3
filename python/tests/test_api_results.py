"""Results on disk are read back unchanged, and are never incomplete."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lightloom
from lightloom.simulation import traces

RAW: dict[str, Any] = {
    "cluster": {"hosts": 8, "server_rate": "50 Gb/s"},
    "workload": {"load": 0.3, "flows": 50, "sizes": {"kind": "fixed", "size": "5 KB"}},
    "fabric": [{"kind": "sirius", "label": "a b"}, {"kind": "sirius", "label": "c", "queue": 8}],
    "compare": {"loads": [0.3, 0.6]},
}


def traced(path: Path) -> dict[str, Any]:
    """The same fabrics on the flows of a file."""
    return {**RAW, "workload": {"trace": str(path)}, "compare": {}}


@pytest.fixture(scope="module")
def comparison() -> lightloom.Comparison:
    return lightloom.compare(RAW)


def same(one: lightloom.Result, other: lightloom.Result) -> bool:
    return (
        one.label == other.label
        and one.flows.equals(other.flows, check_metadata=True)
        and one.timeseries.equals(other.timeseries, check_metadata=True)
        and one.summary == other.summary
        and one.experiment == other.experiment
    )


def test_a_result_reads_back_as_it_was(comparison: lightloom.Comparison, tmp_path: Path) -> None:
    result = comparison.results["a b"]
    assert result.save(tmp_path / "deep" / "er") == tmp_path / "deep" / "er"
    names = sorted(p.name for p in (tmp_path / "deep" / "er").iterdir())
    assert names == [
        *("experiment.toml", "flows.parquet", "record.json", "summary.json", "timeseries.parquet")
    ]
    assert same(lightloom.Result.load(tmp_path / "deep" / "er"), result)


def test_a_comparison_reads_back_as_it_was(
    comparison: lightloom.Comparison, tmp_path: Path
) -> None:
    comparison.save(tmp_path)
    back = lightloom.Comparison.load(tmp_path)
    assert (back.name, back.experiment) == (comparison.name, comparison.experiment)
    assert back.loads == comparison.loads
    assert list(back.results) == ["a b", "c"]
    assert all(same(back.results[label], comparison.results[label]) for label in back.results)
    written = json.loads((tmp_path / "comparison.json").read_text())
    assert written == {k: r.summary for k, r in comparison.results.items()}
    again = lightloom.compare(tmp_path / "experiment.toml").save(tmp_path / "again")
    for name in ("a b/flows.parquet", "c/flows.parquet", "experiment.toml"):
        assert (again / name).read_bytes() == (tmp_path / name).read_bytes()


def test_flows_record_where_they_come_from(
    comparison: lightloom.Comparison, tmp_path: Path
) -> None:
    path = comparison.results["c"].save(tmp_path) / "flows.parquet"
    metadata = pq.read_schema(path).metadata
    assert metadata[b"lightloom.version"].decode() == lightloom.__version__
    assert metadata[b"lightloom.seed"] == b"1"
    origin = json.loads(metadata[b"lightloom.experiment"])
    assert origin["fabric"][0]["queue"] == 8
    assert lightloom.run(origin).flows.equals(comparison.results["c"].flows, check_metadata=True)


@pytest.mark.parametrize("suffix", ["csv", "cm", "txt", "parquet"])
def test_a_trace_of_a_run_offers_the_same_flows_again(
    comparison: lightloom.Comparison, tmp_path: Path, suffix: str
) -> None:
    flows = comparison.results["c"].flows
    arrivals = flows["arrival_ps"].to_numpy() // 1000 * 1000  # `src dst bytes start_ns` in whole ns
    flows = flows.set_column(4, "arrival_ps", pa.array(arrivals))
    path = traces.write(flows, tmp_path / f"t.{suffix}")
    table = traces.read(path)
    for name in traces.COLUMNS:
        assert table[name].to_pylist() == flows[name].to_pylist(), name
    result = lightloom.run(traced(path), "c")
    for name in traces.COLUMNS:
        assert result.flows[name].to_pylist() == flows[name].to_pylist(), name
    assert result.summary["flows_completed"] == 50
    assert result.summary["mean_flow_bytes_law"] is None
    assert [p.name for p in tmp_path.iterdir()] == [f"t.{suffix}"]


def test_groups_survive_a_parquet_trace(tmp_path: Path) -> None:
    table = pa.table(
        {
            "bytes": pa.array([10, 20, 30], pa.int32()),
            "src": [0, 1, 2],
            "dst": [1, 2, 3],
            "arrival_ps": [5, 3, 4],
            "group": ["job", None, "ring"],
            "note": ["a", "b", "c"],
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    result = lightloom.run(traced(tmp_path / "t.parquet"), "c")
    assert result.flows["group"].to_pylist() == ["", "ring", "job"]
    assert result.flows["bytes"].to_pylist() == [20, 30, 10]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dst": None}, "has no column `dst`; it needs src, dst, bytes, arrival_ps"),
        ({"bytes": ["x", "y"]}, "column `bytes` holds string; write integers"),
        ({"src": [-1, 0]}, "column `src` is -1 in row 0; values are 0 to 4294967295"),
        ({"src": [None, 0]}, "column `src` is null in row 0; fill it"),
        ({"src": [0, 8]}, "row 1: src is 8, the last host is 7; correct it"),
        ({"bytes": [0, 1]}, "row 0: bytes is 0"),
        ({"dst": [0, 1]}, "row 0: host 0 sends to itself"),
        ({"group": [[1], [2]]}, "column `group` holds list"),
    ],
)
def test_bad_parquet_traces_name_file_column_and_row(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    columns: dict[str, Any] = {"src": [0, 1], "dst": [1, 2], "bytes": [1, 2], "arrival_ps": [0, 1]}
    columns = {k: v for k, v in {**columns, **change}.items() if v is not None}
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table(columns), path)
    with pytest.raises(lightloom.ConfigError) as caught:
        lightloom.run(traced(path), "c")
    assert str(caught.value).startswith(f'workload.trace = "{path}": ')
    assert message in str(caught.value)


def test_what_is_no_parquet_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    for content, message in [(None, "no such file"), (b"hello", "is not a Parquet file")]:
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(lightloom.ConfigError, match=message):
            lightloom.run(traced(path), "c")
    with pytest.raises(lightloom.ConfigError, match="names no known format"):
        traces.write(pa.table({n: np.zeros(0, t) for n, t in traces.COLUMNS.items()}), "t.xyz")


def test_what_is_no_result_is_refused_with_what_it_is(tmp_path: Path) -> None:
    """Regression: `Result.load` of a comparison printed a traceback, and `load` advised to check
    the path."""
    lightloom.compare({**RAW, "compare": {}}).save(tmp_path / "both")
    for call, said in (
        (
            lambda: lightloom.Result.load(tmp_path / "both"),
            r"Comparison\.load reads those of several",
        ),
        (lambda: lightloom.Comparison.load(tmp_path / "both" / "c"), r"Result\.load reads the"),
        (
            lambda: lightloom.load(tmp_path / "both"),
            r"name its experiment\.toml, or read results by",
        ),
        (lambda: lightloom.load(tmp_path), "check the path"),
    ):
        with pytest.raises(lightloom.ConfigError, match=said):
            call()
