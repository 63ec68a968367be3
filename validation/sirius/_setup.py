"""What Figs 9 to 13 share: flows and seeds, and how a reading of the paper is measured.

All runs go on until every flow has arrived. So one run gives both goodputs, until the last
arrival and until the last byte, and completion times are of all flows: none is missing because it
was slow.
"""

from pathlib import Path
from typing import Any

from lightloom.validation import Setting

PAPER = Path(__file__).with_name("paper.toml")
LOADS = (0.1, 0.25, 0.5, 0.75, 1.0)
P99 = "fct.short.p99_us"
QUEUE = "queue_peak_bytes"
REORDER = "reorder_peak_bytes"
#: Goodput in a summary, by when a simulation ends.
GOODPUT = {"last-arrival": "load_delivered", "drain": "goodput_normalized"}
#: ESN at 3:1, by where that bites.
OSUB = {"rack": "esn-osub-rack", "core": "esn-osub"}


def size(quick: bool) -> dict[str, Any]:
    """Flows and seeds of a figure."""
    return {"flows": flows(quick), "seeds": range(1, 5)}


def flows(quick: bool) -> int:
    """As many as the paper's, if not quick."""
    return 10_000 if quick else 200_000


def goodput(reading: Setting) -> str:
    """Where a summary has goodput by a reading."""
    return GOODPUT[reading.choice["stop"]]


def settings(reading: Setting, load: float | None = None) -> list[str]:
    """Overrides of the set-up by a reading, at a load."""
    offered = [] if load is None else [f"workload.load={load}"]
    return [*reading.overrides, *offered, "run.stop=drain"]
