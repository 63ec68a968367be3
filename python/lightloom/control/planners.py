"""`plan`: a single decision of a policy for a demand, and its quality.

A simulated controller calls the same policy, with the same defaults, at every interval.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lightloom import _core
from lightloom.config.refusal_text import reworded
from lightloom.control.arrays import LARGEST, Integers, count, numbers
from lightloom.control.circuit_table import CircuitTable
from lightloom.control.earlier_plans import circuits_of, schedule_of
from lightloom.control.files import Demand, read_demand
from lightloom.control.names import named, nodes_of, numbered
from lightloom.control.planned import as_table
from lightloom.control.plans import Plan, figures
from lightloom.control.proofs import AssignmentProof, MatchingProof
from lightloom.control.rules import NONE, Rules
from lightloom.control.rules.heed import Question, decide, directed, verify
from lightloom.control.schedules import Schedule, coverage_bound
from lightloom.control.topology import Topology
from lightloom.control.topology import vlans as allocate
from lightloom.errors import ConfigError, refusal
from lightloom.policies.registry import RENAMED, Policy, PolicyInFile, by_name, find

ALGORITHMS = tuple(by_name())
"""Values of `algorithm`: the policies of the registry, and the names of their algorithms."""


def plan(
    demand: ArrayLike | Demand | Path, algorithm: str, *, rules: Rules = NONE, **options: Any
) -> Plan:
    """Plans circuits or a schedule for a demand.

    Args:
        demand: N × N bytes, a `Demand` of `read_demand`, or a file that `read_demand` can read.
        algorithm: one of `ALGORITHMS`, or a policy in a file, `"my_policy.py:Mine"`.
        options: options of the policy (`lightloom explain policies`), or constructor arguments of a
            policy in a file; None means the default. `up`, `circuits` and `schedule` also accept a
            `Plan`, whose nodes are matched by name.
        rules: pinned circuits, pairs that are kept apart, ports that are down. If the algorithm is
            optimal, the plan is the best one that obeys them.

    Raises:
        ConfigError: if an argument is invalid; it names the entry or the option.

    >>> plan([[0, 5, 1], [1, 0, 5], [5, 1, 0]], "assignment").figures["coverage"]
    0.8333333333333334
    """
    given = {key: value for key, value in options.items() if value is not None}
    policy = find(algorithm)
    policy.check(algorithm, given)
    if isinstance(demand, str | Path):
        demand = _read_file(demand)
    elif not isinstance(demand, Demand):
        demand = Demand(_core.control_demand(numbers("demand", demand)))
    given = _read(given, demand)
    _check_rules(rules, policy, demand, given)
    found, left = decide(
        policy, demand.matrix, given, rules, lambda question: _decide(policy, demand, question)
    )
    verify(found, rules)
    filled = json.loads(found["options"])
    if "up" in policy.options:
        filled["symmetric"] = bool(given.get("symmetric", False))
        filled["up"] = [list(pair) for pair in given.get("up", ())]
    if "schedule" in found:
        made = _scheduled(algorithm, demand, filled, found)
    elif "topology" in found:
        made = _served(algorithm, demand, filled, found, "vlans" in given)
    else:
        made = _joined(algorithm, demand, filled, found, left, rules)
    if rules:
        made.details["rules"] = rules.as_table()
    return made


def _read_file(path: str | Path) -> Demand:
    """Reads the demand in a file.

    Raises:
        ConfigError: if it is invalid or cannot be opened.
    """
    try:
        return read_demand(path)
    except OSError as problem:
        reason = (problem.strerror or str(problem)).lower()
        remedy = "check the path and its permissions"
        raise refusal("demand", f'"{path}"', reason, remedy) from None


def _check_rules(rules: Rules, policy: Policy, demand: Demand, given: Mapping[str, Any]) -> None:
    """Raises an error for rules that contradict each other, or that are for another switch."""
    names = demand.names or [str(node) for node in range(len(demand.matrix))]
    one_way, ports = directed(policy, given), given.get("ports") or 1
    rules.check(names, directed=one_way, ports=ports)


def _read(given: Mapping[str, Any], demand: Demand) -> dict[str, Any]:
    """Converts options to the core's form: nodes as numbers, amounts with their unit."""
    read = dict(given)
    for key in {"up", "circuits"} & read.keys():
        if isinstance(read[key], Plan):
            read[key] = circuits_of(key, read[key], demand, on_planes=key == "circuits")
    if isinstance(read.get("schedule"), Plan):
        read["schedule"] = schedule_of("schedule", read["schedule"], demand)
    if "up" in read:
        pairs = numbered("up", read["up"], demand.names)
        read["up"] = sorted((min(pair), max(pair)) for pair in pairs)
    if "bonus" in read:
        if "up" not in read:
            limit, remedy = "has no effect without up, the lit circuits", "give up, or remove bonus"
            raise refusal("bonus", read["bonus"], limit, remedy)
        if not isinstance(read["bonus"], str):
            read["bonus"] = f"{count('bonus', read['bonus'], 0, LARGEST)} B"
    if isinstance(read.get("schedule"), Schedule):
        read["schedule"] = as_table(read["schedule"])
    if "circuits" in read:
        read["circuits"] = nodes_of("circuits", read["circuits"], demand.names)
    return read


