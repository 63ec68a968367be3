"""Clocks (§4.4, §6): two of the four nodes of the prototype over a day, and properties of the
protocol for any clocks.

The paper states neither the noise of its oscillators nor the loop's bandwidth, so ± 5 ps over
24 hours are measured under assumptions, a reading each, and not judged.
"""

from statistics import fmean
from typing import Any

from lightloom.devices import clock, photonics
from lightloom.devices.clock import Synchronisation
from lightloom.policies import picoseconds
from lightloom.validation.estimate import Estimate, across
from lightloom.validation.readings import Reading, Readings
from lightloom.validation.study import draw, panel

NODES = 4
SEEDS = range(1, 6)
#: Distance of the drawn steps of a day, which have 1 s each [count].
SHOWN = 599
#: Reading → what it changes of the defaults of `lightloom clock`.
ASSUMED: dict[str, dict[str, Any]] = {
    "5 kHz": {},
    "1 kHz": {"loop": {"bandwidth": "1 kHz"}},
    "20 kHz": {"loop": {"bandwidth": "20 kHz"}},
    "once": {"loopback": {"every": "0 s"}},
    "noisy": {"timestamps": {"jitter": "10 ps"}},
}
WHAT = {
    "5 kHz": "the defaults: a loop of 5 kHz, jitter of 1 ps, delays measured every minute; the "
    "phases of two nodes about their mean, as an oscilloscope has them that was set to zero once",
    "1 kHz": "the same with a loop of 1 kHz",
    "20 kHz": "the same with a loop of 20 kHz",
    "once": "the same, delays measured only once",
    "noisy": "the same with a jitter of 10 ps",
    "standing": "the defaults, with the offset that asymmetric fibres leave",
}
#: Clocks with initial frequencies of their own; a leader that dies; and clocks without an error.
CLUSTER: dict[str, Any] = {"nodes": 16, "duration": "20 ms", "loop": {"start": "cold"}}
DIES = {"die": [{"node": 3, "at": "5 ms"}]}
EXACT = {"oscillator": {"tolerance": "0 ppm"}}


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """A day by each assumption, in seconds; --quick is the same."""
    del quick, workers
    days = {name: _days(keys) for name, keys in ASSUMED.items()}
    apart = {name: across([_wander(day) for day in found]) for name, found in days.items()}
    standing = [_wander(d) + abs(d.summary["epochs"]["pair_mean_ps"]) for d in days["5 kHz"]]
    apart["standing"] = across(standing)
    known = [Reading(name, what, "assumed") for name, what in WHAT.items()]
    symbol = photonics.derive().derived["guardband"]["symbol"]
    claims = {
        "clock-leader-dies": _ratio(CLUSTER | DIES, CLUSTER, "wander_max_ps"),
        "clock-drift-common": _ratio(CLUSTER, CLUSTER | EXACT, "deviation_max_ps"),
        "clock-symbol": float(picoseconds(symbol)),
    }
    readings = Readings("5 kHz", known, {"clock-pair-day": apart})
    return {"data": _panels(days["5 kHz"][0], apart), "claims": claims, "readings": readings}


def _days(keys: dict[str, Any]) -> list[Synchronisation]:
    """A day of each seed."""
    return [_run({"nodes": NODES, "day": {}, "seed": seed} | keys) for seed in SEEDS]


def _ratio(keys: dict[str, Any], base: dict[str, Any], figure: str) -> Estimate:
    """A value relative to that with other keys, for the same seed."""
    pairs = [(_epochs(keys | {"seed": n}), _epochs(base | {"seed": n})) for n in SEEDS]
    return across([of[figure] / to[figure] for of, to in pairs])


def _run(keys: dict[str, Any]) -> Synchronisation:
    return clock.simulate(keys, contributions=False)


def _wander(found: Synchronisation) -> float:
    """How far two nodes' phases are from their mean at most, either way: what moves over the day
    and what moves from epoch to epoch added up [ps]."""
    parts = (found.summary["day"], found.summary["epochs"])
    return float(sum(part["pair_wander_max_ps"] for part in parts))


def _epochs(keys: dict[str, Any]) -> dict[str, float]:
    """The judge's figures, epoch by epoch."""
    return dict(_run(keys).summary["epochs"])


def _panels(day: Synchronisation, apart: dict[str, Estimate]) -> list[Any]:
    samples = day.day_samples
    assert samples is not None
    hours = [time / 3.6e15 for time in samples["time_ps"].to_pylist()[::SHOWN]]
    pair = [float(value) for value in samples["pair_ps"].to_pylist()]
    about = [value - fmean(pair) for value in pair[::SHOWN]]
    named = [f"{place}: {name}" for place, name in enumerate(apart, 1)]
    names = ", ".join(named[:3]) + "\n" + ", ".join(named[3:])
    limit = {"here": list(apart.values()), "paper": [5.0] * len(apart)}
    return [
        panel("Two nodes about their mean, a day", ("hours", hours), "[ps]", {"phase": about}),
        panel("Largest, either way", (names, range(1, len(apart) + 1)), "[ps]", limit),
    ]


figure = draw
