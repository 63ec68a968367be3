"""The fabric that finishes jobs soonest, and the share of the traffic that circuits carry."""

from __future__ import annotations

from collections.abc import Sequence

from lightloom.analysis.circuits import doubts, slow_circuits
from lightloom.units import quantities
from lightloom.units.intervals import LEVEL

from ..factors import slower
from ..model import Fabric, Workload
from ..ranking import Score, names, plain, rank
from .answer import Verdict, evidence

SAID = 4  # most jobs with a sentence of their own
BARS = "Bars: from the first job's beginning until the last job is done."


def jobs(fabrics: Sequence[Fabric]) -> Verdict | None:
    """The verdict on the fabric that finishes each job soonest; None without jobs."""
    named = list(dict.fromkeys(name for f in fabrics for name in f.jobs))
    if not named:
        return None
    question = (
        "Which fabric finishes the jobs soonest?" if len(fabrics) > 1 else "How long do jobs take?"
    )
    shown = evidence(fabrics, all_jobs, "time", lambda f: each_job(f, named))
    parts = [job_answer(name, fabrics, alone=len(named) == 1) for name in named[:SAID]]
    notes = [BARS] if len(named) > 1 else []
    if len(named) > SAID:
        notes.append(f"The table has all {len(named)} jobs.")
    if any("level at" in part for part in parts):
        notes.append(f"Level: less than {LEVEL * 100:.0f} % apart{seeded(fabrics)}.")
    return Verdict(question, " ".join(parts), shown, tuple(notes))


def seeded(fabrics: Sequence[Fabric]) -> str:
    """The qualification of "level": by overlapping intervals, or from one seed."""
    return ", or with overlapping 95 % intervals" if fabrics[0].seeds else " (one seed)"


def all_jobs(fabric: Fabric) -> float | None:
    """Time from the start of the first job until the last is finished [s]; None if one is
    unfinished."""
    return fabric.jobs_last


def each_job(fabric: Fabric, named: Sequence[str]) -> str:
    """A sentence for each job, if there are several."""
    if not 1 < len(named) <= SAID:
        return ""
    return ", ".join(f"{n} {quantities.show(fabric.jobs.get(n), 'time')}" for n in named)


def job_answer(job: str, fabrics: Sequence[Fabric], *, alone: bool) -> str:
    """The fastest fabric of one job, and the factors of the others."""
    scored = [s for f in fabrics if (s := plain(f, lambda g: g.jobs.get(job))) is not None]
    late = [f.label for f in fabrics if job in f.jobs and f.jobs[job] is None]
    prefix = "" if alone else f"{job}: "
    unfinished = f" Unfinished on {quantities.listed(late)}." if late else ""
    if not scored:
        return f"{prefix}no fabric finished it."
    ranking = rank(scored, "lower")
    wide = ranking.said_unplaced("time")
    if not ranking.level:
        return f"{prefix}{wide}{unfinished}"
    best = ranking.leaders[0].with_interval("time")
    if len(fabrics) == 1:
        return f"{prefix}{best}.{unfinished}"
    if len(ranking.leaders) == 1:
        lead = f"{prefix}{names(ranking.leaders)} takes {best}."
    else:
        lead = f"{prefix}{names(ranking.leaders)} are level at {best}."
    return " ".join(p for p in (lead, slower(ranking), wide) if p) + unfinished


def circuits(workload: Workload) -> Verdict | None:
    """The share of the traffic that crosses circuits, and the limits of this statement; None
    without circuits."""
    question = "How much goes over circuits?"
    having = [f for f in workload.fabrics if f.circuit_share is not None]
    notes = circuit_notes(workload)
    if not having:
        nothing = "Nothing was delivered, so this run has no answer."
        return Verdict(question, nothing, notes=notes) if notes else None
    scored = [Score.exact(f, s) for f in having if (s := f.circuit_share) is not None]
    ranking = rank(scored, "higher")
    share = quantities.show(ranking.best, "share")
    if len(scored) == 1 or ranking.rest:
        answer = f"{names(ranking.leaders)} sends {share} of the delivered bytes over circuits"
        if len(ranking.leaders) > 1:
            answer = f"{names(ranking.leaders)} send about {share} of the bytes over circuits"
        rest = [f"{s.fabric.label} {quantities.show(s.value, 'share')}" for s in ranking.rest]
        answer += f"; {quantities.listed(rest)}." if rest else "."
    else:
        answer = f"About {share} of the delivered bytes in {names(ranking.leaders)}."
    shown = evidence(having, lambda f: f.circuit_share, "share", circuit_detail)
    return Verdict(question, answer, shown, notes)


def circuit_notes(workload: Workload) -> tuple[str, ...]:
    """Notes on runs too short for circuits, policies that rarely decide, and circuits no faster
    than the electrical network."""
    return tuple(
        f"{f.label}: {line}."
        for f in workload.fabrics
        if f.circuits is not None and (end := f.get("simulated_s")) is not None
        for line in (
            *doubts(
                workload.experiment, f.settings, end, f.circuits.settings > 0, bool(f.circuit_share)
            ),
            *slow_circuits(workload.experiment, f.settings),
        )
    )


def circuit_detail(fabric: Fabric) -> str:
    """The number of changes of circuits, and the time without a lit circuit."""
    if fabric.circuits is None:
        return ""
    parts = [f"{quantities.counted(fabric.circuits.settings, 'setting')} of circuits"]
    if fabric.dark is not None:
        parts.append(f"none lit {quantities.show(fabric.dark, 'share')} of the run")
    return ", ".join(parts)
