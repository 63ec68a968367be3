"""The status page: every claim of every paper, with its value, interval, verdict, reading and
reason; and its summary in docs/reproduce.md. Both are made from the recorded values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

from lightloom.errors import refusal
from lightloom.validation import otherwise
from lightloom.validation.by_readings import of_fabric
from lightloom.validation.claims import Claim, Claims
from lightloom.validation.estimate import Estimate
from lightloom.validation.grid import CHOSEN, Grid
from lightloom.validation.record import Recorded, fabrics, read
from lightloom.validation.verdicts import judged, wanted

#: Marks in a page; generated text is inserted between them.
BEGIN, END = "<!-- reproduced -->", "<!-- /reproduced -->"
#: Columns of the counts of each paper: outcomes, and apart from them, claims that were reproduced
#: by an own number or by construction.
COLUMNS = ("reproduced", "ours", "not reproduced", "undecided", "not judged", "fitted", "set")
NONE = "–"
#: Text for a claim without a recorded value.
UNKNOWN = "not on record"


@dataclass(frozen=True)
class Paper:
    """The claims of a paper, and their recorded values."""

    fabric: str
    claims: Claims
    grid: Grid | None
    recorded: dict[str, Recorded]

    @classmethod
    def read(cls, folder: Path) -> Paper:
        """Reads them from the folder of the claims."""
        claims = Claims.read(folder / "claims.toml")
        return cls(folder.name, claims, of_fabric(folder), read(folder))

    def of(self, claim: Claim) -> Recorded:
        """The recorded value of a claim."""
        return self.recorded.get(claim.id, Recorded(None))

    def counts(self) -> Counter[str]:
        """The number of claims by column."""
        return Counter(_column(claim) for claim in self.claims.claim)


def papers(folder: Path) -> list[Paper]:
    """All papers with claims, by the folders of their fabrics."""
    return [Paper.read(folder / fabric) for fabric in fabrics(folder)]


def contradictions(paper: Paper) -> list[str]:
    """Lists the claims whose status differs from the verdict on their recorded value; claims
    without a recorded value are omitted."""
    return [
        f"{paper.fabric}/{claim.id}: {claim.status}, but {found} by its value"
        for claim in paper.claims.claim
        if claim.id in paper.recorded
        and (found := judged(claim, paper.of(claim).measured)) != claim.status
    ]


def page(known: Sequence[Paper]) -> str:
    """Returns the whole page, in Markdown."""
    return "\n".join([*_opening(known), *(line for p in known for line in _paper(p))]) + "\n"


def summary(known: Sequence[Paper]) -> str:
    """The table of docs/reproduce.md: the number of claims of all papers by outcome."""
    counts = sum((paper.counts() for paper in known), Counter())
    shown = [column for column in COLUMNS if counts[column]]
    head = f"| | {' | '.join(shown)} |\n" + "|---" * (1 + len(shown)) + "|\n"
    return head + f"| **all** | {' | '.join(f'**{counts[column]}**' for column in shown)} |"


def inserted(text: str, made: str, path: str) -> str:
    """Inserts generated text between the two marks of a page.

    Raises:
        ConfigError: if the page does not have both marks, in their order.
    """
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise refusal(path, f"{BEGIN} … {END}", "are not in it", "put both where the table goes")
    return f"{before}{BEGIN}\n{made}\n{END}{after}"


def _opening(known: Sequence[Paper]) -> Iterator[str]:
    yield "# What is reproduced"
    yield ""
    yield "Every claim of every paper and closed form, as it came out when it was last measured in"
    yield "full: `lightloom reproduce all --record`, then `python scripts/reproduced.py`, which"
    yield "makes this page. How claims are judged, and what the outcomes mean, is on the page"
    yield "[Reproduction](reproduce.md). Where the value is *not on record*, the verdict is of an"
    yield "earlier run, of which no value was kept. Reproduced and apart: *ours*, where the source"
    yield 'has words ("closely", "greatly") and the number that decides is ours; *fitted*, where a'
    yield "parameter was fitted to this very value, and *set*, where it follows from our parameters"
    yield "by arithmetic."
    yield ""
    yield from _totals(known)


def _totals(known: Sequence[Paper]) -> Iterator[str]:
    counts = {paper.fabric: paper.counts() for paper in known}
    shown = [c for c in COLUMNS if any(count[c] for count in counts.values())]
    yield "| | " + " | ".join(shown) + " |"
    yield "|---" * (1 + len(shown)) + "|"
    for paper in known:
        row = (str(counts[paper.fabric][column] or NONE) for column in shown)
        yield f"| {paper.claims.title} | " + " | ".join(row) + " |"
    total: Counter[str] = sum(counts.values(), Counter())
    yield "| **all** | " + " | ".join(f"**{total[column]}**" for column in shown) + " |"
    failed = [c for p in known for c in p.claims.claim if c.status == "not reproduced"]
    if ours := sum(claim.basis == "ours" for claim in failed):
        yield ""
        yield f"Of the {len(failed)} that are not reproduced, {ours} fail a number of ours."


def _column(claim: Claim) -> str:
    """The column of a claim. A claim that was reproduced by an own number or by construction is
    counted apart; one that was not reproduced is counted as a failure like others."""
    apart = claim.status == "reproduced" and claim.basis != "measured"
    return claim.basis if apart else claim.status


def _paper(paper: Paper) -> Iterator[str]:
    yield ""
    yield f"## {paper.claims.title} {{ #{paper.fabric} }}"
    if paper.grid is not None:
        yield from _chosen(paper, paper.grid)
    yield ""
    yield "| claim | expected | measured | verdict | reading | what, and why |"
    yield "|---|---|---|---|---|---|"
    for claim in paper.claims.claim:
        yield _row(paper, claim)
    if paper.grid is not None:
        yield from otherwise.table(paper.grid, paper.claims.claim, paper.recorded, figures)


def _chosen(paper: Paper, grid: Grid) -> Iterator[str]:
    """States the reading that all verdicts follow, the reasons, and the claims that fail by it."""
    yield ""
    yield f"What the paper leaves open is read in one way for all of its figures, `{CHOSEN}` below:"
    yield ""
    yield "| open | read as | because |"
    yield "|---|---|---|"
    for name, factor in grid.factor.items():
        choice = grid.chosen.choice[name]
        what = factor.alternative[choice].what
        yield f"| {factor.question} | **{choice}**: {what} | {grid.chosen.because[name]} |"
    failed = [
        f"`{claim.id}`"
        for claim in paper.claims.claim
        if claim.status == "not reproduced" and paper.of(claim).reading == CHOSEN
    ]
    yield ""
    yield f"By this reading are not reproduced: {', '.join(failed) or 'none'}."


def _row(paper: Paper, claim: Claim) -> str:
    found = paper.of(claim)
    shown = figures(found.measured, claim.unit)
    cells = (
        f"`{claim.id}` ({claim.source})",
        NONE if claim.expect is None else f"{claim.expect} {claim.unit}".strip(),
        shown if claim.id in paper.recorded else UNKNOWN,
        _verdict(claim, found.measured),
        found.reading or NONE,
        " ".join(_told(claim)),
    )
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _verdict(claim: Claim, found: Estimate | None) -> str:
    wants = wanted(claim, found) if claim.status == "undecided" else ""
    return f"undecided: {wants}" if wants else claim.status_text(claim.status)


def _told(claim: Claim) -> Iterator[str]:
    yield claim.statement
    yield f"*Measured: {claim.measures}.*"
    yield from filter(None, (claim.criterion, claim.reason))


def figures(measured: Estimate | None, unit: str) -> str:
    """Formats a value with half of its interval and the number of its seeds.

    >>> figures(Estimate(1.4284, 0.052, 5), "us")
    '1.43 ± 0.052 us (5 seeds)'
    """
    if measured is None:
        return NONE
    value, width = _figure(measured.value), measured.half_width
    interval = f" ± {width:.2g}" if width and isfinite(width) else ""
    seeds = f" ({measured.runs} seed{'s' * (measured.runs > 1)})" if measured.runs else ""
    return f"{value}{interval} {unit}".rstrip() + seeds


def _figure(value: float) -> str:
    """Formats three digits, or all digits of an integer."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
