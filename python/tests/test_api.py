"""Running and comparing through the Python API."""

from __future__ import annotations

import doctest
import importlib
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import lightloom
from lightloom import _core, errors
from lightloom.analysis import derived_values
from lightloom.config import experiment as config
from lightloom.config import overrides
from lightloom.devices import clock
from lightloom.results import columns
from lightloom.simulation import machine

FLOW_COLUMNS = {
    "flow": pa.uint64(),
    "src": pa.uint32(),
    "dst": pa.uint32(),
    "bytes": pa.uint64(),
    "arrival_ps": pa.int64(),
    "start_ps": pa.int64(),
    "finish_ps": pa.int64(),
    "hops": pa.float32(),
    "group": pa.dictionary(pa.int32(), pa.string()),
}
SUMMARY_KEYS = [
    *("fabric", "label", "version", "seed", "simulated_s", "flows_offered", "flows_completed"),
    *("bytes_offered", "bytes_delivered", "load_offered", "goodput_normalized", "fct"),
    *("slowdown", "queue_peak_bytes", "reorder_peak_bytes", "drops", "hops_mean", "cell_hops"),
    *("packet_hops", "kernel_s", "wall_s", "peak_rss_bytes"),
]
TIMINGS = {"kernel_s", "wall_s", "peak_rss_bytes", "threads"}


def experiment(**changes: Any) -> dict[str, Any]:
    """16 racks of 4 servers on two Sirius fabrics; small enough for every test."""
    return {
        "cluster": {"racks": 16, "servers_per_rack": 4, "rack_rate": "200 Gb/s"},
        "workload": {"load": 0.5, "flows": 400, "sizes": "rpc"},
        "run": {"seed": 3},
        "fabric": [{"kind": "sirius"}, {"kind": "sirius", "label": "narrow", "uplinks": 4}],
        **changes,
    }


@pytest.fixture(scope="module")
def result() -> lightloom.Result:
    return lightloom.run(experiment(run={"stop": "5 us"}), "sirius")


def test_flows_are_the_table_that_is_promised(result: lightloom.Result) -> None:
    flows = result.flows
    assert {f.name: f.type for f in flows.schema} == FLOW_COLUMNS
    assert flows["flow"].to_pylist() == list(range(400))
    arrival = flows["arrival_ps"].to_numpy()
    assert (np.diff(arrival) >= 0).all()
    late = pc.greater(flows["arrival_ps"], 5_000_000)
    assert pc.all(pc.is_null(flows.filter(late)["start_ps"])).as_py()
    done = flows.filter(pc.is_valid(flows["finish_ps"]))
    assert 0 < done.num_rows < 400
    assert pc.all(pc.greater(done["finish_ps"], done["arrival_ps"])).as_py()
    assert pc.all(pc.is_valid(done["hops"])).as_py()


def test_the_summary_agrees_with_the_flows(result: lightloom.Result) -> None:
    summary, flows = result.summary, result.flows
    assert list(summary)[: len(SUMMARY_KEYS)] == SUMMARY_KEYS
    done = flows.filter(pc.is_valid(flows["finish_ps"]))
    assert summary["flows_completed"] == done.num_rows
    fct = np.sort(done["finish_ps"].to_numpy() - done["arrival_ps"].to_numpy()) / 1e6
    exact = {"method": "inverted_cdf"}  # numpy's name of the nearest-rank rule
    assert summary["fct"]["all"]["p50_us"] == pytest.approx(np.percentile(fct, 50, **exact))
    assert summary["fct"]["all"]["p99_us"] == pytest.approx(np.percentile(fct, 99, **exact))
    assert summary["fct"]["all"]["mean_us"] == pytest.approx(fct.mean())
    size = flows["bytes"].to_numpy().astype(float)
    span = flows["arrival_ps"].to_numpy().max() * 1e-12
    assert summary["load_offered"] == pytest.approx(size.sum() * 8 / (16 * 200e9 * span))
    goodput = summary["bytes_delivered"] * 8 / (16 * 200e9 * summary["simulated_s"])
    assert summary["goodput_normalized"] == pytest.approx(goodput)
    assert summary["mean_flow_bytes_offered"] == pytest.approx(size.mean())
    assert summary["packet_hops"] is None
    assert summary["cell_hops"] > 0


def test_the_time_series_conserves_bytes(result: lightloom.Result) -> None:
    series = {
        name: column.to_numpy()
        for name, column in zip(
            result.timeseries.column_names, result.timeseries.columns, strict=True
        )
    }
    held = series["bytes_delivered"] + series["bytes_dropped"] + series["bytes_in_flight"]
    assert (series["bytes_offered"] == held).all()
    assert series["time_ps"][-1] == 5_000_000
    assert result.timeseries["goodput_normalized"][0].as_py() is None
    mean = np.average(series["goodput_normalized"][1:], weights=np.diff(series["time_ps"]))
    assert mean == pytest.approx(result.summary["goodput_normalized"])


