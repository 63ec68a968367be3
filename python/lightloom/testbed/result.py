"""The results of a run on the testbed: figures, series and the controller's log."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

import lightloom
from lightloom.config import identity, inputs
from lightloom.config.experiment import to_toml
from lightloom.storage.staging import Staging
from lightloom.testbed import tables
from lightloom.testbed.agreement import compare_with_simulation, flows, replay_table, trace
from lightloom.testbed.idealised import not_emulated
from lightloom.testbed.live import Live
from lightloom.testbed.matched import best, matched
from lightloom.testbed.report import page

REPLAY = "replay.toml"
AGREEMENT = "agreement.json"


def summary(live: Live, agreement: bool = True) -> dict[str, Any]:
    """The figures of a run, with the set-up and the machine."""
    setup = live.setup
    applications = [one | _matched(live, one) for one in live.applications]
    found: dict[str, Any] = {
        "basis": "testbed",
        "version": lightloom.__version__,
        "fabric": setup.label,
        "label": setup.label,
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
    found |= tables.figures(live) | live.facts
    if agreement:
        found["agreement"] = compare_with_simulation(live)
    return found


def _matched(live: Live, one: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in matched(live, one).items() if key != "ratio"}


def save(live: Live, figures: dict[str, Any], verdict: str, directory: Path) -> None:
    """Writes all files of a run, or none, and a record of them. `verdict` heads the page.

    Raises:
        WriteError: naming the file.
    """
    experiment = {
        **live.setup.resolved,
        "testbed": live.setup.table.model_dump(by_alias=True, exclude_none=True),
    }
    files = {
        "report.html": page(live, figures, verdict).encode(),
        "summary.json": json.dumps(figures, indent=2).encode() + b"\n",
        "controller.jsonl": live.log.encode(),
        "experiment.toml": to_toml(experiment).encode(),
        "flows.csv": trace(flows(live)).encode(),
        REPLAY: to_toml(replay_table(live, "flows.csv")).encode(),
    }
    if live.captured is not None:
        files["capture.pcapng"] = live.captured
    measured = {
        "flows": tables.flow_table(live),
        "timeseries": tables.series_table(live),
        "queues": tables.queue_table(live),
        "throughput": _throughput(live),
        "circuits": tables.circuit_table(live),
        "links": tables.link_table(live),
    }
    with Staging(directory) as staging:
        for name, content in files.items():
            staging.content(directory / name, content)
        for name, table in measured.items():
            if table is not None:
                staging.parquet(directory / f"{name}.parquet", table)
        read = inputs.located(dict(live.setup.resolved), directory)
        staging.record(directory, {"build": identity.build(), "inputs": read})


def save_agreement(rows: Sequence[Mapping[str, Any]], directory: Path) -> None:
    """Writes the metrics of repeated runs beside those of their simulations.

    Raises:
        WriteError: that names the file.
    """
    path = directory / AGREEMENT
    with Staging(directory) as staging:
        staging.content(path, json.dumps(rows, indent=2).encode() + b"\n")


def _throughput(live: Live) -> pa.Table:
    rows: dict[str, list[Any]] = {"from_s": [], "until_s": [], "of": [], "bps": []}
    for name in live.samples.columns:
        for since, until, rate in live.samples.rates(name):
            rows["from_s"].append(since - live.began)
            rows["until_s"].append(until - live.began)
            rows["of"].append(name)
            rows["bps"].append(rate)
    return pa.table(rows)
