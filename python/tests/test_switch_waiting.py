"""Waiting for steady light: the reference is the light of the emulated switch on a virtual
clock."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lightloom.switches import waiting
from lightloom.switches.changes import requested
from lightloom.switches.design import MS, Design
from lightloom.switches.emulated import EmulatedSwitch
from lightloom.switches.faults import Fault
from lightloom.switches.optics import TUNED_WITHIN_DB
from lightloom.switches.ports import Port
from lightloom.switches.protocol import NO_STATUS, CrossConnect, Outcome, Reading, SwitchError
from lightloom.switches.states import Status
from lightloom.switches.waiting import find_dark, wait_for_light, wait_until_settled


class Clock:
    """The clock of the switch, with the interface of `time`."""

    def __init__(self, switch):
        self.switch = switch

    def monotonic(self):
        return self.switch.now / 1e12

    def sleep(self, seconds):
        self.switch.now += round(seconds * 1e12)


@settings(max_examples=60, deadline=None)
@given(settle_ms=st.integers(1, 20_000))
def test_light_is_steady_only_after_the_switch_has_settled(settle_ms):
    """This holds even if it settles so slowly that readings 10 ms apart hardly differ."""
    switch = EmulatedSwitch(Design(settle_ps=settle_ms * MS))
    switch.machine.change(0, add=[requested((1, 1))])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(waiting, "time", Clock(switch))
        done = wait_for_light(switch.power, Outcome([], [(1, 1)]), 0.0, 3600.0)
    assert done.settled
    at_last = switch.power()[Port("B", 1)]
    loss = switch.machine.design.optics.loss_db((1, 1))
    assert -loss - TUNED_WITHIN_DB <= at_last <= -loss
    assert done.seconds <= max(0.05, 3 * settle_ms / 1e3)


@pytest.mark.parametrize("status", [Status.FAILED, Status.INVALID])
def test_a_status_that_comes_late_is_waited_for_and_one_that_never_comes_is_a_failure(status):
    switch = EmulatedSwitch(Design())
    early = Reading([CrossConnect((1, 1), "x", status, NO_STATUS)])
    tuned = Reading([CrossConnect((1, 1), "x", Status.CONNECTED)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(waiting, "time", Clock(switch))
        found = iter([early, early, tuned])
        assert wait_until_settled(lambda: next(found), Outcome([], [(1, 1)]), 0.0, 60.0).settled
        switch.now = 0
        with pytest.raises(SwitchError, match=r"1A-1B .* no status"):
            wait_until_settled(lambda: early, Outcome([], [(1, 1)]), 0.0, 60.0)
        assert 2 <= switch.now / 1e12 < 6


def test_states_that_are_not_reported_are_not_said_to_be_settled():
    for status, settled in ((Status.CONNECTED, True), (None, None)):
        reading = Reading([CrossConnect((1, 1), "x", status)])
        assert (
            wait_until_settled(lambda r=reading: r, Outcome([], [(1, 1)]), 0, 1).settled is settled
        )
    with pytest.raises(SwitchError, match="1A-1B was added and"):
        wait_until_settled(lambda: Reading([]), Outcome([], [(1, 1)]), 0, 1)


@settings(max_examples=20, deadline=None)
@given(settle_ms=st.integers(1, 20_000))
def test_a_path_that_settles_is_not_dark_and_one_whose_mirror_is_stuck_is(settle_ms):
    """Light decides if no state is reported."""
    switch = EmulatedSwitch(Design(settle_ps=settle_ms * MS))
    switch.machine.strike(0, Fault("stuck", port=Port("A", 2)))
    pairs = [(1, 1), (2, 2)]
    switch.machine.change(0, add=map(requested, pairs))
    reading = Reading([CrossConnect(pair, "x") for pair in pairs])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(waiting, "time", Clock(switch))
        assert [*find_dark(switch, reading, pairs)] == [(2, 2)]
        assert find_dark(switch, reading, [(1, 1)]) == {}


def test_the_least_power_of_a_monitor_is_no_light():
    """Monitors report -40 dBm for every level below it."""
    switch = EmulatedSwitch(Design())
    reading = Reading([CrossConnect((1, 1), "x")])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(waiting, "time", Clock(switch))
        patch.setattr(switch, "power", lambda: {Port("A", 1): 0.0, Port("B", 1): -40.0})
        assert [*find_dark(switch, reading, [(1, 1)])] == [(1, 1)]
        with pytest.raises(SwitchError, match="1B"):
            wait_for_light(switch.power, Outcome([], [(1, 1)]), 0.0, 1.0)
