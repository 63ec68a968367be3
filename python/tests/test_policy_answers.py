"""Invalid return values of `decide`, and the errors about them."""

import numpy as np
import pytest
from policy_support import Write, experiment, run

import lightloom
from lightloom.policies import Circuits, Switch
from lightloom.policies import Path as Route
from lightloom.policies.answers import read


@pytest.mark.parametrize(
    ("returned", "shown", "said"),
    [
        ("[(0, 1), (1, 2)]", "[(0, 1), (1, 2)]", "rack 1 has no port left that is free"),
        ("[(0, 8)]", "[(0, 8)]", "racks are 0 to 7, planes 0 to 0"),
        ("[(0, 1, 1)]", "[(0, 1, 1)]", "racks are 0 to 7, planes 0 to 0"),
        ("[(3, 3)]", "[(3, 3)]", "joins a rack with itself"),
        ("[(0, -1)]", "[(0, -1)]", "racks and planes are counted from 0"),
        ("[(0, 2**40)]", "[(0, 1099511627776)]", "beyond what can be counted"),
        ("[(0, 1.5)]", "[(0, 1.5)]", "1.5 is not a whole number"),
        ("[(0, float('nan'))]", "[(0, nan)]", "nan is not a number"),
        (
            "np.array([[0, np.nan]])",
            "array([[ 0., nan]])",
            "circuits[0] = [0.0, nan]: nan is not a",
        ),
        (
            "np.array([[0, 1], [2, np.inf]])",
            "array([[ 0.",
            "circuits[1] = [2.0, inf]: inf is not a",
        ),
        ("np.array([[0.0, 1.0]])", "array([[0., 1.]])", "0.0 is not a whole number"),
        ("[(True, 2)]", "[(True, 2)]", "True is not a whole number"),
        ("[('a', 'b')]", "[('a', 'b')]", "'a' is not a whole number"),
        ("[(0, 1, 0, 0)]", "[(0, 1, 0, 0)]", "no circuit, which has two racks"),
        ("[0, 1]", "[0, 1]", "no circuit, which has two racks"),
        ("np.zeros((2, 4), int)", "array([[0, 0, 0, 0],", "an array of 2 × 4"),
        ("demand", "array([[", "an array of 8 × 8, not of 2 or 3 columns"),
        ("7", "7", "of type int"),
        ("'0-1'", "'0-1'", "of type str"),
        ("{0: 1}", "{0: 1}", "of type dict"),
        ("(p for p in [])", "<generator", "of type generator"),
        ("Circuits(3)", "Circuits(pairs=3", "of type int"),
        ("Circuits([(0, 1)], directed=2)", "Circuits(pairs=", "neither True nor False"),
        ("Circuits([(0, 1), (2, 1)], directed=True)", "Circuits(", "rack 1 has no port left"),
        ("Circuits([(0, 1)], routes=[[0, 2]])", "Circuits(", "a circuit that is not requested"),
        ("Circuits([(0, 1)], routes=[[0]])", "Circuits(", "visits two racks or more"),
        ("Circuits([(0, 1)], routes=[[0, 1, 0]])", "Circuits(", "visits a rack twice"),
        ("Circuits([(0, 1)], routes=[Path([0, 1], [])])", "Circuits(", "1 circuit, on 0 planes"),
        ("Circuits([(0, 1)], routes=[[0, 2**40]])", "Circuits(", "beyond what can be counted"),
        ("Circuits([(0, 1)], routes=[Path([0, 1], [2**32])])", "Circuits(", "beyond what can be"),
        ("Circuits([(0, 1)], routes=[Path([0, 1], 3)])", "Circuits(", "planes = 3 is no list"),
        ("Circuits([(0, 1)], routes=[Path([0, 1], [None])])", "Circuits(", "None is not a whole"),
        ("Circuits([(0, 1)], routes=3)", "Circuits(", "no list of paths"),
        ("round_robin(5, day='1 ms', night='0 s')", "Schedule(", "the switch has 8 racks"),
        ("Schedule(np.zeros((1, 8), int), [10], 0)", "Schedule(", "slots[0].permutation[2]"),
        ("Schedule(np.arange(8)[None] * 1.0, [10], 0)", "Schedule(", "of type float64"),
        ("Schedule(np.arange(8)[None], [10, 20], 0)", "Schedule(", "days of shape (2,)"),
        ("Schedule(np.arange(8)[None], [0], 0)", "Schedule(", "a day must be longer than 0"),
        ("Schedule(np.arange(8)[None], [10], -1)", "Schedule(", "night"),
    ],
)
def test_what_it_may_not_return_is_refused_by_name(
    write: Write, returned: str, shown: str, said: str
) -> None:
    head = (
        "from lightloom.control import Schedule, round_robin\n"
        "from lightloom.policies import Circuits, Path"
    )
    mine = write(f"return {returned}", head=head)
    with pytest.raises(lightloom.ConfigError) as refused:
        run(mine)
    problem = refused.value
    assert problem.key == "fabric.policy"
    assert problem.value == f'"{mine}" at 20 ms'
    assert problem.limit is not None
    assert problem.limit.startswith(f"decide() = {shown}")
    assert said in problem.limit
    assert problem.remedy
    assert problem.__cause__ is None


