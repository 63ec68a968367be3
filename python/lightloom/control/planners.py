"""What each algorithm of `lightloom plan` makes of a demand, and how good that is."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lightloom import _core
from lightloom.control.arrays import LARGEST, numbers
from lightloom.control.files import Demand
from lightloom.control.matching import Circuits, assignment, maximum_weight_matching
from lightloom.control.names import numbered
from lightloom.control.plans import CircuitTable, Plan, figures
from lightloom.control.schedules import (
    Schedule,
    coverage_bound,
    eclipse,
    round_robin,
    solstice,
    traffic_matrix_schedule,
)
from lightloom.control.topology import multihop
from lightloom.control.topology import vlans as allocate
from lightloom.errors import ConfigError, refusal

RATE, NIGHT = "10 Gb/s", "10 us"
BVN_SLOTS, ECLIPSE_SLOTS = 1_000, 256


def plan(demand: ArrayLike | Demand, algorithm: str, **options: Any) -> Plan:
    """Plans circuits or a schedule for a demand.

    Args:
        demand: N × N bytes, or what `read_demand` gives.
        algorithm: one of `ALGORITHMS`.
        options: what the algorithm takes, see there; None is as if left out.

    Raises:
        ConfigError: naming the entry or the option.

    >>> plan([[0, 5, 1], [1, 0, 5], [5, 1, 0]], "assignment").figures["coverage"]
    0.8333333333333334
    """
    given = {key: value for key, value in options.items() if value is not None}
    check_options(algorithm, given)
    if not isinstance(demand, Demand):
        demand = Demand(_core.control_demand(numbers("demand", demand)))
    return ALGORITHMS[algorithm](demand, **given)


def check_options(algorithm: str, options: Mapping[str, Any]) -> None:
    """Refuses an unknown algorithm, and options that it does not have."""
    if algorithm not in ALGORITHMS:
        near = difflib.get_close_matches(algorithm, ALGORITHMS, 1)
        remedy = f'did you mean "{near[0]}"?' if near else f"use one of {', '.join(ALGORITHMS)}"
        raise refusal("algorithm", algorithm, "no such algorithm", remedy)
    known = parameters(algorithm)
    for key, value in options.items():
        if key not in known:
            others = [name for name in ALGORITHMS if key in parameters(name)]
            remedy = f"leave it out; it is for {', '.join(others)}" if others else "leave it out"
            raise refusal(key, value, f"{algorithm} has no such option", remedy)


def parameters(algorithm: str) -> Sequence[str]:
    """The options that an algorithm takes."""
    return list(inspect.signature(ALGORITHMS[algorithm]).parameters)[1:]


def edmonds(
    demand: Demand,
    *,
    symmetric: bool = False,
    up: Circuits | Iterable[tuple[str, str]] | None = None,
    bonus: int | None = None,
) -> Plan:
    """A matching of most weight: undirected circuits, one a node. Circuits that are
    up are pairs of nodes, of their numbers or their names."""
    up = None if up is None else numbered("up", up, demand.names)
    matching = maximum_weight_matching(demand.matrix, symmetric=symmetric, up=up, bonus=bonus)
    a, b = matching.pairs.T
    there = demand.matrix[a, b]
    carried = there if symmetric else there + demand.matrix[b, a]
    total = int(demand.matrix.sum()) // (2 if symmetric else 1)
    kept = {(min(pair), max(pair)) for pair in up or ()}
    details = {"kept": len(kept & set(map(tuple, matching.pairs.tolist())))} if kept else {}
    proved = matching.certificate.verify()
    # With a bonus the matching is the best for weights that hold the bonus.
    plain = bonus is None or not kept
    return Plan(
        "edmonds",
        demand,
        {"symmetric": symmetric, "up": sorted(map(list, kept)), "bonus": bonus},
        figures(
            objective="weight",
            weight=matching.weight,
            carried=int(carried.sum()),
            total=total,
            bound=matching.weight if plain and proved else None,
            optimal=proved if plain else None,
            circuits=len(a),
        ),
        circuits=CircuitTable(a, b, carried, directed=False),
        proof=matching.certificate,
        details=details,
    )


def assign(demand: Demand) -> Plan:
    """An assignment of most weight: directed circuits, one an output and input."""
    try:
        found = assignment(demand.matrix)
    except ConfigError as problem:
        key = (problem.key or "").replace("weights", "demand")
        raise refusal(key, problem.value, problem.limit or "", problem.remedy or "") from None
    inputs = np.flatnonzero(found.column_of != np.arange(len(found.column_of)))
    outputs = found.column_of[inputs]
    carried = demand.matrix[inputs, outputs]
    proved = found.certificate.verify()
    return Plan(
        "assignment",
        demand,
        {},
        figures(
            objective="weight",
            weight=found.weight,
            carried=int(carried.sum()),
            total=int(demand.matrix.sum()),
            bound=found.certificate.bound if proved else None,
            optimal=proved,
            circuits=len(inputs),
        ),
        circuits=CircuitTable(inputs, outputs, carried, directed=True),
        proof=found.certificate,
    )


def bvn(
    demand: Demand,
    *,
    rate: str = RATE,
    night: str = NIGHT,
    period: str | None = None,
    shortest: str | None = None,
    max_slots: int = BVN_SLOTS,
    scaling: str = "sinkhorn",
) -> Plan:
    """Mordia's schedule: Sinkhorn or QuickStuff, then Birkhoff–von Neumann."""
    frame = _frame(demand, rate, night, period, shortest, max_slots)
    schedule = traffic_matrix_schedule(demand.matrix, scaling=scaling, **frame)
    return _scheduled("bvn", demand, schedule, {"rate": rate, **frame, "scaling": scaling})


