"""Pinned circuits, pairs that are kept apart, and ports that are down: all algorithms obey these
rules, and an optimal algorithm finds the best result under them."""

from __future__ import annotations

import itertools
import json
import shlex
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from cli_support import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import lightloom
from lightloom import control
from lightloom.cli import app
from lightloom.control.rules import Rules, read_rules
from lightloom.control.wiring import Port, PortMap

EIGHT = ROOT / "examples" / "demand-8.csv"
PORTS = ROOT / "examples" / "ports-8.csv"
MANY = settings(max_examples=150, deadline=None, derandomize=True)
SCHEDULES = {
    "mordia": {"period": "1 s"},
    "eclipse": {"period": "1 s"},
    "rotation": {"period": "1 s"},
    "solstice": {},
}
GB = 10**9


@st.composite
def cases(draw: st.DrawFn, planes: int = 1) -> tuple[np.ndarray, Rules]:
    """Draws demand of up to seven racks, and rules without contradictions."""
    racks = draw(st.integers(2, 7))
    entries = draw(st.lists(st.sampled_from([0, 0, 1, 2, 3, 7]), min_size=49, max_size=49))
    matrix = np.array(entries).reshape(7, 7)[:racks, :racks] * GB
    np.fill_diagonal(matrix, 0)
    matrix[0, 1] += GB
    pairs = list(itertools.combinations(range(racks), 2))
    apart = draw(st.sets(st.sampled_from(pairs), max_size=6))
    down = draw(
        st.sets(st.tuples(st.integers(0, racks - 1), st.integers(0, planes - 1)), max_size=2)
    )
    busy, pinned = set(down), []
    for (a, b), plane, turned in draw(
        st.lists(
            st.tuples(st.sampled_from(pairs), st.integers(0, planes - 1), st.booleans()),
            max_size=2,
        )
    ):
        if {(a, plane), (b, plane)} & busy or (a, b) in apart:
            continue
        busy |= {(a, plane), (b, plane)}
        pinned.append((b, a, plane) if turned else (a, b, plane))
    return matrix, Rules(tuple(pinned), frozenset(apart), frozenset(down))


def matchings(racks: list[int]) -> Iterator[list[tuple[int, int]]]:
    """Returns all sets of pairs in which each rack occurs at most once."""
    if len(racks) < 2:
        yield []
        return
    first, *rest = racks
    yield from matchings(rest)
    for other in rest:
        for found in matchings([rack for rack in rest if rack != other]):
            yield [(first, other), *found]


def obeys(pairs: list[tuple[int, int]], rules: Rules) -> bool:
    """Both ways."""
    both = {(min(a, b), max(a, b)) for a, b, _ in rules.pinned}
    down = {rack for rack, _ in rules.down}
    busy = {rack for pair in pairs for rack in pair}
    return both <= set(pairs) and not set(pairs) & rules.apart and not busy & down


def lit(plan: control.Plan) -> list[tuple[int, int, int]]:
    table = plan.circuits
    assert table is not None
    planes = np.zeros(len(table), int) if table.plane is None else table.plane
    return list(zip(table.a.tolist(), table.b.tolist(), planes.tolist(), strict=True))


@MANY
@given(case=cases(), unrequested=st.sampled_from(["rotate", "keep", "alone"]))
def test_the_matching_is_the_best_of_those_that_obey(
    case: tuple[np.ndarray, Rules], unrequested: str
) -> None:
    matrix, rules = case
    both = matrix + matrix.T
    allowed = [found for found in matchings([*range(len(matrix))]) if obeys(found, rules)]
    best = max(sum(int(both[pair]) for pair in found) for found in allowed)
    plan = control.plan(matrix, "edmonds", rules=rules, unrequested=unrequested)
    found = [(a, b) for a, b, _ in lit(plan)]
    assert obeys(found, rules)
    assert sorted(rack for pair in found for rack in pair) == sorted({r for p in found for r in p})
    assert plan.figures["weight"] == best
    if plan.proof is not None:
        assert plan.proof.verify()
        assert (plan.figures["bound"], plan.figures["optimal"]) == (best, True)
    if unrequested != "alone" and plan.proof is not None:
        assert len(found) == max(map(len, weighing(allowed, both, best)))


