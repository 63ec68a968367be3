"""The ranking of fabrics by a figure, and whether the figures permit one.

Two values are level if they differ by less than 3 %, or if their 95 % intervals overlap. With
several seeds the interval is over the seeds. With one seed it is over the flows of the run (see
`bounds`); the variation over seeds is then unknown. A figure without an interval is ranked by its
value in the sentences of its card, but it is never called the best.

If not all flows finished, their figure is a bound. A fabric whose bound shows that it is behind is
ranked behind; otherwise it is not ranked. Two other kinds of figures are not ranked:

- a figure whose interval has a half-width of at least half the figure, if the interval contains
  another's figure: such an interval overlaps with nearly all others, and does not show that two
  fabrics are level;
- a figure without an interval, if the others have one.

A fabric does not lead if such figures leave it alone in the ranking, or if one of them is better.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from lightloom.analysis.statement import Statement
from lightloom.results import steady_state, window_rules
from lightloom.units import quantities
from lightloom.units.bounds import Bound, floored
from lightloom.units.intervals import LEVEL, over_runs

from .model import Fabric

NAMED = 3  # largest number of fabrics behind the leader that are named

WIDE = 0.5
"""An interval whose half-width is at least this share of its figure is too wide to place."""

Better = Literal["lower", "higher"]


@dataclass(frozen=True)
class Score:
    """A fabric's value with its interval; an end without a limit is infinite."""

    fabric: Fabric
    value: float
    low: float
    high: float
    open: bool = False  # its upper limit is unknown
    least: bool = False  # the value is a lower bound, and shown as one
    most: float | None = None  # upper limit of a bound

    @classmethod
    def exact(cls, fabric: Fabric, value: float) -> Score:
        """A value without sampling error."""
        return cls(fabric, value, value, value)

    @classmethod
    def of(cls, fabric: Fabric, found: Bound) -> Score:
        """A figure of flows with its interval, or a lower bound of the figure."""
        most = None if found.open else found.high
        return cls(fabric, found.low, found.start, found.end, found.open, not found.exact, most)

    @property
    def within(self) -> float:
        """The upper limit of the value, if it is known."""
        return self.value if self.most is None else self.most

    @property
    def spans(self) -> bool:
        """Whether the interval is limited on both sides."""
        return math.isfinite(self.high - self.low)

    @property
    def wide(self) -> bool:
        """Whether the interval is limited, and too wide to place."""
        below = self.value - self.low
        return math.isfinite(self.high) and below > 0 and below >= WIDE * self.value

    def shown(self, quantity: quantities.Quantity) -> str:
        """The value as text. A bound is shown as one, rounded down, unless both its ends have the
        same text."""
        shown = quantities.show(self.value, quantity)
        if not self.least or (
            self.most is not None and quantities.show(self.most, quantity) == shown
        ):
            return shown
        return f">{quantities.GLUE}{quantities.show(floored(self.value), quantity)}"

    def with_interval(self, quantity: quantities.Quantity) -> str:
        """The value as text; for several seeds with the half-width: `405.0 ± 7.1 ns`."""
        half = self.high - self.value
        even = abs(self.value - self.low - half) <= 1e-6 * abs(self.value)
        if len(self.fabric.seeds) < 2 or self.least or not math.isfinite(half) or not even:
            return self.shown(quantity)
        return quantities.show_interval(self.value, max(half, 0.0), quantity)

    def between_ends(self, quantity: quantities.Quantity) -> str:
        """The value and its half-width as text, or the two ends of an interval that has no such
        form."""
        told, plain = self.with_interval(quantity), self.shown(quantity)
        if told != plain or self.least:
            return told
        if not self.spans:
            return f"{plain} without an interval"
        low = quantities.show(max(self.low, 0.0), quantity)
        return f"{plain}, between {low} and {quantities.show(self.high, quantity)}"


@dataclass(frozen=True)
class Figure:
    """A score and its quantity, as a value of a statement."""

    score: Score
    quantity: quantities.Quantity

    def __format__(self, form: str) -> str:
        """The figure with its interval over seeds; `plain` without it, `ends` with any interval."""
        forms = {
            "": self.score.with_interval,
            "plain": self.score.shown,
            "ends": self.score.between_ends,
        }
        return forms[form](self.quantity)


