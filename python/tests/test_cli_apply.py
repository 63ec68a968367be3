"""`circuits apply`: its exit code says whether each requested circuit is lit."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli_support import lightloom
from controller_support import Lab, Served

from lightloom.controller import jobs
from lightloom.controller.leases import reserve
from lightloom.controller.tokens import add_token
from lightloom.switches.ports import Port
from lightloom.switches.protocol import SwitchError

Spoil = Callable[[Lab, pytest.MonkeyPatch], None]


def sound(lab: Lab, patch: pytest.MonkeyPatch) -> None:
    """Nothing is wrong."""


def refusing(lab: Lab, patch: pytest.MonkeyPatch) -> None:
    """Makes the switch refuse the change, which is undone."""

    def refuse(*_: object, **__: object) -> None:
        raise SwitchError("refused")

    patch.setattr(lab.switches["east"], "change", refuse)


def dim(lab: Lab, patch: pytest.MonkeyPatch) -> None:
    """Makes port 2B dark."""
    levels = {Port("B", b): -60.0 if b == 2 else -3.0 for b in range(1, 9)}
    patch.setattr(lab.switches["east"], "power", lambda: levels)


def dim_and_lit(lab: Lab, patch: pytest.MonkeyPatch) -> None:
    """Another client has connected the circuit, but no light leaves it; the controller has nothing
    to change."""
    lab.switches["east"].change([], [(1, 2), (2, 1)])
    dim(lab, patch)


def leased(lab: Lab, patch: pytest.MonkeyPatch) -> None:
    """Another owner has a lease of the port of rack b."""
    reserve(lab.store, "east", ("b", "c"), "job", 0, lab.now, lab.now + 1000)


def stuck(lab: Lab, patch: pytest.MonkeyPatch) -> None:
    """Makes the change fail, and its undo as well."""
    lab.controller.want("east", [(1, 3)], "reserve")
    lab.controller.reconcile("east", "reserve")
    lab.controller.want("east", [], "reserve")
    switch, usual = lab.switches["east"], lab.switches["east"].change

    def change(remove: Any, add: Any, **keys: Any) -> None:
        usual(remove, [], **keys)
        raise SwitchError("a mirror does not move")

    patch.setattr(switch, "change", change)


@pytest.mark.parametrize(
    ("spoil", "states", "dark"),
    [
        (sound, ["done"], ""),
        (refusing, ["undone"], "1A-2B 2A-1B"),
        (dim, ["undone"], "1A-2B 2A-1B"),
        (dim_and_lit, [], "1A-2B"),
        (leased, ["done"], "1A-2B 2A-1B"),
        (stuck, ["stuck"], "1A-2B 2A-1B"),
    ],
)
def test_a_circuit_that_stays_dark_is_told_by_the_exit_code(
    served: Served,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    spoil: Spoil,
    states: list[str],
    dark: str,
) -> None:
    spoil(served.lab, monkeypatch)
    words = ["circuits", "apply", "east", "--circuit", "a:b", "--url", served.url]
    token = served.tokens["apply"]
    done = lightloom(*words, cwd=tmp_path, LIGHTLOOM_CONTROLLER_TOKEN=token)
    last = served.lab.store.transactions(limit=1)
    assert [one.state for one in last] == states
    assert [line[6:] for line in done.stdout.splitlines() if line.startswith("dark: ")] == (
        [dark] if dark else []
    )
    assert (done.returncode, done.stderr) == (1 if dark else 0, "")


def test_no_circuits_are_requested_only_on_demand(served: Served, tmp_path: Path) -> None:
    """A forgotten option removes nothing."""
    served.lab.controller.apply("east", [(1, 2)], "apply")
    token = {"LIGHTLOOM_CONTROLLER_TOKEN": served.tokens["apply"]}
    words = ["circuits", "apply", "east", "--url", served.url]
    for more in ([], ["--none", "--circuit", "a:b"]):
        done = lightloom(*words, *more, cwd=tmp_path, **token)
        assert (done.returncode, served.lab.lit()) == (2, [(1, 2)])
    assert lightloom(*words, "--none", cwd=tmp_path, **token).returncode == 0
    assert served.lab.lit() == []


def test_a_waiting_change_and_a_dry_run_are_no_failures(served: Served, tmp_path: Path) -> None:
    token = {"LIGHTLOOM_CONTROLLER_TOKEN": served.tokens["apply"]}
    words = ["circuits", "apply", "east", "--circuit", "a:b", "--url", served.url]
    for more in (["--dry-run"], ["--when", "2099-01-01T00:00Z"]):
        assert lightloom(*words, *more, cwd=tmp_path, **token).returncode == 0
    assert served.lab.lit() == []


def test_priorities_waiting_changes_and_clients_are_printed(served: Served, tmp_path: Path) -> None:
    """The operator with the higher priority gets the port; the history has both."""
    tokens = {who: add_token(served.lab.store, who, ["apply", "read"], "test") for who in "xy"}

    def circuits(who: str, *words: object) -> str:
        token = {"LIGHTLOOM_CONTROLLER_TOKEN": tokens[who]}
        done = lightloom("circuits", *words, "--url", served.url, cwd=tmp_path, **token)
        assert done.returncode in (0, 1), done.stderr
        return str(done.stdout)

    circuits("x", "apply", "east", "--cross-connect", "1A-2B")
    circuits("y", "apply", "east", "--cross-connect", "1A-3B", "--priority", 5)
    assert served.lab.lit() == [(1, 3)]
    said = circuits("x", "history")
    assert "transaction 1 of east for x: done" in said
    assert "transaction 2 of east for y: done" in said
    when = ("--when", "2099-01-01T00:00Z")
    assert "for x: 4A-4B; waits" in circuits(
        "x", "apply", "east", "--cross-connect", "4A-4B", *when
    )


def test_costs_of_a_transaction_and_times_of_a_lease_are_printed(
    served: Served, tmp_path: Path
) -> None:
    """The switch settles in 20 ms; 72,000 accelerators lose their circuit."""
    lab, token = served.lab, {"LIGHTLOOM_CONTROLLER_TOKEN": served.tokens["admin"]}
    lab.controller.apply("east", [(1, 2), (2, 1)], "admin")
    jobs.announce(lab.store, "train", "x", ["a"], 72_000, lab.now)
    words = ("circuits", "apply", "east", "--circuit", "a:c", "--url", served.url)
    said = lightloom(*words, cwd=tmp_path, **token).stdout
    assert "2 removed, 2 added, 2027-01-15T08:00:00+00:00, " in said
    assert ", dark for 0.02 s, 0.08 pair-seconds, 0.4 accelerator-hours" in said
    begins = float(round(lab.now)) + 60
    reserve(lab.store, "east", ("a", "c"), "ann", 0, begins, begins + 60)
    said = lightloom("circuits", "get", "--url", served.url, cwd=tmp_path, **token).stdout
    times = "from 2027-01-15T08:01:00+00:00 until 2027-01-15T08:02:00+00:00"
    assert f"lease 1 of east: a – c for ann {times}\n" in said


def test_a_watch_whose_controller_ends_says_so(served: Served, tmp_path: Path) -> None:
    """The watch prints one line per change, without duplicates."""
    token = served.tokens["read"]
    line = [sys.executable, "-m", "lightloom", "circuits", "watch", "--url", served.url]
    environment = {**os.environ, "LIGHTLOOM_CONTROLLER_TOKEN": token}
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    watch = subprocess.Popen(line, env=environment, **pipes)
    assert watch.stdout is not None
    assert "0 lit" in watch.stdout.readline()
    for _ in range(3):
        served.lab.controller._tell()
        time.sleep(0.5)
    served.lab.controller.want("east", [(1, 2)], "ann")
    served.lab.controller.reconcile("east", "ann")
    while "1 lit; transaction 1 done" not in (seen := watch.stdout.readline()):
        assert seen
    served.close()
    rest, problem = watch.communicate(timeout=30)
    assert watch.returncode == 2
    assert "closed the connection" in problem
    lines = rest.splitlines()
    assert len({*lines}) == len(lines)


def test_a_dry_run_says_that_its_reading_is_old(
    served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The switch no longer answers: its lit circuits are those of the last reading."""
    lab, token = served.lab, {"LIGHTLOOM_CONTROLLER_TOKEN": served.tokens["admin"]}
    lab.controller.cycle()
    dry = ["circuits", "apply", "east", "--circuit", "a:b", "--dry-run", "--url", served.url]
    diff = ["circuits", "diff", "east", "--url", served.url]
    for is_silent in (False, True):
        if is_silent:
            monkeypatch.setattr(lab.switches["east"], "read", silent)
            lab.now += 3_600
            lab.controller.cycle()
        for words in (dry, diff):
            said = lightloom(*words, cwd=tmp_path, **token).stdout
            lines = [line for line in said.splitlines() if "does not answer" in line]
            assert "1A-2B" in said or words is diff
            assert len(lines) == is_silent
            assert all(line.endswith("2027-01-15T08:00:00+00:00") for line in lines)


