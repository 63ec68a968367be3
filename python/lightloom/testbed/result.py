"""What a run on the testbed leaves behind: figures, series and the controller's log."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import lightloom
from lightloom.config.experiment import to_toml
from lightloom.storage import write_files
from lightloom.testbed.agreement import compare_with_simulation, flows, replay_table, trace
from lightloom.testbed.idealised import not_emulated
from lightloom.testbed.live import Live
from lightloom.testbed.matched import best, matched
from lightloom.testbed.report import page

REPLAY = "replay.toml"


def summary(live: Live, agreement: bool = True) -> dict[str, Any]:
    """The figures of a run, with what it was run on."""
    setup = live.setup
    applications = [one | _matched(live, one) for one in live.applications]
    found: dict[str, Any] = {
        "basis": "testbed",
        "version": lightloom.__version__,
        "fabric": setup.label,
        "kind": setup.kind,
        "plane": setup.plane,
        "time_scale": setup.table.time_scale,
        "seconds": live.ended - live.began,
        "within_limits": live.fidelity.within,
        "beyond_limits": list(live.fidelity.beyond),
        "not_emulated": not_emulated(setup),
        "matched_ratio": best(live)["ratio"],
        "circuits": len(live.circuits),
        "late_ms": dict(live.fidelity.late_ms),
        "load": live.fidelity.load,
        "processors": live.fidelity.processors,
        "applications": applications,
    }
    found |= live.facts
    if agreement:
        found["agreement"] = compare_with_simulation(live)
    return found


def _matched(live: Live, one: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in matched(live, one).items() if key != "ratio"}


def save(live: Live, figures: dict[str, Any], verdict: str, directory: Path) -> list[Path]:
    """Writes all files of a run, or none; returns their paths. `verdict` heads the page.

    Raises:
        WriteError: that names the file.
    """
    experiment = {
        **live.setup.resolved,
        "testbed": live.setup.table.model_dump(by_alias=True, exclude_none=True),
    }
    files = {
        "report.html": page(live, figures, verdict).encode(),
        "summary.json": json.dumps(figures, indent=2).encode() + b"\n",
        "throughput.parquet": _parquet(_throughput(live)),
        "circuits.parquet": _parquet(_circuits(live)),
        "controller.jsonl": live.log.encode(),
        "experiment.toml": to_toml(experiment).encode(),
        "flows.csv": trace(flows(live)).encode(),
        REPLAY: to_toml(replay_table(live, "flows.csv")).encode(),
    }
    if live.captured is not None:
        files["capture.pcapng"] = live.captured
    return write_files({directory / name: content for name, content in files.items()}, directory)


def _throughput(live: Live) -> pa.Table:
    rows: dict[str, list[Any]] = {"from_s": [], "until_s": [], "of": [], "bps": []}
    for name in live.samples.columns:
        for since, until, rate in live.samples.rates(name):
            rows["from_s"].append(since - live.began)
            rows["until_s"].append(until - live.began)
            rows["of"].append(name)
            rows["bps"].append(rate)
    return pa.table(rows)


def _circuits(live: Live) -> pa.Table:
    names = ("a", "b", "plane", "from_s", "until_s")
    columns = list(zip(*live.circuits, strict=True)) or [()] * len(names)
    types = (pa.int32(), pa.int32(), pa.int32(), pa.float64(), pa.float64())
    arrays = [pa.array(column, kind) for column, kind in zip(columns, types, strict=True)]
    return pa.table(dict(zip(names, arrays, strict=True)))


def _parquet(table: pa.Table) -> bytes:
    out = io.BytesIO()
    pq.write_table(table, out)
    return out.getvalue()
