"""Fig 9b: FFTW on two racks alone, beside background traffic, and with a topology
that avoids it after 15 s.

Fitted: how large the matrix is and how long it is computed with, from the times
alone and beside the background (28.7 s and 62.2 s), given what a circuit carries
and what the background leaves of it. What follows: the time with reconfiguration.
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
#: Flows of one transpose: everybody to everybody else.
FLOWS = 56
#: When it is taken to begin, 15 s before the cycle of 40 s [s].
BEGIN = 25.0
#: The ports that topology 1 has not are there again before that cycle.
REPAIR = ["fault.0.repair_at=39 s", "fault.1.repair_at=39 s", "fabric.reconfigure=whole"]
#: Servers of rack 1 and as many of rack 2 that send each other background.
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
    # With other background another split of the times fits; it makes no difference.
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
    """What the background leaves of a circuit [Gb/s]: every connection an equal part."""
    return CIRCUIT * OWN / (OWN + servers**2)


def _volume(servers: int) -> float:
    """What the application sends from rack to rack, each way [Gb]: what takes
    longer by the difference of the two times where there is less bandwidth."""
    return (BESIDE - ALONE) / (1 / _left(servers) - 1 / CIRCUIT)


def _run(servers: int, settings: list[str]) -> Floats:
    """Times at which the application's transposes end [s]."""
    volume = _volume(servers)
    compute = (ALONE - volume / CIRCUIT) / TRANSPOSES
    # Of an element's 16 B, so many blocks of all cross from rack to rack each way.
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
    """Transposes that are done, and the part of the next that is, by the clock."""
    return float(np.interp(at, np.concatenate([[0.0], ends]), np.arange(len(ends) + 1)))


def _took(ends: Floats) -> float:
    """Time for as many transposes as the application is, from its beginning [s]."""
    last = _progress(ends, BEGIN) + TRANSPOSES
    if last > len(ends):
        raise AssertionError("the run ends before the application")
    return float(np.interp(last, np.arange(len(ends) + 1), np.concatenate([[0.0], ends]))) - BEGIN


def _done(ends: Floats, after: float) -> float:
    """Part of the application that is done [%]."""
    done = _progress(ends, BEGIN + after) - _progress(ends, BEGIN)
    return min(100.0, 100.0 * done / TRANSPOSES)


figure = draw
