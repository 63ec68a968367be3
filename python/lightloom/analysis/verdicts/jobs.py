"""The fabric that finishes jobs soonest, and the share of the traffic that circuits carry."""

from __future__ import annotations

from collections.abc import Sequence

from lightloom.analysis.circuits import doubts, slow_circuits
from lightloom.units import quantities
from lightloom.units.intervals import LEVEL

from ..factors import slower
from ..model import Fabric, Workload
from ..ranking import Figure, Ranking, Score, labels, plain, rank
from ..statement import Statement
from .answer import Verdict, evidence

SAID = 4  # most jobs with a sentence of their own
BARS = Statement("bars of jobs")


def jobs(fabrics: Sequence[Fabric]) -> Verdict | None:
    """The verdict on the fabric that finishes each job soonest; None without jobs."""
    named = list(dict.fromkeys(name for f in fabrics for name in f.jobs))
    if not named:
        return None
    question = (
        "Which fabric finishes the jobs soonest?" if len(fabrics) > 1 else "How long do jobs take?"
    )
    shown = evidence(fabrics, all_jobs, "time", lambda f: each_job(f, named))
    alone = len(named) == 1
    said = tuple(s for name in named[:SAID] for s in job_answer(name, fabrics, alone=alone))
    remarks = [BARS] if len(named) > 1 else []
    if len(named) > SAID:
        remarks.append(Statement("jobs of the table", jobs=len(named)))
    if any(s.kind == "job: level" for s in said):
        kind = "level jobs: intervals" if fabrics[0].seeds else "level jobs: one seed"
        remarks.append(Statement(kind, level=LEVEL))
    return Verdict(question, said, shown, tuple(remarks))


def all_jobs(fabric: Fabric) -> float | None:
    """Time from the start of the first job until the last is finished [s]; None if one is
    unfinished."""
    return fabric.jobs_last


def each_job(fabric: Fabric, named: Sequence[str]) -> str:
    """A sentence for each job, if there are several."""
    if not 1 < len(named) <= SAID:
        return ""
    return ", ".join(f"{n} {quantities.show(fabric.jobs.get(n), 'time')}" for n in named)


def job_answer(job: str, fabrics: Sequence[Fabric], *, alone: bool) -> tuple[Statement, ...]:
    """The fastest fabric of one job, and the factors of the others; its name first, unless it is
    `alone`."""
    scored = [s for f in fabrics if (s := plain(f, lambda g: g.jobs.get(job))) is not None]
    late = tuple(f.label for f in fabrics if job in f.jobs and f.jobs[job] is None)
    name = () if alone else (Statement("job", name=job),)
    if not scored:
        return (*name, Statement("job: none finished"))
    unfinished = (Statement("unfinished jobs", labels=late),) if late else ()
    ranking = rank(scored, "lower")
    wide = ranking.explain_unplaced("time")
    if not ranking.level:
        return (*name, *wide, *unfinished)
    best, leaders = Figure(ranking.leaders[0], "time"), labels(ranking.leaders)
    if len(fabrics) == 1:
        return (*name, Statement("job: time", time=best), *unfinished)
    kind = "job: soonest" if len(leaders) == 1 else "job: level"
    lead = Statement(kind, leaders=leaders, time=best)
    return (*name, lead, *slower(ranking), *wide, *unfinished)


def circuits(workload: Workload) -> Verdict | None:
    """The share of the traffic that crosses circuits, and the limits of this statement; None
    without circuits."""
    question = "How much goes over circuits?"
    having = [f for f in workload.fabrics if f.circuit_share is not None]
    notes = circuit_notes(workload)
    if not having:
        nothing = (Statement("nothing delivered"),)
        return Verdict(question, nothing, remarks=notes) if notes else None
    scored = [Score.exact(f, s) for f in having if (s := f.circuit_share) is not None]
    ranking = rank(scored, "higher")
    shown = evidence(having, lambda f: f.circuit_share, "share", circuit_detail)
    return Verdict(question, (most_by_circuits(ranking),), shown, notes)


def most_by_circuits(ranking: Ranking) -> Statement:
    """The fabrics that send most over circuits, and the shares of the others."""
    leaders, share = labels(ranking.leaders), ranking.best
    rest = tuple(Statement("share of", label=s.fabric.label, share=s.value) for s in ranking.rest)
    one = len(leaders) == 1
    if not rest:
        kind = "most over circuits" if one else "all alike over circuits"
        return Statement(kind, leaders=leaders, share=share)
    lead = "most over circuits, others less" if one else "level over circuits, others less"
    return Statement(lead, leaders=leaders, share=share, rest=rest)


def circuit_notes(workload: Workload) -> tuple[Statement, ...]:
    """Notes on runs too short for circuits, policies that rarely decide, and circuits no faster
    than the electrical network."""
    return tuple(
        Statement("note on fabric", label=f.label, note=note)
        for f in workload.fabrics
        if f.circuits is not None and (end := f.get("simulated_s")) is not None
        for note in (
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
