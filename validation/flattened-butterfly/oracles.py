"""The flattened butterfly of LIONS §IV against closed forms: latency without load,
routers visited, and what its wires can carry; with latency and throughput against
load for each routing and router, where it is carried.

Under the complement all four hosts of a router send to one other router, so that
they share one wire on the shortest way: a quarter of what they send is carried.
"""

from itertools import product
from math import ceil
from pathlib import Path
from typing import Any

from lightloom.reproduce import Estimate
from lightloom.reproduce.estimate import least, most
from lightloom.reproduce.study import Curve, Runs, draw, panel, vary

SETUP = Path(__file__).with_name("setup.toml")
ROUTERS = ("basic", "aggressive")
ROUTINGS = ("dimension-order", "valiant", "ugal")
PATTERNS = ("uniform", "complement", "hotspot")
LOADS = {
    "uniform": (0.002, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
    "complement": (0.002, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6),
    "hotspot": (0.05,),
}
HOT = '{ kind = "hotspot", fraction = 1.0, targets = [21] }'
HOSTS, CONCENTRATION, SIZE = 64, 4, 4
CYCLE_NS, FLITS, PIPELINE_NS = 6.4, 33, {"basic": 100.0, "aggressive": 19.2}
#: Payload of what a link carries: 256 B in 33 flits of 8 B.
PAYLOAD = 256 / 264
#: The window [us] at loads that fill it with packets; longer at others.
WINDOW_US = 400
#: Routing, router, pattern, load.
Key = tuple[str, str, str, float]


def zero_load(router: str) -> float:
    """Mean latency of one packet alone, to any other host [us]: whole cycles from
    hop to hop, half a cycle on average until the first."""

    def hop(metres: float) -> int:
        return 1 + ceil((5 * metres + PIPELINE_NS[router]) / CYCLE_NS)

    def steps(a: int, b: int) -> int:
        return hop(5.0 * abs(a - b)) if a != b else 0

    ways = [
        steps(a % SIZE, b % SIZE) + steps(a // SIZE, b // SIZE)
        for a, b in product(range(SIZE * SIZE), repeat=2)
    ]
    # Of 16 x 64 ways to a host 16 are to oneself, and take no wire.
    mean = sum(ways) * CONCENTRATION / (len(ways) * CONCENTRATION - SIZE * SIZE)
    cycles = 0.5 + hop(1.75) + mean + FLITS
    return (cycles * CYCLE_NS + 5 * 1.75) / 1e3


def routers_visited() -> float:
    """1 + sum of (1 - 1/k), nobody sending to itself."""
    anybody = 1 + 2 * (1 - 1 / SIZE)
    return (anybody * HOSTS - 1) / (HOSTS - 1)


def uniform_bound() -> float:
    """What hosts can send of uniform traffic until wires are full: a router has 3
    in each dimension for what its hosts send to 48 of 63 others."""
    elsewhere = (HOSTS - HOSTS / SIZE) / (HOSTS - 1)
    return (SIZE - 1) / (CONCENTRATION * elsewhere) * PAYLOAD


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """Goodput and mean latency of each router and routing at each load."""
    cases: dict[Key, tuple[list[str], str]] = {
        (routing, router, pattern, load): (
            _overrides(pattern, load, quick),
            f"{routing}-{router}",
        )
        for routing in ROUTINGS
        for router in ROUTERS
        for pattern in PATTERNS
        for load in LOADS[pattern]
    }
    runs = vary(SETUP, cases, seeds=[1] if quick else [1, 2, 3], workers=workers)
    return {"data": _panels(runs), "claims": _claims(runs)}


def _overrides(pattern: str, load: float, quick: bool) -> list[str]:
    longer = 5.0 if pattern == "hotspot" else max(1.0, 0.1 / load)
    window = WINDOW_US * longer / (4 if quick else 1)
    return [
        # The hot host sends nothing itself; the load is that of all together.
        f"workload.load={load}",
        f"workload.pattern={HOT if pattern == 'hotspot' else pattern}",
        f"run.measure={window:g} us",
    ]


def _claims(runs: Runs[Key]) -> dict[str, float | Estimate]:
    def full(routing: str, router: str, pattern: str) -> Estimate:
        return runs.accepted((routing, router, pattern, LOADS[pattern][-1]))

    def alone(router: str) -> Estimate:
        key = ("dimension-order", router, "uniform", LOADS["uniform"][0])
        return runs.carried_latency(key).off(zero_load(router))

    hops = runs.value(("dimension-order", "basic", "uniform", 0.5), "hops_mean") or 0.0
    quarter = PAYLOAD / CONCENTRATION
    complement = {r: full(r, "aggressive", "complement") for r in ROUTINGS}
    uniform = {r: full(r, "aggressive", "uniform") for r in ROUTINGS}
    both = [(routing, router) for routing in ROUTINGS for router in ROUTERS]
    return {
        "zero-load": most(alone(router) for router in ROUTERS),
        "routers-visited": hops / routers_visited(),
        "hot-spot": least(full(*b, "hotspot") for b in both).times(HOSTS / PAYLOAD),
        "adversarial-dimension-order": least(
            full("dimension-order", router, "complement") for router in ROUTERS
        ).times(1 / quarter),
        "adversarial-detours": complement["valiant"].times(1 / quarter),
        "adversarial-ugal": complement["ugal"].over(complement["valiant"]),
        "uniform-wires": uniform["dimension-order"].times(1 / uniform_bound()),
        "uniform-ugal": uniform["ugal"].over(uniform["dimension-order"]),
    }


def _panels(runs: Runs[Key]) -> list[dict[str, Any]]:
    panels = []
    for pattern in ("uniform", "complement"):
        loads = LOADS[pattern]
        x = ("offered load, of the line rate", loads)
        lines = {
            f"{routing}, {router}": [(routing, router, pattern, load) for load in loads]
            for routing in ROUTINGS
            for router in ROUTERS
        }
        goodput = {name: [runs.accepted(k) for k in keys] for name, keys in lines.items()}
        latency = {name: [runs.latency(k) for k in keys] for name, keys in lines.items()}
        limit = uniform_bound() if pattern == "uniform" else PAYLOAD / CONCENTRATION
        dense = [i / 100 * loads[-1] for i in range(101)]
        wires: dict[str, Curve] = {"wires, shortest ways": (dense, [min(p, limit) for p in dense])}
        title = pattern.capitalize()
        panels += [
            panel(f"{title}: throughput", x, "of the line rate", goodput, theory=wires),
            panel(f"{title}: latency", x, "mean [us]", latency, log_y=True),
        ]
    return panels


figure = draw
