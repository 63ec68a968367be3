"""Compares a run with a simulation of the same experiment: goodputs and the share of circuits.

Every transfer of an application becomes a flow with the bytes that arrived, which starts when the
application started; the simulator runs the same fabric with the same keys.
"""

from __future__ import annotations

import csv
import io
import statistics
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lightloom.config.own_tables import of_core
from lightloom.testbed.live import Live
from lightloom.units.durations import duration_ps
from lightloom.units.intervals import over_runs

HEADERS = 1448 / 1538
"""Share of a link's bytes that TCP with time stamps delivers: 1,448 of 1,538 on the wire."""
AGREES = 0.1
"""Largest relative difference of values for which no reason is given."""
WITHIN = f"within {AGREES * 100:g} %"
GOODPUT, CIRCUIT_SHARE = "goodput_bps", "circuit_share"
"""Metrics of a run and its simulation."""


def transfers(live: Live) -> list[dict[str, Any]]:
    """The applications that transferred bytes, in order of their start."""
    rows = [
        one
        for one in live.applications
        if one["to"] is not None and one["bytes"] and one["begin_s"] is not None
    ]
    return sorted(rows, key=lambda one: one["begin_s"])


def flows(live: Live) -> list[tuple[int, int, int, int]]:
    """The transfers of a run as flows: sender, receiver, bytes, arrival [ps], in the time of the
    fabric."""
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
    """Flows as a trace file, which every fabric accepts."""
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
    """The metrics that both a run and its simulation have: the goodput of each application that
    transferred bytes, and the share of bytes that circuits carried. Each has its difference, as a
    share of the simulated value, and the causes."""
    from lightloom import api

    rows = flows(live)
    if not rows:
        return []
    with tempfile.TemporaryDirectory(prefix="lightloom-agreement-") as folder:
        path = Path(folder) / "flows.csv"
        path.write_text(trace(rows), encoding="utf-8")
        result = api.run(replay_table(live, str(path)))
    # Flows of a trace and transfers are both in order of arrival.
    simulated = result.flows.select(["bytes", "arrival_ps", "finish_ps"]).to_pylist()
    found = []
    for one, flow in zip(transfers(live), simulated, strict=True):
        if flow["finish_ps"] is None:
            continue
        expected = flow["bytes"] * 8e12 / (flow["finish_ps"] - flow["arrival_ps"])
        row = _row(one["name"], GOODPUT, one["goodput_bps"], expected)
        found.append(row | {"why": _why(row["difference"], one, live)})
    share, expected = circuit_share(live), result.summary.get("circuit_share")
    if share is not None and expected:
        row = _row("fabric", CIRCUIT_SHARE, share, expected)
        found.append(row | {"why": _why_share(row["difference"], live, result)})
    return found


def _row(name: str, metric: str, measured: float, simulated: float) -> dict[str, Any]:
    return {
        "name": name,
        "metric": metric,
        "measured": measured,
        "simulated": simulated,
        "difference": measured / simulated - 1,
    }


def circuit_share(live: Live) -> float | None:
    """The share of bytes between racks that did not cross the electrical network, by frames; None
    without both kinds of networks, or if racks had traffic of their own."""
    layout = live.setup.layout
    inside = any(
        layout.hosts[one["from"]].rack == layout.hosts[one["to"]].rack for one in transfers(live)
    )
    if inside or not layout.electrical or not layout.planes:
        return None
    carried = {name: sizes[-1] - sizes[0] for name, sizes in live.samples.columns.items()}
    received = sum(size for name, size in carried.items() if name.startswith("host "))
    electrical = sum(
        carried.get(tor.name, 0) for tor, end in layout.uplinks() if end.role == "core"
    )
    return max(0.0, 1 - electrical / received) if received else None


def _why_share(off: float, live: Live, result: Any) -> str:
    if abs(off) <= AGREES:
        return WITHIN
    scale = live.setup.table.time_scale
    lit_s = sum(until - since for *_, since, until in live.circuits) / scale
    columns = result.circuits.select(["from_ps", "until_ps"]).to_pylist()
    simulated_s = sum(row["until_ps"] - row["from_ps"] for row in columns) / 1e12
    return f"circuits were lit for {lit_s:.2f} s on the testbed and {simulated_s:.2f} s simulated"


def over_repetitions(runs: Sequence[Sequence[Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """The metrics of repeated runs: means over the runs, and half of the 95 % interval of the
    difference; the causes are those of the run that differs most."""
    found = []
    for name, metric in dict.fromkeys((one["name"], one["metric"]) for run in runs for one in run):
        rows = [
            one for run in runs for one in run if (one["name"], one["metric"]) == (name, metric)
        ]
        off = over_runs(one["difference"] for one in rows)
        if off is None:
            continue
        means = {
            key: statistics.fmean(one[key] for one in rows) for key in ("measured", "simulated")
        }
        worst = max(rows, key=lambda one: abs(one["difference"]))
        found.append(
            {
                "name": name,
                "metric": metric,
                **means,
                "difference": off.mean,
                "half_width": off.half_width,
                "runs": off.n,
                "why": WITHIN if abs(off.mean) <= AGREES else worst["why"],
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
    """The causes of a difference, as far as the figures show them."""
    if abs(off) <= AGREES:
        return WITHIN
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
