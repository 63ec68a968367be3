"""The input of a decision from a comparison: cost and delivered bits of each fabric, whether it
carries the load, and the figure by which the report judges."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from lightloom.analysis.fair import carrying, not_carrying_at
from lightloom.analysis.findings import carriage
from lightloom.analysis.findings.headline import limit_s
from lightloom.analysis.model import Fabric, LoadPoint, Workload
from lightloom.analysis.ranking import Score, is_level
from lightloom.analysis.unfinished import CENSORED, ranked
from lightloom.analysis.verdicts import each_flow
from lightloom.analysis.verdicts.criteria import EVERY, Criterion, is_by_each_flow, measures
from lightloom.analysis.verdicts.decided import decide
from lightloom.config import loads
from lightloom.costs.book import Book
from lightloom.costs.costs import Costs, as_compared, cost
from lightloom.decision.breaking import Kept
from lightloom.decision.purchases import Purchase
from lightloom.results.failures import OfFabric, Resilience
from lightloom.units import quantities
from lightloom.units.intervals import LEVEL, Interval

CARRIED = 0.98
"""Share of the bits that the flows would deliver alone in the network; a fabric that accepts it in
the window carries the load, as in `stable`."""


@dataclass(frozen=True)
class Read:
    """A comparison at the prices of a book."""

    workload: Workload
    costs: Costs
    purchases: tuple[Purchase, ...]
    criterion: Criterion | None
    """The measure by which fabrics are judged first; None if no fabric has the figure."""
    scores: Mapping[str, Score]
    """Label → its figure, including fabrics that do not carry the load."""
    by_flow: Callable[[Fabric, Fabric], int] | None = None
    """Compares two fabrics flow by flow; None if they are not judged in this way."""

    @property
    def windowed(self) -> bool:
        """Whether the delivered bits are those of a window, in the steady state."""
        return self.workload.measured

    def standing(self, one: str, other: str) -> int | None:
        """Compares two labels by the figure: 1 if the first is certainly better, 0 if they are
        level, −1 if it is worse or cannot be ranked; None if one has no figure."""
        if self.criterion is None or not {one, other} <= self.scores.keys():
            return None
        a, b = self.scores[one], self.scores[other]
        if self.by_flow is not None:
            return self.by_flow(a.fabric, b.fabric)
        lower = self.criterion.better == "lower"
        mine, theirs = (a.value, b.value) if lower else (b.value, a.value)  # smaller is better
        if is_level(a, b):
            # A bound, or an interval as wide as its figure, makes two figures not level.
            wide = a.wide or b.wide or math.isinf(a.high - a.low)
            worse = mine > theirs * (1 + LEVEL) and wide
            unplaced = one != other and (a.open or worse)
            return -1 if unplaced else 0
        return 1 if mine < theirs else -1


def read(workload: Workload, book: Book) -> Read:
    """Reads one comparison.

    Raises:
        ConfigError: if a bill cannot be made.
    """
    costs = cost(as_compared(workload.name, workload.experiment), book, goodput=_means(workload))
    carried = {f.label for f in carrying(workload.fabrics)}
    purchases = tuple(
        Purchase(
            *(f.label, costs.fabrics[f.label], found),
            _known(goodput(g) for g in f.seeds),
            f.label in carried,
            f.is_doubtful or open_,
            f.window is not None,
            has_waited(f),
            undone(f),
            limit_s([f]),
        )
        for f, found, open_ in zip(
            workload.fabrics, _delivered(workload), carriage.untold(workload.fabrics), strict=True
        )
    )
    criterion, scores = _judged(workload)
    return Read(workload, costs, purchases, criterion, scores, _by_flow(workload, criterion))


def has_waited(fabric: Fabric) -> bool:
    """Whether the goodput of a run without a window is less than the load that it carried, because
    the run waited for its last flows. Fabrics cannot be priced by such a goodput."""
    load, delivered = fabric.get("load_offered"), goodput(fabric)
    if fabric.window is not None or not load or delivered is None or fabric.finished != 1.0:
        return False
    return delivered < CENSORED * load


def undone(fabric: Fabric) -> str:
    """States the number of jobs, or of flows of a run without a load, that a fabric finished; empty
    if it finished all."""
    if len(fabric.jobs_done) < len(fabric.jobs):
        return f"{len(fabric.jobs_done)} of {quantities.counted(len(fabric.jobs), 'job')}"
    if fabric.through is not None:
        return ""
    done, flows = fabric.get("flows_completed"), fabric.get("flows_offered")
    if done is None or flows is None or done >= flows:
        return ""
    return f"{done:,.0f} of {quantities.counted(int(flows), 'flow')}"


def at_loads(made: Read) -> dict[float, tuple[Purchase, ...]]:
    """Load of the sweep → the same fabrics with the bits that they delivered there."""
    found: dict[float, tuple[Purchase, ...]] = {}
    for load in made.workload.loads:
        late = not_carrying_at(made.workload.fabrics, load)
        points = {f.label: p for f in made.workload.fabrics for p in f.sweep if p.load == load}
        found[load] = tuple(
            _at(p, points[p.label], p.label not in late)
            for p in made.purchases
            if p.label in points
        )
    return found


def _at(purchase: Purchase, point: LoadPoint, carries: bool) -> Purchase:
    """A fabric with its goodput at another load, in the form by which it is priced at its own."""
    delivered = _positive(point.over_seeds(lambda p: p.goodput))
    seeds = _known(p.goodput for p in point.seeds)
    doubtful = point.is_doubtful
    windowed = point.window is not None
    return Purchase(purchase.label, purchase.cost, delivered, seeds, carries, doubtful, windowed)


def kept_of(made: Read, dead: Resilience | None) -> dict[str, Kept]:
    """Returns label → result with its worst failed part, without fabrics whose models have no
    failures. A fabric then carries the load if it delivers about as much as the best of the fabrics
    with their worst failed parts; in a window, if it loses no more than a fabric that carries the
    load may lose."""
    if dead is None:
        return {}
    found = [
        (f, of)
        for f in made.workload.fabrics
        if (of := dead.fabrics.get(f.label)) is not None and of.kept is not None
    ]
    shares = [None if f.through is None else f.through * (of.kept or 0.0) for f, of in found]
    sound = {p.label for p in made.purchases if p.carries}
    kept = [(of.kept or 0.0) >= CARRIED for _, of in found] if made.windowed else ranked(shares)
    return {
        f.label: Kept(
            of.kept or 0.0,
            _named(of),
            fair and f.label in sound,
            all(kind.chosen == "all" for kind in of.ranked),
        )
        for (f, of), fair in zip(found, kept, strict=True)
    }


def _named(of: OfFabric) -> str:
    """The part whose failure costs most."""
    if of.least is None:
        return ""
    alone = any(kind.members == 1 and of.least in kind.runs for kind in of.ranked)
    return f"{of.least.part}, the only one" if alone else of.least.part


def goodput(fabric: Fabric) -> float | None:
    """The goodput by which a fabric is priced: the goodput accepted in the window, or that of the
    whole run."""
    return loads.sustained(fabric.summary)


def _known(values: Iterable[float | None]) -> tuple[float, ...]:
    """All values, or none if one is missing, because seeds are compared one by one."""
    each = tuple(values)
    return () if None in each else tuple(v for v in each if v is not None)


def _delivered(workload: Workload) -> list[Interval | None]:
    """The goodput by which each fabric is priced; of several seeds the mean with its interval."""
    return [_positive(f.over_seeds(goodput)) for f in workload.fabrics]


def _positive(found: Interval | None) -> Interval | None:
    return found if found is not None and found.mean > 0 else None


def _means(workload: Workload) -> dict[str, float]:
    """Label → the same goodput without its interval."""
    pairs = zip(workload.fabrics, _delivered(workload), strict=True)
    return {f.label: found.mean for f, found in pairs if found is not None}


def _by_flow(
    workload: Workload, criterion: Criterion | None
) -> Callable[[Fabric, Fabric], int] | None:
    """Returns the function that compares fabrics flow by flow."""
    if criterion is EVERY:
        return each_flow.standing_in_each
    return each_flow.standing if is_by_each_flow(workload) else None


def _judged(workload: Workload) -> tuple[Criterion | None, dict[str, Score]]:
    """Returns the measure of the verdict if it compares every flow, otherwise the first measure
    that a fabric has; and the figure of each fabric."""
    decided = decide(workload) if len(workload.fabrics) > 1 else None
    every = [EVERY] if decided is not None and decided.measure is EVERY else []
    for criterion in (*every, *measures(workload)):
        scores = {f.label: s for f in workload.fabrics if (s := criterion.read(f)) is not None}
        if any(math.isfinite(s.value) for s in scores.values()):
            return criterion, scores
    return None, {}
