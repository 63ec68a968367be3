"""Schedules of a circuit switch: what is lit when."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lightloom import _core
from lightloom.control.arrays import Integers, count, integers, numbers
from lightloom.errors import refusal
from lightloom.units.counts import counted

PS = 1e-12
"""A picosecond [s]."""


@dataclass(frozen=True, eq=False)
class Schedule:
    """Slots in their order. Each begins with a night, in which all circuits are
    dark, and goes on with its day.

    >>> schedule = round_robin(4, day="9 us", night="1 us")
    >>> schedule.permutations
    array([[1, 2, 3, 0],
           [2, 3, 0, 1],
           [3, 0, 1, 2]])
    >>> schedule.duty_cycle, schedule.period_ps
    (0.9, 30000000)
    """

    permutations: Integers
    """A row per slot: the output of every input. An input whose output has its
    own number is idle."""
    days_ps: Integers
    """How long the circuits of each slot are lit [ps]."""
    night_ps: int
    """Darkness at the start of every slot [ps]."""

    @property
    def slots(self) -> int:
        """Number of slots."""
        return len(self.days_ps)

    @property
    def ports(self) -> int:
        """Number of ports of the switch."""
        return int(self.permutations.shape[1])

    @cached_property
    def starts_ps(self) -> Integers:
        """When each slot begins, with its night [ps]."""
        ends = np.cumsum(self.days_ps + self.night_ps)
        return np.concatenate(([0], ends[:-1])) if self.slots else ends

    @property
    def period_ps(self) -> int:
        """From the start of the first slot to the end of the last [ps]."""
        return int(self.days_ps.sum()) + self.slots * self.night_ps

    @property
    def duty_cycle(self) -> float:
        """The share of the period in which circuits are lit; 0 without slots."""
        return int(self.days_ps.sum()) / self.period_ps if self.slots else 0.0

    def carried(self, demand: ArrayLike, rate: str) -> Integers:
        """What every slot carries of `demand` in one period over direct circuits
        of `rate`, in whole bytes: an entry per slot and input [bytes].

        Raises:
            ConfigError: demand of another number of nodes than the switch has
                ports, or that is no demand.

        >>> demand = np.array([[0, 20_000, 0], [0, 0, 100], [0, 0, 0]])
        >>> schedule = round_robin(3, day="8 us", night="1 us")
        >>> schedule.carried(demand, "10 Gb/s")  # 10,000 bytes a day
        array([[10000,   100,     0],
               [    0,     0,     0]])
        """
        most = _core.control_bytes_in(self.days_ps, rate)
        left = _whole(demand, self.ports)
        inputs = np.arange(self.ports)
        carried = np.zeros((self.slots, self.ports), np.int64)
        for slot, outputs in enumerate(self.permutations):
            carried[slot] = np.where(
                outputs == inputs, 0, np.minimum(left[inputs, outputs], most[slot])
            )
            left[inputs, outputs] -= carried[slot]
        return carried


@dataclass(frozen=True, eq=False)
class Scaled:
    """A demand matrix as shares of every port's time."""

    shares: NDArray[np.float64]
    """Rows and columns sum up to 1, up to `error`; the diagonal is 0."""
    units: Integers
    """The same in units of 2⁻⁴⁰; rows and columns sum up to 2⁴⁰ exactly, as
    `birkhoff` needs it."""
    rounds: int
    """How many normalisations of columns and rows it took."""
    error: float
    """How far the worst row or column sum of `shares` is off 1."""


def sinkhorn(
    demand: ArrayLike, *, epsilon: float = 0.01, tolerance: float = 1e-9, max_rounds: int = 10_000
) -> Scaled:
    """Scales demand until every row and every column sums up to 1: the shares of
    time in Mordia's traffic-matrix scheduling (SIGCOMM 2013).

    Scaling changes the demand's shares: ports with little to send get more than
    they asked for. `quickstuff` keeps volumes instead.

    Args:
        demand: N × N numbers ≥ 0, zeros on the diagonal.
        epsilon: added to every pair, in means of the demand over all pairs; the
            smaller, the truer to the demand and the slower.
        tolerance: how far the worst row or column sum may be off 1.
        max_rounds: rounds of normalising columns and rows.

    Raises:
        ConfigError: naming the entry, or if the sums are still off at the end.

    >>> scaled = sinkhorn([[0, 5, 9], [2, 0, 8], [7, 5, 0]])
    >>> scaled.shares.round(2)
    array([[0.  , 0.59, 0.41],
           [0.41, 0.  , 0.59],
           [0.59, 0.41, 0.  ]])
    >>> bool((scaled.units.sum(axis=0) == 2**40).all())
    True
    """
    table, rounds = numbers("demand", demand), count("max_rounds", max_rounds)
    found = _core.control_sinkhorn(table, epsilon, tolerance, rounds)
    return Scaled(*found)


