"""The wording of findings: the only module that turns them into sentences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lightloom.analysis.wording import STILL_REMEDY
from lightloom.results.window_rules import ENOUGH_FLOWS
from lightloom.units import quantities

from .kinds import (
    AloneCarries,
    Cut,
    DarkStart,
    FinishesMore,
    LongInterval,
    NoneCarries,
    RunTooShort,
    TooShort,
    WindowTooShort,
)


@dataclass(frozen=True)
class Told:
    """A finding, or several of one kind, as a value of a statement."""

    finding: Any

    def __format__(self, form: str) -> str:
        """The sentence of this form."""
        forms: Mapping[str, Callable[[Any], str]] = {
            "title": title,
            "explained": explained,
            "jobs": jobs_done,
            "cuts": cut,
            "dark": dark,
            "rarely": rarely,
            "left out": left_out,
        }
        return forms[form](self.finding)


def title(found: FinishesMore | AloneCarries | NoneCarries | TooShort) -> str:
    """A finding as a headline."""
    match found:
        case FinishesMore():
            return _title_of_jobs(found)
        case AloneCarries():
            by = "by the end of the run" if found.limit_s is None else within(found.limit_s)
            if found.unfinished is not None:
                return f"{found.leader} delivers the most {by}"
            if found.basis == "traffic":
                return f"Only {found.leader} delivers this traffic {by}"
            return f"Only {found.leader} carries this load"
        case NoneCarries():
            return "No fabric carries this load"
        case WindowTooShort():
            return "The window is too short to tell which fabric is ahead"
        case RunTooShort():
            return "The run is too short to tell which fabric is ahead"


def within(limit_s: float) -> str:
    """The limit that ended the run, as a phrase.

    >>> within(0.05).replace(quantities.GLUE, " ")
    'within run.limit = 50.0 ms'
    """
    return f"within run.limit = {quantities.show(limit_s, 'time')}"


def _title_of_jobs(found: FinishesMore) -> str:
    if not found.leaders:
        return "No fabric is ahead: each finishes jobs that another leaves unfinished"
    whose = quantities.listed(found.leaders)
    one = len(found.leaders) == 1
    total = found.done[found.leaders[0]][1]
    if found.complete:
        only = "the only fabric that" if one else "the only fabrics that"
        verb = "is" if one else "are"
        what = {1: "the job", 2: "both jobs"}.get(total, f"all {total} jobs")
        return f"{whose} {verb} {only} {'finishes' if one else 'finish'} {what}"
    return f"{whose} {'finishes' if one else 'finish'} the most jobs"


def jobs_done(found: FinishesMore) -> str:
    """The number of jobs that each fabric finished by the end of the run, and the setting to
    change."""
    each = quantities.listed(f"{label} {n} of {total}" for label, (n, total) in found.done.items())
    return (
        f"Jobs finished by the end of the run: {each}. An unfinished job takes longer than any "
        "finished one; a later run.stop or run.limit shows how much longer."
    )


def explained(found: AloneCarries | NoneCarries | TooShort) -> str:
    """Why only one fabric carries the load, none does, or the run does not show it."""
    match found:
        case AloneCarries():
            return _why_alone(found)
        case NoneCarries():
            return _why_none(found)
        case WindowTooShort():
            return _why_too_short(found)
        case RunTooShort():
            return _why_run_too_short(found)


def _why_none(found: NoneCarries) -> str:
    if found.beyond is not None:
        return (
            f"The load is {found.beyond:.3g}, and the servers' links carry 1: they are the limit, "
            "whatever the fabric. Lower the load to compare fabrics."
        )
    if found.server:
        return (
            f"More and more flows {found.server} wait on every fabric: the link of this server is "
            "offered more than it carries. Spread its traffic, or lower its load."
        )
    if not found.shares:
        what = f"{quantities.listed(found.labels)} accepted less than the load in every window"
    else:
        each = quantities.listed(
            f"{label} {quantities.show(s, 'share')}" for label, s in found.shares.items()
        )
        what = f"Share of the offered load delivered while flows arrived: {each}"
    return (
        f"{what}: queues grow for as long as the load lasts, so times and queues are not compared. "
        f"{_done_sooner(found)}A lower workload.load would let them be compared."
    )


def _done_sooner(found: NoneCarries) -> str:
    """The time from the last arrival until each fabric finished its flows; empty if none did."""
    if not found.done_s:
        return ""
    each = quantities.listed(
        f"{label} after {quantities.show(s, 'time')}"
        for label, s in sorted(found.done_s.items(), key=lambda pair: pair[1])
    )
    return f"Every flow finished in the end: {each}. "


def _why_run_too_short(found: RunTooShort) -> str:
    one = len(found.finished) == 1
    each = quantities.listed(
        f"{label} delivered {quantities.show(found.delivered.get(label), 'share')} of the "
        "offered load while flows arrived, and finished "
        f"{quantities.show(share, 'share')} of the flows"
        for label, share in found.finished.items()
    )
    if found.best is not None:
        each += f", where another fabric delivered {quantities.show(found.best, 'share')}"
    longer = "raise workload.flows or play a longer trace"
    more = "let run.stop end the run later" if found.stopped else longer
    more = "raise or remove run.limit" if found.cut else more
    return (
        f"It does not show whether {quantities.listed(found.finished)} "
        f"{'carries' if one else 'carry'} the load: {each}. Set run.warm_up and run.measure to "
        f"judge a steady state, or {more}."
    )


def _why_alone(found: AloneCarries) -> str:
    shares = [(x, s) for x, s in found.shares.items() if s is not None]
    if shares:
        (x, first), *rest = ((x, quantities.show(s, "share")) for x, s in shares)
        each = quantities.listed([f"{x} delivered {first}", *(f"{x} {s}" for x, s in rest)])
        by_load = found.basis == "load"
        when = "While flows arrived" if by_load else "By the end of the run"
        measure = (
            "" if by_load else ", measured by the smallest of its shares of bytes, flows and jobs"
        )
        less = f"{x} carried less traffic, so its" if not rest else "They carried less, so their"
        return (
            f"{_unfinished(found)}{when}, {each} of what {found.leader} delivered{measure}. "
            f"{less} times and queues are not compared."
        )
    others = quantities.listed(found.shares)
    does = "does" if len(found.shares) == 1 else "do"
    quick = (
        f" The lower times of {quantities.listed(found.faster)} are those of the few flows that it "
        f"delivered."
        if found.faster
        else ""
    )
    return f"{others} {does} not carry the load, so times and queues are not compared.{quick}"


def _unfinished(found: AloneCarries) -> str:
    """The share of the traffic that the leader delivered, and the number of flows that it
    finished."""
    left = found.unfinished
    if left is None:
        return ""
    sizes = [quantities.show(n, "bytes") for n in (left.bytes_delivered, left.bytes_offered)]
    done = f"{left.flows_completed:,}" if left.flows_completed else "none"
    return (
        f"{found.leader} delivered {sizes[0]} of {sizes[1]} and finished {done} of "
        f"{quantities.counted(left.flows_offered, 'flow')}; a later run.stop or run.limit shows "
        "the times of all. "
    )


def _why_too_short(found: WindowTooShort) -> str:
    one = len(found.unsettled) == 1
    why = (
        f"It does not show whether {quantities.listed(found.unsettled)} "
        f"{'carries' if one else 'carry'} the load: "
    )
    why += (
        _short_cycle(found)
        or _short_warm_up(found)
        or _few_flows(found)
        or (
            "the window is too short for the queues at this load, the seeds disagree, or the "
            "fabrics that carry the load accepted no more than these"
        )
    )
    return f"{why}. {lengthen(found)}"


def _short_cycle(found: WindowTooShort) -> str:
    """The cycles of circuits that are longer than the warm-up or the window; empty if none is."""
    if not found.cycles_s:
        return ""
    each = quantities.listed(
        f"every {quantities.show(s, 'time')} on {label}" for label, s in found.cycles_s.items()
    )
    spans = (found.warm_up_s, found.measure_s)
    warm_up, measure = (quantities.show(span, "time") for span in spans)
    return (
        f"circuits repeat, or are chosen again, {each}, but run.warm_up is {warm_up} and "
        f"run.measure is {measure}"
    )


def _short_warm_up(found: WindowTooShort) -> str:
    """The time that the largest flow takes alone, if the warm-up is shorter; empty otherwise."""
    if not found.largest_s:
        return ""
    return (
        f"the largest flow takes {quantities.show(found.largest_s, 'time')} alone, but "
        f"run.warm_up is {quantities.show(found.warm_up_s, 'time')}"
    )


def _few_flows(found: WindowTooShort) -> str:
    """The number of flows of the window, if they are too few; empty otherwise."""
    if found.flows is None:
        return ""
    counted = quantities.counted(found.flows, "flow")
    return f"{counted} arrived in the window, and {ENOUGH_FLOWS} are needed"


def of_one_run(found: WindowTooShort) -> str:
    """Why the window of a single run is too short, as a note of the terminal."""
    why = (
        _short_cycle(found)
        or _short_warm_up(found)
        or _few_flows(found)
        or "it is too short for the queues at this load"
    )
    remedy = lengthen(found).removesuffix(".").replace("Lengthen", "lengthen", 1)
    note = f"the window does not show whether the load is carried: {why}; {remedy}"
    return note.replace(quantities.GLUE, " ")


def lengthen(found: WindowTooShort) -> str:
    """The warm-up and the window that are long enough, as a remedy."""
    warm_up = quantities.show(found.needs_warm_up_s, "time")
    measure = quantities.show(found.needs_measure_s, "time")
    longer = (
        f"run.warm_up to at least {warm_up} and " if found.needs_warm_up_s > found.warm_up_s else ""
    )
    # More seeds do not help if the warm-up is too short.
    seeds = "" if found.largest_s or found.cycles_s else ", or raise run.repeat"
    return f"Lengthen {longer}run.measure to at least {measure}{seeds}."


def cut(found: Sequence[Cut]) -> str:
    """The fabrics whose runs ended before their flows did, and why; empty if none did."""
    still = [c for c in found if c.still_since_s is not None]
    limited = [c for c in found if c.still_since_s is None]
    return " ".join(said for said in (_stood_still(still), _limited(limited)) if said)


def _limited(found: Sequence[Cut]) -> str:
    if not found:
        return ""
    each = quantities.listed(f"on {c.label}, {left_out(c)}" for c in found)
    limit = quantities.show(found[0].limit_s, "time")
    return (
        f"run.limit = {limit} ended the run: {each}. Raise or remove run.limit to have the times "
        "of all flows."
    )


def _stood_still(found: Sequence[Cut]) -> str:
    if not found:
        return ""
    each = quantities.listed(
        f"{c.label} delivered nothing after {quantities.show(c.still_since_s or 0.0, 'time')}: "
        f"{left_out(c)}"
        for c in found
    )
    return f"{each}. {STILL_REMEDY[:1].upper()}{STILL_REMEDY[1:]}."


def dark(found: Sequence[DarkStart]) -> str:
    """The fabrics that began without a circuit, and for how long; empty if none did."""
    if not found:
        return ""
    each = quantities.listed(
        f"{d.label} had no circuit for the first {quantities.show(d.until_s, 'time')} "
        f"({quantities.show(d.share, 'share')} of the run)"
        for d in found
    )
    keys = "fabric.initial" if len(found) == 1 else "initial of each"
    lit = f"{keys} lights circuits from the start, or " if all(d.initial for d in found) else ""
    return f"Dark start: {each}; {lit}run for longer."


def rarely(found: Sequence[LongInterval]) -> str:
    """The fabrics whose interval is long for the run, the reason and the remedy; empty if there are
    none."""
    return " ".join(f"{one.label}: {one.finding.note}." for one in found)


def left_out(found: Cut) -> str:
    """The flows that did not finish: `900 of 1,000 flows were never offered and 5 did not finish`,
    without a part that is zero."""
    over = f" over {found.seeds} seeds" if found.seeds > 1 else ""
    total = f"of {quantities.counted(found.flows, 'flow')}{over}"
    never = f"{found.never_offered:,} {total} {_were(found.never_offered)} never offered"
    if not found.never_offered:
        return f"{found.unfinished:,} {total} did not finish"
    return f"{never} and {found.unfinished:,} did not finish" if found.unfinished else never


def _were(number: int) -> str:
    return "was" if number == 1 else "were"