@dataclass(frozen=True)
class Ranking:
    """Scores, best first, and the number of fabrics that share the lead."""

    scores: tuple[Score, ...]
    level: int
    unknown: tuple[Score, ...] = ()  # bounds that may reach the best; too wide intervals

    @property
    def leaders(self) -> tuple[Score, ...]:
        """The best fabric, and those that are level with it."""
        return self.scores[: self.level]

    @property
    def unfinished(self) -> tuple[Score, ...]:
        """The fabrics that are not ranked because flows are unfinished."""
        return tuple(s for s in self.unknown if s.open)

    @property
    def unplaced(self) -> tuple[Score, ...]:
        """The fabrics that are not ranked because their interval is too wide."""
        return tuple(s for s in self.unknown if not s.open)

    def explain_unplaced(
        self, quantity: quantities.Quantity, *, stated: bool = False
    ) -> tuple[Statement, ...]:
        """The statement on the figures that are too wide to place, and on the longer run that would
        rank them; empty if there are none. It has the figures, unless they are `stated` before with
        their intervals."""
        if not self.unplaced:
            return ()
        figures = tuple(
            Statement("figure", label=s.fabric.label, figure=Figure(s, quantity))
            for s in self.unplaced
        )
        if not all(s.spans for s in self.unplaced):
            ranked = any(s.spans for s in self.unplaced)
            kind = "no intervals" if ranked else "no intervals: not ranked"
            return (Statement(kind, figures=figures, longer=self._longer()),)
        wide = [s for s in self.unplaced if s.wide]
        if stated and self._are_whole(quantity):
            return (Statement("too wide", labels=labels(wide or self.unplaced)),)
        if 0 < len(wide) < len(self.unplaced):
            return (Statement("some too wide", figures=figures, wide=labels(wide)),)
        return (Statement("all too wide", figures=figures),)

    def _are_whole(self, quantity: quantities.Quantity) -> bool:
        """Whether the figures that are too wide to place are shown with their intervals."""
        return all(s.between_ends(quantity) == s.with_interval(quantity) for s in self.unplaced)

    def _longer(self) -> str:
        """The run that gives each fabric an interval."""
        without = [s for s in (*self.unplaced, *self.leaders) if not s.spans]
        return or_more_draws(longer(without), [s.fabric for s in without])

    @property
    def untold(self) -> bool:
        """Whether several fabrics share the lead only because there are too few flows."""
        return self.level > 1 and not all(s.spans for s in self.leaders)

    @property
    def rest(self) -> tuple[Score, ...]:
        """The fabrics that are behind."""
        return self.scores[self.level :]

    @property
    def best(self) -> float:
        """Upper limit of the best value."""
        return self.scores[0].within


def or_more_draws(needed: str | None, fabrics: Sequence[Fabric]) -> str:
    """The run that gives figures an interval, or several runs if the traffic or one of these
    fabrics is random."""
    if all(f.same_flows and not f.draws for f in fabrics):
        return needed or "a longer trace"
    return "a longer run or more seeds" if needed is None else f"{needed} or more seeds"


def longer(scores: Iterable[Score]) -> str | None:
    """The window, or the time of arrivals, that gives each of these figures an interval; None if no
    theory gives it, or if the run was long enough."""
    runs = [run for score in scores for run in score.fabric.each]
    each = [_needed_s(run) for run in runs]
    known = [seconds for seconds in each if seconds is not None]
    if not known or len(known) < len(each):
        return None
    short = any(steady_state.is_short_for_intervals(run.summary, run.arrivals_took) for run in runs)
    if not short and not all(run.window for run in runs):
        return None
    # Windows that theory calls long enough, and whose latencies have no interval, are doubled.
    lengths = [window_rules.length_s(run.window) or 0.0 for run in runs if run.window]
    least = max(known) if short else 2 * max(lengths)
    what = "a window" if all(run.window for run in runs) else "arrivals"
    return f"{what} of at least {quantities.show(least, 'time')}"


def _needed_s(run: Fabric) -> float | None:
    """The window, or the time of arrivals, that gives latencies an interval [s]. A shorter one is
    returned if it shows that the load is not carried, provided that the window continues to miss as
    much."""
    least = steady_state.least_s([run.summary])
    if run.window is None or least is None:
        return least
    window = window_rules.judged(run.summary)
    missed = window_rules.missed(window) or 0.0
    growing = window_rules.growing_s(window, missed) if missed > window_rules.MISSING else None
    return least if growing is None else min(least, steady_state.rounded_up(growing))


def score(fabric: Fabric, limits: Callable[[Fabric], Bound | None]) -> Score | None:
    """A figure of flows with its interval: over the seeds if there are several, else within the
    run; if all seeds have the same flows, the union of both. None if the fabric does not have the
    figure."""
    found = limits(fabric)
    if found is None:
        return None
    return of_seeds(fabric, found, [limits(f) for f in fabric.seeds])


def plain(fabric: Fabric, read: Callable[[Fabric], float | None]) -> Score | None:
    """A figure without an interval within a run: the mean over the seeds with its interval, if
    there are several; else the plain value."""
    value = read(fabric)
    if value is None:
        return None
    over = over_runs(read(f) for f in fabric.seeds)
    if over is None or over.half_width is None:
        return Score.exact(fabric, value)
    return Score(fabric, over.mean, over.low, over.high)