def quickstuff(demand: ArrayLike) -> Integers:
    """Raises demand until every row and every column sums up to the largest of
    them (Solstice, CoNEXT 2015, §4.2), as `birkhoff` needs it.

    No entry shrinks; what is added on the diagonal is idling.

    Raises:
        ConfigError: naming the entry.

    >>> quickstuff([[0, 4, 1], [2, 0, 0], [0, 0, 0]])
    array([[0, 4, 1],
           [5, 0, 0],
           [0, 1, 4]])
    """
    return _core.control_quickstuff(numbers("demand", demand))


@dataclass(frozen=True, eq=False)
class Decomposition:
    """Weighted permutations, heaviest first."""

    permutations: Integers
    """A row for each: the column of every row."""
    weights: Integers
    """What each takes of its entries."""
    line_sum: int
    """What each row and column of the matrix summed up to."""

    @property
    def mass(self) -> float:
        """The weights' share of the line sum; 1 if nothing is left."""
        return int(self.weights.sum()) / self.line_sum


def birkhoff(matrix: ArrayLike, *, mass: float = 1.0, terms: int | None = None) -> Decomposition:
    """Takes a matrix whose rows and columns all have the same sum apart into
    weighted permutations (Birkhoff–von Neumann), each a bottleneck matching of
    what is left: a few heavy ones carry most of the mass.

    Args:
        matrix: whole numbers ≥ 0 with equal line sums, as `Scaled.units` and
            `quickstuff` have.
        mass: stop as soon as the weights hold this share of the line sum.
        terms: stop after so many permutations.

    Raises:
        ConfigError: naming the entry, row or column.

    >>> found = birkhoff([[0, 7, 3], [3, 0, 7], [7, 3, 0]])
    >>> found.permutations, found.weights
    (array([[1, 2, 0],
           [2, 0, 1]]), array([7, 3]))
    >>> birkhoff(sinkhorn([[0, 5, 9], [2, 0, 8], [7, 5, 0]]).units, mass=0.5).mass
    0.5918...
    """
    most = None if terms is None else count("terms", terms)
    return Decomposition(*_core.control_birkhoff(integers("demand", matrix), mass, most))


def traffic_matrix_schedule(
    demand: ArrayLike,
    *,
    period: str,
    night: str,
    shortest: str | None = None,
    max_slots: int | None = None,
    scaling: str = "sinkhorn",
) -> Schedule:
    """Mordia's schedule (SIGCOMM 2013): demand scaled, decomposed, and its
    heaviest permutations lit in proportion to their weights.

    Args:
        demand: N × N numbers ≥ 0, zeros on the diagonal [bytes].
        period: how long the schedule lasts, exactly.
        night: darkness at the start of each slot.
        shortest: no slot is shorter, its night included; longer than the night.
            Demand of permutations that would be is for another network.
        max_slots: no more slots.
        scaling: "sinkhorn" (shares of every port's time) or "quickstuff"
            (volumes).

    Raises:
        ConfigError: naming the entry or the argument.

    >>> demand = [[0, 9000, 500], [700, 0, 8000], [8500, 900, 0]]
    >>> schedule = traffic_matrix_schedule(demand, period="20 us", night="100 ns",
    ...                                    shortest="1 us", scaling="quickstuff")
    >>> schedule.slots, schedule.duty_cycle
    (3, 0.985)
    """
    table = numbers("demand", demand)
    most = None if max_slots is None else count("max_slots", max_slots)
    found = _core.control_traffic_matrix(table, scaling, period, night, shortest, most)
    return Schedule(*found)


@dataclass(frozen=True, eq=False)
class HybridSchedule:
    """Circuits, and what they leave to a packet network beside them."""

    schedule: Schedule
    """The circuits."""
    residual: Integers
    """What the packet network carries [bytes]."""
    completion_ps: int
    """When all demand is served [ps]."""
    bound_ps: int
    """No schedule of direct circuits serves it sooner [ps]."""


def solstice(
    demand: ArrayLike,
    *,
    rate: str,
    night: str,
    packet_rate: str = "0 b/s",
    shortest: str = "0 s",
    packet: str = "1500 B",
) -> HybridSchedule:
    """Solstice's schedule (CoNEXT 2015): as short as it can be made, with a
    packet network beside the circuits.

    Args:
        demand: N × N numbers ≥ 0, zeros on the diagonal [bytes].
        rate: of a circuit.
        night: darkness at the start of each slot.
        packet_rate: of each port of the packet network, used all the time.
        shortest: no slot, its night included, is shorter; up to the night it has no effect.
        packet: largest packet, from 1 B to 65535 B: days hold whole packets. With 1 B they may
            end anywhere, and a packet that a day cuts waits for the next day of its pair.

    Raises:
        ConfigError: naming the entry or the argument.

    >>> demand = np.array([[0, 90, 9], [0, 0, 80], [90, 0, 0]]) * 100_000
    >>> plan = solstice(demand, rate="100 Gb/s", packet_rate="10 Gb/s", night="20 us")
    >>> plan.schedule.permutations, plan.residual[0, 2]
    (array([[1, 2, 0]]), np.int64(900000))
    >>> plan.completion_ps / plan.bound_ps
    1.0...
    """
    table = numbers("demand", demand)
    slots, residual, completion, bound = _core.control_solstice(
        table, rate, packet_rate, night, shortest, packet
    )
    return HybridSchedule(Schedule(*slots), residual, completion, bound)


