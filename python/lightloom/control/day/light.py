"""The circuits of a plan, and the part of an interval's demand that they carry.

Demand arrives evenly over an interval. Demand that arrives while its circuit is dark goes over the
packet network. If the circuit of a pair is lit for a part of the interval, it carries that part of
the demand, limited by its capacity."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lightloom.control.arrays import Integers
from lightloom.control.day.intervals import Interval
from lightloom.control.day.sharing import shared
from lightloom.control.demand.steps import US
from lightloom.control.plans import Plan
from lightloom.control.schedules import Schedule

Circuit = tuple[int, int, int]
"""Two racks and a plane."""
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Light:
    """Circuits that are lit, or a schedule that is repeated."""

    circuits: frozenset[Circuit] = frozenset()
    directed: bool = False
    """Whether circuits carry data only from their first rack to the second."""
    schedule: Schedule | None = None
    routes: tuple[tuple[int, int, tuple[Circuit, ...]], ...] = ()
    """Paths over several circuits, with their ends; empty if every circuit carries only the demand
    of its own racks."""
    told: Mapping[str, Any] = field(default_factory=dict)
    """All options of the policy, including defaults."""

    @property
    def key(self) -> Any:
        """A value that is equal for equal circuits."""
        if self.schedule is None:
            return self.circuits
        table = self.schedule
        return (table.permutations.tobytes(), table.days_ps.tobytes(), table.night_ps)

    def pairs(self) -> list[tuple[int, int]]:
        """Returns the circuits without planes, in the form that a policy receives."""
        return sorted({(a, b) for a, b, _ in self.circuits})


DARK = Light()
"""No circuit is lit."""


def light_of(plan: Plan) -> Light:
    """Returns the circuits of a plan."""
    if plan.schedule is not None:
        return Light(schedule=plan.schedule, told=plan.options)
    table = plan.circuits
    if table is None:
        return DARK
    planes = np.zeros(len(table), np.int64) if table.plane is None else table.plane
    rows = [*zip(table.a.tolist(), table.b.tolist(), planes.tolist(), strict=True)]
    topology = plan.details.get("topology")
    routes = []
    if topology is not None:
        served = zip(topology.demands.tolist(), topology.routes, strict=True)
        routes = [
            (row[0], row[1], tuple(rows[at] for at in path)) for row, path in served if len(path)
        ]
    return Light(frozenset(rows), table.directed, routes=tuple(routes), told=plan.options)


def carried(
    light: Light, interval: Interval, dark: Iterable[Circuit], dark_us: int, rate: int
) -> Floats:
    """Returns the bytes that circuits carry for each pair of the interval.

    Args:
        dark: circuits that are dark at the start; for a schedule, any entry means all.
        dark_us: the duration of the dark time [µs].
        rate: the rate of a circuit [b/s].
    """
    if light.schedule is not None:
        wait = dark_us if {*dark} else 0
        return _by_schedule(light.schedule, interval, wait, rate)
    lit = dict.fromkeys(light.circuits, interval.length_us)
    lit |= {circuit: interval.length_us - dark_us for circuit in dark if circuit in lit}
    if light.routes:
        return _over_paths(light, interval, lit, rate)
    return _directly(light, interval, lit, rate)


def _directly(light: Light, interval: Interval, lit: dict[Circuit, int], rate: int) -> Floats:
    """Returns the bytes carried if each circuit carries the demand of its own racks."""
    capacity: dict[tuple[int, int], int] = {}
    longest: dict[tuple[int, int], int] = {}
    for (a, b, _), length in lit.items():
        for pair in [(a, b)] if light.directed else [(a, b), (b, a)]:
            capacity[pair] = capacity.get(pair, 0) + length
            longest[pair] = max(longest.get(pair, 0), length)
    found = np.zeros(len(interval.bytes))
    for at, pair in enumerate(zip(interval.src.tolist(), interval.dst.tolist(), strict=True)):
        if pair in capacity:
            came = int(interval.bytes[at]) * longest[pair] / interval.length_us
            found[at] = min(came, rate * capacity[pair] / (8 * US))
    return found


def _by_schedule(schedule: Schedule, interval: Interval, wait_us: int, rate: int) -> Floats:
    """Returns the bytes carried by a schedule that is repeated from the end of the dark time."""
    lit_us = lit_by_schedule(schedule, interval.length_us - wait_us)
    time = lit_us[interval.src, interval.dst]
    part = (interval.length_us - wait_us) / interval.length_us
    came = np.where(time > 0, interval.bytes * part, 0.0)
    return np.minimum(came, rate * time / (8 * US))


def lit_by_schedule(schedule: Schedule, length_us: int) -> Floats:
    """Returns the time for which each pair is lit [µs], in a time span that starts with the
    schedule and repeats it."""
    ports = schedule.ports
    found, inputs = np.zeros((ports, ports)), np.arange(ports)
    period = schedule.period_ps
    if not period:
        return found
    whole, rest = divmod(length_us * 1_000_000, period)
    for slot, outputs in enumerate(schedule.permutations):
        day = int(schedule.days_ps[slot])
        begin = int(schedule.starts_ps[slot]) + schedule.night_ps
        time = whole * day + min(max(rest - begin, 0), day)
        joined = outputs != inputs
        found[inputs[joined], outputs[joined]] += time / 1e6
    return found


def _over_paths(light: Light, interval: Interval, lit: dict[Circuit, int], rate: int) -> Floats:
    """Returns the bytes carried over paths of several circuits: the demand of a pair is divided
    equally over its paths, which share circuits max-min fairly, separately in each direction."""
    pairs = zip(interval.src.tolist(), interval.dst.tolist(), strict=True)
    place = {pair: at for at, pair in enumerate(pairs)}
    number = {circuit: at for at, circuit in enumerate(sorted(light.circuits))}
    paths: dict[tuple[int, int], int] = {}
    for a, b, _ in light.routes:
        paths[a, b] = paths.get((a, b), 0) + 1
    rows, demand, routes = [], [], []
    for a, b, path in light.routes:
        part = min(lit[circuit] for circuit in path) / interval.length_us / paths[a, b]
        for pair in ((a, b), (b, a)):
            if pair in place:
                rows.append(place[pair])
                demand.append(int(interval.bytes[place[pair]]) * part)
                routes.append(_ways(pair[0], path if pair == (a, b) else path[::-1], number))
    capacity = np.repeat([rate * lit[circuit] / (8 * US) for circuit in sorted(number)], 2)
    found = np.zeros(len(interval.bytes))
    np.add.at(found, rows, shared(np.array(demand), routes, capacity))
    return found


def _ways(begin: int, path: tuple[Circuit, ...], number: dict[Circuit, int]) -> Integers:
    """The circuits of a path from a rack, as numbers; each circuit has a number for each
    direction."""
    at, found = begin, []
    for circuit in path:
        a, b, _ = circuit
        found.append(2 * number[circuit] + (at == b))
        at = b if at == a else a
    return np.array(found, np.int64)
