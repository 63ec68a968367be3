"""The measurements of a testbed run, in the tables of a simulation.

Times are those of the fabric, that is, those of the machine ÷ `time_scale`. Bytes are divided by
it, too, because rates are not scaled. Columns that the testbed does not measure are null.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from lightloom import _core
from lightloom.results import tables
from lightloom.testbed.agreement import flows, transfers
from lightloom.testbed.live import Live
from lightloom.testbed.setup import bits

BASIS = "lightloom.basis"
"""The metadata key of a table which states that the table was measured."""
UNKNOWN = ("bytes_dropped", "on_links_bytes")
"""Columns of a time series that no testbed measures: losses are counted in packets, and links
inside the machine hold no bytes."""


def flow_table(live: Live) -> pa.Table:
    """The transfers of applications as flows, each in a group with the name of its application.

    The time of first service and the number of hops are not measured.
    """
    scale = live.setup.table.time_scale
    rows, ends = flows(live), transfers(live)
    names = [one["name"] for one in ends]
    finish = [
        row[3] + round(one["took_s"] * 1e12 / scale) for row, one in zip(rows, ends, strict=True)
    ]
    sources, destinations, sizes, arrivals = zip(*rows, strict=True) if rows else ((),) * 4
    columns = {
        "src": np.array(sources, np.uint32),
        "dst": np.array(destinations, np.uint32),
        "bytes": np.array(sizes, np.uint64),
        "arrival_ps": np.array(arrivals, np.int64),
        "start_ps": np.full(len(rows), _core.NEVER, np.int64),
        "finish_ps": np.array(finish, np.int64),
        "hops": np.full(len(rows), np.nan, np.float32),
        "group": np.arange(len(rows)),
        "groups": names,
    }
    return _measured(tables.flow_table(columns, _experiment(live)))


def series_table(live: Live) -> pa.Table:
    """A row per sample."""
    observed, unknown = live.samples.observed, [*UNKNOWN]
    if any(one.offered is None for one in observed):
        unknown.append("bytes_offered")
    nothing = np.zeros(len(observed), np.uint64)
    columns = {
        "time_ps": _instants(live, [one.at - live.began for one in live.samples.observed]),
        "bytes_offered": _sizes(live, [one.offered or 0 for one in observed]),
        "bytes_delivered": _sizes(live, [one.delivered for one in observed]),
        "bytes_dropped": nothing,
        "bytes_in_flight": _sizes(live, [one.queued + one.waiting for one in observed]),
        "losses": np.array([one.losses for one in observed], np.uint64),
        "queued_bytes": _sizes(live, [one.queued for one in observed]),
        "queued_bytes_worst": _sizes(live, [one.queued and one.deepest for one in observed]),
        "waiting_bytes": _sizes(live, [one.waiting for one in observed]),
        "on_links_bytes": nothing,
        "carried_bytes": _sizes(live, [one.carried for one in observed]),
        "goodput_normalized": _shares(live, [one.delivered for one in observed], _servers(live)),
        "utilisation": _shares(live, [one.carried for one in observed], _capacity(live)),
        **_counts(live),
    }
    return _measured(tables.series_table(columns, _experiment(live), unknown))


def queue_table(live: Live) -> pa.Table:
    """The bytes in each queue at each sample, if there were any."""
    rows = [
        (one.at - live.began, node, name, size)
        for one in live.samples.observed
        for node, name, size in one.queues
        if size
    ]
    times, nodes, names, sizes = zip(*rows, strict=True) if rows else ((),) * 4
    columns = {
        "time_ps": pa.array(_instants(live, times)),
        "node": pa.array(nodes, pa.string()),
        "queue": pa.array(names, pa.string()),
        "bytes": pa.array(_sizes(live, sizes)),
    }
    return pa.table(columns).replace_schema_metadata({BASIS: "testbed"})


def circuit_table(live: Live) -> pa.Table | None:
    """The circuits that were lit; None if circuits are days of a schedule."""
    if live.setup.plane == "user":
        return None
    rows = live.circuits
    ends = [(a, b) if live.directed else (min(a, b), max(a, b)) for a, b, *_ in rows]
    columns = {
        "a": np.array([a for a, _ in ends], np.uint32),
        "b": np.array([b for _, b in ends], np.uint32),
        "directed": np.full(len(rows), live.directed),
        "plane": np.array([row[2] for row in rows], np.uint16),
        "from_ps": _instants(live, [row[3] for row in rows]),
        "until_ps": _instants(live, [row[4] for row in rows]),
    }
    return _measured(tables.circuit_table(columns, _experiment(live)))


def link_table(live: Live) -> pa.Table | None:
    """The bytes that links of the electrical network carried in the run; None without such a
    network."""
    first, last = live.samples.observed[0].links, live.samples.observed[-1].links
    if not last:
        return None
    rates = {"server": live.setup.host_bps, "core": live.setup.electrical_bps}
    tiers = [tier for tier, *_ in last]
    columns = {
        "tier": tiers,
        "from": np.array([-1 if of is None else of for _, of, _ in last]),
        "to": np.array([-1 if to is None else to for *_, to in last]),
        "links": np.ones(len(last), np.uint64),
        "rate_bps": np.array(
            [rates["server" if "server" in tier else "core"] for tier in tiers], np.uint64
        ),
        "bytes": _sizes(live, [last[link] - first[link] for link in last]),
    }
    span_s = _span_s(live) / live.setup.table.time_scale
    return _measured(tables.link_table(columns, span_s, _experiment(live)))


def figures(live: Live) -> dict[str, Any]:
    """Figures of the summary that follow from the samples, with the names that a simulation
    uses."""
    observed = live.samples.observed
    delivered = observed[-1].delivered - observed[0].delivered
    done = len(transfers(live))
    return {
        "flows_offered": done,
        "flows_completed": done,
        "bytes_delivered": round(delivered / live.setup.table.time_scale),
        "goodput_normalized": delivered * 8 / (_servers(live) * _span_s(live)),
        "queue_peak_bytes": round(
            max(one.deepest for one in observed) / live.setup.table.time_scale
        ),
    }


def _span_s(live: Live) -> float:
    """The time from the first observation to the last, in time of the machine."""
    observed = live.samples.observed
    return observed[-1].at - observed[0].at


def _counts(live: Live) -> dict[str, Any]:
    """Numbers of transfers that had started and that had ended at each sample."""
    begun = [one["begin_s"] for one in transfers(live)]
    ended = [one["begin_s"] + one["took_s"] for one in transfers(live)]
    times = [one.at - live.began for one in live.samples.observed]
    pairs = (("flows_offered", begun), ("flows_completed", ended))
    return {
        name: np.searchsorted(np.sort(marks), times, side="right").astype(np.uint64)
        for name, marks in pairs
    }


def _instants(live: Live, seconds: Sequence[float]) -> Any:
    """Seconds of the machine as picoseconds of the fabric."""
    return np.rint(np.array(seconds, float) * 1e12 / live.setup.table.time_scale).astype(np.int64)


def _sizes(live: Live, sizes: Sequence[int]) -> Any:
    """Bytes of the machine as bytes of the fabric."""
    return np.rint(np.array(sizes, float) / live.setup.table.time_scale).astype(np.uint64)


def _shares(live: Live, sizes: Sequence[int], rate_bps: float) -> Any:
    """The bytes in the interval before each sample, as a share of the bytes at a given rate."""
    spans = np.diff([one.at for one in live.samples.observed], prepend=np.nan)
    return np.diff(np.array(sizes, float), prepend=np.nan) * 8 / (spans * rate_bps)


def _servers(live: Live) -> float:
    """The rate of all servers [b/s]."""
    return len(live.setup.layout.hosts) * bits(live.setup.resolved["cluster"]["server_rate"])


def _capacity(live: Live) -> float:
    """The rate of all links whose bytes are counted [b/s]."""
    setup, layout = live.setup, live.setup.layout
    if setup.plane == "user":
        return layout.racks * setup.circuit_bps
    uplinks = setup.electrical_bps + layout.planes * setup.circuit_bps
    return 2.0 * (len(layout.hosts) * setup.host_bps + layout.racks * uplinks)


def _experiment(live: Live) -> dict[str, Any]:
    """The experiment with only the fabric of the run."""
    resolved = dict(live.setup.resolved)
    return {**resolved, "fabric": [resolved["fabric"][live.setup.fabric]]}


def _measured(table: pa.Table) -> pa.Table:
    return table.replace_schema_metadata({**table.schema.metadata, BASIS: "testbed"})
