"""Present circuits: identified by name or number in plans and lists, and kept."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_support import lightloom
from hypothesis import given, settings
from hypothesis import strategies as st
from plan_support import (
    a_folder,
    as_csv,
    matrix,
    named,
    table,
)
from typer.testing import CliRunner

import lightloom as lightloom_package
from lightloom import control
from lightloom.cli import app
from lightloom.control.current import read_circuits

FOUR = ["a", "b", "c", "d"]
EVEN = table(FOUR, [1] * 12)
"""All matchings weigh the same, so lit circuits stay."""


def planned(folder: Path, columns: Sequence[str], up: str) -> dict[str, Any]:
    path = as_csv(folder, table(columns, [1] * 12), sorted(columns), columns)
    done = lightloom(*("plan", path, "-a", "edmonds", "--hysteresis", up, "--json"), cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def pairs(plan: dict[str, Any]) -> set[frozenset[str]]:
    names = plan["demand"]["names"]
    return {frozenset((names[c["a"]], names[c["b"]])) for c in plan["circuits"]}


def current(folder: Path, content: object) -> str:
    (folder / "up.json").write_text(json.dumps(content), encoding="utf-8")
    return "up.json"


def old_plan(
    circuits: list[tuple[object, object]], names: object, nodes: object = 4
) -> dict[str, Any]:
    return {
        "format": "lightloom-plan/1",
        "demand": {"nodes": nodes, "names": names},
        "circuits": [{"a": a, "b": b, "bytes": 1} for a, b in circuits],
    }


@settings(max_examples=6, deadline=None, derandomize=True)
@given(st.permutations(FOUR), st.permutations(FOUR))
def test_a_plan_s_circuits_are_kept_in_another_order(before: list[str], after: list[str]) -> None:
    up = [(before[0], before[3]), (before[1], before[2])]
    with a_folder() as folder:
        first = planned(folder, before, current(folder, [[0, 3], [1, 2]]))
        assert pairs(first) == {*map(frozenset, up)}
        second = planned(folder, after, current(folder, first))
    assert pairs(second) == pairs(first)
    assert second["kept"] == 2


@pytest.mark.parametrize(
    "content",
    [
        [["d", "a"], ["b", "c"]],
        {"circuits": [{"a": "d", "b": "a"}, {"a": "b", "b": "c"}]},
        # `x` is no longer present, but had no circuit; `a` to `d` have other numbers.
        old_plan([(1, 4), (3, 2)], ["x", "d", "c", "b", "a"], 5),
        old_plan([("d", "a"), ("b", "c")], ["a", "b", "c", "d"]),
        old_plan([(0, 1), (2, 3)], ["c", "b", "d", "a"]),
    ],
)
def test_circuits_are_found_by_name(content: object, tmp_path: Path) -> None:
    plan = planned(tmp_path, ["b", "d", "c", "a"], current(tmp_path, content))
    assert pairs(plan) == {frozenset("ad"), frozenset("bc")}
    assert plan["kept"] == 2


@pytest.mark.parametrize(
    "content",
    [
        [[0, 3], [1, 2]],
        {"circuits": [{"a": 0, "b": 3}, {"a": 1, "b": 2}]},
    ],
)
def test_circuits_without_names_are_found_by_number(content: object, tmp_path: Path) -> None:
    plan = planned(tmp_path, ["b", "d", "c", "a"], current(tmp_path, content))
    assert pairs(plan) == {frozenset("ba"), frozenset("dc")}


@pytest.mark.parametrize("content", [old_plan([(0, 3), (1, 2)], None), [[0, 3], [1, 2]]])
def test_demand_without_names_takes_numbers(content: object, tmp_path: Path) -> None:
    np.save(tmp_path / "d.npy", matrix(EVEN, FOUR))
    up = current(tmp_path, content)
    done = lightloom("plan", "d.npy", "-a", "edmonds", "--hysteresis", up, "--json", cwd=tmp_path)
    circuits = json.loads(done.stdout)["circuits"]
    assert [(c["a"], c["b"]) for c in circuits] == [(0, 3), (1, 2)]


UP = {
    "a rack that left": (
        ["a", "b"],
        old_plan([(0, 1), (2, 3)], FOUR),
        "up.json: circuits[1] = c: no node of the demand; leave its circuit out, or give it a row",
    ),
    "a rack of the list that left": (
        ["a", "b"],
        [["a", "gpu-9"]],
        "up.json: circuits[0] = gpu-9: no node of the demand; leave its circuit out, or",
    ),
    "names for no names": (
        None,
        [["a", "b"]],
        "up.json: circuits[0] = a: the demand does not name its nodes; give their numbers",
    ),
    "fewer nodes": (
        None,
        old_plan([(0, 1), (2, 3)], FOUR),
        "up.json: a plan for 4 nodes, where the demand has 2; name the nodes of both demands, or",
    ),
    "more nodes": (
        ["a", "b"],
        old_plan([], None, 1),
        "up.json: a plan for 1 node, where the demand has 2; name",
    ),
    "a plan with names for none": (
        None,
        old_plan([(0, 1)], ["a", "b"], 2),
        "up.json: it names its nodes (a, …), and the demand does not; name the nodes of the demand",
    ),
    "a plan without names for some": (
        ["a", "b"],
        old_plan([(0, 1)], None, 2),
        "up.json: the plan numbers its nodes, but the demand names them; create the plan again",
    ),
    "a name and a number": (
        ["a", "b"],
        [["a", 1]],
        'circuits[0] = ["a", 1]: not two nodes; write {"a": 0, "b": 1}, [0, 1] or ["x", "y"]',
    ),
    "a node beyond the plan's": (
        ["a", "b"],
        old_plan([(0, 1), (1, 2)], ["a", "b"], 2),
        "up.json: circuits[1]: node 2, where demand.names has 2; name a file",
    ),
    "a node before the plan's": (
        ["a", "b"],
        old_plan([(0, -1)], ["a", "b"], 2),
        "up.json: circuits[0]: node -1, where demand.names has 2; name a file",
    ),
    "names that are none": (
        ["a", "b"],
        old_plan([(0, 1)], [1, 2], 2),
        "up.json: demand.names: not a list of names; name a file that `lightloom plan -o` wrote",
    ),
    "a number that is none": (
        ["a", "b"],
        old_plan([(0, 1)], None, "2"),
        "up.json: demand.nodes: not a number; name a file",
    ),
    "names twice": (
        ["a", "b"],
        old_plan([(0, 1)], ["a", "a"], 2),
        "up.json: demand.names: two nodes have the same name; name every node once",
    ),
    "to itself": (["a", "b"], [["a", "a"]], "--hysteresis = (0, 0): "),
}


@pytest.mark.parametrize("case", UP)
def test_circuits_of_other_nodes_are_refused(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names, content, expected = UP[case]
    header = "" if names is None else ",".join(names) + "\n"
    (tmp_path / "d.csv").write_text(header + "0,1\n2,0\n")
    monkeypatch.chdir(tmp_path)
    words = ["plan", "d.csv", "-a", "edmonds", "--hysteresis", current(tmp_path, content)]
    done = CliRunner().invoke(app, words)
    assert (done.exit_code, done.stdout) == (2, "")
    assert expected in done.stderr
    assert done.stderr.count("\n") == 1


ENDS = st.one_of(st.integers(-1, 4), st.sampled_from([*FOUR, "x", "a\n", "\ud800"]), st.none())
LISTS = st.lists(st.lists(ENDS, max_size=3) | st.dictionaries(st.sampled_from("ab"), ENDS))
PLANS = st.fixed_dictionaries(
    {"circuits": LISTS | ENDS},
    optional={
        "demand": ENDS
        | st.fixed_dictionaries({"names": st.lists(ENDS, max_size=4) | ENDS, "nodes": ENDS})
    },
)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(LISTS | PLANS | ENDS, st.booleans())
def test_any_json_is_circuits_or_refused(content: object, names: bool) -> None:
    demand = control.Demand(matrix(EVEN, FOUR), FOUR if names else [])
    with a_folder() as folder:
        path = folder / current(folder, content)
        try:
            found = read_circuits(path, demand)
        except lightloom_package.ConfigError as problem:
            assert str(problem).startswith(str(path))
            assert "\n" not in str(problem)
        else:
            assert all(type(end) is int and end >= 0 for pair in found for end in pair)


@pytest.mark.parametrize("text", ["[[" + "1" * 5_000 + ", 2]]", "[" * 100_000, "\xe9"])
def test_what_is_no_json_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "up.json").write_bytes(text.encode("latin-1"))
    refused = r"(not JSON .*|not UTF-8|no circuits .*); name a file that `lightloom plan"
    with pytest.raises(lightloom_package.ConfigError, match=refused):
        read_circuits(tmp_path / "up.json", control.Demand(matrix(EVEN, FOUR)))


def test_python_names_circuits_that_are_up() -> None:
    demand = control.Demand(matrix(EVEN, FOUR), FOUR)
    for up in ([("d", "a"), ("c", "b")], np.array([["a", "d"], ["b", "c"]]), [(0, 3), ("c", 1)]):
        plan = control.plan(demand, "edmonds", up=up)
        assert named(plan) == {("a", "d"), ("b", "c")}
        assert plan.options["up"] == [[0, 3], [1, 2]]


@pytest.mark.parametrize(
    ("names", "up", "expected"),
    [
        (FOUR, [("a", "b"), ("c", "x")], "up[1] = x: no node of the demand; leave its circuit out"),
        ([], [("a", "b")], "up[0] = a: the demand does not name its nodes; give their numbers"),
        (FOUR, ["ab"], "up[0] = a: not a whole number; give one"),
        (FOUR, [("a",)], "up[0] = (0,): not two numbers; give pairs"),
    ],
)
def test_python_is_told_of_other_nodes(names: list[str], up: Any, expected: str) -> None:
    demand = control.Demand(matrix(EVEN, FOUR), names)
    with pytest.raises(lightloom_package.ConfigError) as caught:
        control.plan(demand, "edmonds", up=up)
    assert str(caught.value).startswith(expected)
