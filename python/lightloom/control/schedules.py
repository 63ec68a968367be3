"""Schedules of a circuit switch: the circuits that are lit in each slot."""

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
    """Slots in their order. Each begins with a night, in which all circuits are dark, followed by
    its day.

    >>> schedule = round_robin(4, day="9 us", night="1 us")
    >>> schedule.permutations
    array([[1, 2, 3, 0],
           [2, 3, 0, 1],
           [3, 0, 1, 2]])
    >>> schedule.duty_cycle, schedule.period_ps
    (0.9, 30000000)
    """

    permutations: Integers
    """One row for each slot: the output of each input. An input is idle if its output has its own
    number."""
    days_ps: Integers
    """The time during which the circuits of each slot are lit [ps]."""
    night_ps: int
    """The night at the start of every slot [ps]."""

    @property
    def slots(self) -> int:
        """The number of slots."""
        return len(self.days_ps)

    @property
    def ports(self) -> int:
        """The number of ports of the switch."""
        return int(self.permutations.shape[1])

    @cached_property
    def starts_ps(self) -> Integers:
        """The start of each slot, that is, of its night [ps]."""
        ends = np.cumsum(self.days_ps + self.night_ps)
        return np.concatenate(([0], ends[:-1])) if self.slots else ends

    @property
    def period_ps(self) -> int:
        """The time from the start of the first slot to the end of the last one [ps]."""
        return int(self.days_ps.sum()) + self.slots * self.night_ps

    @property
    def duty_cycle(self) -> float:
        """The share of the period in which circuits are lit; 0 without slots."""
        return int(self.days_ps.sum()) / self.period_ps if self.slots else 0.0

    def carried(self, demand: ArrayLike, rate: str) -> Integers:
        """Returns the part of `demand` that each slot carries in one period over direct circuits of
        `rate`: an entry for each slot and input, in whole bytes.

        Raises:
            ConfigError: if the number of nodes differs from the number of ports, or the values
                cannot be demand.

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
    """A demand matrix scaled to shares of every port's time."""

    shares: NDArray[np.float64]
    """The shares. Rows and columns sum to 1 within `error`; the diagonal is 0."""
    units: Integers
    """The shares in units of 2⁻⁴⁰. Rows and columns sum to exactly 2⁴⁰, as `birkhoff` requires."""
    rounds: int
    """The number of normalisations of columns and rows."""
    error: float
    """The largest deviation of a row or column sum of `shares` from 1."""


