"""Which fabric costs least at other loads of the sweep and under other runs of the report, as
data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lightloom.analysis import presets
from lightloom.decision.lead import unsettled
from lightloom.decision.order import leaders
from lightloom.decision.purchases import CAPITAL, Purchase
from lightloom.units.quantities import tick_label

from .read import Read, at_loads


@dataclass(frozen=True)
class There:
    """The fabrics that cost least at another load, or under another workload."""

    place: str
    """The load or the workload by its name."""
    leaders: tuple[str, ...]
    shared: tuple[str, ...]
    """The leaders that cost least here as well."""

    @property
    def others(self) -> tuple[str, ...]:
        """The leaders that do not cost least here."""
        return tuple(label for label in self.leaders if label not in self.shared)


@dataclass(frozen=True)
class Elsewhere:
    """Other loads, or other workloads, and whether another fabric costs least there."""

    turned: tuple[There, ...]
    """Another fabric costs least there; or one alone, of several that are level here."""
    kept: tuple[There, ...]
    """One of the cheapest here is among the cheapest there."""


@dataclass(frozen=True)
class OpenLoads:
    """Loads of the sweep at which the windows or runs are too short to tell."""

    loads: tuple[str, ...]
    windowed: bool


def other_loads(made: Read) -> Elsewhere:
    """Finds which fabrics cost least at the loads of the sweep."""
    places = ((tick_label(load, "share"), bought) for load, bought in at_loads(made).items())
    return _elsewhere(made, list(places))


def open_loads(made: Read) -> OpenLoads | None:
    """Finds the loads of the sweep at which it is open which fabric costs least."""
    if not leaders(made.purchases, CAPITAL):
        return None
    each = at_loads(made).items()
    loads = tuple(tick_label(load, "share") for load, bought in each if unsettled(bought))
    return OpenLoads(loads, made.windowed) if loads else None


def other_runs(made: Read, others: Sequence[Read]) -> Elsewhere:
    """Finds which fabrics cost least under the other workloads or physics of the report."""
    return _elsewhere(made, [(_name(made, other), other.purchases) for other in others])


def _name(made: Read, other: Read) -> str:
    same = presets.of_one_workload([made.workload, other.workload])
    return presets.under(other.workload) if same else other.workload.name


def _elsewhere(made: Read, places: Sequence[tuple[str, Sequence[Purchase]]]) -> Elsewhere:
    here = {p.label for p in leaders(made.purchases, CAPITAL)}
    turned: list[There] = []
    kept: list[There] = []
    for place, bought in places:
        there = tuple(p.label for p in leaders(bought, CAPITAL))
        if not there or not here:
            continue
        found = There(place, there, tuple(label for label in there if label in here))
        alone = len(here) > 1 and len(there) == 1
        (kept if found.shared and not alone else turned).append(found)
    return Elsewhere(tuple(turned), tuple(kept))
