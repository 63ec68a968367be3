"""Of the status page: where another reading of a paper changes an outcome."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from lightloom.reproduce.claims import Claim
from lightloom.reproduce.estimate import Estimate
from lightloom.reproduce.grid import Grid
from lightloom.reproduce.record import Recorded
from lightloom.reproduce.verdicts import judged

#: Shows a value in its unit.
Figures = Callable[[Estimate, str], str]


def table(
    grid: Grid, claims: Sequence[Claim], recorded: Mapping[str, Recorded], figures: Figures
) -> Iterator[str]:
    """Claims whose outcome depends on the reading: by which it is what, with the values; and
    those that are the same by all. Nothing where no other reading is on record."""
    values = {claim.id: _values(grid, recorded.get(claim.id)) for claim in claims}
    read = [claim for claim in claims if claim.expect is not None and values[claim.id]]
    if not read:
        return
    changed = {claim.id: _changed(claim, values[claim.id]) for claim in read}
    yield ""
    yield "By other readings, each of which answers one question otherwise or is named as several:"
    yield ""
    yield "| claim | verdict | readings | otherwise by |"
    yield "|---|---|---|---|"
    for claim in read:
        if changed[claim.id]:
            found = (f"{by}: {figures(v, claim.unit)}, {o}" for by, v, o in changed[claim.id])
            count = len(values[claim.id]) + 1
            yield f"| `{claim.id}` | {claim.status} | {count} | {'; '.join(found)} |"
    yield ""
    same = [f"`{claim.id}`" for claim in read if not changed[claim.id]]
    yield f"The same by every reading: {', '.join(same) or 'none'}."


def _values(grid: Grid, found: Recorded | None) -> dict[str, Estimate]:
    """A claim's values by the other readings of the file, in their order."""
    readings = {} if found is None else found.readings
    return {s.name: readings[s.name] for s in grid.settings() if s.name in readings}


def _changed(claim: Claim, values: Mapping[str, Estimate]) -> list[tuple[str, Estimate, str]]:
    """Readings by which a claim's outcome is another: name, value, outcome."""
    outcomes = [(by, value, judged(claim, value)) for by, value in values.items()]
    return [(by, value, outcome) for by, value, outcome in outcomes if outcome != claim.status]
