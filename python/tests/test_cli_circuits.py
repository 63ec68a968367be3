"""Hybrids on the command line: what is said of their circuits."""

import json
from pathlib import Path
from typing import Any

import pytest
from cli_support import lightloom

from lightloom.cli import completion

HYBRID = """
[cluster]
racks = 8
servers_per_rack = 4
server_rate = "1 Gb/s"
nic = "1 Gb/s"

[workload]
arrivals = "poisson"
load = 0.2
sizes = { kind = "fixed", size = "1 MB" }
pattern = "uniform"
flows = 1000

[run]
seed = 1

[[fabric]]
kind = "cthrough"
interval = "200 ms"

[[fabric]]
kind = "tree"
oversubscription = 4
"""
SIRIUS = '\n[[fabric]]\nkind = "sirius"\nchannel_rate = "2 Gb/s"\n'


@pytest.fixture
def hybrid(tmp_path: Path) -> Path:
    path = tmp_path / "hybrid.toml"
    path.write_text(HYBRID, encoding="utf-8")
    return path


def rows(stdout: str, *labels: str) -> list[list[str]]:
    """The words of the table's rows of these fabrics, labels first."""
    lines = [line.split() for line in stdout.splitlines()]
    return [next(words for words in lines if words[:1] == [label]) for label in labels]


def summary(circuit_share: float | None, queue: int | None = None) -> dict[str, Any]:
    """As little of a summary as the table reads."""
    us = {"p50_us": 123.4, "p99_us": 123.4}
    return {
        "goodput_normalized": 0.123,
        "fct": {"short": us, "long": us},
        "queue_peak_bytes": queue,
        "reorder_peak_bytes": queue,
        "hops_mean": 1.23,
        "circuit_share": circuit_share,
    }


def test_compare_says_what_went_by_circuit(hybrid: Path, tmp_path: Path) -> None:
    done = lightloom("compare", hybrid, "-o", "out", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    share = json.loads((tmp_path / "out" / "comparison.json").read_text())["cthrough"][
        "circuit_share"
    ]
    assert 0 < share < 1
    (circuits, tree) = rows(done.stdout, "cthrough", "tree")
    assert circuits[-1] == f"{share:.1%}"
    assert tree[-1] == "-"
    assert "By circuit: of the bytes delivered" in done.stdout
    # Nothing in this comparison has queues: their columns make room.
    assert "queue" not in done.stdout


def test_a_fabric_with_queues_keeps_their_columns_within_80(hybrid: Path, tmp_path: Path) -> None:
    hybrid.write_text(HYBRID + SIRIUS, encoding="utf-8")
    done = lightloom("compare", hybrid, "-o", "out", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    (circuits,) = rows(done.stdout, "cthrough")
    assert circuits[-1].endswith("%")
    assert "queue" in done.stdout
    assert max(len(line) for line in done.stdout.splitlines()) <= 80


def test_without_circuits_the_table_is_as_it_was() -> None:
    headings = [c.header for c in completion.table({"clos": summary(None)}).columns]
    assert headings[-3:] == ["queue\npeak", "reorder\npeak", "hops\nmean"]


def test_all_bytes_by_circuit_and_none_are_told_apart_from_no_circuits() -> None:
    made = completion.table({"a": summary(1.0), "b": summary(0.0), "c": summary(None, 10)})
    assert made.columns[-1].header == "by\ncircuit"
    assert list(made.columns[-1].cells) == ["100.0%", "0.0%", "-"]
