"""A circuit that cannot be lit does not delay any other circuit, even of the same owner."""

import random
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest
from controller_support import Lab, matrix

from lightloom.controller.change import Change
from lightloom.controller.parts import Parts
from lightloom.switches.ports import Pair
from lightloom.switches.protocol import SwitchError

CTHROUGH = {"kind": "cthrough", "unrequested": "alone"}
EIGHT = [(port, port) for port in range(1, 9)]


class Sticking:
    """A switch whose mirrors at some A ports do not move; it records the changes that it
    refuses."""

    def __init__(self, lab: Lab, patch: pytest.MonkeyPatch, ports: Collection[int]) -> None:
        self._usual, self.ports = lab.switches["east"].change, ports
        self.refused: list[list[Pair]] = []
        patch.setattr(lab.switches["east"], "change", self)

    def __call__(self, remove: Any, add: Any, **keys: Any) -> Any:
        if any(a in self.ports for a, _ in add):
            self.refused.append([*add])
            raise SwitchError("a mirror does not move")
        return self._usual(remove, add, **keys)


@pytest.mark.parametrize("broken", [{1}, {4}, {8}, {2, 7}, {1, 2, 3}])
def test_of_one_operator_all_circuits_are_lit_but_the_broken_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: set[int]
) -> None:
    """There are two attempts per iteration.

    Once the broken circuits are known, only they are tried again, with increasing pauses, and they
    are lit after their repair.
    """
    lab = Lab(tmp_path)
    switch = Sticking(lab, monkeypatch, broken)
    lab.controller.want("east", EIGHT, "ann")
    for _ in range(8):
        lab.controller.cycle()
        lab.now += 1
    assert lab.lit() == [pair for pair in EIGHT if pair[0] not in broken]
    switch.refused.clear()
    for _ in range(100):
        lab.controller.cycle()
        lab.now += 1
    # Three requests per attempt.
    assert {len(added) for added in switch.refused} == {1}
    assert 3 <= len(switch.refused) <= 3 * 5 * len(broken)
    switch.ports = set()
    lab.now += 601
    for _ in broken:
        lab.controller.cycle()
    assert lab.lit() == EIGHT


def test_a_port_that_a_policy_asks_for_in_vain_costs_only_its_own_circuits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The policy requests a circuit of rack a to another rack at each iteration, and the mirror of
    a is stuck."""
    lab, chance = Lab(tmp_path, policy=CTHROUGH, mode="act"), random.Random(7)
    switch = Sticking(lab, monkeypatch, {1})
    joined = 0
    for _ in range(60):
        size = [chance.randint(1, 9) * 10**6 for _ in range(3)]
        a = (0, chance.randint(1, 3), 10**7)
        lab.send(matrix(a, (1, 2, size[0]), (1, 3, size[1]), (2, 3, size[2])))
        lab.controller.cycle()
        joined += len(lab.lit()) == 2
        lab.now += 10
    assert joined >= 30
    assert len(switch.refused) <= 3 * 20


def test_a_switch_that_refuses_everything_is_asked_less_and_less(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each attempt drains traffic. A lease at ports that have not failed is tried nevertheless."""
    lab = Lab(tmp_path)
    switch = Sticking(lab, monkeypatch, {*range(1, 9)})
    lab.controller.want("east", [(p, p) for p in range(5, 9)], "ann")
    for _ in range(300):
        lab.controller.cycle()
        lab.now += 1
    # For four circuits, with pauses of 2 s, 4 s and so on up to 256 s.
    assert len(switch.refused) <= 3 * 4 * 8
    switch.ports = {5, 6, 7, 8}
    reserve(lab)
    lab.controller.cycle()
    assert lab.lit() == [(1, 2), (2, 1)]


def reserve(lab: Lab) -> None:
    """Creates a lease of racks a and b."""
    from lightloom.controller.leases import reserve as add

    add(lab.store, "east", ("a", "b"), "job", 0, lab.now, lab.now + 1000)


def test_both_ways_of_a_circuit_are_lit_or_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = Lab(tmp_path)
    Sticking(lab, monkeypatch, {1})
    lab.controller.want("east", [(1, 2), (2, 1), (3, 4), (4, 3)], "ann")
    for _ in range(4):
        lab.controller.cycle()
        lab.now += 1
        assert lab.lit() in ([], [(3, 4), (4, 3)])
    assert lab.lit() == [(3, 4), (4, 3)]


def test_a_waiting_change_takes_effect_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = Lab(tmp_path)
    Sticking(lab, monkeypatch, {1})
    lab.controller.want_later("east", [(1, 1), (2, 2)], "ann", 0, None)
    lab.controller.want("east", [(3, 3)], "bob")
    for _ in range(6):
        lab.controller.cycle()
        lab.now += 1
    assert lab.lit() == [(3, 3)]
    assert {request.owner for request in lab.store.intents("east")} == {"operator:bob"}


def test_parts_make_up_the_whole() -> None:
    chance = random.Random(3)
    for _ in range(200):
        before = [*zip(range(1, 7), chance.sample(range(1, 7), 6), strict=True)]
        after = [*zip(range(1, 7), chance.sample(range(1, 7), 6), strict=True)]
        lit, wanted = {*chance.sample(before, 4)}, {*chance.sample(after, 4)}
        whole = Change(sorted(lit - wanted), sorted(wanted - lit))
        parts = Parts(whole, whole.added)
        assert parts.of(parts.all) == whole
        some = chance.sample(parts.all, chance.randint(0, len(parts.all)))
        made = parts.of(some)
        left = (lit - {*made.removed}) | {*made.added}
        assert len({a for a, _ in left}) == len({b for _, b in left}) == len(left)
        assert {*made.removed} <= {*whole.removed}
