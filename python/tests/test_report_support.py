"""Synthetic comparisons for the report's tests: plausible curves, known winners."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from lightloom.analysis import model, reading
from lightloom.results.result import Comparison, Result

SERVER_RATE = 16.67e9  # b/s
SERVERS = 3072


@dataclass(frozen=True)
class Profile:
    """The properties of a synthetic fabric."""

    label: str
    kind: str = "clos"
    base_us: float = 2.0  # completion time of the smallest flow
    capacity: float = 1.0  # as a share of the servers' rate
    hops: float | None = 4.0
    queue: float | None = 2e5
    reorder: float | None = None
    finished: float = 1.0
    settings: dict[str, Any] = field(default_factory=dict)


FOUR = (
    Profile(
        "sirius", "sirius", 5.0, 0.68, 1.9, 78_200, 12_400, settings={"uplinks": 12, "queue": 4}
    ),
    Profile("sirius-ideal", "sirius", 2.1, 0.68, 1.9, 412_000, 31_000, settings={"mode": "ideal"}),
    Profile("clos", "clos", 1.9, 1.0, 4.0, 1_210_000, None, settings={"oversubscription": 1}),
    Profile("clos-3-1", "clos", 6.4, 0.34, 4.0, 9_800_000, None, settings={"oversubscription": 3}),
)


def percentiles(fct_us: np.ndarray) -> dict[str, float | None]:
    """Returns percentiles as in the summary, by nearest rank."""
    ordered = np.sort(fct_us)
    n = ordered.size
    if n == 0:
        return {"p50_us": None, "p99_us": None, "mean_us": None}
    at = lambda p: float(ordered[-(-n * p // 100) - 1])  # noqa: E731
    return {"p50_us": at(50), "p99_us": at(99), "mean_us": float(ordered.mean())}


def bounds(took_us: np.ndarray, done: np.ndarray) -> dict[str, Any]:
    """Returns bounds as in the summary, of flows in order of arrival, from the time of each flow
    or, if it is unfinished, its age at the end of the run. Intervals are those of independent
    flows."""
    least, known = np.sort(took_us), np.sort(took_us[done])
    n = least.size

    def nth(ordered: np.ndarray, rank: float) -> float | None:
        return float(ordered[int(rank) - 1]) if 1 <= rank <= ordered.size else None

    def of(p: int) -> dict[str, float | None]:
        rank, half = -(-n * p // 100), 1.96 * np.sqrt(n * p * (100 - p)) / 100
        return {
            "low": nth(least, rank),
            "high": nth(known, rank),
            "from": nth(least, np.floor(rank - half)),
            "until": nth(known, np.ceil(rank + half)),
        }

    mean = float(least.mean()) if n else None
    high = mean if done.all() else None
    return {
        "flows": n,
        "unfinished": int(n - known.size),
        "p50_us": of(50),
        "p99_us": of(99),
        "mean_us": {"low": mean, "high": high, "from": None, "until": None},
    }


def make_flows(
    p: Profile, load: float, n: int, sizes: np.ndarray, seed: int
) -> tuple[pa.Table, float]:
    """Returns flows whose completion time grows with size and load, and the span of arrivals
    [µs]."""
    rng = np.random.default_rng([seed, len(p.label), *p.label.encode()])
    span_us = float(sizes.sum() * 8 / (SERVERS * SERVER_RATE * load) * 1e6) if n else 10.0
    arrival = np.sort(np.random.default_rng(seed).uniform(0, span_us, n))
    busy = min(load / p.capacity, 0.97)
    wait = rng.gamma(1.2, p.base_us / (1 - busy), n)
    fct = (
        p.base_us
        + wait
        + sizes * 8 / (SERVER_RATE * 6) * 1e6 * (1 + busy / (1 - busy) * rng.random(n))
    )
    done = (arrival + fct < span_us) | (sizes < 1e5)
    done &= rng.random(n) < p.finished
    ps = lambda a: pa.array(np.round(a * 1e6).astype(np.int64))  # noqa: E731
    finish = pa.array(np.round((arrival + fct) * 1e6).astype(np.int64), mask=~done)
    columns = {
        "flow": pa.array(np.arange(n, dtype=np.uint64)),
        "bytes": pa.array(sizes.astype(np.uint64)),
        "arrival_ps": ps(arrival),
        "start_ps": ps(arrival),
        "finish_ps": finish,
    }
    return pa.table(columns), span_us


def summarise(p: Profile, flows: pa.Table, load: float, span_us: float) -> dict[str, Any]:
    """Returns the keys of summary.json."""
    sizes = flows["bytes"].to_numpy().astype(float)
    finish = flows["finish_ps"].to_numpy(zero_copy_only=False).astype(float)
    fct = (finish - flows["arrival_ps"].to_numpy()) / 1e6
    done, short = np.isfinite(fct), sizes < 1e5
    goodput = min(load, p.capacity) * p.finished
    took = np.where(done, fct, np.maximum(span_us - flows["arrival_ps"].to_numpy() / 1e6, 0))
    slow = {"low": 9.0 * p.base_us, "high": 9.0 * p.base_us, "from": None, "until": None}
    offered = float(sizes.sum())
    return {
        "fabric": p.kind,
        "label": p.label,
        "version": "0.1.0",
        "seed": 1,
        "simulated_s": span_us * 1e-6,
        "flows_offered": len(sizes),
        "flows_completed": int(done.sum()),
        "bytes_offered": int(offered),
        "bytes_delivered": int(offered * min(1.0, goodput / load)),
        "load_offered": load,
        "goodput_normalized": goodput,
        "fct": {
            "all": percentiles(fct[done]),
            "short": percentiles(fct[done & short]),
            "long": percentiles(fct[done & ~short]),
        },
        "slowdown": {"p50": 1.4 * p.base_us, "p99": 9.0 * p.base_us},
        "queue_peak_bytes": p.queue,
        "reorder_peak_bytes": p.reorder,
        "drops": 0,
        "hops_mean": p.hops,
        "cell_hops": None,
        "packet_hops": None,
        "kernel_s": 0.71,
        "wall_s": 1.02,
        "peak_rss_bytes": 212_000_000,
        "load_delivered": goodput,
        "fct_bound": {
            name: bounds(took[of], done[of])
            for name, of in (("all", done | True), ("short", short), ("long", ~short))
        },
        "slowdown_bound": {"p50": slow, "p99": slow},
    }


def make_timeseries(p: Profile, load: float, span_us: float, samples: int) -> pa.Table:
    """Returns a time series with a ramp to a noisy plateau."""
    rng = np.random.default_rng([7, *p.label.encode()])
    t = np.linspace(0, span_us, samples)
    ramp = 1 - np.exp(-t / (span_us * 0.08))
    carried = min(load, p.capacity) * ramp * (1 + 0.06 * rng.standard_normal(samples))
    carried[0] = np.nan
    worst = (p.queue or 0) * ramp * rng.uniform(0.3, 1.0, samples)
    return pa.table(
        {
            "time_ps": pa.array((t * 1e6).astype(np.int64)),
            "queued_bytes": pa.array((worst * 70).astype(np.uint64)),
            "queued_bytes_worst": pa.array(worst.astype(np.uint64)),
            "goodput_normalized": pa.array(carried),
            "utilisation": pa.array(
                np.clip(carried * (p.hops or 1) / 2 / max(p.capacity, 0.9), 0, 1)
            ),
        }
    )


def make_result(
    p: Profile, sizes: np.ndarray, load: float = 0.5, seed: int = 1, samples: int = 400
) -> Result:
    """Returns the result of one fabric."""
    flows, span_us = make_flows(p, load, len(sizes), sizes, seed)
    series = make_timeseries(p, load, span_us, samples)
    return Result(p.label, flows, series, summarise(p, flows, load, span_us), {})


def pareto(n: int, seed: int = 1) -> np.ndarray:
    """Returns sizes with a heavy tail [B]."""
    draw = np.random.default_rng(seed).pareto(1.05, n)
    return np.minimum(np.ceil(4761 * (1 + draw)), 2e8)


def make_experiment(
    profiles: Sequence[Profile], load: float, n: int, loads: Sequence[float]
) -> dict[str, Any]:
    """Returns the resolved experiment."""
    made: dict[str, Any] = {
        "cluster": {
            "racks": 128,
            "servers_per_rack": 24,
            "server_rate": "16.666666667 Gb/s",
            "nic": "uncapped",
        },
        "workload": {
            "arrivals": "poisson",
            "load": load,
            "sizes": {"kind": "pareto", "shape": 1.05, "mean": "100 KB", "mean_rule": "nominal"},
            "pattern": "uniform",
            "flows": n,
        },
        "run": {"seed": 1, "stop": "last-arrival", "limit": None},
        "fabric": [{"kind": p.kind, "label": p.label, **p.settings} for p in profiles],
    }
    if loads:
        made["compare"] = {"loads": list(loads)}
    return made


def make_comparison(
    profiles: Sequence[Profile] = FOUR,
    *,
    name: str = "paper",
    load: float = 0.5,
    loads: Sequence[float] = (),
    sizes: np.ndarray | None = None,
    n: int = 20_000,
    seed: int = 1,
) -> Comparison:
    """Returns a complete comparison."""
    drawn = pareto(n, seed) if sizes is None else sizes
    results = {p.label: make_result(p, drawn, load, seed) for p in profiles}
    few = drawn[: max(2000, len(drawn) // 10)]
    swept = (
        {p.label: [make_result(p, few, x, seed, 8).summary for x in loads] for p in profiles}
        if loads
        else {}
    )
    return Comparison(name, make_experiment(profiles, load, len(drawn), loads), results, swept)


def overloaded(comparison: Comparison, *short: str, times: int = 1000) -> Comparison:
    """Returns the comparison with the time of arrivals multiplied and the times of flows unchanged,
    so that the run is long enough to show the load. The last flows of the fabrics in `short` are
    unfinished."""
    for one in comparison.seeds or (comparison,):
        for label, result in one.results.items():
            table, summary = result.flows, result.summary
            arrival = table["arrival_ps"].to_numpy().astype(np.int64)
            finish = table["finish_ps"].to_numpy(zero_copy_only=False).astype(np.float64)
            moved = finish - arrival + arrival * times
            late = np.isnan(moved) | (
                (label in short) & (np.arange(arrival.size) >= 0.95 * arrival.size)
            )
            columns = {
                "arrival_ps": pa.array(arrival * times),
                "finish_ps": pa.array(np.where(late, 0, moved).astype(np.int64), mask=late),
            }
            for name, values in columns.items():
                table = table.set_column(table.column_names.index(name), name, values)
            result.flows = table
            summary["simulated_s"] = float(summary["simulated_s"]) * times
    return comparison


# Fabrics with circuits

HYBRIDS = (Profile("tree"), Profile("c-through", "cthrough"), Profile("full"))
JOB_TIMES: dict[str, dict[str, float | None]] = {
    "tree": {"vm-migration": 280.0, "fft": None},
    "c-through": {"vm-migration": 112.0, "fft": 30.0},
    "full": {"vm-migration": 56.0, "fft": 29.9},
}
S = 1_000_000_000_000
Rows = list[tuple[int, int, int, int]]


def circuits(rows: Rows, directed: bool = False) -> pa.Table:
    """Returns a table of circuits: racks, start and end [ps]."""
    a, b, start, end = zip(*rows, strict=True)
    return pa.table(
        {
            "a": a,
            "b": b,
            "directed": [directed] * len(rows),
            "plane": [0] * len(rows),
            "from_ps": start,
            "until_ps": end,
        },
        schema=pa.schema(
            [
                ("a", pa.uint32()),
                ("b", pa.uint32()),
                ("directed", pa.bool_()),
                ("plane", pa.uint16()),
                ("from_ps", pa.int64()),
                ("until_ps", pa.int64()),
            ]
        ),
    )


def make_hybrids(rows: Rows | None = None) -> Comparison:
    """Returns a comparison of a tree, c-Through with circuits, and full bisection, over 10 s."""
    made = make_comparison(HYBRIDS, n=300)
    for label, times in JOB_TIMES.items():
        summary: dict[str, Any] = made.results[label].summary
        summary["simulated_s"] = 10.0
        summary["circuit_share"] = 0.75 if label == "c-through" else None
        summary["jobs"] = {
            name: {"start_s": 0.0, "finish_s": t, "seconds": t} for name, t in times.items()
        } | {"gridmix/1-small": {"start_s": 0.0, "finish_s": 1.0, "seconds": 1.0}}
    # Lit from 0-2 and 1-4 s (racks 0, 1) and from 6-9 s: dark for 3 of 10 s.
    default = [(0, 1, 0, 2 * S), (2, 3, S, 4 * S), (0, 1, 6 * S, 9 * S)]
    made.results["c-through"].circuits = circuits(rows or default)
    return made


def read(made: Comparison) -> model.Workload:
    """Reads a comparison as the report does."""
    return reading.workload(made, reading.slots([made]))


def settings_of(made: Comparison, **changed: Any) -> dict[str, Any]:
    """Returns the changed settings of the fabric with circuits."""
    table = next(f for f in made.experiment["fabric"] if f["label"] == "c-through")
    table.update(changed)
    return table
