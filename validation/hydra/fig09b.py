"""Fig 9b: FFTW on two racks alone, beside background traffic, and with a topology
that avoids it after 15 s.

Fitted: the size of the matrix and the computation time, from the times alone and with background
traffic (28.7 s and 62.2 s), given the rate of a circuit and the part that the background leaves.
Derived: the time with reconfiguration.
"""

from pathlib import Path
from typing import Any

import numpy as np

import lightloom
from lightloom.validation.study import draw, panel

SETUP = Path(__file__).with_name("fftw.toml")
#: Times measured in the paper [s].
ALONE, BESIDE = 28.7, 62.2
#: Rate of a circuit [Gb/s].
CIRCUIT = 9.21
#: Connections of the application between the racks, each way, and the total number of its blocks.
OWN, BLOCKS = 16, 64
#: Number of transposes in the application: the paper does not state it, and it has no effect if it
#: is large.
TRANSPOSES = 60
#: Flows of one transpose: every process sends to every other.
FLOWS = 56
#: Assumed start, 15 s before the cycle of 40 s [s].
BEGIN = 25.0
#: The ports that topology 1 lacks are repaired before that cycle.
REPAIR = ["fault.0.repair_at=39 s", "fault.1.repair_at=39 s", "fabric.reconfigure=whole"]
#: Servers of rack 1, and the same number of rack 2, which send background traffic to each other.
BACKGROUND = {
    9: [*range(17, 26), *range(30, 39)],
    5: [*range(17, 22), *range(30, 35)],
}
SHOWN = tuple(range(0, 66))

Floats = np.ndarray[Any, np.dtype[np.float64]]


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """Three runs with the background that is fitted, and with another."""
    del quick, workers  # it takes seconds
    runs = {
        "alone": _run(9, ["workload.jobs.1.bytes=18 B"]),
        "background": _run(9, []),
        "reconfigured": _run(9, REPAIR),
    }
    took = {name: _took(ends) for name, ends in runs.items()}
    # With other background traffic another split of the times fits, without an effect on the
    # result.
    lighter = _took(_run(5, REPAIR))
    claims = {
        "fig09b-alone": took["alone"],
        "fig09b-background": took["background"],
        "fig09b-reconfigured": took["reconfigured"],
        "fig09b-any-fit": lighter / took["reconfigured"],
        "fig09b-helps": took["reconfigured"] / took["background"],
        "fig09b-peak": _volume(9) / took["alone"],
    }
    lines = {name: [_done(ends, t) for t in SHOWN] for name, ends in runs.items()}
    return {
        "data": [panel("FFTW on two racks", ("time [s]", SHOWN), "done [%]", lines)],
        "claims": claims,
    }


def _left(servers: int) -> float:
    """Rate that the background leaves of a circuit [Gb/s]: every connection has an equal part."""
    return CIRCUIT * OWN / (OWN + servers**2)


def _volume(servers: int) -> float:
    """Data that the application sends between the racks in each direction [Gb], from the difference
    of the two times and of the two bandwidths."""
    return (BESIDE - ALONE) / (1 / _left(servers) - 1 / CIRCUIT)


def _run(servers: int, settings: list[str]) -> Floats:
    """Times at which the application's transposes end [s]."""
    volume = _volume(servers)
    compute = (ALONE - volume / CIRCUIT) / TRANSPOSES
    # Of the 16 B of each element, this share of blocks crosses between the racks in each direction.
    elements = volume * 1e9 / TRANSPOSES / (16 * 8) * BLOCKS / OWN
    fitted = [
        f"workload.jobs.0.elements={round(elements)}",
        f"workload.jobs.0.compute={compute:.6f} s",
        f"workload.jobs.1.placement={BACKGROUND[servers]}",
    ]
    result = lightloom.run(lightloom.load(SETUP, [*fitted, *settings]))
    table = result.flows.to_pydict()
    rows = zip(table["group"], table["finish_ps"], strict=True)
    finish = np.array([t / 1e12 if t else np.inf for group, t in rows if group == "fft"])
    ends: Floats = finish.reshape(-1, FLOWS).max(axis=1)
    complete: Floats = ends[np.isfinite(ends)]
    return complete


def _progress(ends: Floats, at: float) -> float:
    """Completed transposes, including the part of the next one, by time."""
    return float(np.interp(at, np.concatenate([[0.0], ends]), np.arange(len(ends) + 1)))


def _took(ends: Floats) -> float:
    """Time for all transposes of the application, from its start [s]."""
    last = _progress(ends, BEGIN) + TRANSPOSES
    if last > len(ends):
        raise AssertionError("the run ends before the application")
    return float(np.interp(last, np.arange(len(ends) + 1), np.concatenate([[0.0], ends]))) - BEGIN


def _done(ends: Floats, after: float) -> float:
    """Completed part of the application [%]."""
    done = _progress(ends, BEGIN + after) - _progress(ends, BEGIN)
    return min(100.0, 100.0 * done / TRANSPOSES)


figure = draw
