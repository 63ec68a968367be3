"""A request that waits for a checkpoint: no job that runs loses a circuit by it, alone or beside
other requests, also after failures; and it delays no other request."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest
from controller_support import Lab, matrix

from lightloom.controller import deferred, jobs
from lightloom.controller.hooks import NoHook
from lightloom.controller.leases import release, reserve
from lightloom.controller.losses import losses
from lightloom.controller.overview import alarms_of
from lightloom.controller.transaction import Steps
from lightloom.switches.ports import Pair
from lightloom.switches.protocol import SwitchError

AB = [(1, 2), (2, 1)]
AC = [(1, 3), (3, 1)]
AD = [(1, 4), (4, 1)]
CD = [(3, 4), (4, 3)]
CTHROUGH = {"kind": "cthrough", "unrequested": "alone"}
LONG_S = 700.0
"""Longer than any pause before a retry."""


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """The client `op` has joined racks a and b; a job runs on a."""
    made = Lab(tmp_path)
    made.controller.want("east", AB, "op")
    made.controller.cycle()
    train(made)
    return made


def train(lab: Lab) -> None:
    jobs.announce(lab.store, "train", "s", ["a"], 8, lab.now)


def boundary(lab: Lab, length_s: float = 60.0) -> None:
    jobs.set_boundary(lab.store, "train", "s", lab.now, lab.now + length_s, lab.now)


def later(lab: Lab, pairs: list[Pair], who: str = "op", at: float | None = None, rank: int = 0):
    return lab.controller.want_later("east", pairs, who, rank, at)


def waiting(lab: Lab) -> list[str]:
    return [request.who for request in deferred.waiting(lab.store)]


def refuse(lab: Lab, patch: pytest.MonkeyPatch, bad: Collection[Pair]) -> None:
    """The switch refuses each change with one of some cross-connects."""
    act = lab.switches["east"].change

    def change(remove: Any, add: Any, *args: Any, **keys: Any) -> Any:
        if {*bad} & {*remove, *add}:
            raise SwitchError("refused")
        return act(remove, add, *args, **keys)

    patch.setattr(lab.switches["east"], "change", change)


def cycles(lab: Lab, count: int = 14) -> None:
    for _ in range(count):
        lab.controller.cycle()
        lab.now += LONG_S


def test_a_lease_begins_before_a_plan_or_after_it(tmp_path: Path) -> None:
    """A lease needs the port of a request that waits for a checkpoint, and begins at each reading
    of the clock in the plan: the request is then carried out whole, or goes on waiting."""
    outcomes = set()
    for reading in range(40):
        folder = tmp_path / str(reading)
        folder.mkdir()
        lab = Lab(folder)
        later(lab, AC)
        reserve(lab.store, "east", ("a", "b"), "x", 5, lab.now + 0.0001 * reading, lab.now + 100)
        (made,) = lab.controller.cycle()
        is_done = bool(made.plan["deferred"])
        assert {*AC} <= {*lab.lit()} if is_done else waiting(lab) == ["op"]
        outcomes.add(is_done)
    assert outcomes == {True, False}


def test_losses_by_hand() -> None:
    def ways(pair: Pair) -> Pair:
        return pair[::-1]

    assert losses(AB, [], AC) == {*AB}
    assert losses(AB, AB, [*AB, (5, 6)]) == set()
    assert losses(AB, AB, []) == {*AB}
    assert losses(AB, [], [(1, 6)]) == {(1, 2)}
    assert losses(AB, [], [(1, 6)], ways) == {*AB}
    assert losses([*AB, (5, 5)], [], CD) == set()


def test_a_request_that_a_lease_blocks_waits_for_its_own_checkpoint(lab: Lab) -> None:
    reserve(lab.store, "east", ("c", "d"), "x", 0, lab.now, lab.now + 100)
    later(lab, AC)
    lab.controller.cycle()
    boundary(lab)
    lab.controller.cycle()  # whole or not at all: the lease holds C
    assert lab.lit() == [*AB, *CD]
    lab.now += 101
    lab.controller.cycle()
    assert (lab.lit(), waiting(lab)) == (AB, ["op"])
    boundary(lab)
    lab.controller.cycle()
    assert (lab.lit(), waiting(lab)) == (AC, [])


def test_a_circuit_that_a_lease_holds_too_is_given_up_at_a_checkpoint(lab: Lab) -> None:
    reserve(lab.store, "east", ("a", "b"), "x", 0, lab.now, lab.now + 100)
    later(lab, [])
    lab.controller.cycle()
    lab.now += 101
    lab.controller.cycle()
    assert lab.lit() == AB


def test_a_circuit_that_is_requested_again_keeps_its_place(lab: Lab) -> None:
    """Another client has requested its port since."""
    lab.controller.want("east", AC, "bob")
    lab.controller.cycle()
    later(lab, [*AB, (5, 6)], at=lab.now + 1)
    lab.now += 2
    for _ in range(3):
        lab.controller.cycle()
        assert lab.lit()[:2] == AB
    assert lab.lit() == [*AB, (5, 6)]


@pytest.mark.parametrize("over", [False, True])
def test_after_a_crash_nothing_goes_dark_when_the_checkpoint_is_over(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, *, over: bool
) -> None:
    class CrashError(BaseException):
        pass

    def crash(*_: object) -> None:
        raise CrashError

    later(lab, AC)
    boundary(lab)
    with monkeypatch.context() as broken:
        broken.setattr(Steps, "_change", crash)
        with pytest.raises(CrashError):
            lab.controller.cycle()
    lab.now += 3600 if over else 1
    lab.begin()
    assert lab.lit() == (AB if over else AC)
    assert waiting(lab) == (["op"] if over else [])


def test_a_drain_that_takes_longer_than_the_checkpoint_ends_the_change(lab: Lab) -> None:
    class Slow(NoHook):
        def drain(self, switch: str, pairs: object) -> None:
            lab.now += 100

    lab.begin(hook=Slow())
    later(lab, AC)
    boundary(lab)
    assert [one.state for one in lab.controller.cycle()] == ["undone"]
    assert (lab.lit(), waiting(lab)) == (AB, ["op"])


def test_a_change_is_not_tried_again_when_the_checkpoint_is_over(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = []

    def change(*_: object, **__: object) -> None:
        lab.now += 60
        tried.append(lab.now)
        raise SwitchError("no answer")

    later(lab, AC)
    boundary(lab)
    monkeypatch.setattr(lab.switches["east"], "change", change)
    assert [one.state for one in lab.controller.cycle()] == ["undone"]
    assert len(tried) == 1


def test_a_policy_waits_although_a_failing_request_would_take_its_circuit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = Lab(tmp_path, mode="act", policy=CTHROUGH, limits={"when": "at checkpoint"})
    lab.send(matrix((0, 1, 10**9)))
    lab.controller.cycle()
    train(lab)
    refuse(lab, monkeypatch, [(1, 6)])
    lab.controller.want("east", [(1, 6)], "bob")
    for entry in ((0, 1, 10**9), (1, 3, 10**9), (1, 3, 10**9)):
        lab.send(matrix(entry))
        lab.controller.cycle()
        assert lab.lit() == AB
        lab.now += 1


@pytest.mark.parametrize("at_time", [True, False])
def test_a_failing_request_that_stops_a_job_does_not_delay_one_that_stops_none(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, *, at_time: bool
) -> None:
    refuse(lab, monkeypatch, [(4, 1)])
    later(lab, [(5, 6)], "bob")
    if at_time:
        later(lab, AD, at=lab.now + 1)
    else:
        lab.controller.want("east", AD, "op")
    lab.now += 2
    cycles(lab)
    assert lab.lit() == [*AB, (5, 6)]


@pytest.mark.parametrize("rank", [0, 5])
@pytest.mark.parametrize("at_time", [True, False])
def test_a_failing_request_does_not_delay_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, at_time: bool, rank: int
) -> None:
    lab = Lab(tmp_path)
    lab.controller.want("east", AB, "ann", rank)
    lab.controller.cycle()
    refuse(lab, monkeypatch, [(7, 7)])
    at = lab.now + 1 if at_time else None
    later(lab, [(7, 7)], "ann", at, rank)
    later(lab, [(5, 6)], "bob", at)
    lab.now += 2
    cycles(lab)
    assert (lab.lit(), waiting(lab)) == ([*AB, (5, 6)], ["ann"])


def test_a_request_that_shares_a_cross_connect_with_a_failing_one_is_carried_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = Lab(tmp_path)
    refuse(lab, monkeypatch, [(7, 7)])
    later(lab, [(5, 5), (7, 7)], "ann", lab.now + 1)
    later(lab, [(5, 5), (6, 6)], "bob", lab.now + 1)
    lab.now += 2
    cycles(lab)
    assert (lab.lit(), waiting(lab)) == ([(5, 5), (6, 6)], ["ann"])


def test_a_removal_that_is_refused_delays_no_other(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    for who, pair in (("bob", (5, 6)), ("carl", (7, 7)), ("dave", (8, 8))):
        lab.controller.want("east", [pair], who)
    lab.controller.cycle()
    refuse(lab, monkeypatch, [(7, 7)])
    lab.controller.want("east", [], "carl")
    lab.controller.want("east", [], "dave")
    later(lab, [(5, 8)], "bob")
    cycles(lab)
    assert lab.lit() == [*AB, (5, 8), (7, 7)]


def test_a_request_is_carried_out_whole_beside_a_failing_one(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The failing one needs a port of the circuit that it gives up."""
    refuse(lab, monkeypatch, [(1, 6)])
    lab.controller.want("east", [(1, 6)], "bob", 5)
    lab.controller.cycle()
    later(lab, CD)
    boundary(lab)
    lab.now += 1
    lab.controller.cycle()
    assert (lab.lit(), waiting(lab)) == (CD, [])


