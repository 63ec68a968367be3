"""A circuit is two cross-connects unless its owner requests only one: both are lit, or none is."""

import random
from pathlib import Path
from typing import Any

import pytest
from controller_reference import Request, chosen
from controller_support import Lab, matrix

from lightloom.controller.change import change_to, settle
from lightloom.controller.intents import Wanted
from lightloom.controller.leases import reserve
from lightloom.controller.overview import alarms_of
from lightloom.controller.service import UnreachableError
from lightloom.switches.ports import Pair
from lightloom.switches.protocol import SwitchError

CTHROUGH = {"kind": "cthrough", "unrequested": "alone"}
BOTH = [(3, 4), (4, 3)]
ONE_WAY = (3, 7)
"""A cross-connect at a port of one of the two directions."""


def back(pair: Pair) -> Pair | None:
    return None if pair[0] == pair[1] else (pair[1], pair[0])


class Down:
    """A switch that does not answer."""

    def __getattr__(self, name: str) -> Any:
        raise SwitchError("it does not answer")


def conflicts(lab: Lab) -> list[str]:
    return [one["text"] for one in alarms_of(lab.controller) if one["kind"] == "conflict"]


def test_drift_at_one_port_keeps_both_ways_dark(tmp_path: Path) -> None:
    """After its removal both directions are lit.

    Each direction has its conflict, at the port of the foreign cross-connect.
    """
    lab = Lab(tmp_path)
    lab.switches["east"].change([], [ONE_WAY])
    lab.controller.want("east", [*BOTH, (1, 2), (2, 1)], "ann")
    lab.controller.cycle()
    assert lab.lit() == [(1, 2), (2, 1), ONE_WAY]
    texts = conflicts(lab)
    assert len(texts) == 2
    assert [text.split()[0] for text in texts] == ["3A-4B", "4A-3B"]
    assert "3A-4B" in texts[1]
    lab.switches["east"].change([ONE_WAY], [])
    lab.controller.cycle()
    assert lab.lit() == [(1, 2), (2, 1), *BOTH]
    assert conflicts(lab) == []


def test_an_operators_single_cross_connect_keeps_both_ways_dark(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    lab.controller.want("east", [ONE_WAY], "bob", priority=1)
    lab.controller.want("east", BOTH, "ann")
    lab.controller.cycle()
    assert lab.lit() == [ONE_WAY]
    lab.controller.want("east", [], "bob")
    lab.controller.cycle()
    assert lab.lit() == BOTH


def test_a_lit_circuit_that_loses_one_port_to_another_owner_goes_dark(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    lab.controller.want("east", BOTH, "ann")
    lab.controller.cycle()
    lab.controller.want("east", [ONE_WAY], "bob", priority=1)
    lab.controller.cycle()
    assert lab.lit() == [ONE_WAY]


def test_one_way_that_was_asked_for_alone_is_lit_alone(tmp_path: Path) -> None:
    """This also holds if another owner requests the reverse direction, which is blocked."""
    lab = Lab(tmp_path)
    lab.switches["east"].change([], [ONE_WAY])
    lab.controller.want("east", [(4, 3)], "ann")
    lab.controller.want("east", [(3, 4)], "bob")
    lab.controller.cycle()
    assert lab.lit() == [ONE_WAY, (4, 3)]
    assert len(conflicts(lab)) == 1


def test_a_request_for_a_port_that_the_switch_lacks_is_a_conflict(tmp_path: Path) -> None:
    """It was stored while the switch did not answer; it holds no port, and is never tried."""
    lab = Lab(tmp_path)
    east = lab.switches.pop("east")
    lab.switches["east"] = Down()
    controller = lab.begin()
    with pytest.raises(UnreachableError):
        controller.apply("east", [(9, 2), (4, 4)], "ann", 1)
    controller.want("east", [(1, 2)], "bob")
    lab.switches["east"] = east
    assert [one.state for one in controller.cycle()] == ["done"]
    assert lab.lit() == [(1, 2), (4, 4)]
    assert [text.split()[:3] for text in conflicts(lab)] == [["9A-2B", "of", "operator:ann:"]]
    assert str(east.describe().size) in conflicts(lab)[0]
    assert controller.difference("east").is_empty
    assert controller.cycle() == []
    assert [one.state for one in controller.apply("east", [(1, 3)], "bob")] == ["done"]


def test_a_lease_lights_both_ways_or_none(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    lab.switches["east"].change([], [ONE_WAY])
    reserve(lab.store, "east", ("c", "d"), "job", 0, lab.now, lab.now + 100)
    lab.controller.cycle()
    assert lab.lit() == [ONE_WAY]


def test_a_policy_does_not_count_on_half_a_circuit(tmp_path: Path) -> None:
    """The policy requests c – d, of which one direction is blocked, at each interval."""
    lab = Lab(tmp_path, policy=CTHROUGH, mode="act")
    lab.switches["east"].change([], [ONE_WAY])
    for _ in range(3):
        lab.send(matrix((2, 3, 10**9), (0, 1, 10**8)))
        lab.controller.cycle()
        lab.now += 1
        assert lab.lit() == [(1, 2), (2, 1), ONE_WAY]
        policy = {request.pair for request in lab.store.intents("east")}
        assert policy == {(1, 2), (2, 1)}


def test_an_adopted_half_is_completed(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    lab.switches["east"].change([], [(3, 4)])
    lab.controller.want("east", BOTH, "ann")
    lab.controller.cycle()
    assert lab.lit() == BOTH


def test_a_circuit_is_as_old_as_its_younger_way() -> None:
    """A reverse direction that is requested later takes no port from an earlier request."""
    wanted = [
        Wanted((3, 4), "a", 0, 1.0),
        Wanted((4, 7), "b", 0, 2.0),
        Wanted((4, 3), "a", 0, 3.0),
    ]
    had, blocked = settle(wanted, back)
    assert had == {(4, 7): "b"}
    assert [one.pair for one in blocked] == [(3, 4), (4, 3)]
    assert {one.holder for one in blocked} == {"b"}


@pytest.mark.parametrize("seed", range(8))
def test_circuits_are_those_of_the_reference(seed: int) -> None:
    """Compares random requests of four owners on five racks, with drift, with the reference."""
    chance = random.Random(seed)
    ports = range(1, 6)
    halves = 0
    for _ in range(200):
        requests: list[Request] = []
        for owner in "abcd":
            rank, since = chance.randint(0, 2), float(chance.randint(0, 3))
            pairs = [*zip(ports, chance.sample(ports, 5), strict=True)]
            own = chance.sample(pairs, chance.randint(0, 4))
            requests += [(rank, since, pair, owner) for pair in own]
        lit = chance.sample([*zip(ports, chance.sample(ports, 5), strict=True)], 3)
        owned = {pair for pair in lit if chance.random() < 0.5}
        order = sorted(requests, key=lambda one: (-one[0], *one[1:3]))
        wanted = [Wanted(pair, owner, rank, since) for rank, since, pair, owner in order]
        change = change_to(lit, wanted, owned, other_way=back)
        had = chosen(requests, lit, {*lit} - owned)
        assert {*change.kept, *change.added} == had.keys()
        assert {one.pair for one in change.conflicts} >= {w[2] for w in requests} - had.keys()
        halves += change_to(lit, wanted, owned) != change
    assert halves > 20
