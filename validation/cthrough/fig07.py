"""Fig 7: Hadoop sort against the size of socket buffers and the interval of
reconfiguration, at 40:1, 10:1 and 4:1."""

from pathlib import Path
from typing import Any

from lightloom.validation.estimate import Estimate, most
from lightloom.validation.study import Runs, draw, panel, vary

TESTBED = Path(__file__).with_name("testbed.toml")
RATIOS = (40, 10, 4)
#: Sizes of the socket buffer of a connection [MB].
BUFFERS = (0.128, 50, 100, 300)
#: Reconfiguration intervals [ms].
INTERVALS = (300, 500, 1_000, 3_000, 5_000)
SEEDS = (1, 2, 3, 4, 5)
SORT = "workload.jobs=[{kind = 'sort'}]"
JOB = "jobs.sort.seconds"

Key = tuple[str, int, float, int]


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """Completion time on the three networks for each buffer and interval."""
    del quick  # it takes seconds
    cases: dict[Key, tuple[list[str], str]] = {}
    for ratio in RATIOS:
        settings = [SORT, f"fabric.electrical.oversubscription={ratio}"]
        cases["electrical", ratio, 0, 0] = settings, "electrical"
        cases["full-bisection", ratio, 0, 0] = [SORT], "full-bisection"
        cases |= {_key(ratio, b, 1_000): _case(ratio, b, 1_000) for b in BUFFERS}
        cases |= {_key(ratio, 100, i): _case(ratio, 100, i) for i in INTERVALS}
    runs = vary(TESTBED, cases, seeds=SEEDS, workers=workers)
    return {"data": _panels(runs), "claims": _claims(runs)}


def _key(ratio: int, buffer: float, interval: int) -> Key:
    return "cthrough", ratio, buffer, interval


def _case(ratio: int, buffer: float, interval: int) -> tuple[list[str], str]:
    keys = {
        "oversubscription": ratio,
        "socket_buffer": f"{buffer} MB",
        "interval": f"{interval} ms",
    }
    return [SORT, *(f"fabric.cthrough.{key}={value}" for key, value in keys.items())], "cthrough"


def _claims(runs: Runs[Key]) -> dict[str, Estimate]:
    full = ("full-bisection", 40, 0.0, 0)
    more = [
        runs.paired(_key(r, b, 1_000), _key(r, 50, 1_000), JOB) for r in RATIOS for b in (100, 300)
    ]
    return {
        "fig07-buffers-above-50": most(e.off(1.0) for e in more),
        "fig07-frequent-helps": runs.paired(_key(40, 100, 5_000), _key(40, 100, 300), JOB),
        "fig07-near-full-bisection": runs.paired(_key(40, 100, 300), full, JOB),
        "fig07-near-at-one-second": runs.paired(_key(40, 100, 1_000), full, JOB),
        "fig07-electrical": runs.paired(("electrical", 40, 0, 0), full, JOB),
    }


def _panels(runs: Runs[Key]) -> list[dict[str, Any]]:
    def lines(steps: list[tuple[float, int]]) -> dict[str, list[float | None]]:
        def flat(network: str, ratio: int) -> list[float | None]:
            return runs.line([(network, ratio, 0.0, 0)] * len(steps), JOB)

        curves = {f"electrical, {r}:1": flat("electrical", r) for r in RATIOS}
        for ratio in RATIOS:
            keys = [_key(ratio, buffer, interval) for buffer, interval in steps]
            curves[f"cthrough, {ratio}:1"] = runs.line(keys, JOB)
        return curves | {"full bisection": flat("full-bisection", 40)}

    buffers = lines([(buffer, 1_000) for buffer in BUFFERS])
    intervals = lines([(100, interval) for interval in INTERVALS])
    seconds = [interval / 1_000 for interval in INTERVALS]
    return [
        panel("Sort of 10 GB", ("socket buffer [MB]", BUFFERS), "[s]", buffers, log_x=True),
        panel("100 MB buffers", ("interval [s]", seconds), "[s]", intervals, log_x=True),
    ]


figure = draw
