"""Every fault on every face, from the view of the driver; the emulated switch is the reference
for the completed part."""

import asyncio
import time

import pytest
from switch_support import served

from lightloom.switches.changes import RefusedError, requested
from lightloom.switches.design import Design
from lightloom.switches.drivers import _ssh, scpi, tl1
from lightloom.switches.faults import Fault
from lightloom.switches.host import CutError, Host, SilentError
from lightloom.switches.ports import Port, Size
from lightloom.switches.protocol import Outcome, SwitchError
from lightloom.switches.states import Status
from lightloom.switches.targets import open_target

FACES = {
    "scpi": ("scpi", "scpi://127.0.0.1:{}"),
    "tl1": ("tl1", "tl1://admin@127.0.0.1:{}"),
    "netconf": ("netconf", "netconf://admin@127.0.0.1:{}"),
    "candidate": ("netconf", "netconf://admin@127.0.0.1:{}?datastore=candidate"),
    "ocp": ("gnmi", "gnmi://127.0.0.1:{}?model=ocp"),
    "sonic-db": ("gnmi", "gnmi://127.0.0.1:{}?model=sonic-db"),
    "sonic": ("ssh", "sonic://admin@127.0.0.1:{}"),
}
REPORTS_STATUS = ("tl1", "ocp", "sonic-db", "sonic")
KEPT, NEW = (8, 8), [(1, 1), (2, 2), (3, 3), (4, 4)]


@pytest.fixture(params=FACES)
def face(request):
    return request.param


class Bench:
    """A served switch with one lit circuit, and its driver."""

    def __init__(self, face, switch):
        self.face, self.switch = face, switch
        kind, form = FACES[face]
        self.target = form.format(switch.ports[kind])
        self.driver = open_target(self.target)
        self.driver.change([], [KEPT])

    def machine(self, act):
        host = self.switch.host
        return self.switch.do(lambda: act(host.machine, host.now))

    def kept_times(self):
        (name,) = self.machine(lambda machine, now: machine.names_at(now, KEPT))
        return self.machine(lambda machine, now: machine.times(now, name))


@pytest.fixture
def bench(face):
    timing = {"settle": "10 ms", "give_up_settles": 12, "cold_boot": "2 s", "warm_boot": "2 s"}
    with served(FACES[face][0], ports="8x8", timing=timing) as switch:
        found = Bench(face, switch)
        before = found.kept_times()
        yield found
        assert found.kept_times() == before  # never disturbed
        found.driver.close()


def waits():
    """Returns the number of tasks of the switch."""
    return len(asyncio.all_tasks())


@pytest.mark.parametrize(("kind", "acted"), [("cut-before", False), ("cut-after", True)])
def test_a_connection_that_is_cut_leaves_what_was_done_unknown(bench, kind, acted):
    bench.switch.strike(Fault(kind))
    with pytest.raises(SwitchError) as caught:
        bench.driver.change([], NEW)
    assert caught.value.done is None
    assert bench.switch.pairs() == sorted([KEPT, *(NEW if acted else [])])
    again = open_target(bench.target)  # read, then repeat the same change
    done = again.change([], NEW)
    assert sorted([*done.added, *done.kept]) == NEW
    assert bool(done.added) is not acted
    again.close()


def test_an_answer_that_never_comes_ends_the_wait(bench, monkeypatch):
    before = bench.switch.do(waits)
    bench.switch.strike(Fault("silent"))
    with monkeypatch.context() as impatient:
        for module in (scpi, tl1, _ssh):
            impatient.setattr(module, "ANSWER_S", 2.0)
        if bench.face in ("ocp", "sonic-db"):
            impatient.setattr(bench.driver._client, "_answer_s", 2.0)
        with pytest.raises(SwitchError) as caught:
            bench.driver.change([], NEW)
    assert caught.value.done is None
    assert bench.switch.pairs() == sorted([KEPT, *NEW])
    until = time.monotonic() + 20
    while bench.switch.do(waits) > before and time.monotonic() < until:
        time.sleep(0.01)  # the client has disconnected, and no task waits for it any more
    assert bench.switch.do(waits) <= before
    # the driver is usable again, and no late answer is taken as that of another request
    assert bench.driver.read().pairs == sorted([KEPT, *NEW])
    assert bench.driver.change(NEW, []).removed == NEW


@pytest.mark.parametrize("kind", ["cut-after", "silent"])
def test_a_change_that_is_refused_leaves_the_fault_to_the_next(kind):
    """The behaviour is the same on all faces, because `Host.change` is their only access to the
    machine."""

    async def act():
        host = Host(Design(size=Size(8, 8)))
        host.strike(Fault(kind))
        host.machine.change(host.now, add=[requested((1, 1))])
        for pair, error in (
            ((2, 1), RefusedError),
            ((2, 2), CutError if kind == "cut-after" else SilentError),
        ):
            with pytest.raises(error):
                await host.change(
                    lambda machine, now, p=pair: machine.change(now, add=[requested(p)])
                )
        await host.change(lambda machine, now: machine.change(now, add=[requested((3, 3))]))
        return sorted(one.pair for one in host.machine.connections(host.now))

    assert asyncio.run(act()) == [(1, 1), (2, 2), (3, 3)]


