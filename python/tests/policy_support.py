"""Policies in Python files, for the tests that write and run them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cli_support import SMALL, write

import lightloom
from lightloom.results.result import Result

RACKS = 8
TABLE: dict[str, Any] = {
    "cluster": {
        "racks": RACKS,
        "servers_per_rack": 2,
        "server_rate": "10 Gb/s",
        "nic": "10 Gb/s",
    },
    "workload": {
        "arrivals": "poisson",
        "load": 0.5,
        "sizes": {"kind": "exponential", "mean": "20 MB"},
        "pattern": "uniform",
        "flows": 600,
    },
    "run": {"seed": 4, "stop": "drain"},
}
HYBRID = {"kind": "hybrid", "circuit_rate": "10 Gb/s", "interval": "20 ms", "settle": "1 ms"}


def experiment(*fabrics: dict[str, Any], **tables: dict[str, Any]) -> dict[str, Any]:
    """Returns an experiment with the same traffic on several hybrid fabrics."""
    changed = {key: {**TABLE[key], **tables.get(key, {})} for key in TABLE}
    return {**changed, "fabric": [{**HYBRID, **fabric} for fabric in fabrics]}


def run(policy: Any, label: str | None = None, /, **keys: Any) -> Result:
    return lightloom.run(experiment({"policy": policy, **keys}), label)


FILE = """
[[fabric]]
kind = "hybrid"
interval = "1 ms"
settle = "10 us"
policy = {{ file = "policy.py:Policy"{} }}
"""


def hybrid(folder: Path, source: str, options: str = "") -> Path:
    """Writes a small experiment whose only fabric uses the class `Policy` of this source."""
    write(folder / "policy.py", source)
    cluster = SMALL.replace('rack_rate = "100 Gb/s"', 'server_rate = "10 Gb/s"')
    return write(folder / "e.toml", cluster.replace("20 KB", "2 MB"), FILE.format(options))


Write = Callable[..., str]


def same(mine: Result, theirs: Result) -> None:
    """Checks that every flow, sample and circuit is the same, to the picosecond."""
    assert mine.flows.equals(theirs.flows)
    assert mine.timeseries.equals(theirs.timeseries)
    assert mine.circuits is not None
    assert mine.circuits.equals(theirs.circuits)
    assert mine.circuits.num_rows > 0


MATCHING = """
both = demand + demand.T
if not both.any():
    return []
up = [(a, b) for a, b, _ in switch.lit]
pairs = maximum_weight_matching(demand, up=up).pairs
return [pair for pair in pairs.tolist() if both[tuple(pair)] > 0]
"""

BOOM = "x = demand.sum() * 0\nreturn self.divided(int(x))"
DIVIDED = "    def divided(self, x):\n        return 1 // x\n"


def heard(result: Result) -> list[dict[str, Any]]:
    assert result.controller_log is not None
    entries = map(json.loads, result.controller_log.splitlines())
    return [entry for entry in entries if "input" in entry]


def named(entry: dict[str, Any]) -> Any:
    found = entry["input"]
    return found if isinstance(found, dict) else {found: None}