def test_a_request_that_is_replaced_during_its_change_has_taken_effect(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its circuits stay until the next checkpoint, at which the new request begins."""
    act = lab.switches["east"].change

    def change(*args: Any, **keys: Any) -> Any:
        made = act(*args, **keys)
        later(lab, AD)
        return made

    later(lab, AC)
    boundary(lab)
    with monkeypatch.context() as amid:
        amid.setattr(lab.switches["east"], "change", change)
        lab.controller.cycle()
    lab.now += 100
    lab.controller.cycle()
    assert (lab.lit(), waiting(lab)) == (AC, ["op"])
    boundary(lab)
    lab.controller.cycle()
    assert (lab.lit(), waiting(lab)) == (AD, [])


def test_a_change_of_a_client_carries_out_no_request_of_another(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse(lab, monkeypatch, [(4, 3)])
    later(lab, CD, "carl", lab.now + 1)
    lab.now += 2
    for port in (6, 7):
        (made,) = lab.controller.apply("east", [(5, port)], "bob")
        assert (made.state, made.plan["deferred"]) == ("done", [])


def test_an_undo_restores_although_another_request_is_due(lab: Lab) -> None:
    lab.controller.want("east", AC, "op")
    lab.controller.cycle()
    number = lab.store.transactions("east", limit=1)[0].id
    later(lab, [(1, 6)], "carl", lab.now + 1, 9)
    lab.now += 2
    lab.controller.undo(number, "op")
    assert lab.lit() == AB


def passes(lab: Lab, *entries: tuple[int, int, int]) -> None:
    """Passes every second, then every 30 s; the policy gets this demand."""
    for at in range(60):
        if entries:
            lab.send(matrix(*entries))
        lab.controller.cycle()
        lab.now += 1 if at < 25 else 30


def test_a_policy_still_requests_a_circuit_that_it_could_not_give_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The switch refuses to remove it at the checkpoint, and is repaired after that."""
    lab = Lab(tmp_path, mode="act", policy=CTHROUGH, limits={"when": "at checkpoint"})
    lab.send(matrix((0, 1, 10**9)))
    lab.controller.cycle()
    train(lab)
    boundary(lab)
    with monkeypatch.context() as broken:
        refuse(lab, broken, AB)
        for _ in range(3):
            lab.send(matrix((2, 3, 10**9)))
            lab.controller.cycle()
            lab.now += 1
    assert lab.lit() == [*AB, *CD]
    lab.now += LONG_S
    lab.send(matrix((2, 3, 10**9)))
    lab.controller.cycle()
    assert lab.lit() == [*AB, *CD]


def test_a_request_at_a_time_takes_no_port_of_one_that_begins_with_it(lab: Lab) -> None:
    later(lab, [*AC, (5, 5)])
    later(lab, [(5, 6)], "bob", lab.now + 10, 5)
    lab.now += 11
    boundary(lab)
    lab.controller.cycle()
    assert (lab.lit(), waiting(lab)) == ([*AB, (5, 6)], ["op"])


@pytest.mark.parametrize("of", ["client", "lease", "policy"])
def test_a_circuit_that_a_failing_request_wants_too_is_lit_for_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, of: str
) -> None:
    acts = {"mode": "act", "policy": CTHROUGH} if of == "policy" else {}
    lab = Lab(tmp_path, **acts)
    refuse(lab, monkeypatch, [(7, 7)])
    later(lab, [*AB, (7, 7)], "ann", lab.now + 1)
    lab.now += 2
    if of == "client":
        lab.controller.want("east", AB, "bob")
    elif of == "lease":
        reserve(lab.store, "east", ("a", "b"), "x", 0, lab.now, lab.now + 1e6)
    passes(lab, *([(0, 1, 10**9)] if acts else []))
    assert (lab.lit(), waiting(lab)) == (AB, ["ann"])


