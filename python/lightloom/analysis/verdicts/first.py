"""The first verdict of a report: the best fabric, by which measure and factor, and what would
overturn it.

The first measure that a comparison has decides; a fabric that leads by another measure is named
with it. A fabric does not lead if its interval overlaps with the next one's, or if its lead is less
than 3 %. Conditions that would overturn the verdict come from the same data: loads, workloads and
measures by which another fabric leads, and unknown values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lightloom.units import quantities

from .. import presets
from ..fair import unfair
from ..findings.headline import cuts, dark_starts, rare_decisions
from ..findings.kinds import Finding
from ..findings.sentences import Told
from ..model import Workload
from ..ranking import NAMED, labels
from ..statement import Statement, text
from .criteria import criteria
from .decided import decide
from .elsewhere import Ahead, elsewhere, trade
from .overturned import another_load, overturned, remedy


@dataclass(frozen=True)
class First:
    """The verdict in short."""

    lead: str  # first part of the title: the best fabric by the deciding measure
    title: str
    answer: str
    overturned: tuple[str, ...]
    leaders: tuple[str, ...] = ()  # labels, in the order of the experiment
    wins: tuple[str, str] = ("", "")  # the verb phrase for one leader, and for several
    finding: Finding | None = None  # the measure that decided it
    main: str = ""  # the sentence with the figures that decide
    caveats: tuple[str, ...] = ()  # sentences that can change the conclusion
    remedy: tuple[str, ...] = ()  # among what would overturn it: a more informative run
    said: tuple[Statement, ...] = ()  # the title and the answer, as data
    conditions: tuple[Statement, ...] = ()  # what would overturn it, as data


def first(workload: Workload, others: Sequence[Workload] = ()) -> First | None:
    """The verdict of a comparison, with others of the same fabrics; None if there is only one
    fabric, or no figure to compare."""
    if len(workload.fabrics) < 2:
        return None
    decided = decide(workload)
    if decided is None:
        return None
    deciding, ranking = decided.measure, decided.ranking
    further = [c for c in criteria(workload) if c.name != deciding.name]
    ahead = elsewhere(ranking, further, workload) if decided.by_figures else []
    title = Statement("verdict", lead=decided.lead, ahead=titles(ahead[:1]))
    stopped = cuts(workload.fabrics)
    early = (Statement("runs that ended early", runs=Told(stopped)),) if stopped else ()
    # If no fabric has enough flows because of a limit, the limit is the reason and comes first.
    lead, late = (early, ()) if not ranking.level else ((), early)
    caveats = (
        *(() if decided.names_carriers else unfair(workload.fabrics)),
        *late,
        *doubts(workload),
        *another_load(deciding, ranking, workload),
    )
    # A caveat is also printed alone, so it has all figures.
    wide = ranking.explain_unplaced(deciding.quantity)
    wide_beside = ranking.explain_unplaced(deciding.quantity, stated=not ranking.level)
    trades = (trade(c, r, ranking) for c, r in ahead)
    said = (*lead, *decided.said, *wide_beside, *caveats, *trades)
    leading_labels = {s.fabric.label for s in ranking.leaders}
    conditions = overturned(decided, ahead, workload, others)
    return First(
        str(decided.lead),
        str(title),
        text(said),
        tuple(map(str, conditions)),
        tuple(f.label for f in workload.fabrics if f.label in leading_labels),
        deciding.wins,
        decided.finding,
        text((*lead, *decided.said[:1])),
        tuple(map(str, (*wide, *caveats))),
        tuple(map(str, remedy(decided, workload))),
        (title, *said),
        conditions,
    )


def titles(ahead: Sequence[Ahead]) -> tuple[Statement, ...]:
    """The fabrics that lead by further measures, as parts of a title."""
    return tuple(
        Statement("ahead", leaders=labels(r.leaders), measure=c.name, wins=c.wins[0])
        for c, r in ahead
    )


def doubts(workload: Workload) -> tuple[Statement, ...]:
    """Circuits that were dark at the start, and intervals that are long for the run."""
    dark, rare = dark_starts(workload.fabrics), rare_decisions(workload.fabrics)
    return (
        *([Statement("dark start", starts=Told(dark))] if dark else ()),
        *([Statement("rare decisions", intervals=Told(rare))] if rare else ()),
    )


def joint(firsts: Sequence[tuple[str, First | None]], under: str = "") -> str | None:
    """The title for several comparisons, from their names and their common description (`both
    workloads`): the fabric that leads in all of them, or in which."""
    known = [(name, f) for name, f in firsts if f is not None]
    if len(known) < len(firsts) or not known:
        return None
    if len(known) == 1:
        return known[0][1].title
    under = under or presets.all_workloads(len(known))
    leads = dict.fromkeys(f.lead for _, f in known)
    if len(leads) == 1:
        return f"{known[0][1].lead} under {under}"
    if len(leads) > NAMED:
        always, level = in_all(known, under)
        return f"{always}, level with others under {quantities.listed(level)}" if level else None
    places = {lead: quantities.listed(n for n, f in known if f.lead == lead) for lead in leads}
    return "; ".join(f"{lead} under {where}" for lead, where in places.items())


def in_all(firsts: Sequence[tuple[str, First]], under: str) -> tuple[str, list[str]]:
    """The fabrics that lead in all comparisons by the same measure, and the comparisons in which
    others are level."""
    of_first = firsts[0][1]
    always = [x for x in of_first.leaders if all(x in f.leaders for _, f in firsts)]
    if not always or any(f.wins != of_first.wins for _, f in firsts):
        return "", []
    lead = f"{quantities.listed(always)} {of_first.wins[len(always) > 1]} under {under}"
    return lead, [name for name, f in firsts if len(f.leaders) > len(always)]


def all_first(workloads: Sequence[Workload]) -> Mapping[str, First | None]:
    """The verdict of each comparison of a report, by name."""
    return {w.name: first(w, [other for other in workloads if other is not w]) for w in workloads}
