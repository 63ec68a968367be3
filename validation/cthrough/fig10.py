"""Fig 10: MPI FFT of 256 M elements on 15 nodes against the size of socket
buffers and the interval of reconfiguration, at 40:1, 10:1 and 4:1.

The paper does not state the computation time between exchanges. The verdict uses the default of the
job, which is derived from operations; the claims are measured from 0.3 to 5 s, and with all blocks
sent at once, which FFTW does not do.
"""

from pathlib import Path
from typing import Any

from lightloom.validation.readings import Reading, Readings
from lightloom.validation.study import Runs, draw, panel, vary

TESTBED = Path(__file__).with_name("testbed.toml")
RATIOS = (40, 10, 4)
#: Sizes of the socket buffer of a connection [MB].
BUFFERS = (0.128, 50, 100, 300)
#: Reconfiguration intervals [ms].
INTERVALS = (300, 500, 1_000, 3_000, 5_000)
JOB = "jobs.fft.seconds"
#: Computation time before each of the two transposes [s].
DERIVED = 1.25
COMPUTING = (0.3, 0.6, DERIVED, 2.5, 5.0)
AT_ONCE = "all at once"

Way = tuple[str, float]
"""Exchange of blocks, and computation time before it [s]."""
Key = tuple[Way, str, int, float, int]
"""The way, the network, its ratio, socket buffers [MB], the interval [ms]."""

FFTW: Way = ("tournament", DERIVED)
WAYS: dict[str, Way] = {
    **{f"{seconds} s": ("tournament", seconds) for seconds in COMPUTING},
    AT_ONCE: ("at-once", DERIVED),
}


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """Completion time on the three networks for each buffer and interval."""
    del quick  # it takes seconds
    cases: dict[Key, tuple[list[str], str]] = {}
    for way in WAYS.values():
        for ratio in RATIOS if way == FFTW else RATIOS[:1]:
            own = f"fabric.electrical.oversubscription={ratio}"
            cases[way, "electrical", ratio, 0, 0] = [_job(way), own], "electrical"
            cases |= {_key(way, ratio, b, 1_000): _case(way, ratio, b, 1_000) for b in BUFFERS}
            cases |= {_key(way, ratio, 100, i): _case(way, ratio, 100, i) for i in INTERVALS}
        cases[_full(way)] = [_job(way)], "full-bisection"
    runs = vary(TESTBED, cases, seeds=[1], workers=workers)
    by_way = {name: _claims(runs, way) for name, way in WAYS.items()}
    values = {claim: {name: of[claim] for name, of in by_way.items()} for claim in by_way[AT_ONCE]}
    verdict = f"{DERIVED} s"
    panels = [*_panels(runs), _by_computing(by_way)]
    return {"data": panels, "claims": {}, "readings": Readings(verdict, _readings(), values)}


def _claims(runs: Runs[Key], way: Way) -> dict[str, float]:
    def took(buffer: float, interval: int) -> Key:
        return _key(way, 40, buffer, interval)

    return {
        "fig10-at-300-ms": runs.ratio(took(100, 300), _full(way), JOB),
        "fig10-slow-interval": runs.ratio(took(100, 5_000), took(100, 300), JOB),
        "fig10-buffers": runs.ratio(took(300, 1_000), took(50, 1_000), JOB),
        "fig10-electrical": runs.ratio((way, "electrical", 40, 0, 0), _full(way), JOB),
    }


def _readings() -> list[Reading]:
    what = "FFTW's tournament; nodes compute so long before each of two transposes"
    derived = f"{what}: 5 N log2 N operations, 1 G a second on each node"
    computing = [Reading(f"{s} s", derived if s == DERIVED else what, "assumed") for s in COMPUTING]
    at_once = f"all blocks leave at once, which FFTW does not do; {DERIVED} s of computing"
    return [*computing, Reading(AT_ONCE, at_once, "assumed")]


def _full(way: Way) -> Key:
    return way, "full-bisection", 40, 0, 0


def _key(way: Way, ratio: int, buffer: float, interval: int) -> Key:
    return way, "cthrough", ratio, buffer, interval


def _job(way: Way) -> str:
    exchange, seconds = way
    job = f"kind = 'fft', exchange = '{exchange}', compute = '{seconds} s'"
    return f"workload.jobs=[{{{job}}}]"


def _case(way: Way, ratio: int, buffer: float, interval: int) -> tuple[list[str], str]:
    keys = {
        "oversubscription": ratio,
        "socket_buffer": f"{buffer} MB",
        "interval": f"{interval} ms",
    }
    settings = [f"fabric.cthrough.{key}={value}" for key, value in keys.items()]
    return [_job(way), *settings], "cthrough"


def _by_computing(by_way: dict[str, dict[str, float]]) -> dict[str, Any]:
    """Effect of the interval, by the computation time of nodes."""
    lines = {
        "5 s relative to 0.3 s": [by_way[f"{s} s"]["fig10-slow-interval"] for s in COMPUTING],
        "0.3 s relative to full bisection": [
            by_way[f"{s} s"]["fig10-at-300-ms"] for s in COMPUTING
        ],
    }
    x = ("computing before each transpose [s]", COMPUTING)
    return panel("Intervals, 40:1", x, "completion time, relative", lines, log_x=True)


def _panels(runs: Runs[Key]) -> list[dict[str, Any]]:
    def lines(steps: list[tuple[float, int]]) -> dict[str, list[float | None]]:
        curves: dict[str, list[float | None]] = {}
        for ratio in RATIOS:
            electrical: Key = (FFTW, "electrical", ratio, 0, 0)
            keys = [_key(FFTW, ratio, buffer, interval) for buffer, interval in steps]
            curves[f"electrical, {ratio}:1"] = runs.line([electrical] * len(steps), JOB)
            curves[f"cthrough, {ratio}:1"] = runs.line(keys, JOB)
        return curves | {"full bisection": runs.line([_full(FFTW)] * len(steps), JOB)}

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