def sinkhorn(
    demand: ArrayLike, *, epsilon: float = 0.01, tolerance: float = 1e-9, max_rounds: int = 10_000
) -> Scaled:
    """Scales demand until every row and every column sums to 1: the shares of time in Mordia's
    traffic-matrix scheduling (SIGCOMM 2013).

    Scaling changes the shares of the demand: ports with little demand get more time than it needs.
    `quickstuff` keeps the volumes instead.

    Args:
        demand: N × N numbers ≥ 0, zeros on the diagonal.
        epsilon: added to every pair, as a multiple of the mean demand of all pairs; a smaller value
            is closer to the demand and slower.
        tolerance: largest deviation of a row or column sum from 1.
        max_rounds: largest number of normalisations of columns and rows.

    Raises:
        ConfigError: if an entry is invalid, or the sums still deviate after the last round.

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
    """Increases demand until every row and every column has the sum of the largest one (Solstice,
    CoNEXT 2015, §4.2), as `birkhoff` requires.

    No entry decreases; additions on the diagonal are idle time.

    Raises:
        ConfigError: if an entry is invalid; it names the entry.

    >>> quickstuff([[0, 4, 1], [2, 0, 0], [0, 0, 0]])
    array([[0, 4, 1],
           [5, 0, 0],
           [0, 1, 4]])
    """
    return _core.control_quickstuff(numbers("demand", demand))


@dataclass(frozen=True, eq=False)
class Decomposition:
    """Weighted permutations, sorted by decreasing weight."""

    permutations: Integers
    """One row for each permutation: the column of each row of the matrix."""
    weights: Integers
    """The weight of each permutation."""
    line_sum: int
    """The common sum of the rows and columns of the matrix."""

    @property
    def mass(self) -> float:
        """The share of the line sum that the weights cover; 1 if nothing remains."""
        return int(self.weights.sum()) / self.line_sum


def birkhoff(matrix: ArrayLike, *, mass: float = 1.0, terms: int | None = None) -> Decomposition:
    """Decomposes a matrix whose rows and columns all have the same sum into weighted permutations
    (Birkhoff–von Neumann). Each is a bottleneck matching of the remaining matrix, so that a few
    heavy ones cover most of the mass.

    Args:
        matrix: integers ≥ 0 with equal row and column sums, as in `Scaled.units` and from
            `quickstuff`.
        mass: stop when the weights cover this share of the line sum.
        terms: stop after this number of permutations.

    Raises:
        ConfigError: naming the invalid entry, row or column.

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
    """Computes Mordia's schedule (SIGCOMM 2013): the demand is scaled and decomposed, and its
    heaviest permutations are lit in proportion to their weights.

    Args:
        demand: N × N numbers ≥ 0, zeros on the diagonal [bytes].
        period: the exact length of the schedule.
        night: the dark time at the start of each slot.
        shortest: the shortest slot, its night included; longer than the night. Demand of
            permutations whose slots would be shorter is left to another network.
        max_slots: largest number of slots.
        scaling: "sinkhorn" (shares of every port's time) or "quickstuff" (volumes).

    Raises:
        ConfigError: naming the invalid entry or argument.

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
    """Circuits, and the demand that they leave to a packet network."""

    schedule: Schedule
    """The schedule of the circuits."""
    residual: Integers
    """The demand that the packet network carries [bytes]."""
    completion_ps: int
    """The time at which all demand is served [ps]."""
    bound_ps: int
    """Lower limit of that time for all schedules of direct circuits [ps]."""


def solstice(
    demand: ArrayLike,
    *,
    rate: str,
    night: str,
    packet_rate: str = "0 b/s",
    shortest: str = "0 s",
    packet: str = "1500 B",
) -> HybridSchedule:
    """Computes Solstice's schedule (CoNEXT 2015): a short schedule of circuits, with a packet
    network beside them.

    Args:
        demand: N × N numbers ≥ 0, zeros on the diagonal [bytes].
        rate: the rate of a circuit.
        night: the dark time at the start of each slot.
        packet_rate: the rate of each port of the packet network, which is always available.
        shortest: the shortest slot, its night included; no effect unless longer than the night.
        packet: the largest packet, from 1 B to 65535 B; days contain whole packets. With 1 B, days
            may end anywhere, and a packet that is cut waits for the next day of its pair.

    Raises:
        ConfigError: naming the invalid entry or argument.

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
    """A schedule that greedily carries as much demand as possible within a window."""

    schedule: Schedule
    """The schedule of the circuits, within the window."""
    carried_bytes: int
    """The demand that it carries [bytes]."""
    bound: int
    """Upper limit of that demand for all schedules of direct circuits in the same window
    [bytes]."""


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
    """Computes Eclipse's schedule (SIGMETRICS 2016), which greedily adds the slot that carries most
    demand for its time until the window is full.

    Args:
        demand: N × N numbers ≥ 0, zeros on the diagonal [bytes].
        rate: the rate of a circuit.
        period: the window. The schedule may end earlier.
        night: the dark time at the start of each slot.
        shortest: the shortest slot, its night included.
        max_slots: largest number of slots.
        step: the ratio between lengths of days that are tried; a smaller value is slower.

    Raises:
        ConfigError: naming the invalid entry or argument.

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
    """Returns an upper limit of the demand that any schedule of direct circuits carries within a
    period [bytes]: with m slots, a port is lit for the period less m nights, and has circuits to m
    peers.

    >>> demand = [[0, 9000, 4000], [0, 0, 0], [0, 0, 0]]
    >>> coverage_bound(demand, rate="8 Gb/s", period="12 us", night="1 us")
    10000
    """
    table = numbers("demand", demand)
    return _core.control_coverage_bound(table, rate, period, night)


def round_robin(
    ports: int, *, night: str, day: str | None = None, period: str | None = None
) -> Schedule:
    """Returns the schedule in which every port has a circuit to every other port once: slot t
    connects input i with output i + t + 1, for any demand.

    Args:
        ports: the number of ports, at least 2.
        night: the dark time at the start of each slot.
        day: the time for which each slot is lit, such as `"94.5 us"`; or
        period: the length of one round, exact to a few picoseconds.

    Raises:
        ConfigError: naming the argument that is out of range or has no unit.

    >>> round_robin(24, day="94.5 us", night="11.5 us").slots  # Mordia's
    23
    >>> round_robin(5, period="40 us", night="1 us").days_ps
    array([9000000, 9000000, 9000000, 9000000])
    """
    if (day is None) == (period is None):
        shown = "(missing)" if day is None else day
        raise refusal(
            "day", shown, "a day or a period is needed, which gives its length", "give one of them"
        )
    ports = count("ports", ports, 2)
    if day is not None:
        return Schedule(*_core.control_round_robin(ports, day, night))
    return Schedule(*_core.control_round_robin_in(ports, period, night))


def _whole(demand: ArrayLike, ports: int) -> Integers:
    """Returns a copy of the demand of that many ports in whole bytes, rounded as in the core."""
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
        raise refusal(f"demand[{i}][{j}]", table[i, j], "not a byte count", remedy)
    return table.copy() if whole else np.rint(table).astype(np.int64)  # type: ignore[return-value]
