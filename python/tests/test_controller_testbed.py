"""The controller of real switches on a testbed: its optical switch, its servers' rules, and
programs that send during changes."""

import json
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from controller_support import Lab
from openflow_support import reason
from test_testbed_hydra import hydra, stopped
from test_testbed_live import inside
from testbed_support import live, lost_beside_switches

from lightloom.controller.hooks import HookError
from lightloom.controller.service import Controller
from lightloom.controller.store import Store
from lightloom.controller.testbed_hook import TestbedHook
from lightloom.switches import conformance
from lightloom.switches.ports import Pair
from lightloom.switches.protocol import SwitchError
from lightloom.testbed import Testbed, server_rules
from lightloom.testbed.optical_switch import OpticalSwitch

ovs = pytest.mark.skipif(reason() is not None, reason=reason() or "")
RACKS = 4
MATRIX = list[list[int]]
#: The policy of the controller is c-Through's manager.
KEYS = {"policy": {"kind": "cthrough"}, "mode": "act", "interval": "1 s"}


@live
@ovs
def test_the_switch_of_a_testbed_is_one_as_the_conformance_test_has_it() -> None:
    with hydra("thconf") as (bed, plane):
        switch = OpticalSwitch(bed)
        checks = {one.name: one for one in conformance.run(switch, bulk=3)}
        failed = [one for one in checks.values() if one.verdict is conformance.Verdict.FAILED]
        assert failed == []
        passed = [one for one in checks.values() if one.verdict is conformance.Verdict.PASSED]
        assert len(passed) >= 6
        # Ports 1 to 4 belong to the first optical switch, 5 to 8 to the second.
        switch.change([], [(1, 2), (6, 5)])
        assert plane.lit == {(0, 1, 0), (1, 0, 1)}
        for pair, said in (((1, 5), "different optical switches"), ((3, 2), "1A-2B holds one")):
            with pytest.raises(SwitchError, match=said):
                switch.change([], [pair])
        assert switch.read().pairs == [(1, 2), (6, 5)]


class Cycles:
    """A controller that decides repeatedly, and the demand that it received."""

    def __init__(self, controller: Controller) -> None:
        self.controller = controller
        self.demands: list[MATRIX] = []
        self.changes: list[tuple[list[Pair], list[Pair], str]] = []

    def tell(self, matrix: MATRIX) -> None:
        """Passes a demand and runs one cycle."""
        controller = self.controller
        self.demands.append(matrix)
        controller.collector.send("east", matrix, controller.clock(), "test")
        for one in controller.cycle():
            self.changes.append((one.pairs("removed"), one.pairs("added"), one.state))

    def decisions(self) -> str:
        decider = self.controller.switches["east"].decider
        assert decider is not None
        return decider.log()


def waiting(bed: Testbed) -> MATRIX:
    """Returns the bytes that wait in the sockets of racks for each other."""
    matrix = [[0] * RACKS for _ in range(RACKS)]
    for host, rack, size in bed.plane.report_demand():
        matrix[host][rack] += size
    return matrix


def sending(bed: Testbed, source: int, to: int, seconds: int) -> subprocess.Popen[str]:
    """Runs iperf3 from one host to another."""
    address = bed.setup.layout.hosts[to].address
    server = subprocess.Popen(
        inside(bed.setup, to, "iperf3", "-s", "-1", "--forceflush"), stdout=subprocess.PIPE
    )
    assert server.stdout is not None
    while b"listening" not in (said := server.stdout.readline()):
        assert said
    line = ["iperf3", "-c", address, "-t", str(seconds), "-J"]
    client = subprocess.Popen(
        inside(bed.setup, source, *line), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert server.poll() is None
    return client


@live
@ovs
@pytest.mark.skipif(not Path("/usr/bin/iperf3").exists(), reason="no iperf3")
def test_programs_send_through_changes_of_the_controller(tmp_path: Path) -> None:
    """iperf3 sends from rack 0 to rack 1, then to rack 2, and the policy follows.

    No packet is sent to a dark circuit. With the emulated switch, the same demand leads to the same
    log and the same changes.
    """
    lab = Lab(tmp_path, **KEYS)
    with hydra("thctl", planes=1, oversubscription=20) as (bed, plane):
        hook = TestbedHook(bed)
        controller = Controller(
            lab.config,
            Store("sqlite://", time.time),
            opener=lambda one: OpticalSwitch(bed),
            hook=hook,
        )
        controller.start()
        measured = Cycles(controller)
        for to in (1, 2):
            client = sending(bed, 0, to, 4)
            while client.poll() is None:
                measured.tell(waiting(bed))
                time.sleep(0.3)
            text, errors = client.communicate(timeout=10)
            received = json.loads(text)["end"]["sum_received"]["bytes"]
            assert client.returncode == 0, errors
            # This is more than the electrical network (10 Mb/s per rack) carries in that time.
            assert received > 2 * 4 * 10e6 / 8
        counters = dict(plane.read_counters())
        totals = plane.totals()
    assert lost_beside_switches(totals) == (0, 0)
    assert counters["o0.0"] > 10_000_000
    # While no bytes wait, as before and between the programs, the policy connects any racks.
    joined = iter([row[1] for row in plane.history if row[0] == 0])
    assert all(to in joined for to in (1, 2))
    assert {state for *_, state in measured.changes} == {"done"}
    simulated = Cycles(lab.controller)
    for demand in measured.demands:
        simulated.tell(demand)
    assert simulated.changes == measured.changes
    assert simulated.decisions() == measured.decisions()


@live
@ovs
def test_a_server_that_does_not_answer_leaves_circuits_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reason of the transaction names the server; the next attempt succeeds."""
    lab = Lab(tmp_path)
    with hydra("thdeaf", planes=1) as (bed, plane):
        switch, hook = OpticalSwitch(bed), TestbedHook(bed)
        lab.switches["east"] = switch  # type: ignore[assignment]
        controller = lab.begin(hook=hook)

        def apply(*pairs: Pair) -> Any:
            controller.want("east", pairs, "ann")
            return controller.reconcile("east", "ann")[-1]

        assert apply((1, 2), (2, 1)).state == "done"
        lit = {*plane.lit}
        monkeypatch.setattr(server_rules, "ANSWER_S", 0.3)
        with stopped(plane, 1):
            made = apply((1, 3), (3, 1))
            assert made.state in ("undone", "draining")
            assert "host 1: no barrier" in made.reason
            assert plane.lit == lit
            with pytest.raises(HookError, match="vSwitch on host 1"):
                hook.drain("east", [(1, 2)])
        monkeypatch.undo()
        assert apply((1, 3), (3, 1)).state == "done"
        assert plane.lit == {(0, 2, 0), (2, 0, 0)}
        assert lost_beside_switches(plane.totals()) == (0, 0)