@dataclass(frozen=True, eq=False)
class CoverageSchedule:
    """As much demand as a greedy choice carries within a window."""

    schedule: Schedule
    """The circuits, within the window."""
    carried_bytes: int
    """Demand that they carry [bytes]."""
    bound: int
    """No schedule of direct circuits in the same frame carries more [bytes]."""


def eclipse(
    demand: ArrayLike,
    *,
    rate: str,
    period: str,
    night: str,
    shortest: str | None = None,
    max_slots: int | None = None,
    step: float = 0.1,
) -> CoverageSchedule:
    """Eclipse's schedule (SIGMETRICS 2016): as much demand as can be carried within
    a window, slot by slot what carries most for its time.

    Args:
        demand: N × N numbers ≥ 0, zeros on the diagonal [bytes].
        rate: of a circuit.
        period: the window. The schedule may end earlier.
        night: darkness at the start of each slot.
        shortest: no slot is shorter, its night included.
        max_slots: no more slots.
        step: how fine lengths of days are tried; smaller is slower.

    Raises:
        ConfigError: naming the entry or the argument.

    >>> demand = [[0, 9000, 400], [0, 0, 8000], [9000, 300, 0]]
    >>> found = eclipse(demand, rate="8 Gb/s", period="11 us", night="1 us")
    >>> found.carried_bytes, found.bound, found.schedule.days_ps
    (26000, 26000, array([9000000]))
    """
    table = numbers("demand", demand)
    most = None if max_slots is None else count("max_slots", max_slots)
    slots, carried, bound = _core.control_eclipse(table, rate, period, night, shortest, most, step)
    return CoverageSchedule(Schedule(*slots), carried, bound)


def coverage_bound(demand: ArrayLike, *, rate: str, period: str, night: str) -> int:
    """No schedule of direct circuits carries more of a demand within a period,
    whoever made it [bytes]: with m slots a port is lit for the period less m
    nights, and meets m peers.

    >>> demand = [[0, 9000, 4000], [0, 0, 0], [0, 0, 0]]
    >>> coverage_bound(demand, rate="8 Gb/s", period="12 us", night="1 us")
    10000
    """
    table = numbers("demand", demand)
    return _core.control_coverage_bound(table, rate, period, night)


def round_robin(
    ports: int, *, night: str, day: str | None = None, period: str | None = None
) -> Schedule:
    """The schedule in which every port meets every other one once, whatever the
    demand: slot t joins input i with output i + t + 1.

    Args:
        ports: how many, at least 2.
        night: darkness at the start of each slot.
        day: how long each slot is lit, like `"94.5 us"`; or
        period: how long the round lasts, give or take some picoseconds.

    Raises:
        ConfigError: naming what is out of range or has no unit.

    >>> round_robin(24, day="94.5 us", night="11.5 us").slots  # Mordia's
    23
    >>> round_robin(5, period="40 us", night="1 us").days_ps
    array([9000000, 9000000, 9000000, 9000000])
    """
    if (day is None) == (period is None):
        shown = "(missing)" if day is None else day
        raise refusal("day", shown, "a day or a period says how long it lasts", "give one of them")
    ports = count("ports", ports, 2)
    if day is not None:
        return Schedule(*_core.control_round_robin(ports, day, night))
    return Schedule(*_core.control_round_robin_in(ports, period, night))


def _whole(demand: ArrayLike, ports: int) -> Integers:
    """A copy of the demand of so many ports, in whole bytes, as the core rounds it."""
    table = numbers("demand", demand)
    if table.shape != (ports, ports):
        shape = f"{table.shape[0]} x {table.shape[1]} numbers"
        remedy = "give a row and a column for every port"
        raise refusal("demand", shape, f"the schedule has {counted(ports, 'port')}", remedy)
    whole = table.dtype == np.int64
    fits = table >= 0 if whole else (table >= 0) & (table < 2.0**63)
    if not fits.all():
        i, j = np.argwhere(~fits)[0]
        remedy = "give 0 or more, below 2^63"
        raise refusal(f"demand[{i}][{j}]", table[i, j], "no amount of bytes", remedy)
    return table.copy() if whole else np.rint(table).astype(np.int64)  # type: ignore[return-value]