def weighing(
    found: list[list[tuple[int, int]]], both: np.ndarray, best: int
) -> list[list[tuple[int, int]]]:
    """Returns the matchings of the largest weight; the remaining racks without demand are connected
    to each other."""
    heavy = [[p for p in pairs if both[p]] for pairs in found]
    return [
        pairs
        for pairs, some in zip(found, heavy, strict=True)
        if sum(int(both[pair]) for pair in some) == best
    ]


@MANY
@given(case=cases())
def test_the_assignment_is_the_best_of_those_that_obey(case: tuple[np.ndarray, Rules]) -> None:
    matrix, rules = case
    racks = range(len(matrix))
    down = {rack for rack, _ in rules.down}
    forced = {a: b for a, b, _ in rules.pinned}

    def worth(i: int, j: int) -> int:
        """An input may stay dark; a forbidden circuit is therefore dark."""
        pinned = forced.get(i) == j
        dark = rules.are_apart(i, j) or {i, j} & down
        return int(matrix[i, j]) if pinned or not dark else 0

    best = max(
        sum(worth(i, j) for i, j in enumerate(outputs))
        for outputs in itertools.permutations(racks)
        if all(outputs[a] == b for a, b in forced.items())
    )
    plan = control.plan(matrix, "assignment", rules=rules)
    found = {(a, b) for a, b, _ in lit(plan)}
    assert {(a, b) for a, b, _ in rules.pinned} <= found
    assert not any(rules.are_apart(a, b) or {a, b} & down for a, b in found)
    assert len({a for a, _ in found}) == len({b for _, b in found}) == len(found)
    assert plan.figures["weight"] == best
    if plan.proof is not None:
        assert (plan.proof.verify(), plan.figures["bound"]) == (True, best)


@MANY
@given(case=cases(planes=3), hops=st.integers(1, 3), need=st.sampled_from(["rate", "circuit"]))
def test_hydra_heeds_rules_on_every_plane(
    case: tuple[np.ndarray, Rules], hops: int, need: str
) -> None:
    matrix, rules = case
    plan = control.plan(matrix, "hydra", rules=rules, planes=3, hops=hops, need=need)
    found = lit(plan)
    assert set(rules.pinned_both_ways) <= set(found)
    assert not any(rules.are_apart(a, b) for a, b, _ in found)
    ports = [(rack, plane) for a, b, plane in found for rack in (a, b)]
    assert len(ports) == len({*ports})
    assert not {*ports} & rules.down
    topology = plan.details["topology"]
    joined = {(a, b) for a, b, _ in found} | {(b, a) for a, b, _ in found}
    for path in topology.paths:
        assert all(pair in joined for pair in itertools.pairwise(path.tolist()))
    # The demand of a pinned pair uses its circuit.
    for (a, b, *_), hop in zip(topology.demands.tolist(), topology.hops.tolist(), strict=True):
        if any({a, b} == {x, y} for x, y, _ in rules.pinned):
            assert hop == 1
            break


@pytest.mark.parametrize("algorithm", SCHEDULES)
@settings(max_examples=60, deadline=None, derandomize=True)
@given(case=cases())
def test_no_slot_breaks_a_rule(algorithm: str, case: tuple[np.ndarray, Rules]) -> None:
    matrix, rules = case
    try:
        plan = control.plan(matrix, algorithm, rules=rules, **SCHEDULES[algorithm])
    except lightloom.ConfigError as problem:
        assert problem.key in ("pin", "forbid", "down")
        return
    schedule = plan.schedule
    assert schedule is not None
    down = {rack for rack, _ in rules.down}
    for outputs in schedule.permutations.tolist():
        assert sorted(outputs) == [*range(len(matrix))]
        assert all(outputs[a] == b for a, b, _ in rules.pinned)
        assert all(outputs[rack] == rack for rack in down)
        assert not any(rules.are_apart(i, j) for i, j in enumerate(outputs) if i != j)
    carried = schedule.carried(matrix, "10 Gb/s").sum()
    assert plan.figures["carried_bytes"] == carried <= plan.figures["bound"]
    if rules:
        assert plan.figures["completion_ps"] is None


def test_a_slot_keeps_what_carries_most() -> None:
    """A round robin of four racks, in which 0 and 2 are kept apart: in slot 1 (0>2, 1>3, 2>0, 3>1)
    the permitted circuits stay, and the other two inputs are idle."""
    demand = (np.ones((4, 4), int) - np.eye(4, dtype=int)) * GB
    plan = control.plan(demand, "rotation", period="1 s", rules=Rules(apart=frozenset({(0, 2)})))
    assert plan.schedule is not None
    assert plan.schedule.permutations.tolist() == [[1, 2, 3, 0], [0, 3, 2, 1], [3, 0, 1, 2]]