@pytest.mark.parametrize("threads", [2, 4])
def test_threads_do_not_show_in_the_files(tmp_path: Path, threads: int) -> None:
    # A thread processes at least 64 racks; with fewer racks, one thread would process all.
    cluster = {"racks": 64 * 4, "servers_per_rack": 4, "rack_rate": "200 Gb/s"}
    workload = {"load": 0.5, "flows": 20_000, "sizes": "rpc"}
    many = experiment(cluster=cluster, workload=workload)
    for count in (1, threads):
        lightloom.run(many, "narrow", threads=count).save(tmp_path / str(count))
    for name in ("flows.parquet", "timeseries.parquet", "experiment.toml"):
        one = (tmp_path / "1" / name).read_bytes()
        assert one == (tmp_path / str(threads) / name).read_bytes(), name


def test_a_resolved_experiment_runs_again_to_the_same_bytes(tmp_path: Path) -> None:
    first = lightloom.run(experiment(compare={"loads": [0.1]}), "narrow").save(tmp_path / "a")
    again = lightloom.run(first / "experiment.toml").save(tmp_path / "b")
    for name in ("flows.parquet", "timeseries.parquet", "experiment.toml"):
        assert (first / name).read_bytes() == (again / name).read_bytes(), name
    table = config.read_toml(first / "experiment.toml")
    assert table["version"] == lightloom.__version__
    assert table["run"]["seed"] == 3
    assert [f["label"] for f in table["fabric"]] == ["narrow"]


def test_compare_runs_every_fabric_and_every_load() -> None:
    told: list[tuple[Any, ...]] = []
    comparison = lightloom.compare(
        experiment(compare={"loads": [0.2, 0.5, 0.9]}, name="pair"),
        progress=lambda *at: told.append(at),
    )
    assert comparison.name == "pair"
    assert list(comparison.results) == ["sirius", "narrow"]
    for label, result in comparison.results.items():
        loads = comparison.loads[label]
        assert loads[1] is result.summary
        drawn = [s["load_offered"] for s in loads]
        assert drawn == sorted(drawn)
        alone = lightloom.run(lightloom.load(experiment()).with_load(0.9), label).summary
        same = {k: v for k, v in alone.items() if k not in TIMINGS}
        assert same == {k: v for k, v in loads[2].items() if k not in TIMINGS}
    assert {at[0] for at in told} >= {"sirius", "narrow", "narrow at load 0.2"}
    assert all(0 <= at[3] <= 1 for at in told)


def test_every_fabric_is_offered_the_same_flows() -> None:
    kinds = [f["kind"] for f in json.loads(_core.registry())]
    # Some fabrics connect only single nodes.
    nodes = {"hosts": 16, "server_rate": "200 Gb/s"}
    fabrics = [{"kind": kind} for kind in kinds]
    # Schedules begin with their first decision, long after the last of these few flows has arrived.
    changes = {"fabric": fabrics, "run": {"seed": 3, "stop": "drain"}}
    comparison = lightloom.compare({**experiment(**changes), "cluster": nodes})
    offered = ["src", "dst", "bytes", "arrival_ps", "group"]
    first = comparison.results[kinds[0]]
    for kind, result in comparison.results.items():
        assert result.flows.select(offered).equals(first.flows.select(offered)), kind
        assert list(result.summary) == list(first.summary)
        assert result.summary["goodput_normalized"] > 0
        hops = [result.summary["cell_hops"], result.summary["packet_hops"]]
        # Results have cells or packets; neither if flows have rates, and both if packets consist of
        # flits.
        assert None in hops or kind == "flattened-butterfly", kind


def test_a_comparison_takes_the_place_of_an_earlier_one(tmp_path: Path) -> None:
    """Results of fabrics from an earlier comparison do not remain."""
    clos = {"kind": "clos"}
    several = experiment(fabric=[clos, {**clos, "label": "other"}, {**clos, "label": "mine"}])
    lightloom.compare(several).save(tmp_path)
    (tmp_path / "mine" / "notes.txt").write_text("keep")
    lightloom.compare(experiment(fabric=[clos])).save(tmp_path)
    assert (tmp_path / "clos" / "flows.parquet").exists()
    assert not (tmp_path / "other").exists()
    assert [p.name for p in (tmp_path / "mine").iterdir()] == ["notes.txt"]


def test_the_only_fabric_needs_no_label_and_several_do() -> None:
    base = lightloom.load(experiment())
    assert lightloom.run(base.only("narrow")).label == "narrow"
    with pytest.raises(lightloom.ConfigError, match="one of sirius, narrow"):
        lightloom.run(base)
    with pytest.raises(lightloom.ConfigError, match='fabric = "wide": '):
        lightloom.run(base, "wide")


