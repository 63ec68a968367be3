"""Imports commands when they are called, so that a command without NumPy or Arrow does not wait for
them.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager, suppress
from importlib import import_module
from threading import Thread
from typing import Any

import typer
from typer.core import TyperCommand
from typer.main import get_command

from lightloom.cli import console

#: Command → its module in `lightloom.cli`, in the order of the help.
HOMES = {
    "run": "run",
    "compare": "compare",
    "cost": "cost",
    "sweep": "batch",
    "reproduce": "batch",
    "verify": "verify",
    "clock": "clock",
    "plan": "plan",
    "replay-demand": "replay_demand",
    "switch": "switch",
    "testbed": "testbed",
    "controller": "controller",
    "circuits": "circuits",
    "devices": "devices",
    "fabrics": "catalogue",
    "policies": "catalogue",
    "workloads": "catalogue",
    "explain": "explain",
    "schema": "catalogue",
}
#: Command → the first line of its help. `lightloom --help` lists these without importing commands.
SUMMARIES = {
    "run": "Simulate an experiment and write its flows, time series and summary.",
    "compare": "Simulate every fabric of each experiment and write report.html.",
    "cost": "Dollars and watts of each fabric, from its own bill of parts.",
    "sweep": "Run a grid of simulations and gather their summaries in one table.",
    "reproduce": "Run a paper's figures again and judge its claims; without a name, all papers.",
    "verify": "Check that results are unchanged, and whether inputs and build are the same.",
    "clock": "Simulate clock synchronisation: the deviation of clocks and its causes.",
    "plan": "Plan circuits or a schedule for a demand: one decision of a policy.",
    "replay-demand": "Replay a day of measured demand with a policy: would changes pay?",
    "switch": "Emulate an optical circuit switch; show, read, change or test one by its address.",
    "testbed": "Run real applications on network namespaces, over an emulated optical fabric (as "
    "root).",
    "controller": "Run the controller of optical circuit switches, and manage its tokens.",
    "circuits": "Read and change circuits by the controller (token: LIGHTLOOM_CONTROLLER_TOKEN).",
    "devices": "Compute link budget, guardband and tuning times of optical devices.",
    "fabrics": "List the fabrics and their presets.",
    "policies": "List the policies that choose circuits.",
    "workloads": "List the published flow-size distributions and the jobs.",
    "explain": "Explain a fabric, a policy, a key, a table of the experiment, or a workload.",
    "schema": "Print the JSON Schema of experiment files.",
}
#: Commands with subcommands, which are in the attribute `commands` of their modules.
GROUPS = frozenset({"switch", "testbed", "controller", "circuits"})
#: Commands with their own parser of arguments: module of `lightloom.cli`, and class.
OWN: dict[str, tuple[str, str]] = {
    "compare": ("pdf", "WithPdf"),
    "plan": ("plan_help", "WithPolicies"),
}


class OnUse(MutableMapping[str, Any]):
    """Commands by name; each is imported when it is first used."""

    def __init__(self, context_settings: dict[str, Any]) -> None:
        self._settings = context_settings
        self._loaded: dict[str, Any] = {}
        self._listing = False

    @contextmanager
    def listing(self) -> Iterator[None]:
        """Lists commands that are not imported by their names and summaries in the block."""
        self._listing = True
        try:
            yield
        finally:
            self._listing = False

    def __getitem__(self, name: str) -> Any:
        if name not in HOMES:
            raise KeyError(name)
        if self._listing and name not in self._loaded:
            return TyperCommand(name, help=SUMMARIES[name])
        if name not in self._loaded:
            self._loaded[name] = _command(name, self._settings)
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(HOMES)

    def __len__(self) -> int:
        return len(HOMES)

    def __contains__(self, name: object) -> bool:
        return name in HOMES

    def __setitem__(self, name: str, command: Any) -> None:
        self._loaded[name] = command

    def __delitem__(self, name: str) -> None:
        del self._loaded[name]


def _command(name: str, settings: dict[str, Any]) -> Any:
    """Returns the function of a command, such as `replay_demand` for `replay-demand`, for typer."""
    with console.guarded():  # Ctrl-C is possible while NumPy is imported
        if name in GROUPS:
            group = get_command(_found(HOMES[name], "commands"))
            group.name = name
            return group
        function = _found(HOMES[name], name.replace("-", "_"))
        kind = _found(*OWN[name]) if name in OWN else None
    alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    alone.command(name, cls=kind, context_settings=settings)(function)
    return get_command(alone)


def _found(module: str, name: str) -> Any:
    return getattr(import_module(f"lightloom.cli.{module}"), name)


@contextmanager
def ahead(module: str) -> Iterator[Thread]:
    """Imports a module of the package in a thread, while the block simulates outside the
    interpreter's lock. Python waits for the thread before it ends."""
    thread = Thread(target=_prepare, args=(module,), name="imports")
    thread.start()
    yield thread


def _prepare(module: str) -> None:
    """Computes the digests of the build and imports a module. An error is raised again where the
    module is used."""
    from lightloom.config import identity

    with suppress(Exception):
        identity.build()
        import_module(f"lightloom.{module}")
