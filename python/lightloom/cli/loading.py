"""Commands that are loaded when they are called: a command that needs neither NumPy nor Arrow
does not wait for what others need.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from importlib import import_module
from typing import Any

import typer
from typer.main import get_command

from lightloom.cli import console

#: Command → the module of `lightloom.cli` that has it, in the order of the help.
HOMES = {
    "run": "simulate",
    "compare": "simulate",
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
#: Commands of several commands: the attribute `commands` of their modules.
GROUPS = frozenset({"switch", "testbed", "controller", "circuits"})
#: Commands that read their arguments in a way of their own: module of `lightloom.cli`, and class.
OWN: dict[str, tuple[str, str]] = {"compare": ("pdf", "WithPdf")}


class OnUse(MutableMapping[str, Any]):
    """Commands by their names, each loaded when it is first asked for."""

    def __init__(self, context_settings: dict[str, Any]) -> None:
        self._settings = context_settings
        self._loaded: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in HOMES:
            raise KeyError(name)
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
    """The function of a command, `replay_demand` of `replay-demand`, as typer reads it."""
    with console.guarded():  # Ctrl-C, which NumPy's import leaves time for
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