def test_a_repaired_request_does_not_wait_for_one_that_shares_a_circuit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = Lab(tmp_path)
    refuse(lab, monkeypatch, [(7, 7)])
    later(lab, [(5, 5), (7, 7)], "ann", lab.now + 1)
    later(lab, [(5, 5), (6, 6)], "bob", lab.now + 1)
    lab.now += 2
    with monkeypatch.context() as broken:
        refuse(lab, broken, [(6, 6)])
        passes(lab)
    lab.now += LONG_S
    passes(lab)
    assert (lab.lit(), waiting(lab)) == ([(5, 5), (6, 6)], ["ann"])


def test_a_request_that_changes_nothing_is_done_beside_a_failing_one(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse(lab, monkeypatch, [(7, 7)])
    lab.controller.want("east", [(7, 7)], "carl")
    lab.controller.cycle()
    later(lab, AB, "bob")
    lab.controller.cycle()
    assert waiting(lab) == []


@pytest.mark.parametrize("crashes", [False, True])
def test_the_rest_of_a_change_is_not_made_when_the_checkpoint_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, crashes: bool
) -> None:
    """The switch deletes one circuit; then the controller crashes, or the answer takes long."""

    class CrashError(BaseException):
        pass

    lab = Lab(tmp_path)
    lab.controller.want("east", [*AB, *CD], "op")
    lab.controller.cycle()
    jobs.announce(lab.store, "train", "s", ["c"], 8, lab.now)
    later(lab, [])
    boundary(lab)
    act, asked = lab.switches["east"].change, []

    def change(remove: Any, add: Any, *args: Any, **keys: Any) -> Any:
        asked.append(remove)
        if len(asked) > 1:
            return act([p for p in remove if p in lab.lit()], add, *args, **keys)
        act(remove[:2], [], *args, **keys)
        lab.now += 120
        raise CrashError if crashes else SwitchError("no answer")

    monkeypatch.setattr(lab.switches["east"], "change", change)
    if crashes:
        with pytest.raises(CrashError):
            lab.controller.cycle()
        lab.begin()
    else:
        lab.controller.cycle()
    assert {*CD} <= {*lab.lit()}
    assert [one.state for one in lab.store.transactions("east", limit=1)] == ["undone"]