@MANY
@given(case=cases(), directed=st.booleans())
def test_a_list_loses_what_breaks_a_rule(case: tuple[np.ndarray, Rules], directed: bool) -> None:
    matrix, rules = case
    racks = len(matrix)
    rows = [[i, i + 1] for i in range(0, racks - 1, 2)]
    plan = control.plan(matrix, "fixed", circuits=rows, directed=directed, rules=rules)
    found = [(a, b) for a, b, _ in lit(plan)]
    pinned = [(a, b) if directed else (min(a, b), max(a, b)) for a, b, _ in rules.pinned]
    taken = {("from", a) for a, _ in pinned} | {("to", b) for _, b in pinned}
    if not directed:
        taken = {(end, rack) for pair in pinned for rack in pair for end in ("from", "to")}
    taken |= {(end, rack) for rack, _ in rules.down for end in ("from", "to")}
    kept = [
        (a, b)
        for a, b in rows
        if (a, b) not in pinned
        and not rules.are_apart(a, b)
        and not {("from", a), ("to", b)} & taken
    ]
    assert sorted(found) == sorted([*pinned, *kept])


def test_nobody_without_demand_is_joined_against_a_rule() -> None:
    """Four racks without demand are connected in turn; racks that are kept apart from their partner
    are connected to others, so that no rack is left over."""
    demand = np.zeros((6, 6), int)
    demand[0, 5] = GB
    free = control.plan(demand, "edmonds")
    pairs = {(a, b) for a, b, _ in lit(free)}
    for pair in pairs - {(0, 5)}:
        plan = control.plan(demand, "edmonds", rules=Rules(apart=frozenset({pair})))
        after = {(a, b) for a, b, _ in lit(plan)}
        assert pair not in after
        assert (0, 5) in after
        assert len(after) == 3


def test_what_no_rule_and_no_demand_concerns_stays() -> None:
    """Only racks 0 and 1, which are pinned, have demand: 2-3 and 4-5 are lit and stay.

    With `alone`, racks without demand have no circuit.
    """
    matrix = np.zeros((6, 6), np.int64)
    matrix[0, 1] = 5
    rules = Rules(pinned=[(0, 1, 0)])
    up = [(2, 4), (3, 5)]
    for unrequested, stays in (("rotate", up), ("keep", up), ("alone", [])):
        options = {"up": up, "unrequested": unrequested}
        plan = control.plan(control.Demand(matrix), "edmonds", rules=rules, **options)
        assert plan.circuits is not None
        pairs = list(zip(plan.circuits.a.tolist(), plan.circuits.b.tolist(), strict=True))
        assert pairs == [(0, 1), *stays]


def test_a_pair_that_is_kept_apart_breaks_no_other_circuit() -> None:
    """0-1 have demand; 2-3 is lit and must not stay, and 4-5 is lit.

    Connecting 2-4 and 3-5 would give one more circuit, but would remove one that no rule requires
    to change.
    """
    matrix = np.zeros((6, 6), np.int64)
    matrix[0, 1] = 5
    rules = Rules(apart={(2, 3)})
    options = {"up": [(2, 3), (4, 5)], "unrequested": "keep"}
    plan = control.plan(control.Demand(matrix), "edmonds", rules=rules, **options)
    assert plan.circuits is not None
    pairs = set(zip(plan.circuits.a.tolist(), plan.circuits.b.tolist(), strict=True))
    assert pairs == {(0, 1), (4, 5)}


@pytest.mark.parametrize(
    ("rules", "stays"),
    [
        (Rules(apart=frozenset({(0, 1)})), {(2, 3), (4, 5), (6, 7)}),
        (Rules(down=frozenset({(0, 0)})), {(2, 3), (4, 5), (6, 7)}),
    ],
)
def test_a_rule_breaks_only_the_circuits_that_it_concerns(
    rules: Rules, stays: set[tuple[int, int]]
) -> None:
    """Racks 2 to 7 are connected in pairs and have no demand; the rule concerns racks 0 and 1."""
    matrix = np.zeros((8, 8), np.int64)
    matrix[2, 3] = 5
    up = [(0, 1), (2, 3), (4, 5), (6, 7)]
    found = {(a, b) for a, b, _ in lit(control.plan(matrix, "edmonds", up=up, rules=rules))}
    assert found == stays


