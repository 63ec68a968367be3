"""The same experiment simulated: what each application would have got, beside what it got.

Every transfer of an application becomes a flow of the bytes that arrived, begun when the
application began; the simulator runs the same fabric with the same keys.
"""

from __future__ import annotations

import csv
import io
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lightloom.config.own_tables import of_core
from lightloom.testbed.live import Live
from lightloom.units.durations import duration_ps

HEADERS = 1448 / 1538
"""Share of a link's bytes that TCP with time stamps delivers: 1,448 of 1,538 on the wire."""
AGREES = 0.1
"""Goodputs that differ by no more need no reason."""


def transfers(live: Live) -> list[dict[str, Any]]:
    """The applications that transferred something, in the order in which they began."""
    rows = [
        one
        for one in live.applications
        if one["to"] is not None and one["bytes"] and one["begin_s"] is not None
    ]
    return sorted(rows, key=lambda one: one["begin_s"])


def flows(live: Live) -> list[tuple[int, int, int, int]]:
    """The transfers of a run as flows: sender, receiver, bytes, arrival [ps], in the fabric's own
    time."""
    scale = live.setup.table.time_scale
    return [
        (
            one["from"],
            one["to"],
            max(1, round(one["bytes"] / scale)),
            int(one["begin_s"] * 1e12 / scale),
        )
        for one in transfers(live)
    ]


def trace(rows: Sequence[tuple[int, int, int, int]]) -> str:
    """Flows as a trace that every fabric takes."""
    text = io.StringIO()
    out = csv.writer(text, lineterminator="\n")
    out.writerow(["src", "dst", "bytes", "arrival_ps"])
    out.writerows(rows)
    return text.getvalue()


def replay_table(live: Live, path: str) -> dict[str, Any]:
    """The experiment that replays a run's flows on its fabric."""
    table = of_core(dict(live.setup.resolved))
    fabric = table["fabric"][live.setup.fabric]
    return {
        "cluster": table["cluster"],
        "workload": {"trace": path},
        "run": {"seed": table["run"]["seed"], "stop": "drain"},
        "fabric": [fabric],
    }


def compare_with_simulation(live: Live) -> list[dict[str, Any]]:
    """For each application that transferred bytes: measured goodput, simulated goodput, and their
    difference as a share of the simulated one."""
    from lightloom import api

    rows = flows(live)
    if not rows:
        return []
    with tempfile.TemporaryDirectory(prefix="lightloom-agreement-") as folder:
        path = Path(folder) / "flows.csv"
        path.write_text(trace(rows), encoding="utf-8")
        result = api.run(replay_table(live, str(path)))
    # Flows of a trace are in the order of their arrival, as the transfers are.
    simulated = result.flows.select(["bytes", "arrival_ps", "finish_ps"]).to_pylist()
    found = []
    for one, flow in zip(transfers(live), simulated, strict=True):
        if flow["finish_ps"] is None:
            continue
        expected = flow["bytes"] * 8e12 / (flow["finish_ps"] - flow["arrival_ps"])
        off = one["goodput_bps"] / expected - 1
        found.append(
            {
                "name": one["name"],
                "measured_bps": one["goodput_bps"],
                "simulated_bps": expected,
                "difference": off,
                "why": _why(off, one, live),
            }
        )
    return found


def _period_s(live: Live) -> float | None:
    """The period of the schedule that a user-space plane follows; None on the kernel plane."""
    own = live.setup.resolved["fabric"][live.setup.fabric]
    if live.setup.plane != "user":
        return None
    slots = live.setup.layout.racks - 1
    return slots * duration_ps("fabric.slot", own["slot"]) * live.setup.table.time_scale / 1e12


def _why(off: float, one: dict[str, Any], live: Live) -> str:
    """The causes of a difference that the figures show."""
    if abs(off) <= AGREES:
        return f"within {AGREES * 100:g} %"
    reasons, period_s = [], _period_s(live)
    if live.fidelity.load > live.fidelity.processors:
        load = f"load {live.fidelity.load:.1f} on {live.fidelity.processors} processors"
        reasons.append(f"the machine was busy ({load})")
    if 1 + off >= HEADERS * (1 - AGREES) and off < 0:
        reasons.append("headers take 5.9 % of a link, and the simulator counts payload")
    if "packets" in one:
        # UDP has neither a window nor a share in the demand.
        reasons.append("the simulator sends at the rate of the link, and UDP at its own")
        if live.setup.plane == "kernel":
            reasons.append("UDP is not part of the demand")
        return "; ".join(reasons)
    if one.get("retransmissions"):
        reasons.append(f"TCP retransmitted {one['retransmissions']} segments")
    if off > 0:
        reasons.append("queues held data that was sent before a circuit went dark")
    elif period_s is not None:
        period = f"{period_s * 1e3:.3g} ms"
        reasons.append(f"TCP's window grows once a round trip, which takes a period of {period}")
    else:
        reasons.append("TCP needs longer to fill a new path than the fabric's ramp")
    return "; ".join(reasons)