def solstice_plan(
    demand: Demand, *, rate: str = RATE, night: str = NIGHT, packet_rate: str = "0 b/s"
) -> Plan:
    """Solstice's schedule: all demand served soon, packets beside the circuits."""
    found = solstice(demand.matrix, rate=rate, night=night, packet_rate=packet_rate)
    options = {"rate": rate, "night": night, "packet_rate": packet_rate}
    made = _scheduled("solstice", demand, found.schedule, options)
    made.figures.update(
        objective="completion_ps",
        completion_ps=found.completion_ps,
        bound=found.bound_ps,
        optimal=found.completion_ps == found.bound_ps,
    )
    return made


def eclipse_plan(
    demand: Demand,
    *,
    rate: str = RATE,
    night: str = NIGHT,
    period: str | None = None,
    shortest: str | None = None,
    max_slots: int = ECLIPSE_SLOTS,
    step: float = 0.1,
) -> Plan:
    """Eclipse's schedule: as much demand as can be carried within the period."""
    frame = _frame(demand, rate, night, period, shortest, max_slots)
    found = eclipse(demand.matrix, rate=rate, step=step, **frame)
    options = {"rate": rate, **frame, "step": step}
    return _scheduled("eclipse", demand, found.schedule, options, found.bound)


def round_robin_plan(
    demand: Demand,
    *,
    rate: str = RATE,
    night: str = NIGHT,
    period: str | None = None,
    day: str | None = None,
) -> Plan:
    """Every port meets every other once, whatever the demand."""
    nodes = len(demand.matrix)
    if day is None:
        period = period or _period(demand, rate, night, nodes - 1)
    schedule = round_robin(nodes, night=night, day=day, period=period)
    options = {"rate": rate, "night": night, "period": period, "day": day}
    return _scheduled("round-robin", demand, schedule, options)


