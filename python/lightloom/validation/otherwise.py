"""The part of the status page about values of claims by other readings of their paper."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from lightloom.validation.claims import Claim
from lightloom.validation.estimate import Estimate
from lightloom.validation.grid import Grid
from lightloom.validation.record import Recorded
from lightloom.validation.verdicts import judged

#: Formats a value in its unit.
Figures = Callable[[Estimate | None, str], str]


def table(
    grid: Grid, claims: Sequence[Claim], recorded: Mapping[str, Recorded], figures: Figures
) -> Iterator[str]:
    """Lists the claims whose value depends on the reading, with each other value and, if it
    differs, the outcome; then the readings that were measured, and those that were not. Empty if
    none was."""
    others = [setting.name for setting in grid.settings()][1:]
    values = {claim.id: _values(others, recorded.get(claim.id)) for claim in claims}
    read = [claim for claim in claims if values[claim.id]]
    if not read:
        return
    measured = [by for by in others if any(by in values[claim.id] for claim in read)]
    unmeasured = [by for by in others if by not in measured]
    yield ""
    yield f"Measured by other readings, too: {_listed(measured)}. Not: {_listed(unmeasured)}."
    yield "Where a value is another than by the chosen one, in bold where the outcome is:"
    yield ""
    yield f"| claim | {grid.judged.name} | by others |"
    yield "|---|---|---|"
    same = []
    for claim in read:
        chosen = recorded[claim.id].measured
        differ = {by: value for by, value in values[claim.id].items() if value != chosen}
        if differ:
            told = "; ".join(f"{by}: {_told(claim, v, figures)}" for by, v in differ.items())
            shown = f"{figures(chosen, claim.unit)}, {claim.status}"
            yield f"| `{claim.id}` | {shown} | {told} |"
        else:
            same.append(claim.id)
    if same:
        yield ""
        yield f"The same value by all of these: {_listed(same)}."


def _values(others: Sequence[str], found: Recorded | None) -> dict[str, Estimate]:
    """The values of a claim by the other readings of the file, in their order."""
    readings = {} if found is None else found.readings
    return {by: readings[by] for by in others if by in readings}


def _told(claim: Claim, value: Estimate, figures: Figures) -> str:
    """A value, with its outcome if that differs."""
    outcome = judged(claim, value)
    return figures(value, claim.unit) + (f", **{outcome}**" if outcome != claim.status else "")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "none"