def test_circuits_that_two_requests_free_for_others_wait_as_well(tmp_path: Path) -> None:
    """Each of the two blocks a request of another client that needs the same lit circuit."""

    class Slow(NoHook):
        def drain(self, switch: str, pairs: object) -> None:
            lab.now += 100

    lab = Lab(tmp_path)
    for who, pair, rank in (("carl", (1, 2), -3), ("d1", (5, 5), 5), ("d2", (6, 6), 5)):
        lab.controller.want("east", [pair], who, rank)
    lab.controller.cycle()
    lab.controller.want("east", [(1, 5)], "bob", 1)
    lab.controller.want("east", [(6, 2)], "eve", 1)
    lab.controller.cycle()
    train(lab)
    for who in ("d1", "d2"):
        later(lab, [], who, rank=5)
    lab.begin(hook=Slow())
    boundary(lab)
    (made,) = lab.controller.cycle()
    assert (1, 2) in made.pairs("only_at_checkpoint")
    assert (1, 2) in lab.lit()


def test_a_request_that_is_withdrawn_during_the_drain_changes_nothing(lab: Lab) -> None:
    class Withdraws(NoHook):
        def drain(self, switch: str, pairs: object) -> None:
            for one in deferred.waiting(lab.store):
                deferred.end(lab.store, one.id, "op", "withdrawn", lab.now)

    lab.begin(hook=Withdraws())
    later(lab, AC)
    boundary(lab)
    assert [one.state for one in lab.controller.cycle()] == ["undone"]
    assert (lab.lit(), waiting(lab)) == (AB, [])


@pytest.mark.parametrize("is_released", [True, False])
def test_a_lease_that_ends_during_the_drain_makes_nothing_dark(
    tmp_path: Path, is_released: bool
) -> None:
    class Ends(NoHook):
        def drain(self, switch: str, pairs: object) -> None:
            if is_released and lab.now < made.ends:
                release(lab.store, made.id, "x", lab.now)
            lab.now += 200

    lab = Lab(tmp_path)
    lab.controller.apply("east", AB, "op")
    made = reserve(lab.store, "east", ("a", "c"), "x", 0, lab.now, lab.now + 100)
    lab.begin(hook=Ends())
    (change,) = lab.controller.cycle()
    assert (change.state, change.pairs("removed"), lab.lit()) == ("undone", AB, AB)
    assert change.plan["leases"] == [made.id]
    assert lab.controller.cycle() == []
    assert "retry" not in [alarm["kind"] for alarm in alarms_of(lab.controller)]


def test_a_circuit_whose_lease_begins_during_the_drain_stays_lit(tmp_path: Path) -> None:
    class Slow(NoHook):
        def drain(self, switch: str, pairs: object) -> None:
            lab.now += 30

    lab = Lab(tmp_path)
    lab.controller.apply("east", AB, "op")
    reserve(lab.store, "east", ("a", "b"), "x", 0, lab.now + 20, lab.now + 1000)
    (change,) = lab.begin(hook=Slow()).apply("east", AC, "op")
    assert (change.state, change.pairs("removed"), lab.lit()) == ("undone", AB, AB)
    assert lab.controller.cycle() == []
