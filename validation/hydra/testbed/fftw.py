"""§V.B, Fig 9b: FFTW before and after a reconfiguration that avoids background traffic."""

from pathlib import Path
from typing import Any

from lightloom.testbed.claims import Run
from lightloom.testbed.measure import mean_rate

#: The compiled programs, and the libraries that they need.
PROGRAMS = {
    Path(__file__).parents[3] / "examples/testbed/fftw.c": ["-lfftw3_mpi", "-lfftw3", "-lm"]
}
#: Time from the light of the first topology until programs have begun, time from the light of the
#: second until the application uses its new path, and time of each measurement [s].
BEGUN, MOVED, LONG = 2.5, 0.5, 2.0
#: Smallest received rate that counts as that of a program [b/s].
SENDS = 1e5


def measure(run: Run) -> dict[str, float]:
    """Throughput of the application with background, before and after the reconfiguration, and
    without background."""
    alone = run(
        "fftw.toml", "testbed.application.1.begin=13 s", "testbed.application.1.duration=1 s"
    )
    live = run("fftw.toml")
    before = rate(live, BEGUN + lit(live, (0, 2)), LONG)
    after = rate(live, MOVED + lit(live, (0, 1)), LONG)
    undisturbed = rate(alone, BEGUN + lit(alone, (0, 2)), LONG)
    return {"fftw-background": before / undisturbed, "fftw-reconfigured": after / before}


def lit(live: Any, racks: tuple[int, int]) -> float:
    """When the circuit between two racks is lit [s from the start]."""
    return next(since for a, b, _, since, _ in live.circuits if (a, b) == racks)


def rate(live: Any, since: float, length: float) -> float:
    """Rate that the application's host in rack 0 receives, which has no background traffic
    [b/s]."""
    begin = live.began + since
    rows = live.samples.rates("host 0")
    return max(SENDS, mean_rate([r for r in rows if begin <= r[0] and r[1] <= begin + length]) or 0)
