"""Shared parts of Figs 9 to 13: flows and seeds, and the measurement of a reading of the paper.

All runs continue until every flow is delivered. One run therefore gives both goodputs, until the
last arrival and until the last byte, and completion times include all flows, even slow ones.
"""

from pathlib import Path
from typing import Any

from lightloom.validation import Setting

PAPER = Path(__file__).with_name("paper.toml")
LOADS = (0.1, 0.25, 0.5, 0.75, 1.0)
P99 = "fct.short.p99_us"
QUEUE = "queue_peak_bytes"
REORDER = "reorder_peak_bytes"
#: Key of the goodput in a summary, by the end of a simulation.
GOODPUT = {"last-arrival": "load_delivered", "drain": "goodput_normalized"}
#: ESN at 3:1, by the place of the oversubscription.
OSUB = {"rack": "esn-osub-rack", "core": "esn-osub"}


def size(quick: bool) -> dict[str, Any]:
    """Flows and seeds of a figure."""
    return {"flows": flows(quick), "seeds": range(1, 5)}


def flows(quick: bool) -> int:
    """The number of flows in the paper, if not quick."""
    return 10_000 if quick else 200_000


def goodput(reading: Setting) -> str:
    """Key of a summary for the goodput of a reading."""
    return GOODPUT[reading.choice["stop"]]


def settings(reading: Setting, load: float | None = None) -> list[str]:
    """Overrides of the set-up by a reading, at a load."""
    offered = [] if load is None else [f"workload.load={load}"]
    return [*reading.overrides, *offered, "run.stop=drain"]