def _decide(policy: Policy, demand: Demand, asked: Question) -> dict[str, Any]:
    """Returns the decision of the core."""
    given = asked.given
    symmetric = bool(given.get("symmetric", False))
    try:
        return _core.control_decide(
            policy.table(given, "policy"),
            asked.matrix,
            policy.table(given, "switch"),
            list(given.get("up", ())),
            symmetric,
            asked.works,
            asked.pinned,
            asked.apart,
        )
    except ConfigError as refused:
        problem = reworded(refused)
        key = (problem.key or "").removeprefix("policy.")
        if symmetric and key.startswith("demand"):
            key = key.partition(" + ")[0]
        key = RENAMED.get(key, key)
        if isinstance(policy, PolicyInFile) and key in ("file", "policy"):
            key = "algorithm"
        value, limit = problem.value, problem.limit or ""
        if key.startswith("circuits["):
            value, limit = named(str(value), demand.names), named(limit, demand.names)
        renamed = refusal(key, value, limit, problem.remedy or "")
        renamed.trace = problem.trace
        raise renamed from problem.__cause__


def _joined(
    algorithm: str,
    demand: Demand,
    options: dict[str, Any],
    found: Mapping[str, Any],
    left: Integers,
    rules: Rules,
) -> Plan:
    """Returns a plan of circuits that each carry the demand of their own nodes. The proof covers
    the demand that rules left."""
    matrix, symmetric = demand.matrix, options.get("symmetric", False)
    a, b, plane = found["circuits"].T
    directed = found["directed"]
    ends, paths = _routes(found)

    def between(a: Integers, b: Integers) -> Integers:
        one_way = symmetric or directed
        return matrix[a, b] if one_way else matrix[a, b] + matrix[b, a]

    weight = int(between(*np.unique(ends, axis=0).T).sum())
    if paths is None:
        carried = _once(a, b, between(a, b))
    else:
        carried = _by_path(found, between(*ends.T), ends, paths)
    proof = _proof(left, found)
    pinned = np.array(rules.pinned, np.int64).reshape(-1, 3)
    bound = _bound_of(proof, options, int(between(*pinned[:, :2].T).sum()))
    up = set(map(tuple, options.get("up", ())))
    stays = up & set(zip(a.tolist(), b.tolist(), strict=True))
    return Plan(
        algorithm,
        demand,
        options,
        figures(
            objective="weight",
            weight=weight,
            carried=weight,
            total=int(matrix.sum()) // (2 if symmetric else 1),
            bound=bound,
            optimal=None if bound is None else bound == weight,
            circuits=len(a),
        ),
        circuits=CircuitTable(a, b, carried, directed, plane if plane.any() else None),
        proof=proof,
        details={"kept": len(stays)} if up else {},
    )


