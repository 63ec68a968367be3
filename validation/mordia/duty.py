"""§6.1: the share of time in which circuits are lit, and the throughput of a host that sends
continuously."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import lightloom
from lightloom.validation.study import draw, panel

SETUP = Path(__file__).with_name("prototype.toml")
#: Slots [us]; the paper's first.
SLOTS = (106, 61, 150, 200, 300)
NIGHT = 11.5
#: Slots of a run: ten rounds of 22.
RUN = 220
#: A circuit [B/us].
RATE = 1250


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """Recorded light, and goodput, over whole slots."""
    del quick, workers  # it takes no time
    results = {slot: _run(slot) for slot in SLOTS}
    lit = {slot: _lit(result.circuits, slot) for slot, result in results.items()}
    carried = {slot: _carried(result, slot) for slot, result in results.items()}
    claims = {
        "duty-lit": 100 * lit[106],
        "duty-carried": 100 * carried[106],
        "duty-prototype": 100 * _carried(_run(106, "prototype"), 106),
    }
    x = sorted(SLOTS)
    lines = {"lit": [lit[s] for s in x], "carried": [carried[s] for s in x]}
    theory = {"lit": (x, [1 - NIGHT / s for s in x])}
    panels = [panel("Round robin, nights of 11.5 µs", ("slot [µs]", x), "", lines, theory=theory)]
    return {"data": panels, "claims": claims}


def _run(slot: int, label: str = "exact") -> Any:
    # Slightly longer, so that the last day has ended.
    settings = [f"fabric.{label}.slot={slot} us", f"run.stop={RUN * slot + 1} us"]
    if label == "prototype":
        settings.append("fabric.prototype.packet=1500 B")
    return lightloom.run(lightloom.load(SETUP, settings), label)


def _lit(circuits: pa.Table, slot: int) -> float:
    """Share of the whole slots in which host 0 had a circuit."""
    of_host = np.flatnonzero(circuits["a"].to_numpy() == 0)
    columns = (circuits[name].to_numpy()[of_host] for name in ("from_ps", "until_ps"))
    lights, darks = columns
    within = lights < RUN * slot * 10**6
    return float((darks[within] - lights[within]).sum()) / (RUN * slot * 1e6)


def _carried(result: Any, slot: int) -> float:
    """Delivered bytes, relative to the capacity of circuits that are always lit."""
    return float(result.summary["bytes_delivered"]) / (23 * RATE * RUN * slot)


figure = draw