def hydra(
    demand: Demand,
    *,
    rate: str = RATE,
    period: str | None = None,
    planes: int = 4,
    ports: int = 1,
    radix: int | None = None,
    hops: int = 4,
    without_ports: bool = False,
    vlans: bool = False,
) -> Plan:
    """HydRA's topology: circuits on several planes, paths of several circuits.

    A circuit carries what `rate` does within `period`; unless given, that is what
    the heaviest pair has.
    """
    matrix = demand.matrix
    if _core.control_rate("rate", rate) == 0:
        raise refusal("rate", rate, "above 0", "give the rate of a circuit")
    if period is None:
        period = _round_up(_time_for(int(matrix.max()), rate))
    lit = np.array([_core.control_time("period", period)])
    capacity = int(_core.control_bytes_in(lit, rate)[0])
    if capacity == 0:
        limit = f"a circuit of {rate} carries less than a byte in it"
        raise refusal("period", period, limit, "raise it")
    found = multihop(
        matrix,
        planes=planes,
        ports=ports,
        radix=radix,
        capacity=capacity,
        hops=hops,
        without_ports=without_ports,
    )
    a, b = found.demands[:, 0], found.demands[:, 1]
    whole = np.minimum(matrix[a, b], capacity) + np.minimum(matrix[b, a], capacity)
    carried = int(whole[found.served].sum())
    allocation = allocate(found.routes, circuits=found.circuits[:, :2]) if vlans else None
    most = capacity * planes * ports
    bound = min(sum(min(int(s), most) for s in matrix.sum(axis=axis)) for axis in (0, 1))
    return Plan(
        "hydra",
        demand,
        {
            "rate": rate,
            "period": period,
            "planes": planes,
            "ports": ports,
            "radix": radix,
            "hops": hops,
            "without_ports": without_ports,
            "vlans": vlans,
        },
        figures(
            objective="carried_bytes",
            weight=int(found.demands[found.served, 2].sum()),
            carried=carried,
            total=int(matrix.sum()),
            bound=bound,
            optimal=carried == bound,
            circuits=len(found.circuits),
            period_ps=int(lit[0]),
        ),
        circuits=CircuitTable(
            a=found.circuits[:, 0],
            b=found.circuits[:, 1],
            carried=capacity - found.residual,
            directed=False,
            plane=found.circuits[:, 2],
        ),
        details={"topology": found, **({"vlans": allocation} if vlans else {})},
    )


ALGORITHMS: dict[str, Callable[..., Plan]] = {
    "edmonds": edmonds,
    "assignment": assign,
    "bvn": bvn,
    "solstice": solstice_plan,
    "eclipse": eclipse_plan,
    "hydra": hydra,
    "round-robin": round_robin_plan,
}
"""Name → planner; its keyword arguments are the options that it takes."""


def _scheduled(
    algorithm: str,
    demand: Demand,
    schedule: Schedule,
    options: dict[str, Any],
    bound: int | None = None,
) -> Plan:
    """A plan of a schedule that carries what it can in one period."""
    carried = schedule.carried(demand.matrix, options["rate"])
    most = bound if bound is not None else _bound(demand, schedule, options)
    return Plan(
        algorithm,
        demand,
        options,
        figures(
            objective="carried_bytes",
            carried=int(carried.sum()),
            total=int(demand.matrix.sum()),
            bound=most,
            optimal=int(carried.sum()) == most,
            slots=schedule.slots,
            period_ps=schedule.period_ps,
            duty_cycle=schedule.duty_cycle,
        ),
        schedule=schedule,
        details={"carried": carried},
    )


def _bound(demand: Demand, schedule: Schedule, options: Mapping[str, Any]) -> int:
    """What no schedule as long as this carries more than."""
    if not schedule.slots:
        return 0
    period = _core.control_time_text(schedule.period_ps)
    return coverage_bound(
        demand.matrix, rate=options["rate"], period=period, night=options["night"]
    )


def _frame(
    demand: Demand,
    rate: str,
    night: str,
    period: str | None,
    shortest: str | None,
    max_slots: int,
) -> dict[str, Any]:
    """What bounds a schedule, with what was left out filled in: days of at least
    four nights."""
    dark = _core.control_time("night", night)
    return {
        "night": night,
        "period": period or _period(demand, rate, night, len(demand.matrix)),
        "shortest": shortest or _core.control_time_text(max(5 * dark, 1)),
        "max_slots": max_slots,
    }


def _period(demand: Demand, rate: str, night: str, slots: int) -> str:
    """Time for the busiest port to send or receive everything, a quarter more for
    what schedules waste, and room for a few slots."""
    lines = demand.matrix.sum(axis=0), demand.matrix.sum(axis=1)
    busiest = _time_for(max(int(line.max()) for line in lines), rate)
    dark = _core.control_time("night", night)
    return _round_up(max(busiest * 5 // 4, 5 * dark * slots))


def _time_for(amount: int, rate: str) -> int:
    """How long an amount of bytes takes [ps]."""
    bits = max(_core.control_rate("rate", rate), 1)
    return -(-8 * amount * 10**12 // bits)


def _round_up(time: int) -> str:
    """A time [ps] of two digits that is not shorter, with its unit."""
    digit = 10 ** max(len(str(time)) - 2, 0)
    return _core.control_time_text(min(-(-max(time, 1) // digit) * digit, LARGEST))