def _routes(found: Mapping[str, Any]) -> tuple[Integers, list[Integers] | None]:
    """The ends of routes, one row for each; also the racks of each, unless every route is a
    circuit."""
    lengths, racks, _ = found["routes"]
    if (lengths == 2).all() and racks.size == 2 * len(found["circuits"]):
        ends = racks.reshape(-1, 2).astype(np.int64)
        circuits = found["circuits"][:, :2]
        if np.array_equal(np.unique(ends, axis=0), np.unique(circuits, axis=0)):
            return ends, None
    paths = np.split(racks, np.cumsum(lengths)[:-1]) if len(lengths) else []
    ends = np.array([(path[0], path[-1]) for path in paths], np.int64).reshape(-1, 2)
    return ends, paths


def _by_path(
    found: Mapping[str, Any], demand: Integers, ends: Integers, paths: list[Integers]
) -> Integers:
    """The demand that each circuit carries; a pair with several paths counts on its first path."""
    planes = found["routes"][2]
    hops = np.split(planes, np.cumsum([len(path) - 1 for path in paths])[:-1])
    place = {tuple(row): at for at, row in enumerate(found["circuits"].tolist())}
    carried = np.zeros(len(place), np.int64)
    _, first = np.unique(ends, axis=0, return_index=True)
    for at in first.tolist():
        for a, b, plane in zip(paths[at], paths[at][1:], hops[at], strict=False):
            row = (int(a), int(b), int(plane))
            row = row if found["directed"] or a < b else (row[1], row[0], row[2])
            carried[place[row]] += demand[at]
    return carried


def _once(a: Integers, b: Integers, carried: Integers) -> Integers:
    """The demand of each pair on the first of its circuits."""
    _, first = np.unique(np.column_stack((a, b)), axis=0, return_index=True)
    only = np.zeros_like(carried)
    only[first] = carried[first]
    return only


def _proof(left: Integers, found: Mapping[str, Any]) -> MatchingProof | AssignmentProof | None:
    if "matching" in found:
        return MatchingProof.of(*found["matching"])
    if "assignment" in found:
        return AssignmentProof(left, *found["assignment"])
    return None


def _bound_of(
    proof: MatchingProof | AssignmentProof | None, options: Mapping[str, Any], pinned: int
) -> int | None:
    """The largest weight of any set of circuits, including pinned ones; None if it was not
    proved."""
    if proof is None or not proof.verify():
        return None
    if isinstance(proof, AssignmentProof):
        return proof.bound + pinned
    if options["hysteresis"] != "0 B":
        return None  # the optimum is for weights that include the bonus
    # Weights were multiplied so that all circuits in `up` together count less than one byte.
    return proof.bound // (len(proof.mate) // 2 + 1) + pinned


def _scheduled(
    algorithm: str, demand: Demand, options: dict[str, Any], found: Mapping[str, Any]
) -> Plan:
    """Returns a plan with a schedule, and the demand that it carries in one period."""
    schedule = Schedule(*found["schedule"])
    carried = schedule.carried(demand.matrix, options["rate"])
    bound = found["covers"] if "covers" in found else _bound(demand, schedule, options)
    made = figures(
        objective="carried_bytes",
        carried=int(carried.sum()),
        total=int(demand.matrix.sum()),
        bound=bound,
        optimal=int(carried.sum()) == bound,
        slots=schedule.slots,
        period_ps=schedule.period_ps,
        duty_cycle=schedule.duty_cycle,
    )
    if "completes" in found:
        at, bound = found["completes"]
        made |= {"objective": "completion_ps", "completion_ps": at, "bound": bound}
        made["optimal"] = at == bound
    details = {"carried": carried}
    return Plan(algorithm, demand, options, made, schedule=schedule, details=details)


