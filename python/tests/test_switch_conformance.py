"""The conformance test on the switch in this process, on files, and on switches that misbehave:
each check has an input under which it fails."""

import json
import re
import threading
from dataclasses import replace
from functools import partial

import asyncssh
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from switch_support import served

from lightloom.switches import conformance
from lightloom.switches.conformance import Verdict
from lightloom.switches.design import MS, Design
from lightloom.switches.emulated import EmulatedSwitch
from lightloom.switches.faults import Fault
from lightloom.switches.ports import Port, Size
from lightloom.switches.protocol import (
    CrossConnect,
    Outcome,
    Reading,
    SwitchError,
    check_before_sending,
)
from lightloom.switches.states import Admin
from lightloom.switches.stored import StoredSwitch
from lightloom.switches.targets import open_target


def design(**keys):
    return Design(**{"size": Size(8, 8), "settle_ps": 5 * MS, **keys})


class Clock:
    """The time of a switch in process, as `time` has it."""

    def __init__(self, switch):
        self.switch = switch

    def monotonic(self):
        return self.switch.now / 1e12

    def sleep(self, seconds):
        self.switch.now += round(seconds * 1e12)


def timed(switch):
    """The rows of the test, in the time of the switch."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(conformance, "time", Clock(switch))
        return {one.name: one for one in conformance.run(switch)}


def verdicts(switch):
    return {name: one.verdict for name, one in timed(switch).items()}


def failed(switch):
    return {name for name, verdict in verdicts(switch).items() if verdict is Verdict.FAILED}


def test_the_emulated_switch_in_process_passes():
    found = verdicts(EmulatedSwitch(design()))
    # in this process there is no second connection on which light could be sampled
    for name in ("reconfiguration under light", "warm reboot", "cold reboot"):
        assert found.pop(name) is Verdict.SKIPPED
    assert {*found.values()} == {Verdict.PASSED}
    assert len(found) == 12


class Drooping(EmulatedSwitch):
    """A switch whose cross-connects lose `droop_db` more when another one is created."""

    droop_db = 0.0

    def power(self):
        lit = len(self.read().pairs)
        return {
            port: power - (self.droop_db if port == Port("B", 1) and lit > 1 else 0)
            for port, power in super().power().items()
        }


@settings(max_examples=40, deadline=None)
@given(settle_ms=st.integers(1, 20_000))
def test_losses_do_not_depend_on_the_settling_time(settle_ms):
    """The reference is the factory table; the switch reports that it has settled when it is still
    0.5 dB away."""
    switch = EmulatedSwitch(design(settle_ps=settle_ms * MS))
    found = timed(switch)
    table = [switch.machine.design.optics.loss_db((port, port)) for port in range(1, 5)]
    for name, losses in (("loss per path", table), ("keep", [table[0], table[0]])):
        measured = [*map(float, re.findall(r"[0-9]+\.[0-9]+", found[name].detail))]
        assert measured == pytest.approx(losses, abs=0.025), name


@pytest.mark.parametrize(
    ("droop_db", "verdict"), [(0.4, Verdict.PASSED), (0.6, Verdict.FAILED), (0.9, Verdict.FAILED)]
)
def test_a_kept_path_may_lose_half_a_decibel_and_no_more(droop_db, verdict):
    switch = Drooping(design(settle_ps=300 * MS))
    switch.droop_db = droop_db
    assert timed(switch)["keep"].verdict is verdict


def test_a_file_passes(tmp_path):
    file = tmp_path / "lit.json"
    file.write_text('["1A-1B"]')
    # a file refuses a port that is in use, and has no light
    checks = conformance.run(StoredSwitch(file))
    assert Verdict.FAILED not in {one.verdict for one in checks}
    assert json.loads(file.read_text()) == ["1A-1B"]


class Careless(EmulatedSwitch):
    """A switch that reports changes that it does not make, or makes changes that it does not
    report."""

    def __init__(self, kind):
        super().__init__(design())
        self.kind = kind
        self.extra = []
        self.left = {}

    def change(self, remove, add, *, wait_s=60.0):
        if self.kind == "disturbs":
            self.machine.strike(self.now, Fault("failed", port=Port("B", 1)))
        if self.kind == "ignores":
            return Outcome([], [*add], [], True)
        if self.kind == "accepts what its driver refuses":
            check_before_sending(remove, add, self.machine.design.size)
        if self.kind.startswith("accepts") and any(a > 8 or b > 8 or a < 1 for a, b in add):
            return Outcome([], [*add], [], True)
        if self.kind == "complains" and remove and not add and not self._there(remove):
            raise SwitchError("no such cross-connect")
        if self.kind == "creates first" and remove and add:
            self.change([], add)
            return self.change(remove, [])
        if self.kind in ("two in one", "two in one B port") and not remove:
            used = {a for a, _ in super().read().pairs}
            try:
                return super().change(remove, add, wait_s=wait_s)
            except SwitchError:
                if self.kind == "two in one B port" and used & {a for a, _ in add}:
                    raise
                self.extra = [*add]
                return Outcome([], [*add], [], True)
        if self.kind == "half of a refusal" and len(add) == 3:
            super().change(remove, add[:1], wait_s=wait_s)
            raise SwitchError("one of them is in use", Outcome())
        if self.kind == "deletes by port" and remove and not add:
            ports = {a for a, _ in remove}
            remove = [pair for pair in super().read().pairs if pair[0] in ports]
        if self.kind == "stays lit" and len(remove) == 8:
            self.left = {at: dbm for at, dbm in super().power().items() if at.side == "B"}
        again = {*add} <= {*super().read().pairs}
        refused = len(add) == 1 and super().read().pairs == [(1, 1)] and not again
        if (self.kind == "glitches" and not remove and again) or (
            self.kind == "refuses and glitches" and refused
        ):
            for number, _ in super().read().pairs:
                for state in (Admin.POWERED_OFF, Admin.NORMAL):
                    self.machine.set_admin(self.now, Port("A", number), state)
        done = super().change(remove, add, wait_s=wait_s)
        self.extra = []
        if self.kind == "always again" and done.kept:
            return Outcome([], [*add], [], True)
        return done

    def _there(self, pairs):
        return bool({*pairs} & {*super().read().pairs})

    def power(self):
        gain = 5.0 if self.kind == "gains" else 0.0
        found = {at: dbm + gain * (at.side == "B") for at, dbm in super().power().items()}
        return found | self.left

    def read(self):
        found = super().read()
        extra = [CrossConnect(pair, "x") for pair in self.extra]
        return Reading([*found.cross_connects, *extra], found.ports)


@pytest.mark.parametrize(
    ("kind", "check"),
    [
        ("ignores", "create"),
        ("always again", "idempotence"),
        ("disturbs", "keep"),
        ("glitches", "idempotence"),
        ("two in one", "conflict"),
        ("two in one B port", "conflict"),
        ("half of a refusal", "conflict"),
        ("refuses and glitches", "conflict"),
        ("accepts all", "refusal"),
        ("accepts what its driver refuses", "refusal"),
        ("complains", "delete what is not there"),
        ("deletes by port", "delete what is not there"),
        ("stays lit", "bulk"),
        ("gains", "loss per path"),
        ("creates first", "order of an update"),
    ],
)
def test_a_switch_that_misbehaves_fails_the_check(kind, check):
    assert check in failed(Careless(kind))


class Dark(EmulatedSwitch):
    """A switch that reports a state that its light contradicts."""

    def power(self):
        return {port: -60.0 if port.side == "B" else 0.0 for port in super().power()}


def test_a_switch_whose_paths_are_dark_fails_what_looks_at_light():
    assert failed(Dark(design())) == {
        "idempotence",
        "keep",
        "conflict",
        "switching time",
        "loss per path",
    }


@pytest.mark.parametrize("scheme", ["scpi", "gnmi", "netconf", "tl1"])
def test_losses_are_those_of_the_factory_table_on_every_face(scheme):
    """The launch power is 3 dBm; each of two monitor readings has a resolution of 0.01 dB."""
    with served(scheme, ports="8x8", optics={"launch_dbm": 3}) as switch:
        target = f"{scheme}://127.0.0.1:{switch.ports[scheme]}"

        def again():
            return open_target(target)

        checks = {one.name: one for one in conformance.run(again(), again, 30, 8)}
        told = [
            float(text) for text in checks["loss per path"].detail.removesuffix(" dB").split(", ")
        ]
        optics = switch.host.design.optics
        assert told == pytest.approx([optics.loss_db((at, at)) for at in (1, 2, 3, 4)], abs=0.021)


@pytest.mark.parametrize(
    ("face", "target"),
    [("ssh", "sonic://admin@127.0.0.1:{}"), ("gnmi", "gnmi://127.0.0.1:{}?model=sonic-db")],
)
def test_losses_without_monitors_are_those_that_the_factory_table_lists(face, target):
    with served(face, ports="8x8") as switch:
        checks = conformance.run(open_target(target.format(switch.ports[face])), bulk=4)
        found = next(one for one in checks if one.name == "loss per path")
        loss = switch.host.design.optics.loss_db
        expected = ", ".join(f"{loss((at, at)):.2f}" for at in (1, 2, 3, 4))
        assert found.verdict is Verdict.PASSED
        assert found.detail.startswith(f"{expected} dB")


class Measured(EmulatedSwitch):
    """A switch without monitors, but with a factory table."""

    def __init__(self, table):
        super().__init__(design())
        self._table = table

    def describe(self):
        return replace(super().describe(), reports_power=False)

    def power(self):
        return None

    def factory_losses(self):
        return self._table


@pytest.mark.parametrize(
    ("table", "verdict"),
    [
        ({(at, at): 1.5 for at in range(1, 9)}, Verdict.PASSED),
        ({(at, at): 1.5 for at in range(1, 4)}, Verdict.FAILED),
        ({(at, at): 50.0 for at in range(1, 9)}, Verdict.FAILED),
        ({}, Verdict.SKIPPED),
    ],
)
def test_a_factory_table_has_each_path_and_a_loss_that_paths_have(table, verdict):
    assert verdicts(Measured(table))["loss per path"] is verdict


@pytest.mark.parametrize("scheme", ["scpi", "gnmi", "netconf", "tl1", "ssh"])
def test_a_stuck_mirror_fails_on_every_face_and_nothing_is_left(scheme):
    timing = {"settle": "5 ms", "give_up_settles": 3}
    with served(scheme, ports="8x8", timing=timing) as switch:
        switch.strike(Fault("stuck", port=Port("A", 3)))
        target = f"{'sonic' if scheme == 'ssh' else scheme}://127.0.0.1:{switch.ports[scheme]}"
        checks = {one.name: one for one in conformance.run(open_target(target), None, 3, 8)}
        wrong = {one.name for one in checks.values() if one.verdict is Verdict.FAILED}
        assert "bulk" in wrong
        assert "create" not in wrong
        assert switch.pairs() == []


@pytest.mark.parametrize("scheme", ["scpi", "gnmi", "netconf", "tl1", "ssh"])
def test_a_connection_that_is_cut_fails_one_check_and_leaves_nothing(scheme):
    with served(scheme, ports="8x8") as switch:
        switch.strike(Fault("cut-after"))
        target = f"{'sonic' if scheme == 'ssh' else scheme}://127.0.0.1:{switch.ports[scheme]}"
        checks = [*conformance.run(open_target(target), None, 30, 8)]
        assert [one.name for one in checks if one.verdict is Verdict.FAILED] == ["create"]
        assert checks[-1].name == "left as found"
        assert switch.pairs() == []


def test_a_bulk_that_stops_half_way_fails():
    class HalfBulk(EmulatedSwitch):
        def change(self, remove, add, *, wait_s=60.0):
            if len([*add]) > 4:
                self.machine.strike(self.now, Fault("partial"))
            return super().change(remove, add, wait_s=wait_s)

    assert failed(HalfBulk(design())) == {"bulk"}


def in_turn(rows, columns):
    """Returns all pairs; the short tests have each row with one column, and each column."""
    return [
        pytest.param(row, *column, marks=() if at == i % len(columns) else pytest.mark.long)
        for i, row in enumerate(rows)
        for at, column in enumerate(columns)
    ]


@pytest.mark.parametrize(
    ("scheme", "recovery", "told"),
    in_turn(
        ["scpi", "gnmi", "netconf", "tl1", "ssh"],
        [("restore", "kept"), ("remove", "removed"), ("maintain", "kept")],
    ),
)
def test_reboots_over_every_face(scheme, recovery, told):
    timing = {"settle": "5 ms", "cold_boot": "200 ms", "warm_boot": "100 ms"}
    with served(scheme, timing=timing, recovery=recovery) as switch:
        target = f"{'sonic' if scheme == 'ssh' else scheme}://127.0.0.1:{switch.ports[scheme]}"

        def reboot(kind):
            switch.strike(Fault(f"reboot-{kind}"))

        def again():
            return open_target(target)

        checks = {one.name: one for one in conformance.run(again(), again, 30, 8, reboot)}
        assert not [one for one in checks.values() if one.verdict is Verdict.FAILED]
        assert "cross-connects kept" in checks["warm reboot"].detail
        assert f"cross-connects {told}" in checks["cold reboot"].detail


@pytest.mark.parametrize("scheme", ["netconf", "ssh"])
def test_a_connection_is_closed_by_the_thread_of_its_loop(scheme, monkeypatch):
    """Regression: closed by another thread, the connection wrote to a socket that a reboot had just
    closed."""
    closed_by = []
    close = asyncssh.SSHClientConnection.close

    def noted(line):
        closed_by.append(threading.current_thread())
        close(line)

    monkeypatch.setattr(asyncssh.SSHClientConnection, "close", noted)
    with served(scheme, timing={"settle": "5 ms"}) as switch:
        name = "sonic" if scheme == "ssh" else scheme
        device = open_target(f"{name}://127.0.0.1:{switch.ports[scheme]}")
        device.close()
        device.close()
    assert len(closed_by) == 1
    assert closed_by[0] is not threading.main_thread()


@pytest.mark.parametrize("scheme", ["scpi", "gnmi", "netconf", "tl1", "ssh"])
def test_a_switch_that_releases_ports_slowly_passes(scheme):
    """The old and the new connection between two ports exist at the same time."""
    timing = {"settle": "10 ms", "release": "20 ms"}
    with served(scheme, ports="8x8", timing=timing) as switch:
        target = f"{'sonic' if scheme == 'ssh' else scheme}://127.0.0.1:{switch.ports[scheme]}"
        driver = open_target(target)
        for gone, new in (([], [(1, 1)]), ([(1, 1)], []), ([], [(1, 1)])):
            done = driver.change(gone, new)
        assert done.settled
        assert done.seconds >= 0.01
        state = switch.do(lambda: switch.host.machine.connections(switch.host.now))
        assert [one.status.value for one in state] == ["CONNECTED"]
        names = {one.name for one in driver.read().cross_connects}
        assert len(names) == 1
        driver.change([(1, 1)], [])
        checks = [*conformance.run(driver, None, 30, 8)]
        assert not [one for one in checks if one.verdict is Verdict.FAILED]


def test_a_warm_reboot_that_darkens_fails():
    timing = {"settle": "5 ms", "cold_boot": "100 ms"}
    with served("scpi", timing=timing, recovery="remove") as switch:

        def again():
            return open_target(f"scpi://127.0.0.1:{switch.ports['scpi']}")

        def reboot(kind):
            switch.strike(Fault("reboot-cold"))

        checks = {one.name: one for one in conformance.run(again(), again, 30, 8, reboot)}
        assert checks["warm reboot"].verdict is Verdict.FAILED


@pytest.mark.parametrize(
    ("scheme", "kind", "failed"),
    in_turn(["scpi", "gnmi"], [("warm", {"warm reboot"}), ("cold", {"cold reboot"})]),
)
def test_a_reboot_after_which_light_is_lost_or_moves_fails(scheme, kind, failed):
    """Cross-connects that are listed as before may be dark, or be tuned anew."""
    timing = {"settle": "100 ms", "cold_boot": "100 ms", "warm_boot": "50 ms"}
    timing["give_up_settles"] = 100
    with served(scheme, ports="4x4", timing=timing) as switch:

        def again():
            return open_target(f"{scheme}://127.0.0.1:{switch.ports[scheme]}")

        def reboot(asked):
            if asked == kind == "cold":
                switch.strike(Fault("stuck", port=Port("B", 1)))
            switch.strike(Fault(f"reboot-{asked}"))
            if asked == kind == "warm":
                switch.strike(Fault("slow", factor=60))  # 6 s: longer than any reconnection
                host = switch.host
                for state in (Admin.POWERED_OFF, Admin.NORMAL):
                    act = partial(host.machine.set_admin, admin=state, port=Port("A", 1))
                    switch.do(lambda act=act: act(host.now))
                switch.strike(Fault("clear"))

        found = {one.name: one for one in conformance.run(again(), again, 3, 4, reboot)}
        unfit = {name for name, one in found.items() if one.verdict is Verdict.FAILED}
        assert unfit == failed


@pytest.mark.parametrize("scheme", ["scpi", "gnmi", "netconf", "tl1", "ssh"])
def test_failed_ports_are_named(scheme):
    with served(scheme, ports="8x8") as switch:
        for port in (Port("A", 3), Port("B", 4)):
            switch.strike(Fault("failed", port=port))
        target = f"{'sonic' if scheme == 'ssh' else scheme}://127.0.0.1:{switch.ports[scheme]}"
        checks = [*conformance.run(open_target(target), None, 30, 8)]
        unfit = [(one.name, one.detail) for one in checks if one.verdict is Verdict.FAILED]
        assert unfit == [("ports", "3A, 4B: failed, and not tested")]


def test_a_switch_that_removes_all_in_a_reboot_is_left_as_it_was_found():
    timing = {"settle": "5 ms", "cold_boot": "100 ms", "warm_boot": "50 ms"}
    with served("gnmi", ports="8x8", timing=timing, recovery="remove") as switch:

        def again():
            return open_target(f"gnmi://127.0.0.1:{switch.ports['gnmi']}")

        def reboot(asked):
            switch.strike(Fault(f"reboot-{asked}"))

        before = [(1, 2), (2, 3)]
        again().change([], before)
        found = {one.name: one for one in conformance.run(again(), again, 30, 4, reboot)}
        assert not [one for one in found.values() if one.verdict is Verdict.FAILED]
        assert "removed, and created again" in found["cold reboot"].detail
        assert found["left as found"].detail == "2 cross-connects"
        assert switch.pairs() == before


def test_too_few_free_ports_are_told():
    switch = EmulatedSwitch(design(size=Size(4, 4)))
    switch.change([], [(1, 1)])
    (only,) = conformance.run(switch)
    assert only.verdict is Verdict.FAILED
    assert "fewer than 4" in only.detail


def test_a_stuck_mirror_of_a_switch_whose_settling_only_deviates_fails():
    """The check fails after 20 deviations, which are 40 billion picoseconds."""
    switch = EmulatedSwitch(design(settle_ps=0, deviation_ps=2 * MS))
    switch.machine.strike(0, Fault("stuck", port=Port("A", 2)))
    with pytest.raises(SwitchError, match="2A-2B is failed: "):
        switch.change([], [(2, 2)])
    assert switch.now == 40 * MS


def test_a_cross_connect_that_does_not_settle_in_process_is_an_error():
    switch = EmulatedSwitch(design())
    switch.machine.strike(0, Fault("stuck", port=Port("A", 2)))
    with pytest.raises(SwitchError, match="2A-2B is failed: ") as caught:
        switch.change([], [(1, 1), (2, 2)])
    assert caught.value.done == Outcome([], [(1, 1), (2, 2)], [], False, 0.1)
    assert switch.now == 100 * MS  # 20 settling times
    switch.machine.strike(switch.now, Fault("slow"))
    with pytest.raises(SwitchError, match="4A-4B had not settled"):
        switch.change([], [(4, 4)], wait_s=0.02)
    assert switch.now == 120 * MS


def test_half_of_a_change_is_reported_in_process():
    switch = EmulatedSwitch(design())
    switch.machine.strike(0, Fault("partial"))
    with pytest.raises(SwitchError) as caught:
        switch.change([], [(1, 1), (2, 2)])
    assert [*caught.value.done.added] == [(1, 1)]
    assert switch.change([(1, 1)], [(1, 2)]).settled
    assert switch.now == 5 * MS  # one settling time, because a failed change does not wait
