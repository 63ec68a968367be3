"""The control library on plain arrays: examples, types of arrays, proofs, errors."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from cli_support import ROOT

import lightloom
from lightloom import control
from lightloom.control.proofs import MatchingProof

FUNCTIONS = [name for name in control.__all__ if name.islower()]
HUGE = 2**62
Broken = Callable[[MatchingProof], MatchingProof]


def heavy_tailed(nodes: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    demand = np.ceil(1 + 100 * rng.pareto(1.2, (nodes, nodes))).astype(np.int64)
    demand[rng.random((nodes, nodes)) < 0.7] = 0
    np.fill_diagonal(demand, 0)
    return demand


# Examples


MODULES = [m.name for m in pkgutil.walk_packages(control.__path__, "lightloom.control.")]


@pytest.mark.parametrize("name", MODULES)
def test_examples_say_what_comes_out(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    module = importlib.import_module(name)
    known = {"np": np} | {name: getattr(control, name) for name in control.__all__}
    done = doctest.testmod(module, extraglobs=known, optionflags=doctest.ELLIPSIS)
    assert done.failed == 0


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_has_an_example(name: str) -> None:
    assert ">>> " in (getattr(control, name).__doc__ or "")


# Arrays

SQUARE = [[0, 5, 9], [2, 0, 8], [7, 5, 0]]


@pytest.mark.parametrize(
    "demand",
    [
        SQUARE,
        np.array(SQUARE, np.uint8),
        np.array(SQUARE, ">i4"),
        np.array(SQUARE, np.uint64),
        np.array(SQUARE, np.float16),
        np.array(SQUARE, np.longdouble),
        np.array(SQUARE, object),
        np.asfortranarray(SQUARE),
        np.array(SQUARE).repeat(2, axis=0)[::2],
        np.array(SQUARE)[::-1, ::-1][::-1, ::-1],
    ],
    ids=lambda demand: getattr(demand, "dtype", "list").__str__(),
)
def test_any_array_of_the_numbers_gives_the_same(demand: Any) -> None:
    assert control.quickstuff(demand).tolist() == control.quickstuff(np.array(SQUARE)).tolist()
    assert control.maximum_weight_matching(demand).weight == 16
    assert control.assignment(demand).weight == 20


def test_an_array_is_left_as_it_was() -> None:
    demand = np.array(SQUARE)
    demand.flags.writeable = False
    schedule = control.eclipse(demand, rate="8 Gb/s", period="100 ns", night="1 ns").schedule
    assert schedule.carried(demand, "8 Gb/s").sum() == 36
    assert demand.tolist() == SQUARE


# Proofs


def proof() -> MatchingProof:
    """Returns the proof for six groups of five racks, with much traffic within groups and little
    between them."""
    rng = np.random.default_rng(1)
    demand = rng.integers(0, 10, (30, 30))
    for first in range(0, 30, 5):
        demand[first : first + 5, first : first + 5] = rng.integers(1_000, 1_100, (5, 5))
    np.fill_diagonal(demand, 0)
    found = control.maximum_weight_matching(demand)
    assert found.certificate.blossoms, "a proof without odd sets would test little"
    return found.certificate


@pytest.mark.parametrize("nodes", [1, 2, 3, 8, 9, 100, 101])
def test_a_proof_holds_and_bounds_what_it_proves(nodes: int) -> None:
    if nodes == 1:
        with pytest.raises(lightloom.ConfigError, match="only zeros"):
            control.maximum_weight_matching([[0]])
        return
    demand = heavy_tailed(nodes, nodes)
    demand[0, -1] += 1
    found = control.maximum_weight_matching(demand)
    assert found.certificate.problem() is None
    assert found.weight == found.certificate.weight == found.certificate.bound
    a, b = found.pairs.T
    assert found.weight == (demand + demand.T)[a, b].sum()
    assert sorted({*a, *b}) == [i for i in range(nodes) if found.mate[i] >= 0]
    assert (found.mate == -1).sum() == nodes % 2


BREAK: dict[str, Broken] = {
    "is not matched with one other": lambda p: replace(p, mate=np.roll(p.mate, 1)),
    "not one mate": lambda p: replace(p, y=p.y[1:]),
    "is below 0": lambda p: replace(p, y=p.y - p.y.max() - 1),
    "do not cover": lambda p: replace(p, y=np.maximum(p.y - 2, 0)),
    "the bound is": lambda p: replace(p, y=p.y + 2),
    "is no odd set": lambda p: replace(
        p, blossoms=[replace(b, members=b.members[1:]) for b in p.blossoms]
    ),
    "no odd set with": lambda p: replace(p, blossoms=[replace(b, z=-b.z) for b in p.blossoms]),
    "the duals do not": lambda p: replace(p, blossoms=[]),
}


@pytest.mark.parametrize("message", BREAK)
def test_a_broken_proof_proves_nothing(message: str) -> None:
    broken = BREAK[message](proof())
    assert not broken.verify()
    assert message in (broken.problem() or "")


def test_a_worse_matching_with_the_same_duals_proves_nothing() -> None:
    good = proof()
    a, b = np.flatnonzero(good.mate >= 0)[[0, 1]]
    mate = good.mate.copy()
    mate[[a, b, good.mate[a], good.mate[b]]] = b, a, good.mate[b], good.mate[a]
    assert "the bound is" in (replace(good, mate=mate).problem() or "")


def test_proofs_are_exact_where_a_float_is_not() -> None:
    largest = 2**57 - 1  # the largest weight
    demand = np.zeros((4, 4), np.int64)
    demand[0, 1], demand[2, 3], demand[1, 2] = largest, largest - 2, largest
    found = control.maximum_weight_matching(demand)
    assert found.weight == 2 * largest - 2
    assert found.certificate.verify()
    one_off = replace(found.certificate, y=found.certificate.y + np.array([1, 1, 0, 0]))
    assert not one_off.verify()
    wrapped = replace(found.certificate, y=np.array([0, 0, 0, 2**63 - 1]))
    assert "do not cover" in (wrapped.problem() or ""), "2 · y passes 63 bits, (0, 1) has none"


def test_an_assignment_s_proof_can_fail() -> None:
    found = control.assignment(heavy_tailed(30, 1)).certificate
    assert found.verify()
    assert found.weight == found.bound
    lower = replace(found, row_potential=found.row_potential - 1)
    assert "do not cover" in (lower.problem() or "")
    other = replace(found, column_of=np.roll(found.column_of, 1))
    assert "the bound is" in (other.problem() or "")
    assert "taken twice" in (replace(found, column_of=found.column_of * 0).problem() or "")


# Hysteresis


def test_circuits_that_are_up_stay_among_equals_and_for_a_bonus() -> None:
    tied = np.ones((6, 6), np.int64) - np.eye(6, dtype=np.int64)
    up = [(0, 5), (4, 1), (2, 3)]
    kept = control.maximum_weight_matching(tied, up=up)
    assert kept.pairs.tolist() == [[0, 5], [1, 4], [2, 3]]
    assert (kept.weight, kept.certificate.verify()) == (6, True)
    tied[0, 1] += 3
    moved = control.maximum_weight_matching(tied, up=up)
    assert moved.mate[0] == 1, "a real difference goes before ties"
    assert control.maximum_weight_matching(tied, up=up, bonus=1).mate[0] == 1
    assert control.maximum_weight_matching(tied, up=up, bonus=2).mate[0] == 5
    # A loop may begin without lit circuits, and circuits may be arrays.
    assert control.maximum_weight_matching(tied, up=[], bonus=2).mate[0] == 1
    assert control.maximum_weight_matching(tied, up=np.array(up), bonus=2).mate[0] == 5
    assert control.plan(tied, "edmonds", up=np.array(up)).details["kept"] == 1


# Schedules


def test_a_schedule_knows_its_times() -> None:
    schedule = control.round_robin(4, day="9 us", night="1 us")
    assert schedule.starts_ps.tolist() == [0, 10_000_000, 20_000_000]
    assert (schedule.slots, schedule.ports, schedule.period_ps) == (3, 4, 30_000_000)
    nothing = control.Schedule(schedule.permutations[:0], schedule.days_ps[:0], 1)
    assert (nothing.slots, nothing.ports, nothing.period_ps, nothing.duty_cycle) == (0, 4, 0, 0.0)
    assert nothing.starts_ps.tolist() == []


def test_what_is_carried_is_exact_where_a_float_is_not() -> None:
    long = control.round_robin(2, day="10000 s", night="1 s")  # 10^16 bytes
    demand = [[0, 2**53 + 1], [2**63 - 6, 0]]
    assert long.carried(demand, "8 Tb/s").tolist() == [[2**53 + 1, 10**16]]


def test_decompositions_add_up_to_their_matrix() -> None:
    for matrix in (control.quickstuff(heavy_tailed(12, 3)), control.sinkhorn(SQUARE).units):
        found = control.birkhoff(matrix)
        rows = np.arange(len(matrix))
        total = np.zeros_like(matrix)
        for permutation, weight in zip(found.permutations, found.weights, strict=True):
            total[rows, permutation] += weight
        assert total.tolist() == matrix.tolist()
        assert found.mass == 1.0
        assert (np.diff(found.weights) <= 0).all()


def test_a_hybrid_schedule_leaves_what_packets_carry() -> None:
    demand = heavy_tailed(16, 7) * 1_000
    found = control.solstice(demand, rate="10 Gb/s", packet_rate="1 Gb/s", night="20 us")
    carried = found.schedule.carried(demand, "10 Gb/s")
    assert carried.sum() + found.residual.sum() == demand.sum()
    line = max(found.residual.sum(axis=0).max(), found.residual.sum(axis=1).max())
    assert line * 8 * 1_000 <= found.completion_ps  # a bit takes 1,000 ps at 1 Gb/s
    assert found.schedule.period_ps <= found.completion_ps
    assert found.bound_ps <= found.completion_ps


def test_days_of_a_hybrid_schedule_hold_whole_packets() -> None:
    """A day carries full packets of each pair, or all its remaining bytes; a plan by bytes cuts
    packets. No slot is shorter than the shortest."""
    demand = heavy_tailed(12, 7) * 1_000 + 1
    np.fill_diagonal(demand, 0)
    keys = {"rate": "10 Gb/s", "night": "1 us"}

    def cut(schedule: Any) -> int:
        """Returns the number of packets that days cut."""
        left, count = demand.copy(), 0
        for permutation, day in zip(schedule.permutations, schedule.days_ps, strict=True):
            for source, target in enumerate(permutation):
                fits = min(left[source, target], day // 800)  # 10 Gb/s: 800 ps per byte
                count += fits < left[source, target] and fits % 9_000 > 0
                left[source, target] -= fits
        return count

    whole = control.solstice(demand, **keys, packet="9000 B")
    slots = control.solstice(demand, **keys, shortest="40 us").schedule
    assert cut(whole.schedule) == 0
    assert cut(control.solstice(demand, **keys, packet="1 B").schedule) > 0
    assert (slots.days_ps + 1_000_000 >= 40_000_000).all()


# Arbiters


@pytest.mark.parametrize("arbiter", [control.islip, control.drrm])
@pytest.mark.parametrize("ports", [1, 3, 64, 65, 300])
def test_full_load_is_served_in_full_after_a_while(arbiter: Any, ports: int) -> None:
    """McKeown 1999, §II.B: under full load the pointers desynchronise until all outputs are matched
    in every slot, and every queue is served once in N slots."""
    requests = np.ones((ports, ports), bool)
    pointers, served = None, np.zeros((ports, ports), int)
    for slot in range(3 * ports):
        agreed = arbiter(requests, pointers=pointers)
        pointers = agreed.pointers
        if slot >= 2 * ports:
            assert sorted(agreed.output_of) == list(range(ports))
            served[np.arange(ports), agreed.output_of] += 1
    assert (served == 1).all()


@pytest.mark.parametrize("arbiter", [control.islip, control.drrm])
def test_enough_iterations_leave_nobody_who_could_be_matched(arbiter: Any) -> None:
    rng = np.random.default_rng(2)
    for _ in range(20):
        requests = rng.random((70, 70)) < 0.05
        output_of = arbiter(requests, iterations=70).output_of
        inputs = np.flatnonzero(output_of >= 0)
        assert requests[inputs, output_of[inputs]].all()
        assert len({*output_of[inputs]}) == len(inputs)
        requests[inputs] = False
        requests[:, output_of[inputs]] = False
        assert not requests.any()


# Topologies


def test_paths_are_backed_by_circuits_and_their_capacity() -> None:
    demand = heavy_tailed(40, 11)
    found = control.multihop(demand, planes=5, capacity=3_000, hops=3)
    both = demand + demand.T
    pairs = np.argwhere(np.triu(both) > 0)
    assert found.demands[:, :2].tolist() == pairs.tolist()
    assert found.demands[:, 2].tolist() == both[pairs[:, 0], pairs[:, 1]].tolist()
    reserved = np.zeros(len(found.circuits), np.int64)
    for (a, b, _, need), route, racks in zip(found.demands, found.routes, found.paths, strict=True):
        reserved[route] += min(need, 3_000)
        assert len(route) <= 3
        if len(route):
            assert (racks[0], racks[-1]) == (a, b)
            ends = np.sort(np.column_stack((racks[:-1], racks[1:])), axis=1)
            assert ends.tolist() == found.circuits[route, :2].tolist()
    assert (3_000 - reserved).tolist() == found.residual.tolist()
    ports = np.zeros((40, 5), int)
    np.add.at(ports, (found.circuits[:, 0], found.circuits[:, 2]), 1)
    np.add.at(ports, (found.circuits[:, 1], found.circuits[:, 2]), 1)
    assert ports.max() == 1
    assert 0 < found.served.sum() < len(found.served)


def test_a_change_touches_only_listed_ports_and_demands() -> None:
    demand = heavy_tailed(20, 4)
    before = control.multihop(demand, planes=2, capacity=2_000)
    listed = [(rack, 0) for rack in range(10)]
    released = [row for row, (a, b, *_) in enumerate(before.demands) if max(a, b) < 10]
    after = before.reconfigure(ports=listed, released=released, demand=heavy_tailed(20, 5))
    stays = [c for c in before.circuits.tolist() if c[2] == 1 or max(c[:2]) >= 10]
    assert [c for c in after.circuits.tolist() if c in stays] == stays
    new = [c for c in after.circuits.tolist() if c not in before.circuits.tolist()]
    assert all(plane == 0 and max(a, b) < 10 for a, b, plane in new)
    kept = np.delete(before.demands, released, axis=0)
    assert after.demands[: len(kept)].tolist() == kept.tolist()


def test_the_vlans_of_the_paper() -> None:
    """HydRA Fig. 4: seven paths of six racks, six after the merge, on three VLANs."""
    paths = [[0, 1, 2], [1, 2], [2, 3, 0], [3, 1], [0, 2, 4], [4, 5], [5, 0]]
    found = control.vlans(paths)
    assert (found.distinct, len(found.members), found.lower_bound) == (6, 3, 3)
    assert found.vlan_of[0] == found.vlan_of[1]
    parallel = control.vlans([[0], [1], []], circuits=[(0, 1), (0, 1)])
    assert parallel.vlan_of.tolist() == [0, 1, -1]


# Refusals

ROUND = control.round_robin(3, day="9 us", night="1 us")
RATES: dict[str, Any] = {"rate": "10 Gb/s", "night": "1 us"}
FRAME: dict[str, Any] = {**RATES, "period": "1 ms"}
REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "not square": (lambda: control.quickstuff([[0, 1, 2], [1, 0, 2]]), "demand = 2 x 3 numbers"),
    "negative": (lambda: control.sinkhorn([[0, -1], [1, 0]]), "demand[0][1] = -1: demand is not"),
    "not a number": (
        lambda: control.solstice([[0, np.nan], [1, 0]], **RATES),
        "demand[0][1] = NaN",
    ),
    "infinite": (lambda: control.eclipse([[0, 1], [np.inf, 0]], **FRAME), "demand[1][0] = inf"),
    "diagonal": (lambda: control.maximum_weight_matching([[3, 1], [1, 0]]), "demand[0][0] = 3"),
    "empty": (lambda: control.quickstuff(np.zeros((0, 0))), "the matrix is empty"),
    "all zero": (lambda: control.birkhoff(np.zeros((3, 3))), "demand = only zeros"),
    "asymmetric": (
        lambda: control.maximum_weight_matching([[0, 1], [2, 0]], symmetric=True),
        "demand[0][1] = 1: not symmetric: demand[1][0] is 2",
    ),
    "sums that overflow": (
        lambda: control.quickstuff([[0, HUGE], [HUGE, 0]]),
        f"demand = a total of {2 * HUGE}",
    ),
    "weights that overflow": (
        lambda: control.assignment(np.full((4, 4), HUGE)),
        f"weights[0][0] = {HUGE}: at most 2305843009213693951, of 61 bits",
    ),
    "a circuit that overflows": (
        lambda: control.maximum_weight_matching([[0, 2**63 - 6], [1, 0]]),
        f"demand[0][1] + demand[1][0] = {2**63 - 5}: a circuit weighs at most {2**57 - 1}",
    ),
    "a symmetric circuit that overflows": (
        lambda: control.maximum_weight_matching([[0, 2**57], [2**57, 0]], symmetric=True),
        f"demand[0][1] = {2**57}: a circuit weighs at most",
    ),
    "a bonus that overflows": (
        lambda: control.maximum_weight_matching(SQUARE, up=[(0, 1)], bonus=2**57),
        f"bonus = {2**57}: at most",
    ),
    "a bonus for nothing": (
        lambda: control.maximum_weight_matching(SQUARE, bonus=1),
        "bonus = 1: has no effect without up, the lit circuits; give up, or remove bonus",
    ),
    "a bonus for nothing in a plan": (
        lambda: control.plan(SQUARE, "edmonds", bonus=1),
        "bonus = 1: has no effect without up",
    ),
    "half a circuit in a plan": (
        lambda: control.plan(SQUARE, "edmonds", up=[(0,)]),
        "up[0] = (0,): not two numbers",
    ),
    "an assignment that overflows in a plan": (
        lambda: control.plan([[0, 2**62], [1, 0]], "assignment"),
        f"demand[0][1] = {2**62}: at most",
    ),
    "an entry that overflows": (
        lambda: control.quickstuff([[0, 2**64], [1, 0]]),
        f"demand[0][1] = {2**64}: does not fit 63 bits",
    ),
    "an unsigned entry that overflows": (
        lambda: control.quickstuff(np.array([[0, 1], [2**63, 0]], np.uint64)),
        f"demand[1][0] = {2**63}: does not fit 63 bits",
    ),
    "shares of a byte": (lambda: control.quickstuff([[0, 0.4], [0.3, 0]]), "too small to be"),
    "one dimension": (lambda: control.quickstuff([1, 2]), "an array of 1 dimension"),
    "rows of several lengths": (lambda: control.quickstuff([[0, 1], [2]]), "give rows of equal"),
    "texts": (lambda: control.quickstuff([["a", "b"], ["c", "d"]]), "not numbers"),
    "complex numbers": (lambda: control.quickstuff([[0, 1j], [1, 0]]), "not numbers"),
    "objects": (lambda: control.quickstuff([[0, None], [1, 0]]), "not numbers"),
    "too many nodes": (lambda: control.quickstuff(np.zeros((1, 20_000))), "at most 16384 rows"),
    "negative weights": (lambda: control.assignment([[0, -2], [0, 0]]), "weights[0][1] = -2"),
    "broken weights": (lambda: control.assignment([[0, 0.5], [0, 0]]), "weights[0][1] = 0.5"),
    "edges in a row": (lambda: control.hopcroft_karp([True]), "edges = an array of 1"),
    "edges of text": (lambda: control.hopcroft_karp([["x"]]), "not truth values"),
    "unequal lines": (lambda: control.birkhoff([[0, 1], [2, 0]]), "demand, row 1 = a sum of 2"),
    "mass": (lambda: control.birkhoff([[0, 1], [1, 0]], mass=0), "mass = 0: must be above 0"),
    "terms": (lambda: control.birkhoff([[0, 1], [1, 0]], terms=0), "terms = 0: from 1"),
    "epsilon": (lambda: control.sinkhorn(SQUARE, epsilon=np.nan), "epsilon = NaN: above 0"),
    "rounds": (lambda: control.sinkhorn(SQUARE, max_rounds=1), "max_rounds = 1: after this"),
    "scaling": (
        lambda: control.traffic_matrix_schedule(SQUARE, scaling="x", period="1 s", night="1 s"),
        "scaling = x: no such scaling",
    ),
    "a night longer than the shortest slot": (
        lambda: control.traffic_matrix_schedule(
            SQUARE, period="1 ms", night="20 us", shortest="10 us"
        ),
        "night = 20 us: not shorter than the shortest slot, 10 us",
    ),
    "a slot longer than the period": (
        lambda: control.eclipse(SQUARE, **FRAME, shortest="2 ms"),
        "shortest = 2 ms: longer than the period, 1 ms",
    ),
    "a night longer than the period": (
        lambda: control.eclipse(SQUARE, **{**FRAME, "period": "1 ns"}),
        "night = 1 us: not shorter than the period, 1 ns",
    ),
    "a night longer than the period of a bound": (
        lambda: control.coverage_bound(SQUARE, **{**FRAME, "period": "1 us"}),
        "night = 1 us: not shorter than the period, 1 us",
    ),
    "a round without a day": (
        lambda: control.round_robin(4, day="0 s", night="1 us"),
        "day = 0 ps: above 0",
    ),
    "a round without days": (
        lambda: control.round_robin(4, period="3000001 ps", night="1 us"),
        "period = 3.000001 us: 3 nights of 1 us leave no time for days",
    ),
    "carried demand of fewer nodes": (
        lambda: ROUND.carried([[0, 1], [1, 0]], "10 Gb/s"),
        "demand = 2 x 2 numbers: the schedule has 3 ports",
    ),
    "carried demand of more nodes": (
        lambda: ROUND.carried(np.ones((4, 4)), "10 Gb/s"),
        "demand = 4 x 4 numbers: the schedule has 3 ports",
    ),
    "carried demand that is none": (
        lambda: ROUND.carried([[0, 1, 0], [0, 0, np.nan], [0, 0, 0]], "10 Gb/s"),
        "demand[1][2] = nan: not a byte count",
    ),
    "negative carried demand": (
        lambda: ROUND.carried([[0, 1, 0], [0, 0, 0], [-2, 0, 0]], "10 Gb/s"),
        "demand[2][0] = -2: not a byte count",
    ),
    "nothing in a period": (
        lambda: control.plan(SQUARE, "hydra", period="0 s"),
        "period = 0 ps: a circuit of 10 Gb/s carries less than a byte in it",
    ),
    "no unit": (
        lambda: control.round_robin(4, day="5", night="1 us"),
        'day = "5": `5` has no unit',
    ),
    "a bare number": (lambda: control.round_robin(4, day=5, night="1 us"), "has no unit"),  # type: ignore[arg-type]
    "neither day nor period": (lambda: control.round_robin(4, night="1 us"), "give one of them"),
    "too few ports": (lambda: control.round_robin(1, day="1 us", night="1 us"), "ports = 1"),
    "no rate": (
        lambda: control.solstice(SQUARE, rate="0 b/s", night="1 us"),
        "rate = 0 b/s: above 0",
    ),
    "packets too fast": (
        lambda: control.solstice(SQUARE, **RATES, packet_rate="1 Tb/s"),
        "packet_rate = 1 Tb/s: faster than the circuits",
    ),
    "packets too large": (
        lambda: control.solstice(SQUARE, **RATES, packet="70 KB"),
        "packet = 70000 B: must be from 1 B to 65535 B",
    ),
    "step": (lambda: control.eclipse(SQUARE, **FRAME, step=0), "step = 0: from 0.001"),
    "slots": (lambda: control.eclipse(SQUARE, **FRAME, max_slots=-1), "max_slots = -1: from 1"),
    "circuits that are up": (
        lambda: control.maximum_weight_matching(SQUARE, up=[(0, 9)]),
        "up = (0, 9): a circuit joins two of the 3",
    ),
    "half a circuit": (
        lambda: control.maximum_weight_matching(SQUARE, up=[(0,)]),  # type: ignore[list-item]
        "up[0] = (0,): not two numbers",
    ),
    "bonus": (
        lambda: control.maximum_weight_matching(SQUARE, up=[(0, 1)], bonus=-1),
        "bonus = -1: from 0",
    ),
    "requests": (lambda: control.islip([[1, 0]]), "requests = 1 x 2 values: not square"),
    "pointers": (
        lambda: control.drrm([[1]], pointers=([0], [1])),
        "pointers[1][0] = 1: from 0 to 0",
    ),
    "iterations": (lambda: control.drrm([[1]], iterations=0), "iterations = 0"),
    "more ports than exist": (
        lambda: control.multihop(SQUARE, planes=1, capacity=1, ports=2, radix=3),
        "ports = 2: 6 ports on each plane, more than the 3 that its switch has",
    ),
    "planes": (lambda: control.multihop(SQUARE, planes=1_000, capacity=1), "planes = 1000"),
    "hops": (lambda: control.multihop(SQUARE, planes=1, capacity=1, hops=0), "hops = 0"),
    "capacity": (lambda: control.multihop(SQUARE, planes=1, capacity=0), "capacity = 0"),
    "a port that is not there": (
        lambda: control.multihop(SQUARE, planes=1, capacity=1).reconfigure(ports=[(0, 1)]),
        "ports[0] = rack 0, plane 1: more ports than exist",
    ),
    "other racks": (
        lambda: control.multihop(SQUARE, planes=1, capacity=1).reconfigure(
            ports=[], demand=[[0, 1], [1, 0]]
        ),
        "demand = 2 x 2 numbers: the topology has 3 racks",
    ),
    "a path in circles": (lambda: control.vlans([[0, 1, 0]]), "paths[0] = circuits"),
    "more VLANs than exist": (
        lambda: control.vlans([[at] for at in range(4_095)], circuits=[(0, 1)] * 4_095),
        "paths = 4095 VLANs: more VLANs than exist: at most 4094",
    ),
    "algorithm": (
        lambda: control.plan(SQUARE, "edmond"),
        'algorithm = edmond: no such algorithm; did you mean "edmonds"?',
    ),
    "an option of others": (
        lambda: control.plan(SQUARE, "edmonds", night="1 us"),
        "night = 1 us: edmonds has no such option; leave it out; it is for mordia,",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_planned_is_refused_by_name(case: str) -> None:
    attempt, expected = REFUSED[case]
    with pytest.raises(lightloom.ConfigError) as caught:
        attempt()
    assert expected in str(caught.value)
    assert caught.value.key
    assert caught.value.remedy


INTERRUPTED = """
import numpy as np
from lightloom import control
demand = np.random.default_rng(1).integers(1, 1 << 40, (1_500, 1_500))
np.fill_diagonal(demand, 0)
matrix = control.quickstuff(demand)
print("started", flush=True)
control.birkhoff(matrix)
"""


def test_a_long_solver_answers_ctrl_c() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "started\n"
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert errors.endswith("KeyboardInterrupt\n")
