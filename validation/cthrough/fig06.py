"""Fig 6: VM migration against the size of socket buffers and the interval of
reconfiguration, at 40:1, 10:1 and 4:1."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

from lightloom.validation.study import Runs, draw, panel, vary

TESTBED = Path(__file__).with_name("testbed.toml")
RATIOS = (40, 10, 4)
#: Sizes of the socket buffer of a connection [MB].
BUFFERS = (0.128, 50, 100, 300)
#: Reconfiguration intervals [ms].
INTERVALS = (300, 500, 1_000, 3_000, 5_000)
JOB = "jobs.vm-migration.seconds"
NETWORKS = ("electrical", "cthrough", "full-bisection")

Key = tuple[str, int, float, int]


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """Completion time on the three networks for each buffer and interval."""
    del quick  # it takes seconds
    cases = {}
    for ratio in RATIOS:
        for network in NETWORKS:
            for buffer in BUFFERS:
                cases[network, ratio, buffer, 1_000] = _case(network, ratio, buffer, 1_000)
        for interval in INTERVALS:
            cases["cthrough", ratio, 100, interval] = _case("cthrough", ratio, 100, interval)
    cases["keep", 40, BUFFERS[0], 1_000] = _kept()
    runs = vary(TESTBED, cases, seeds=[1], workers=workers)

    def took(network: str, ratio: int = 40, buffer: float = 100, interval: int = 1_000) -> float:
        return runs.value((network, ratio, buffer, interval), JOB) or 0.0

    return {"data": _panels(runs), "claims": _claims(took)}


def _case(network: str, ratio: int, buffer: float, interval: int) -> tuple[list[str], str]:
    # The buffer of a connection limits the application on every network, and its content is the
    # demand that c-Through measures.
    settings = [f"workload.jobs.0.buffer={buffer} MB"]
    if network != "full-bisection":
        settings.append(f"fabric.{network}.oversubscription={ratio}")
    if network == "cthrough":
        settings.append(f"fabric.cthrough.socket_buffer={buffer} MB")
        settings.append(f"fabric.cthrough.interval={interval} ms")
    return settings, network


def _kept() -> tuple[list[str], str]:
    """Buffers that are too small to be reported, and circuits that stay."""
    settings, network = _case("cthrough", 40, BUFFERS[0], 1_000)
    return [*settings, "fabric.cthrough.unrequested=keep"], network


def _claims(took: Callable[..., float]) -> dict[str, float]:
    gaps = [took("electrical", ratio) / took("cthrough", ratio) for ratio in RATIOS]
    return {
        "fig06-electrical": took("electrical", buffer=300),
        "fig06-default-buffers": took("cthrough", buffer=0.128),
        "fig06-large-buffers": took("cthrough", buffer=300),
        "fig06-full-bisection": took("full-bisection", buffer=300),
        "fig06-slow-interval": took("cthrough", interval=5_000) / took("cthrough", interval=300),
        "fig06-gap-shrinks": max(b / a for a, b in pairwise(gaps)),
        "fig06-circuits-that-stay": took("keep", buffer=0.128),
    }


def _panels(runs: Runs[Key]) -> list[dict[str, Any]]:
    def lines(keys: Callable[[str, int], list[Key]]) -> dict[str, list[float | None]]:
        shown = [("electrical", r) for r in RATIOS] + [("cthrough", r) for r in RATIOS]
        curves = {f"{n}, {r}:1": runs.line(keys(n, r), JOB) for n, r in shown}
        return curves | {"full bisection": runs.line(keys("full-bisection", 40), JOB)}

    def buffers(network: str, ratio: int) -> list[Key]:
        return [(network, ratio, buffer, 1_000) for buffer in BUFFERS]

    def intervals(network: str, ratio: int) -> list[Key]:
        set_by = INTERVALS if network == "cthrough" else (1_000,) * len(INTERVALS)
        return [(network, ratio, 100, interval) for interval in set_by]

    seconds = [interval / 1_000 for interval in INTERVALS]
    return [
        panel("VM migration", ("socket buffer [MB]", BUFFERS), "[s]", lines(buffers), log_x=True),
        panel("100 MB buffers", ("interval [s]", seconds), "[s]", lines(intervals), log_x=True),
    ]


figure = draw
