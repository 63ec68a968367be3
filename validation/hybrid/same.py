"""c-Through and HydRA as policies of a hybrid network: the same flows, one by one."""

from pathlib import Path
from typing import Any

import numpy as np

import lightloom
from lightloom.validation.estimate import Estimate, across
from lightloom.validation.study import draw, panel

SETUP = Path(__file__).with_name("same.toml")
#: The kind of each paper, and the policy with the same results.
SAME = {"cthrough": "policy cthrough", "hydra": "policy hydra"}
SEEDS = (1, 2, 3)
#: Quantiles of the completion time that are drawn.
QUANTILES = (10, 25, 50, 75, 90, 99)


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """All four networks on the same flows, three times."""
    del workers  # twelve runs of a second or two
    settings = ["workload.flows=1000"] if quick else []
    runs = [_runs([*settings, f"run.seed={seed}"]) for seed in SEEDS]
    claims: dict[str, float | Estimate] = {
        f"hybrid-is-{kind}": float(sum(_differing(r[kind].flows, r[like].flows) for r in runs))
        for kind, like in SAME.items()
    }
    claims["hybrid-policies-differ"] = across([_apart(of) for of in runs])
    return {"data": [_panel(runs[0])], "claims": claims}


def _runs(settings: list[str]) -> dict[str, Any]:
    """The results of one seed, by network."""
    experiment = lightloom.load(SETUP, settings)
    labels = [label for pair in SAME.items() for label in pair]
    return {label: lightloom.run(experiment.only(label)) for label in labels}


def _apart(runs: dict[str, Any]) -> float:
    """Share of the flows that finish at another time."""
    one, other = (np.array(runs[x].flows["finish_ps"].to_numpy(), dtype=float) for x in SAME)
    return float(np.mean(one != other))


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