def of_seeds(fabric: Fabric, found: Bound, repeated: Sequence[Bound | None]) -> Score:
    """A figure of flows over several seeds.

    Its lower and upper limits are the means over the seeds; the interval reaches from the start of
    the lower limit's interval to the end of the upper one's. If fewer than two seeds have the
    figure, the interval of the run, `found`.
    """
    known = [b for b in repeated if b is not None]
    least = over_runs(b.low for b in known)
    if least is None or least.half_width is None:
        return Score.of(fabric, found)
    most = None if any(b.open for b in known) else over_runs(b.high for b in known)
    low, high = least.low, math.inf if most is None else most.high
    if fabric.same_flows:
        low, high = min(low, *(b.start for b in known)), max(high, *(b.end for b in known))
    exact = all(b.exact for b in known)
    within = None if exact or most is None else most.mean
    return Score(fabric, least.mean, low, high, most is None, not exact, within)


def rank(scores: Sequence[Score], better: Better) -> Ranking:
    """Sorts the scores and finds those that are level with the best. A bound never leads: it is
    behind the best, or its rank is unknown. If there are only bounds, none has a rank."""
    ordered = sorted(scores, key=lambda s: s.value, reverse=better == "higher")
    known = [s for s in ordered if not s.open]
    vague = [s for s in known if not s.spans]
    if len(vague) == len(known):
        vague = []  # no figure has enough flows
    known, unplaced = _placed([s for s in known if s not in vague])
    behind = [s for s in vague if known and _is_beyond(s, known[0], better)]
    unplaced = [*unplaced, *(s for s in vague if s not in behind)]
    known = sorted([*known, *behind], key=lambda s: s.value, reverse=better == "higher")
    if not known:
        return Ranking((), 0, tuple(ordered))
    tied = [s for s in known if is_level(known[0], s)]
    unknown = [
        s
        for s in ordered
        if s in unplaced or (s.open and is_level(known[0], s) and not exceeds(s, known[0], better))
    ]
    rest = [s for s in ordered if s not in tied and s not in unknown]
    if len(tied) == 1 and _leads_nobody(tied[0], rest, unknown, better):
        return Ranking((), 0, tuple(ordered))
    return Ranking((*tied, *rest), len(tied), tuple(unknown))


def _is_beyond(vague: Score, leader: Score, better: Better) -> bool:
    """Whether a figure whose interval has a limit on one side only is certainly worse than the
    best."""
    if better == "lower":
        return vague.low > max(leader.high, leader.value * (1 + LEVEL))
    return vague.high < min(leader.low, leader.value * (1 - LEVEL))


def exceeds(bound: Score, leader: Score, better: Better) -> bool:
    """Whether a bound is above the interval of the best figure, if less is better; the figure is
    then certainly behind."""
    return better == "lower" and bound.value > max(leader.high, leader.value * (1 + LEVEL))


def _leads_nobody(
    leader: Score, rest: Sequence[Score], unknown: Sequence[Score], better: Better
) -> bool:
    """Whether the leader leads no other fabric, or a figure that is too wide to place is better.

    A leader without an interval is not ahead of bounds that its interval may reach.
    """
    if unknown and not rest and not leader.spans:
        return True
    wide = [s.value for s in unknown if not s.open]
    if wide and not rest:
        return True
    if better == "lower":
        return any(value < leader.value for value in wide)
    return any(value > leader.value for value in wide)


def _placed(known: Sequence[Score]) -> tuple[list[Score], list[Score]]:
    """Splits figures, best first, into those that can be placed and those too wide to place. If the
    best of the first is certainly behind one of the second, none is placed."""

    def lost(one: Score) -> bool:
        return one.wide and any(is_level(one, s) for s in known if s is not one)

    at = next((i for i, s in enumerate(known) if not lost(s)), None)
    if at is None or not all(is_level(known[at], s) for s in known[:at]):
        return [], list(known)
    first, behind = known[at], known[at + 1 :]
    unplaced = [s for s in behind if s.wide and is_level(first, s)]
    return [first, *(s for s in behind if s not in unplaced)], [*known[:at], *unplaced]


def is_level(a: Score, b: Score) -> bool:
    """Whether two scores are level."""
    larger, smaller = max(a.value, b.value), min(a.value, b.value)
    return larger <= smaller * (1 + LEVEL) or (a.low < b.high and b.low < a.high)


def apart(scores: Sequence[Score | None], better: Better) -> Score | None:
    """The best of several figures, if no other is level with it or may be ahead, and its interval
    has a limit."""
    known = [s for s in scores if s is not None]
    ranking = rank(known, better)
    if ranking.level != 1 or ranking.unknown:
        return None
    best = ranking.leaders[0]
    if better == "higher" and any(s.open for s in known):
        return None  # a bound may be arbitrarily high
    end = best.high if better == "lower" else best.low
    return best if math.isfinite(end) else None


def labels(scores: Iterable[Score]) -> tuple[str, ...]:
    """The labels of the fabrics."""
    return tuple(s.fabric.label for s in scores)


def names(scores: Sequence[Score]) -> str:
    """Labels as a list in a sentence."""
    return quantities.listed(labels(scores))


def by_slot(scores: Iterable[Score]) -> list[Score]:
    """The scores in the order of the experiment."""
    return sorted(scores, key=lambda s: s.fabric.slot)


def together(scores: Sequence[Score]) -> str:
    """Labels of level fabrics, in the order of the experiment."""
    return names(by_slot(scores))