def test_what_cannot_run_is_refused_with_its_parts() -> None:
    with pytest.raises(lightloom.ConfigError) as caught:
        lightloom.run(lightloom.load(experiment(), ["fabric.narrow.queue=1"]), "narrow")
    error = caught.value
    assert (error.key, error.value) == ("fabric.narrow.queue", "1")
    assert str(error) == f"{error.key} = 1: {error.limit}; {error.remedy}"
    assert isinstance(error, ValueError)


@pytest.mark.parametrize("work", [lightloom.run, lightloom.compare, lightloom.compare_cases])
def test_threads_that_cannot_be_are_refused(work: Callable[..., object]) -> None:
    raised, lowered = "raise it, or leave it out", "lower it, or leave it out"
    for threads, said in (
        (0, f"0: must be at least 1; {raised}"),
        (-1, f"-1: must be at least 1; {raised}"),
        (2**64, f"{2**64}: must be at most 65,536; {lowered}"),
        (1.5, "1.5: must be a whole number; correct it"),
        ("x", '"x": must be a whole number; correct it'),
    ):
        with pytest.raises(lightloom.ConfigError) as caught:
            work(experiment(), threads=threads)
        assert str(caught.value) == f"threads = {said}"


def test_an_exception_of_the_observer_ends_the_run() -> None:
    class Enough(Exception):
        pass

    def stop(*at: Any) -> None:
        raise Enough

    with pytest.raises(Enough):
        lightloom.run(experiment(), "sirius", progress=stop)
    with pytest.raises(Enough):
        lightloom.compare(experiment(compare={"loads": [0.1]}), progress=stop)


INTERRUPTED = """
import lightloom, sys
raw = {
    "cluster": {"racks": 128, "servers_per_rack": 24, "rack_rate": "400 Gb/s"},
    "workload": {"load": 0.9, "flows": 1_000_000, "sizes": "web-search"},
    "fabric": [{"kind": "sirius"}],
}
try:
    lightloom.run(raw, progress=lambda *at: print(at, flush=True)).save(sys.argv[1])
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_ctrl_c_ends_a_long_run_soon_and_writes_nothing(tmp_path: Path) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, str(tmp_path / "out")],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    child.stdout.readline()
    time.sleep(0.3)
    child.send_signal(signal.SIGINT)
    begun = time.monotonic()
    rest = child.communicate(timeout=60)[0]
    assert rest.splitlines()[-1] == "interrupted"
    assert time.monotonic() - begun < 10
    assert list(tmp_path.iterdir()) == []


def test_the_schema_accepts_what_the_core_accepts() -> None:
    schema = json.loads(_core.schema())
    validator = jsonschema.Draft202012Validator(schema)
    validator.validate(experiment())
    resolved = lightloom.load(experiment(compare={"loads": [0.5]})).resolved()
    validator.validate(resolved)
    for path in ("fabric.quue=1", "cluster.racks=many", "run.seeds=1", "workload.sizes.kind=no"):
        bad = lightloom.load(experiment(workload={"sizes": {}})).with_overrides([path]).raw
        assert not validator.is_valid(bad), path


def test_the_registry_lists_fabrics_and_workloads() -> None:
    fabrics = {f["kind"]: f for f in json.loads(_core.registry())}
    assert "queue" in fabrics["sirius"]["schema"]["properties"]
    assert all(f["presets"] and f["summary"] and f["source"] for f in fabrics.values())
    names = [w["name"] for w in json.loads(_core.workloads())]
    assert "web-search" in names


@pytest.mark.parametrize(
    "module", [clock, columns, config, errors, derived_values, machine, overrides]
)
def test_the_examples_in_docstrings_work(module: Any) -> None:
    outcome = doctest.testmod(module)
    assert outcome.attempted > 0
    assert outcome.failed == 0


@pytest.mark.parametrize(
    "module",
    [
        "control",
        "costs",
        "devices.clock",
        "devices.photonics",
        "plotting",
        "policies",
        "report",
        "simulation.traces",
    ],
)
def test_modules_of_the_documentation_are_there_after_import(module: str) -> None:
    """Regression: `lightloom.plotting.write`, which the documentation uses, was an
    AttributeError."""
    code = f"import lightloom; print(lightloom.{module}.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"lightloom.{module}"


@pytest.mark.parametrize(
    "code",
    ["import lightloom.economics", "from lightloom import economics"],
    ids=["module", "name"],
)
def test_what_a_module_was_called_is_told(code: str) -> None:
    with pytest.raises(ImportError, match=r"lightloom\.economics is lightloom\.costs now"):
        exec(code)


@pytest.mark.parametrize(
    ("old", "new"), [("economics", "costs"), ("results.steady", "results.steady_state")]
)
def test_an_old_module_name_is_refused_with_the_new_one(old: str, new: str) -> None:
    with pytest.raises(ModuleNotFoundError, match=rf"^lightloom\.{old} is lightloom\.{new} now$"):
        importlib.import_module(f"lightloom.{old}")