def test_circuits_that_are_up_count_only_where_they_may_stay() -> None:
    """0-1 is lit and has a bonus, but is forbidden: the result is 0-2 and 1-3, which weigh more."""
    demand = np.zeros((4, 4), int)
    demand[0, 1], demand[0, 2], demand[1, 3], demand[2, 3] = 9, 5, 5, 1
    up, rules = [(0, 1)], Rules(apart=frozenset({(0, 1)}))
    plan = control.plan(demand, "edmonds", up=up, bonus="100 B", rules=rules)
    assert [(a, b) for a, b, _ in lit(plan)] == [(0, 2), (1, 3)]


MINE = """
class Pairs:
    def __init__(self, stubborn=False):
        self.stubborn = stubborn

    def decide(self, demand, switch):
        free = [r for r in range(switch.racks) if switch.works[0, r]]
        if self.stubborn:
            return [(0, 1)]
        return [
            (a, b) for a, b in zip(free[::2], free[1::2]) if demand[a, b] or demand[b, a]
        ]
"""


def test_a_policy_of_one_s_own_sees_ports_that_are_down_and_is_held_to_the_rest(
    tmp_path: Path,
) -> None:
    (tmp_path / "mine.py").write_text(MINE)
    demand = np.ones((6, 6), int) - np.eye(6, dtype=int)
    mine = f"{tmp_path}/mine.py:Pairs"
    rules = Rules(pinned=((1, 4, 0),), down=frozenset({(0, 0)}))
    assert [(a, b) for a, b, _ in lit(control.plan(demand, mine, rules=rules))] == [(1, 4), (2, 3)]
    apart = Rules(apart=frozenset({(0, 1)}))
    with pytest.raises(lightloom.ConfigError, match="which --forbid keeps"):
        control.plan(demand, mine, rules=apart, stubborn=True)


# Rules as users type them


def test_racks_are_found_by_name_whatever_it_holds() -> None:
    names = ["a", "a:b", "b", "7A", "c"]
    read = read_rules(names, pin=["c:a:b"], forbid=["b:c", "7A:a"], down=["7A"], planes=2)
    assert read.as_table() == {
        "pin": [[4, 1, 0]],
        "forbid": [[0, 3], [2, 4]],
        "down": [[3, 0], [3, 1]],
    }


def test_ports_of_the_switch_name_whoever_is_there() -> None:
    ports = PortMap([Port("a", 0, 7, 9), Port("b", 0, 8, 7), Port("b", 1, 7, 7)])
    read = read_rules(["b", "a"], down=["7A"], planes=2, ports=ports)
    assert read.down == {(1, 0), (0, 1)}
    assert read_rules(["b", "a"], down=["7b:1"], planes=2, ports=ports).down == {(0, 1)}


def test_a_pin_takes_the_lowest_plane_that_is_free() -> None:
    read = read_rules(["a", "b", "c", "d"], pin=["a:b", "c:b", "c:d:2"], down=["b:0"], planes=3)
    assert read.pinned == ((0, 1, 1), (2, 1, 2), (2, 3, 2))


