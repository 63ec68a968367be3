"""The table of claims that were judged on the testbed, for the page "What is reproduced"."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lightloom.testbed.claims import FOLDER, papers, read_record
from lightloom.validation.claims import Claim

NONE = "–"


def section(folder: Path) -> str:
    """A section of the page, in Markdown."""
    return "\n".join(_lines(folder)) + "\n"


def contradictions(folder: Path) -> list[str]:
    """Claims whose status differs from the recorded outcome."""
    return [
        f"{fabric}/{claim.id}: {claim.status}, but {found['outcome']} on record"
        for fabric, claim, found in _all(folder)
        if found and found["outcome"] != claim.status
    ]


def _all(folder: Path) -> Iterator[tuple[str, Claim, Mapping[str, Any]]]:
    for fabric, claims in papers(folder).items():
        record = read_record(folder / fabric / FOLDER)
        for claim in claims.claim:
            yield fabric, claim, record.get(claim.id, {})


def _lines(folder: Path) -> Iterator[str]:
    yield ""
    yield "## On the testbed"
    yield ""
    yield "Claims that need an application, judged with real programs (`lightloom reproduce all"
    yield "--testbed --record`). They are in no count above. The interval is Student's over the"
    yield "repetitions within the [limits of the testbed](testbed.md); other repetitions decide"
    yield "nothing."
    yield ""
    yield "| claim | expected | measured | verdict | measured on | what, and why |"
    yield "|---|---|---|---|---|---|"
    for fabric, claim, found in _all(folder):
        cells = (
            f"`{fabric}/{claim.id}`, {claim.source}",
            f"{claim.expect} {claim.unit}".strip(),
            _value(found, claim.unit),
            claim.status_text(claim.status),
            _machine(found),
            " ".join(_told(claim)),
        )
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _value(found: Mapping[str, Any], unit: str) -> str:
    if "value" not in found:
        return NONE
    interval = f"{found['value']:.3g} ± {found['half_width']:.2g}"
    return f"{interval} {unit}".rstrip() + f" ({len(found['values'])} repetitions)"


def _machine(found: Mapping[str, Any]) -> str:
    if not found:
        return NONE
    load = NONE if found["load"] is None else f"{found['load']:.1f}"
    day = found["when"].partition("T")[0]
    return f"{found['processors']} processors, load {load} at most, {day}"


def _told(claim: Claim) -> Iterator[str]:
    yield claim.statement
    yield f"*Measured: {claim.measures}.*"
    yield from filter(None, (claim.criterion, claim.reason))
