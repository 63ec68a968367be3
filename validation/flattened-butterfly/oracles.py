"""The flattened butterfly of LIONS §IV compared with closed forms: latency without load, routers
visited, and the capacity of its wires; with latency and throughput against load for each routing
and router, at loads that are carried.

Under the complement all four hosts of a router send to one other router, so they share one wire of
the shortest path, which carries a quarter of their traffic.

Points on which claims are based have three seeds; points that are only drawn have one, and
intervals over the batches of its window. No figure of overload with detours is a claim, because
there is no steady state: packets fill the buffers, and throughput falls for milliseconds.
"""

from itertools import product
from math import ceil
from pathlib import Path
from typing import Any

from lightloom.validation import Estimate
from lightloom.validation.estimate import least, most
from lightloom.validation.study import Curve, Runs, draw, panel, vary

SETUP = Path(__file__).with_name("setup.toml")
ROUTERS = ("basic", "aggressive")
ROUTINGS = ("dimension-order", "valiant", "ugal")
DRAWN = ("uniform", "complement")
LOADS = {
    "uniform": (0.002, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
    "complement": (0.002, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6),
}
#: Loads that claims need.
QUICK_LOADS = {"uniform": (0.002, 0.5, 1.0), "complement": (0.002, 0.4, 0.6)}
#: A hot spot with three times the rate of its link, and this number of packets.
HOT = '{ kind = "hotspot", fraction = 1.0, targets = [21] }'
HOT_LOAD, HOT_PACKETS = 0.05, 2_000
HOSTS, CONCENTRATION, SIZE = 64, 4, 4
CYCLE_NS, FLITS, PIPELINE_NS = 6.4, 33, {"basic": 100.0, "aggressive": 19.2}
#: Share of payload on a link: 256 B in 33 flits of 8 B.
PAYLOAD = 256 / 264
#: The warm-up and the window [us] at loads that fill it with packets; longer at others.
WARM_UP_US, WINDOW_US = 100, 400
#: The highest load of the complement that Valiant carries, and its warm-up [us]: UGAL, which
#: does not carry it, has settled by then.
DETOURS, SETTLED_US = 0.4, 1_000
#: Routing, router, pattern, load.
Key = tuple[str, str, str, float]
#: The case whose packets count the visited routers.
VISITS: Key = ("dimension-order", "basic", "uniform", 0.5)
#: Cases on which claims are based, besides the hot spots.
DECIDING: tuple[Key, ...] = (
    VISITS,
    *(("dimension-order", router, "uniform", 0.002) for router in ROUTERS),
    *(("dimension-order", router, "complement", 0.6) for router in ROUTERS),
    *((routing, "aggressive", "complement", DETOURS) for routing in ("valiant", "ugal")),
    *((routing, "aggressive", "uniform", 1.0) for routing in ("dimension-order", "ugal")),
)


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
    # 16 of the 16 x 64 paths to a host lead to the host itself, and use no wire.
    mean = sum(ways) * CONCENTRATION / (len(ways) * CONCENTRATION - SIZE * SIZE)
    cycles = 0.5 + hop(1.75) + mean + FLITS
    return (cycles * CYCLE_NS + 5 * 1.75) / 1e3


def routers_visited() -> float:
    """1 + sum of (1 - 1/k), without traffic of a host to itself."""
    anybody = 1 + 2 * (1 - 1 / SIZE)
    return (anybody * HOSTS - 1) / (HOSTS - 1)


def uniform_bound() -> float:
    """Highest load of uniform traffic, at which wires are full: a router has 3 wires in each
    dimension for the traffic of its hosts to 48 of 63 others."""
    elsewhere = (HOSTS - HOSTS / SIZE) / (HOSTS - 1)
    return (SIZE - 1) / (CONCENTRATION * elsewhere) * PAYLOAD


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """Goodput and mean latency of each router and routing at each load."""
    loads = QUICK_LOADS if quick else LOADS
    cases = {
        (routing, router, pattern, load): (_windowed(pattern, load, quick), f"{routing}-{router}")
        for routing in ROUTINGS
        for router in ROUTERS
        for pattern in DRAWN
        for load in loads[pattern]
    }
    # A mean of counts needs few packets, but all seeds.
    cases[VISITS] = (_windowed("uniform", VISITS[-1], quick=False), "dimension-order-basic")
    drawn = vary(SETUP, cases, seeds=[1], workers=workers)
    more = {key: cases[key] for key in ([VISITS] if quick else DECIDING)}
    others = vary(SETUP, more, seeds=[2, 3], workers=workers).summaries
    hot = {
        (routing, router, "hotspot", HOT_LOAD): (_hot(), f"{routing}-{router}")
        for routing in ROUTINGS
        for router in ROUTERS
    }
    spots = vary(SETUP, hot, seeds=[1] if quick else [1, 2, 3], workers=workers).summaries
    summaries = {k: [*s, *others.get(k, [])] for k, s in drawn.summaries.items()}
    runs = Runs({**summaries, **spots})
    return {"data": _panels(runs, loads), "claims": _claims(runs)}


def _windowed(pattern: str, load: float, quick: bool) -> list[str]:
    shorter = 4 if quick else 1
    settles = (pattern, load) == ("complement", DETOURS)
    warm_up = SETTLED_US / shorter if settles else WARM_UP_US
    return [
        f"workload.load={load}",
        f"workload.pattern={pattern}",
        f"run.warm_up={warm_up:g} us",
        f"run.measure={WINDOW_US * max(1.0, 0.1 / load) / shorter:g} us",
    ]


def _hot() -> list[str]:
    """The run lasts until the last packet is received: in a window, packets of 16 virtual channels
    are received at the same time, and it would not be clear which of them count."""
    return [
        # The hot host sends no packets; the load is that of all hosts together.
        f"workload.load={HOT_LOAD}",
        f"workload.pattern={HOT}",
        f"workload.flows={HOT_PACKETS}",
        "run.stop=drain",
    ]


def _claims(runs: Runs[Key]) -> dict[str, Estimate]:
    def accepted(routing: str, router: str, pattern: str, load: float) -> Estimate:
        return runs.accepted((routing, router, pattern, load))

    def hot(routing: str, router: str) -> Estimate:
        key = (routing, router, "hotspot", HOT_LOAD)
        return runs.across(key, "goodput_normalized").times(HOSTS / PAYLOAD)

    def alone(router: str) -> Estimate:
        key = ("dimension-order", router, "uniform", 0.002)
        return runs.carried_latency(key).off(zero_load(router))

    quarter = PAYLOAD / CONCENTRATION
    detours = {r: accepted(r, "aggressive", "complement", DETOURS) for r in ("valiant", "ugal")}
    uniform = {r: accepted(r, "aggressive", "uniform", 1.0) for r in ("dimension-order", "ugal")}
    both = [(routing, router) for routing in ROUTINGS for router in ROUTERS]
    return {
        "zero-load": most(alone(router) for router in ROUTERS),
        "routers-visited": runs.across(VISITS, "hops_mean").times(1 / routers_visited()),
        "hot-spot": least(hot(*b) for b in both),
        "adversarial-dimension-order": least(
            accepted("dimension-order", router, "complement", 0.6) for router in ROUTERS
        ).times(1 / quarter),
        "adversarial-detours": detours["valiant"].times(1 / quarter),
        "adversarial-ugal": detours["ugal"].over(detours["valiant"]),
        "uniform-wires": uniform["dimension-order"].times(1 / uniform_bound()),
        "uniform-ugal": uniform["ugal"].over(uniform["dimension-order"]),
    }


def _panels(runs: Runs[Key], by: dict[str, tuple[float, ...]]) -> list[dict[str, Any]]:
    panels = []
    for pattern in DRAWN:
        loads = by[pattern]
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