def test_a_driver_that_was_closed_says_so(bench):
    bench.driver.close()
    if bench.face in ("netconf", "candidate", "sonic"):
        with pytest.raises(SwitchError, match="closed; open it again"):
            bench.driver.read()


def test_half_of_a_bulk_is_told(bench):
    bench.switch.strike(Fault("partial"))
    with pytest.raises(SwitchError) as caught:
        bench.driver.change([], NEW)
    assert bench.switch.pairs() == sorted([KEPT, *NEW[:2]])
    if caught.value.done is not None:
        assert [*caught.value.done.added] == NEW[:2]
    assert bench.driver.change([], NEW).kept == NEW[:2]


def test_a_stuck_mirror_is_a_failure_where_states_or_light_are_reported(bench):
    bench.switch.strike(Fault("stuck", port=Port("B", 2)))
    with pytest.raises(SwitchError, match=r"2A-2B is failed|2B") as caught:
        bench.driver.change([], NEW, wait_s=1)
    assert str(caught.value).startswith(bench.target.partition("?")[0].replace("admin@", ""))
    assert [*caught.value.done.added] == NEW
    assert bench.driver.change(NEW[1:2], []).removed == NEW[1:2]
    if bench.face in REPORTS_STATUS:
        assert bench.driver.read().find((1, 1)).status is Status.CONNECTED


def test_a_failed_port_is_reported(bench):
    bench.driver.change([], NEW)
    bench.switch.strike(Fault("failed", port=Port("B", 2)))
    found = bench.driver.read()
    assert found.ports[Port("B", 2)].value == "FAILED"
    if bench.face in REPORTS_STATUS:
        assert found.find((2, 2)).status is Status.FAILED
        assert found.find((1, 1)).status is Status.CONNECTED


def test_a_change_that_cannot_begin_has_done_nothing(bench):
    bench.switch.strike(Fault("reboot-warm"))
    with pytest.raises(SwitchError) as caught:
        bench.driver.change([], NEW)
    assert caught.value.done == Outcome()


def test_settling_ten_times_as_long_is_waited_for(bench):
    bench.switch.strike(Fault("slow"))
    done = bench.driver.change([], NEW)
    assert done.settled
    seen = bench.machine(lambda machine, now: machine.connections(now))
    assert {one.status for one in seen} == {Status.CONNECTED}
    assert done.seconds >= 0.1


def test_another_client_and_a_stale_entry_are_seen(bench):
    bench.driver.change([], NEW)
    bench.switch.strike(Fault("intruder", add=((1, 5),), remove=((3, 3),)))
    assert bench.driver.read().pairs == sorted([KEPT, (1, 5), (2, 2), (4, 4)])
    bench.switch.strike(Fault("stale", add=((6, 6),)))
    found = bench.driver.read()
    assert (6, 6) in found.pairs
    if bench.face in ("ocp", "sonic-db", "sonic"):  # the others have no such difference
        assert not found.find((6, 6)).configured
        assert bench.driver.change([], [(6, 7)]).added[-1] == (6, 7)
        assert bench.switch.pairs() == sorted([KEPT, (1, 5), (2, 2), (4, 4), (6, 7)])


def test_a_stale_entry_can_be_deleted(bench):
    bench.switch.strike(Fault("stale", add=((6, 6), (7, 7))))
    assert bench.driver.change([(6, 6)], []).removed == [(6, 6)]
    assert bench.switch.pairs() == [(7, 7), KEPT]


@pytest.mark.parametrize("kind", ["warm", "cold"])
def test_a_reboot_ends_connections_and_keeps_what_is_configured(face, kind):
    timing = {"settle": "10 ms", "cold_boot": "2 s", "warm_boot": "2 s"}
    with served(FACES[face][0], ports="8x8", timing=timing) as switch:
        bench = Bench(face, switch)
        before = bench.kept_times()
        switch.strike(Fault(f"reboot-{kind}"))
        with pytest.raises(SwitchError):
            bench.driver.read()
        until = time.monotonic() + 20
        while True:
            try:
                again = open_target(bench.target)
                assert again.read().pairs == [KEPT]
                break
            except SwitchError:
                assert time.monotonic() < until
                time.sleep(0.02)
        again.close()
        bench.driver.close()
        assert (bench.kept_times() == before) is (kind == "warm")


@pytest.mark.parametrize(
    ("kind", "options", "form"),
    [
        ("scpi", {"add_in_use": "replace"}, "scpi://127.0.0.1:{}"),
        ("tl1", {"ent_in_use": "replace"}, "tl1://admin@127.0.0.1:{}"),
        ("ssh", {}, "sonic://admin@127.0.0.1:{}?mode=update"),
    ],
)
def test_what_a_switch_replaces_is_told(kind, options, form):
    with served(kind, options={kind: options}, ports="8x8") as switch:
        driver = open_target(form.format(switch.ports[kind]))
        driver.change([], [(1, 3), (2, 2), (4, 4)])
        done = driver.change([(4, 4)], [(1, 2)])
        assert sorted(done.removed) == [(1, 3), (2, 2), (4, 4)]
        assert switch.pairs() == [(1, 2)]
        driver.close()
