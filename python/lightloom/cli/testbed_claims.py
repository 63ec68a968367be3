"""`reproduce --testbed`: claims that need an application, judged on the Linux testbed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.table import Table

from lightloom.cli import console
from lightloom.errors import refusal
from lightloom.storage.staging import Staging

if TYPE_CHECKING:
    from lightloom.testbed.claims import TestbedVerdict

FILE = "testbed-claims.json"


def judge(
    target: str, out: Path | None, given: Mapping[str, Any], *, quick: bool, keep: bool
) -> None:
    """Judges claims, prints their table and writes `testbed-claims.json`. The exit code is 1 if an
    outcome contradicts the recorded one, or if a tool failed.

    Args:
        target: papers and scripts, in the form of the command's argument.
        out: the folder of the file.
        given: options of simulations, which have no effect here and are errors.
        quick: fewer repetitions.
        keep: whether the values are recorded beside the claims.
    """
    from lightloom.testbed import claims

    for option, value in given.items():
        if value:
            limit = "the testbed runs one experiment at a time on this machine"
            raise refusal(option, value, limit, "remove it, or remove --testbed")
    folder = console.check_output(out if out is not None else Path("results") / "reproduce")
    console.claim_output(folder)
    try:
        verdicts = claims.judge_claims(target, quick=quick, told=_say_aside)
    except RuntimeError as problem:
        console.stop(str(problem), 1)
    _print_table(verdicts)
    rows = [
        {"fabric": v.fabric, **v.claim.model_dump(exclude_none=True), **as_json(v)}
        for v in verdicts
    ]
    with Staging(folder) as staging:
        staging.content(folder / FILE, (json.dumps(rows, indent=2) + "\n").encode())
    console.say(f"wrote {folder / FILE}")
    if keep:
        for path in claims.record(verdicts):
            console.say(f"recorded {path}")
    changed = [v.claim.id for v in verdicts if not v.as_recorded]
    if changed:
        console.err().print(f"not as recorded: {', '.join(changed)}", markup=False)
        raise typer.Exit(1)


def as_json(verdict: TestbedVerdict) -> dict[str, Any]:
    """The outcome and the value of a claim, with the record of its measurement."""
    found = verdict.measured
    value = {} if found is None else {"value": found.value, "half_width": found.half_width}
    return {"outcome": verdict.outcome, **value, "record": dict(verdict.record)}


def _print_table(verdicts: Sequence[TestbedVerdict]) -> None:
    table = Table("claim", "expected", "measured", "outcome", box=None, pad_edge=False)
    for one in verdicts:
        found = one.measured
        shown = "–" if found is None else f"{found.value:.3g} ± {found.half_width:.2g}"
        outcome = one.claim.status_text(one.outcome)
        table.add_row(f"{one.fabric}/{one.claim.id}", str(one.claim.expect), shown, outcome)
    console.out().print(table)
    for reason in dict.fromkeys(one.reason for one in verdicts if one.reason):
        console.say(f"not judged on this machine: {reason}")


def _say_aside(line: str) -> None:
    console.err().print(line, markup=False)
