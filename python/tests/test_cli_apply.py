"""`circuits apply`: its exit code says whether each requested circuit is lit."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli_support import lightloom
from controller_support import Lab, Served

from lightloom.controller.leases import reserve
from lightloom.switches.ports import Port
from lightloom.switches.protocol import SwitchError

Spoil = Callable[[Lab, pytest.MonkeyPatch], None]


def sound(lab: Lab, patch: pytest.MonkeyPatch) -> None:
    """Nothing is wrong."""


def refusing(lab: Lab, patch: pytest.MonkeyPatch) -> None:
    """The switch refuses the change, which is undone."""

    def refuse(*_: object, **__: object) -> None:
        raise SwitchError("refused")

    patch.setattr(lab.switches["east"], "change", refuse)


def dim(lab: Lab, patch: pytest.MonkeyPatch) -> None:
    """No light leaves 2B."""
    levels = {Port("B", b): -60.0 if b == 2 else -3.0 for b in range(1, 9)}
    patch.setattr(lab.switches["east"], "power", lambda: levels)


def dim_and_lit(lab: Lab, patch: pytest.MonkeyPatch) -> None:
    """Another client has connected the circuit, and no light leaves it: nothing is to be done."""
    lab.switches["east"].change([], [(1, 2), (2, 1)])
    dim(lab, patch)


def leased(lab: Lab, patch: pytest.MonkeyPatch) -> None:
    """Another owner holds the port of rack b."""
    reserve(lab.store, "east", ("b", "c"), "job", 0, lab.now, lab.now + 1000)


def stuck(lab: Lab, patch: pytest.MonkeyPatch) -> None:
    """The change fails, and so does undoing it."""
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


def test_a_waiting_change_and_a_dry_run_are_no_failures(served: Served, tmp_path: Path) -> None:
    token = {"LIGHTLOOM_CONTROLLER_TOKEN": served.tokens["apply"]}
    words = ["circuits", "apply", "east", "--circuit", "a:b", "--url", served.url]
    for more in (["--dry-run"], ["--when", "2099-01-01T00:00Z"]):
        assert lightloom(*words, *more, cwd=tmp_path, **token).returncode == 0
    assert served.lab.lit() == []
