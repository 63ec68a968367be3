"""The command line: `lightloom run | compare | sweep | reproduce | …`.

A command reads its arguments, calls the Python API, prints, and writes files only at its end, so
that a command that fails or is interrupted leaves no files behind. `loading` lists the module of
each command.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

import lightloom
from lightloom.cli import console, usage
from lightloom.cli.console import say

__all__ = ["app", "main"]

app = typer.Typer(
    name="lightloom",
    cls=usage.Commands,
    help="Simulate optical data-centre networks and compare them on the same traffic.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        say(f"lightloom {lightloom.__version__}")
        raise typer.Exit()


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version.", callback=_version, is_eager=True),
    ] = False,
) -> None:
    """Simulate optical data-centre networks and compare them on the same traffic."""


def main() -> None:
    """The `lightloom` command."""
    try:
        try:
            app()
        finally:
            sys.stdout.flush()
    except OSError as problem:
        if not console.is_unwritten(problem):
            raise
        try:
            console.stop_unwritten(problem)
        except typer.Exit as ended:
            sys.exit(ended.exit_code)
