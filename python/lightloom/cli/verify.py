"""`verify`: whether results are still what was written, and of which inputs and build."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from lightloom.cli import console
from lightloom.cli.options import Json
from lightloom.errors import refusal
from lightloom.units.counts import counted

if TYPE_CHECKING:
    from lightloom.results.verification import Verdict

#: Faults of a result that the table shows.
SHOWN = 3


def verify(
    folder: Annotated[Path, typer.Argument(metavar="DIR")],
    json: Json = False,
) -> None:
    """Check that results are whole, and say whether their inputs and the build are the same.

    Every result in DIR and below is checked: sizes and checksums of its files, the files that
    it was made from, the build that made it. Exit code 0 if every file is as it was written,
    else 1. Changed inputs and another build are reported and do not change the exit code.
    """
    from lightloom.results import verification

    with console.guarded():
        if not folder.is_dir():
            raise refusal("DIR", folder, "no such directory", "name one that holds results")
        verdicts = verification.verify(folder)
        if not verdicts:
            limit = "there is no result in it or below"
            raise refusal("DIR", folder, limit, "name a directory that a command wrote")
        spoilt = [verdict for verdict in verdicts if not verdict.whole]
        if json:
            console.print_json([verdict.to_json() for verdict in verdicts])
        else:
            console.out(wide=True).print(_table(verdicts))
            whole = len(verdicts) - len(spoilt)
            console.say(f"{counted(len(verdicts), 'result')}, {whole} whole")
        if spoilt:
            raise typer.Exit(1)


def _table(verdicts: Sequence[Verdict]) -> Table:
    """A row a result."""
    table = console.plain_table()
    for heading in ("result", "files", "inputs", "build"):
        table.add_column(heading)
    for verdict in verdicts:
        files = f"{counted(verdict.files, 'file')} as written" if verdict.whole else ""
        read = f"{verdict.read} unchanged" if verdict.read else "none"
        table.add_row(
            verdict.result,
            files or _some(verdict.faults),
            _some(verdict.inputs) or read,
            verdict.build,
        )
    return table


def _some(lines: Sequence[str]) -> str:
    """The first of some lines, and how many more there are."""
    more = [f"… {len(lines) - SHOWN} more"] if len(lines) > SHOWN else []
    return "\n".join([*lines[:SHOWN], *more])
