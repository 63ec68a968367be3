"""A rotor switch without relays and Mordia's round robin: the same flows, one by one."""

from pathlib import Path
from typing import Any

import numpy as np

import lightloom
from lightloom.validation.estimate import across
from lightloom.validation.study import draw, panel

SETUP = Path(__file__).with_name("same.toml")
SEEDS = (1, 2, 3)
LABELS = ("mordia", "one switch direct", "one switch relays")
#: Quantiles of the completion time that are drawn.
QUANTILES = (10, 25, 50, 75, 90, 99)


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """All three networks on the same flows, three times."""
    del workers  # nine runs of a second
    settings = ["workload.flows=1000"] if quick else []
    flows = [_flows([*settings, f"run.seed={seed}"]) for seed in SEEDS]
    mordia, direct, relays = zip(*(of.values() for of in flows), strict=True)
    shares = [_differing(a, b) / a.num_rows for a, b in zip(mordia, relays, strict=True)]
    claims = {
        "rotornet-is-mordia": float(sum(map(_differing, mordia, direct))),
        "rotornet-relays-differ": across(shares),
    }
    return {"data": [_panel(flows[0])], "claims": claims}


def _flows(settings: list[str]) -> dict[str, Any]:
    """The flows of one seed, by network."""
    experiment = lightloom.load(SETUP, settings)
    return {label: lightloom.run(experiment.only(label)).flows for label in LABELS}


def _differing(left: Any, right: Any) -> int:
    """Rows in which any column differs."""
    differ = np.zeros(left.num_rows, dtype=bool)
    for name in left.column_names:
        a, b = (np.array(table[name].to_pylist(), dtype=object) for table in (left, right))
        differ |= a != b
    return int(differ.sum())


def _panel(flows: dict[str, Any]) -> dict[str, Any]:
    """Completion times [s]."""
    lines = {}
    for label, table in flows.items():
        finish = table["finish_ps"].to_numpy().astype(float)
        took = (finish - table["arrival_ps"].to_numpy()) * 1e-12
        lines[label] = [float(np.nanpercentile(took, q)) for q in QUANTILES]
    x = ("percentile", QUANTILES)
    return panel("Completion time", x, "[s]", lines, log_y=True)


figure = draw