def test_what_raises_while_it_is_read_is_told_from_decide(write: Write) -> None:
    head = "class Odd:\n    def __index__(self): raise RuntimeError('no')"
    mine = write("return [(0, Odd())]", head=head)
    with pytest.raises(lightloom.ConfigError) as refused:
        run(mine)
    problem = refused.value
    assert isinstance(problem.__cause__, RuntimeError)
    assert problem.limit is not None
    assert problem.limit.startswith("decide() = [(0, <")
    assert problem.limit.endswith("reading it raised RuntimeError: no")
    assert problem.remedy == "correct line 3 of mine.py"


def test_circuits_on_broken_ports_are_refused(write: Write) -> None:
    fault = {"element": "optical-port", "node": 5, "at": "30 ms"}
    table = {**experiment({"policy": write("return [(0, 5)]")}), "fault": [fault]}
    with pytest.raises(lightloom.ConfigError, match=r"at 40 ms.*rack 5"):
        lightloom.run(table)


def test_kinds_of_answers_are_not_mixed(write: Write) -> None:
    head = "from lightloom.policies import Circuits\nfrom lightloom.control import round_robin"
    members = "    asked = 0"
    body = "self.asked += 1\nreturn [(0, 1)] if self.asked == 1 else "
    turns = 'round_robin(switch.racks, day="1 ms", night="0 s")'
    for other, said in [
        (turns, "it decided earlier on circuits"),
        ("Circuits([(2, 3)], directed=True)", "it decided earlier on circuits of both directions"),
    ]:
        mine = write(body + other, head=head, members=members)
        with pytest.raises(lightloom.ConfigError, match=said):
            run(mine)


def test_the_order_of_a_change_is_one_that_there_is(write: Write) -> None:
    mine = write("return []", members='    order = "at-once"')
    with pytest.raises(lightloom.ConfigError, match="order = 'at-once'"):
        run(mine)


def test_numbers_of_numpy_are_as_good_as_pythons() -> None:
    switch = Switch(racks=4, planes=2)
    rows = [(0, 1, 0), (2, 3, 0)]
    for pairs in (
        np.array([[0, 1], [2, 3]], np.uint8),
        [np.array([0, 1]), np.array([2, 3])],
        ((np.int64(0), 1), [2, np.int16(3)]),
        [(0, 1, 0), (2, 3)],
    ):
        assert read(pairs, switch) == (rows, (False, None))
    for nothing in ([], np.zeros((0, 2)), np.array([])):
        assert read(nothing, switch) == ([], (False, None))
    # A path without planes uses the lowest plane that connects its racks.
    found = read(Circuits([(0, 1, 1), (0, 1, 0), (1, 2, 1)], routes=[(0, 1, 2)]), switch)
    assert found is not None
    assert found[1] == (False, [([0, 1, 2], [0, 1])])
    found = read(Circuits([(0, 1, 1)], routes=[Route([0, 1], [1])]), switch)
    assert found is not None
    assert found[1] == (False, [([0, 1], [1])])
