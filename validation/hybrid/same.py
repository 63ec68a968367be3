"""c-Through and HydRA as policies of a hybrid network: the same flows, one by one."""

from pathlib import Path
from typing import Any

import numpy as np

import lightloom
from lightloom.reproduce.study import draw, panel

SETUP = Path(__file__).with_name("same.toml")
#: Each paper's kind and what has to come to the same.
SAME = {"cthrough": "policy cthrough", "hydra": "policy hydra"}
#: Quantiles of the completion time that are drawn.
QUANTILES = (10, 25, 50, 75, 90, 99)


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """All four networks on the same flows."""
    del workers  # four runs of a second or two
    settings = ["workload.flows=1000"] if quick else []
    experiment = lightloom.load(SETUP, settings)
    labels = [label for pair in SAME.items() for label in pair]
    runs = {label: lightloom.run(experiment.only(label)) for label in labels}
    finish = {x: np.array(runs[x].flows["finish_ps"].to_numpy(), dtype=float) for x in SAME}
    claims = {
        f"hybrid-is-{kind}": float(_differing(runs[kind].flows, runs[policy].flows))
        for kind, policy in SAME.items()
    }
    differ = finish["cthrough"] != finish["hydra"]
    claims["hybrid-policies-differ"] = float(np.mean(differ))
    return {"data": [_panel(runs)], "claims": claims}


def _differing(left: Any, right: Any) -> int:
    """Rows in which any column differs."""
    differ = np.zeros(left.num_rows, dtype=bool)
    for name in left.column_names:
        a, b = (np.array(table[name].to_pylist(), dtype=object) for table in (left, right))
        differ |= a != b
    return int(differ.sum())


def _panel(runs: dict[str, Any]) -> dict[str, Any]:
    """Completion times [s]."""
    lines = {}
    for label, run in runs.items():
        finish = run.flows["finish_ps"].to_numpy().astype(float)
        took = (finish - run.flows["arrival_ps"].to_numpy()) * 1e-12
        lines[label] = [float(np.nanpercentile(took, q)) for q in QUANTILES]
    x = ("percentile", QUANTILES)
    return panel("Completion time", x, "[s]", lines, log_y=True)


figure = draw
