"""Claims × readings: the values of claims by each reading of their source, one of which the verdict
follows, and the claims that no reading meets except one that was fitted to them.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from lightloom.cli import console
from lightloom.cli.figures_text import expected, figure

if TYPE_CHECKING:
    from lightloom.validation import ByReading, Claim, Reading, Verdict

#: Mark after a value: whether it meets the expectation.
MET = {"reproduced": " ✓", "not reproduced": "  ", "undecided": " ?", "not judged": "  "}
FITTED = "fitted"
#: Headings of factors have two lines: `nic = 50 Gb/s`.
SPLIT, NEXT_LINE = " = ", "\n"
#: Largest number of readings in one table, whatever the width of the terminal; width of a column of
#: further ones.
FEW, COLUMN = 6, 13


def tables(verdicts: Sequence[Verdict], width: int, *, explained: bool) -> Iterator[Table | Text]:
    """Yields a table for each script whose claims have readings; below it the claims that no
    reading meets except a fitted one; with `explained`, also the interpretation of each reading."""
    read = [verdict for verdict in verdicts if verdict.readings]
    for (fabric, script), group in groupby(read, lambda v: (v.fabric, v.claim.script)):
        claims = list(group)
        yield Text(f"{fabric}/{script} by reading", "bold")
        yield from _tables(claims, width)
        for line in _below(claims, explained=explained):
            for part in textwrap.wrap(line, max(20, min(width, 88) - 2), subsequent_indent="  "):
                yield Text(f"  {part}", "dim")
        yield Text()


def _tables(claims: Sequence[Verdict], width: int) -> Iterator[Table]:
    """Divides readings into tables that fit the width; each has the reading that is judged."""
    known, judged = _known(claims), any(verdict.claim.expect for verdict in claims)
    first = [by for by in known if by.judged]
    others = [by for by in known if not by.judged]
    if len(known) <= FEW:
        yield _table(claims, known, judged)
        return
    names = max(len(_name(verdict.claim)) for verdict in claims)
    wanted = max(len(expected(verdict.claim)) for verdict in claims) if judged else 0
    each = max(3, (width - names - wanted - COLUMN) // COLUMN)
    for begin in range(0, len(others), each):
        yield _table(claims, [*first, *others[begin : begin + each]], judged)


def _table(claims: Sequence[Verdict], known: Sequence[ByReading], judged: bool) -> Table:
    """A row for each claim, a column for each reading; values that meet the claim have a mark."""
    table = console.plain_table()
    table.add_column("  claim", no_wrap=True)
    if judged:
        table.add_column("expected", justify="right", no_wrap=True)
    for by in known:
        heading = f"{by.reading.name.replace(SPLIT, NEXT_LINE)}\n{_role(by, judged)}"
        table.add_column(heading, justify="right", no_wrap=True)
    for verdict in claims:
        values = {by.reading.name: by for by in verdict.readings}
        cells = [_cell(values.get(by.reading.name), judged) for by in known]
        before = [expected(verdict.claim)] if judged else []
        table.add_row(f"  {_name(verdict.claim)}", *before, *cells)
    return table


def _name(claim: Claim) -> str:
    """The name of a claim, with the unit of its values unless the expectation shows it."""
    return f"{claim.id} ({claim.unit})" if claim.unit and claim.expect is None else claim.id


def _known(claims: Sequence[Verdict]) -> list[ByReading]:
    """The readings of all claims, in their order."""
    found = {by.reading.name: by for claim in claims for by in claim.readings}
    return list(found.values())


def _role(by: ByReading, judged: bool) -> str:
    """The role of a reading: that of the verdict, or a measurement if no claim is judged."""
    if by.judged:
        return "verdict" if judged else "measured"
    return FITTED if by.reading.basis == FITTED else ""


def _cell(by: ByReading | None, judged: bool) -> str:
    if by is None:
        return f"-{MET['not judged']}" if judged else "-"
    shown = figure(by.measured.value)
    return f"{shown}{MET[by.outcome]}" if judged else shown


def _below(claims: Sequence[Verdict], *, explained: bool) -> Iterator[str]:
    known = _known(claims)
    if explained:
        yield from (_told(by.reading) for by in known)
    fitted = [by.reading.name for by in known if by.reading.basis == FITTED]
    if fitted:
        yield f"{', '.join(fitted)}: fitted to these figures, so no evidence"
    unmet = [verdict.claim.id for verdict in claims if not _is_met(verdict)]
    if unmet:
        yield f"no {'literal ' if fitted else ''}reading meets: {', '.join(unmet)}"


def _told(reading: Reading) -> str:
    words = "the source's words" if reading.basis == "literal" else reading.basis
    return f"{reading.name} ({words}): {reading.what}"


def _is_met(verdict: Verdict) -> bool:
    """Whether a reading that was not fitted meets the claim; True for claims that are not
    judged."""
    if verdict.claim.expect is None:
        return True
    literal = [by for by in verdict.readings if by.reading.basis != FITTED]
    return any(by.outcome != "not reproduced" for by in literal)