def silent() -> None:
    raise SwitchError("no answer")


def test_a_dark_circuit_is_named_with_its_racks_and_owner(
    served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The circuit was lit, and loses its light."""
    served.lab.controller.want("east", [(1, 2), (2, 1)], "ann")
    served.lab.controller.cycle()
    dim(served.lab, monkeypatch)
    served.lab.controller.cycle()
    token = {"LIGHTLOOM_CONTROLLER_TOKEN": served.tokens["read"]}
    said = lightloom("circuits", "get", "--url", served.url, cwd=tmp_path, **token).stdout
    (alarm,) = [line for line in said.splitlines() if line.startswith("alarm: ")]
    assert alarm.startswith("alarm: east: dark: 1A-2B (a → b) of operator:ann: ")


def test_a_switch_that_was_never_read_is_not_called_dark(served: Served, tmp_path: Path) -> None:
    """As at a standby, the state of its circuits is unknown."""
    served.lab.controller.want("east", [(1, 2)], "ann")
    words = ("circuits", "get", "--url", served.url)
    token = {"LIGHTLOOM_CONTROLLER_TOKEN": served.tokens["read"]}
    said = str(lightloom(*words, cwd=tmp_path, **token).stdout)
    assert "east: 0 lit, 1" in said
    assert "not lit" in said
    served.lab.controller.switches["east"].read_at = None
    said = str(lightloom(*words, cwd=tmp_path, **token).stdout)
    assert "east: not read yet, 1" in said
    assert "not lit" not in said
    assert "1A-2B" in said
