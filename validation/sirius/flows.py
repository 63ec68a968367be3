"""Compares Sirius with rates and with cells for the same flows: goodput and completion times.

Prints the table of docs/fabrics/sirius.md (`python validation/sirius/flows.py`).
"""

from pathlib import Path
from typing import Any, NamedTuple

import lightloom
from lightloom.results.summaries import pick
from lightloom.validation.estimate import Estimate, across
from lightloom.validation.simulate import Case, Summary, simulate
from lightloom.validation.study import draw, panel

SETUP = Path(__file__).with_name("flows.toml")
DETAILS = ("cells", "flows")
SEEDS = (1, 2, 3)
LOADS = (0.1, 0.3, 0.5, 0.6)

RACKS = 'workload.pattern={kind="permutation",of="racks"}'
INCAST = 'workload.pattern={kind="incast",fan_in=16}'
#: 64 racks of two servers, each with a link of its own.
LINKS = ['cluster.nic="100 Gb/s"']


def job(kind: str, more: str = "") -> list[str]:
    """A collective of all servers, neighbours in different racks."""
    table = f'{{kind="{kind}",bytes="4 MB",placement="spread"{more}}}'
    return [f"workload={{jobs=[{table}]}}", *LINKS]


#: Overrides of each case, by its name in the table.
CASES: dict[str, list[str]] = {
    **{f"uniform, L = {load}": [f"workload.load={load}"] for load in LOADS},
    "uniform, overloaded": ["workload.load=1.2"],
    "uniform, servers' links, L = 0.3": ["workload.load=0.3", 'cluster.nic="200 Gb/s"'],
    "permutation of racks, L = 0.3": ["workload.load=0.3", RACKS],
    "permutation of racks, overloaded": ["workload.load=1.2", RACKS],
    "incast of 16": ["workload.load=0.05", INCAST],
    "ring all-reduce": job("all-reduce"),
    "halving-doubling all-reduce": job("all-reduce", ',algorithm="halving-doubling"'),
    "all-to-all": job("all-to-all-collective"),
    "all-to-all of half the racks": [
        'workload={jobs=[{kind="all-to-all-collective",bytes="4 MB",hosts=64}]}'
    ],
    "skewed racks, L = 0.1": ["workload.load=0.1", 'workload.pattern={kind="tor-skewed",zipf=1.0}'],
    "web search, L = 0.3": ["workload.load=0.3", "workload.sizes=web-search"],
    "flows of 600 B, L = 0.2": [
        "workload.load=0.2",
        'workload.sizes={kind="fixed",size="600 B"}',
    ],
}
#: Cases in which rates are not reliable.
DOUBTFUL = (
    "all-to-all of half the racks",
    "skewed racks, L = 0.1",
    "web search, L = 0.3",
    "flows of 600 B, L = 0.2",
)
#: Fewer in `--quick`.
QUICK = ("uniform, L = 0.1", "permutation of racks, overloaded", "incast of 16")


class Row(NamedTuple):
    """Results of one case: with cells, and the relative difference with rates."""

    goodput: Estimate
    p50_us: Estimate
    p99_us: Estimate
    goodput_off: Estimate
    p50_off: Estimate
    p99_off: Estimate


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """Both on the same flows, with three seeds; fewer cases if quick."""
    rows = table(QUICK if quick else tuple(CASES), SEEDS, workers)
    return {"data": _panels(rows), "claims": _claims(rows)}


def table(names: tuple[str, ...], seeds: tuple[int, ...], workers: int) -> dict[str, Row]:
    """The rows of some cases, means over seeds."""
    runs: dict[tuple[str, str, int], Case] = {}
    for name in names:
        for seed in seeds:
            experiment = lightloom.load(SETUP, [*_sized(CASES[name]), f"run.seed={seed}"])
            for detail in DETAILS:
                runs[name, detail, seed] = (experiment, detail)
    found = simulate(runs, workers)
    return {name: _row(found, name, seeds) for name in names}


def _sized(settings: list[str]) -> list[str]:
    """Jobs define their number of flows."""
    return settings if settings[0].startswith("workload={") else ["workload.flows=10000", *settings]


def _row(found: dict[tuple[str, str, int], Summary], name: str, seeds: tuple[int, ...]) -> Row:
    paths = ("goodput_normalized", "fct.all.p50_us", "fct.all.p99_us")

    def at(detail: str, path: str) -> list[float]:
        return [float(pick(found[name, detail, seed], path)) for seed in seeds]

    cells = [across(at("cells", path)) for path in paths]
    off = [
        across([r / c - 1 for r, c in zip(at("flows", p), at("cells", p), strict=True)])
        for p in paths
    ]
    return Row(*cells, *off)


def _claims(rows: dict[str, Row]) -> dict[str, Estimate]:
    """The largest differences over the cases measured [%]."""

    def most(what: str, names: tuple[str, ...]) -> Estimate:
        found: list[Estimate] = [getattr(rows[n], what) for n in names if n in rows]
        largest = max(found, key=lambda e: abs(e.value))
        return largest.times(-100 if largest.value < 0 else 100)

    claims = {
        "flows-goodput": most("goodput_off", tuple(n for n in rows if n not in DOUBTFUL)),
        "flows-idle": most("p50_off", ("uniform, L = 0.1",)),
        "flows-incast": most("p50_off", ("incast of 16",)),
    }
    collectives = tuple(name for name in rows if "reduce" in name or name == "all-to-all")
    if collectives:
        claims["flows-collectives"] = most("p50_off", collectives)
        claims["flows-queues"] = rows["uniform, L = 0.5"].p99_off.times(-100)
    return claims


def _panels(rows: dict[str, Row]) -> list[dict[str, Any]]:
    loads = [load for load in LOADS if f"uniform, L = {load}" in rows]
    of = [rows[f"uniform, L = {load}"] for load in loads]
    lines = {
        "median": ([r.p50_us for r in of], [_times(r.p50_us, r.p50_off) for r in of]),
        "p99": ([r.p99_us for r in of], [_times(r.p99_us, r.p99_off) for r in of]),
    }
    drawn = {
        f"{name}, {detail}": values
        for name, both in lines.items()
        for detail, values in zip(DETAILS, both, strict=True)
    }
    return [panel("Uniform traffic", ("load L", loads), "FCT [us]", drawn, log_y=True)]


def _times(cells: Estimate, off: Estimate) -> Estimate:
    """The values with rates, from those with cells and the relative difference."""
    return Estimate(cells.value * (1 + off.value), cells.half_width, cells.runs)


def markdown(rows: dict[str, Row]) -> str:
    """The table of the documentation."""
    lines = [
        "| | goodput | by rates | p50 [µs] | by rates | p99 [µs] | by rates |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, row in rows.items():
        goodput, p50, p99, *off = (estimate.value for estimate in row)
        lines.append(
            f"| {name} | {goodput:.3f} | {off[0]:+.1%} | {p50:.3g} | "
            f"{off[1]:+.0%} | {p99:.3g} | {off[2]:+.0%} |"
        )
    return "\n".join(lines)


figure = draw

if __name__ == "__main__":
    print(markdown(table(tuple(CASES), SEEDS, 1)))