def _bound(demand: Demand, schedule: Schedule, options: Mapping[str, Any]) -> int:
    """The largest demand that a schedule of this length can carry."""
    if not schedule.slots:
        return 0
    period, night = map(_core.control_time_text, (schedule.period_ps, schedule.night_ps))
    return coverage_bound(demand.matrix, rate=options["rate"], period=period, night=night)


def _served(
    algorithm: str,
    demand: Demand,
    options: dict[str, Any],
    found: Mapping[str, Any],
    on_vlans: bool,
) -> Plan:
    """Returns a plan with circuits on several planes, and paths of several circuits."""
    lit = np.array([_core.control_time("period", options["period"])])
    capacity = int(_core.control_bytes_in(lit, options["rate"])[0])
    topology = Topology(found["topology"], _core.control_rate("rate", options["rate"]))
    paths = _Paths(demand.matrix, topology, capacity, whole=options["need"] == "circuit")
    most = capacity * options["planes"] * options["ports"]
    bound = min(sum(min(int(s), most) for s in demand.matrix.sum(axis=axis)) for axis in (0, 1))
    # Paths reserve integer bits per second; the rounding may exceed the bound.
    carried = min(paths.carried, bound)
    allocation = None
    if on_vlans:
        allocation = allocate(topology.routes, circuits=topology.circuits[:, :2])
    threshold = _core.control_bytes("threshold", options["threshold"])
    return Plan(
        algorithm,
        demand,
        options,
        figures(
            objective="carried_bytes",
            weight=int(topology.demands[topology.served, 2].sum()),
            carried=carried,
            total=int(demand.matrix.sum()),
            bound=bound,
            optimal=carried == bound,
            circuits=len(topology.circuits),
            period_ps=int(lit[0]),
        ),
        circuits=CircuitTable(
            a=topology.circuits[:, 0],
            b=topology.circuits[:, 1],
            carried=paths.reserved,
            directed=False,
            plane=topology.circuits[:, 2],
        ),
        details={
            "topology": topology,
            "below_threshold": _below(demand.matrix, threshold),
            **({} if allocation is None else {"vlans": allocation}),
        },
    )


class _Paths:
    """The part of a demand that the paths of a topology carry [bytes]."""

    def __init__(self, matrix: Integers, topology: Topology, capacity: int, whole: bool) -> None:
        a, b = topology.demands[:, :2].T
        # A pair's paths each carry an equal part of its demand.
        _, first, of, parts = np.unique(
            a * len(matrix) + b, return_index=True, return_inverse=True, return_counts=True
        )
        there, back = matrix[a, b], matrix[b, a]
        share = np.maximum(there, back) // parts[of]
        each = np.full_like(share, capacity) if whole else np.minimum(share, capacity)
        self.reserved = topology.added_up(each)
        """Reserved capacity of each circuit in each direction."""
        found = np.bincount(of[topology.served], minlength=len(parts))
        ways = (_within(sent[first], found, parts, capacity) for sent in (there, back))
        self.carried = sum(int(way.sum()) for way in ways)
        """Bytes carried in both directions of all pairs."""


def _within(sent: Integers, found: Integers, parts: Integers, capacity: int) -> Integers:
    """The part of the sent demand that the paths found carry."""
    part, rest = sent // parts, sent % parts
    asked = part * found + rest * found // parts
    full = asked // np.maximum(found, 1) >= capacity
    return np.where(full, capacity * found, asked)  # prevents overflow where they are full


def _below(matrix: Integers, threshold: int) -> dict[str, int]:
    """The number of pairs whose demand is below the threshold for a path, and their demand."""
    i, j = matrix.nonzero()
    back = matrix[j, i]
    both = matrix[i, j] + back
    few = both[(both < threshold) & ((i < j) | (back == 0))]
    return {"pairs": len(few), "bytes": int(few.sum())}
