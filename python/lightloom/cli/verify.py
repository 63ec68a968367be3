"""`verify`: tests whether results are unchanged since they were written, and which inputs and build
produced them."""

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

#: Largest number of faults of a result in the table, and of results of a kind in the first line.
SHOWN = 3


def verify(
    folder: Annotated[Path, typer.Argument(metavar="DIR")],
    json: Json = False,
) -> None:
    """Check that results are unchanged, and whether inputs and build are the same.

    Every result in DIR and below is checked: sizes and checksums of its files, the files that
    it was made from, the build that made it. The first line names those that are missing,
    damaged or incomplete. Exit code 0 if every file is as it was written, else 1. Changed inputs
    and another build are reported and do not change the exit code.
    """
    from lightloom.results import verification

    with console.guarded():
        if not folder.is_dir():
            raise refusal("DIR", folder, "no such directory", "name one that holds results")
        verdicts = verification.verify(folder)
        if not verdicts:
            limit = "there is no result in it or below"
            raise refusal("DIR", folder, limit, "name a directory that a command wrote")
        if json:
            console.print_json([verdict.to_json() for verdict in verdicts])
        else:
            console.say(_outcome(verdicts))
            console.out(wide=True).print(_table(verdicts))
        if not all(verdict.whole for verdict in verdicts):
            raise typer.Exit(1)


def _outcome(verdicts: Sequence[Verdict]) -> str:
    """States how many results are missing, damaged, incomplete and complete, and which."""
    missing = sorted({part for verdict in verdicts for part in verdict.missing})
    damaged = [verdict.result for verdict in verdicts if verdict.faults]
    # A part of the result is missing; its own files are unchanged.
    incomplete = [v.result for v in verdicts if v.missing and not v.faults]
    total = counted(len(verdicts) + len(missing), "result")
    whole = sum(verdict.whole for verdict in verdicts)
    if whole == len(verdicts):
        return f"{total}, all whole" if whole > 1 else f"{total}, whole"
    kinds = {"missing": missing, "damaged": damaged, "incomplete": incomplete}
    parts = [f"{len(names)} {kind} ({_few(names)})" for kind, names in kinds.items() if names]
    return f"{total}: {', '.join([*parts, f'{whole} whole'])}"


def _few(names: Sequence[str]) -> str:
    """Lists the first names, and the number of the others."""
    more = [f"{len(names) - SHOWN} more"] if len(names) > SHOWN else []
    return ", ".join([*names[:SHOWN], *more])


def _table(verdicts: Sequence[Verdict]) -> Table:
    """A row for each result."""
    table = console.plain_table()
    for heading in ("result", "files", "inputs", "build"):
        table.add_column(heading)
    for verdict in verdicts:
        files = f"{counted(verdict.files, 'file')} as written" if verdict.whole else ""
        read = f"{verdict.read} unchanged" if verdict.read else "none"
        table.add_row(
            verdict.result,
            files or _some([*verdict.faults, *_lost(verdict)]),
            _some(verdict.inputs) or read,
            verdict.build,
        )
    return table


def _lost(verdict: Verdict) -> list[str]:
    """The missing parts."""
    return [f"{part} is missing" for part in verdict.missing]


def _some(lines: Sequence[str]) -> str:
    """Lists the first lines, and the number of the others."""
    more = [f"… {len(lines) - SHOWN} more"] if len(lines) > SHOWN else []
    return "\n".join([*lines[:SHOWN], *more])
