"""Fig 10: MPI FFT of 256 M elements on 15 nodes against the size of socket
buffers and the interval of reconfiguration, at 40:1, 10:1 and 4:1."""

from pathlib import Path
from typing import Any

from lightloom.reproduce.study import Runs, draw, panel, vary

TESTBED = Path(__file__).with_name("testbed.toml")
RATIOS = (40, 10, 4)
#: Sizes of the socket buffer of a connection [MB].
BUFFERS = (0.128, 50, 100, 300)
#: Reconfiguration intervals [ms].
INTERVALS = (300, 500, 1_000, 3_000, 5_000)
FFT = "workload.jobs=[{kind = 'fft'}]"
JOB = "jobs.fft.seconds"

Key = tuple[str, int, float, int]


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """Completion time on the three networks for each buffer and interval."""
    del quick  # it takes seconds
    cases: dict[Key, tuple[list[str], str]] = {}
    for ratio in RATIOS:
        settings = [FFT, f"fabric.electrical.oversubscription={ratio}"]
        cases["electrical", ratio, 0, 0] = settings, "electrical"
        cases |= {_key(ratio, b, 1_000): _case(ratio, b, 1_000) for b in BUFFERS}
        cases |= {_key(ratio, 100, i): _case(ratio, 100, i) for i in INTERVALS}
    cases["full-bisection", 40, 0, 0] = [FFT], "full-bisection"
    runs = vary(TESTBED, cases, seeds=[1], workers=workers)
    full: Key = ("full-bisection", 40, 0, 0)
    claims = {
        "fig10-at-300-ms": runs.ratio(_key(40, 100, 300), full, JOB),
        "fig10-slow-interval": runs.ratio(_key(40, 100, 5_000), _key(40, 100, 300), JOB),
        "fig10-buffers": runs.ratio(_key(40, 300, 1_000), _key(40, 50, 1_000), JOB),
        "fig10-electrical": runs.ratio(("electrical", 40, 0, 0), full, JOB),
    }
    return {"data": _panels(runs), "claims": claims}


def _key(ratio: int, buffer: float, interval: int) -> Key:
    return "cthrough", ratio, buffer, interval


def _case(ratio: int, buffer: float, interval: int) -> tuple[list[str], str]:
    keys = {
        "oversubscription": ratio,
        "socket_buffer": f"{buffer} MB",
        "interval": f"{interval} ms",
    }
    return [FFT, *(f"fabric.cthrough.{key}={value}" for key, value in keys.items())], "cthrough"


def _panels(runs: Runs[Key]) -> list[dict[str, Any]]:
    def lines(steps: list[tuple[float, int]]) -> dict[str, list[float | None]]:
        curves: dict[str, list[float | None]] = {}
        for ratio in RATIOS:
            electrical: Key = ("electrical", ratio, 0, 0)
            keys = [_key(ratio, buffer, interval) for buffer, interval in steps]
            curves[f"electrical, {ratio}:1"] = runs.line([electrical] * len(steps), JOB)
            curves[f"cthrough, {ratio}:1"] = runs.line(keys, JOB)
        full: Key = ("full-bisection", 40, 0, 0)
        return curves | {"full bisection": runs.line([full] * len(steps), JOB)}

    buffers = lines([(buffer, 1_000) for buffer in BUFFERS])
    intervals = lines([(100, interval) for interval in INTERVALS])
    seconds = [interval / 1_000 for interval in INTERVALS]
    return [
        panel("MPI FFT", ("socket buffer [MB]", BUFFERS), "[s]", buffers, log_x=True, log_y=True),
        panel(
            "100 MB buffers", ("interval [s]", seconds), "[s]", intervals, log_x=True, log_y=True
        ),
    ]


figure = draw