BAD = {
    "an unknown rack": ("--pin gpu-0:gpu-9", "--pin = gpu-0:gpu-9: `gpu-9` is no rack of the"),
    "half a pair": ("--forbid gpu-0", "--forbid = gpu-0: no pair of racks; write a:b, by name"),
    "a rack and itself": ("--pin web:web", "--pin = web:web: joins a rack with itself; name two"),
    "another plane": ("--pin gpu-0:web:1", "--pin = gpu-0:web:1: there is plane 0 only; name one"),
    "a plane of a pair": ("--forbid gpu-0:web:0", "--forbid = gpu-0:web:0: `0` is no rack"),
    "an unknown port": ("--down 7A", "--down = 7A: no rack of the demand; write a rack, or rack:p"),
    "no port": (
        f"--port-map {PORTS} --down 9C",
        "--down = 9C: no rack of the demand, and no port; write a rack, or rack:plane",
    ),
    "beyond the switch": (
        f"--port-map {PORTS} --switch-size 16x20 --down 17A",
        "--down = 17A: beyond the switch: its A ports are 1 to 16; correct it, or give its size",
    ),
    "beyond the largest switch": (
        f"--port-map {PORTS} --down 0B",
        "--down = 0B: beyond the switch: its B ports are 1 to 1024; correct it",
    ),
    "down on another plane": ("--down web:3", "--down = web:3: there is plane 0 only"),
    "a pin that is forbidden": (
        "--pin gpu-0:web --forbid web:gpu-0",
        "--pin = gpu-0:web: --forbid keeps these two apart; leave out one of them",
    ),
    "a pin that is down": (
        "--pin gpu-0:web --down web",
        "--pin = gpu-0:web: the port of web on plane 0 is down; leave out one of them",
    ),
    "two pins at a port": (
        "--pin gpu-0:web --pin web:cache",
        "--pin = web:cache: another circuit that is pinned has the port of web; leave out one",
    ),
    "two senders for one": (
        "-a assignment --pin gpu-0:web --pin gpu-1:web",
        "--pin = gpu-1:web: another circuit that is pinned has the port of web",
    ),
    "a pin among many ports": (
        "-a hydra --ports 2 --pin gpu-0:web",
        "--pin = (given): hydra can keep existing circuits only with one port per node",
    ),
    "no demand for a schedule": (
        "-a eclipse --down gpu-0 --down gpu-1 --down gpu-2 --down gpu-3 --down web --down cache "
        "--forbid store-0:store-1",
        "--forbid = (given): with these rules, no demand is left for a schedule; give fewer",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_rules_that_cannot_be_are_refused(case: str) -> None:
    words, expected = BAD[case]
    words = words if "-a" in words.split() else f"-a edmonds {words}"
    done = CliRunner().invoke(app, ["plan", str(EIGHT), *shlex.split(words)])
    assert (done.exit_code, done.stdout) == (2, "")
    assert expected in done.stderr
    assert done.stderr.count("\n") == 1


def test_names_with_colons_may_be_ambiguous() -> None:
    with pytest.raises(lightloom.ConfigError, match="fits several pairs"):
        read_rules(["a", "b:c", "a:b", "c"], pin=["a:b:c"])


def test_rules_are_in_the_plan_and_told(tmp_path: Path) -> None:
    words = "-a edmonds --pin gpu-0:web --forbid gpu-1:gpu-2 --down cache"
    done = CliRunner().invoke(app, ["plan", str(EIGHT), *words.split(), "-o", f"{tmp_path}/p.json"])
    assert done.exit_code == 0, done.stderr
    for rule in ("rules    1 pinned, ", "1 pair kept apart, ", "1 port down"):
        assert rule in done.stdout
    table = json.loads((tmp_path / "p.json").read_text())
    assert table["rules"] == {"pin": [[0, 6, 0]], "forbid": [[1, 2]], "down": [[7, 0]]}
    assert {(row["a"], row["b"]) for row in table["circuits"]} >= {(0, 6)}


def test_a_rack_without_a_port_may_be_down(tmp_path: Path) -> None:
    rows = PORTS.read_text().splitlines(keepends=True)
    (tmp_path / "p.csv").write_text("".join(row for row in rows if not row.startswith("web")))
    words = ["plan", str(EIGHT), "-a", "edmonds", "--port-map", str(tmp_path / "p.csv")]
    assert CliRunner().invoke(app, words).exit_code == 2
    done = CliRunner().invoke(app, [*words, "--down", "web", "--as", "sonic"])
    assert done.exit_code == 0, done.stderr
    assert len(done.stdout.splitlines()) == 6


@pytest.mark.parametrize(
    ("words", "note"),
    [
        ("--down 20B --switch-size 16x20", "20B is down: {} has no rack there"),
        ("--down 15a", "15a is down: the port of spare, a rack without demand"),
        ("--down spare", "spare is down: a rack without demand"),
        ("--down 7A", ""),
    ],
)
def test_ports_down_that_nobody_uses_are_noted(words: str, note: str, tmp_path: Path) -> None:
    ports = tmp_path / "p.csv"
    ports.write_text(PORTS.read_text() + "spare,0,15,15,\n")
    base = ["plan", str(EIGHT), "-a", "edmonds", "--port-map", str(ports), "--as", "sonic"]
    done = CliRunner().invoke(app, [*base, *words.split()])
    assert done.exit_code == 0, done.stderr
    same = done.stdout == CliRunner().invoke(app, base).stdout
    assert same == bool(note), "a port that a rack with demand uses counts, others do not"
    line = f"note: {note.format(ports)}: nothing to leave out"
    assert (line in done.stderr) if note else ("nothing to leave out" not in done.stderr)
