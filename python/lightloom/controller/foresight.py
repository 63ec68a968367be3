"""The input of a forecast for a change of a real switch: demand, circuits, dark time."""

from __future__ import annotations

from dataclasses import dataclass

from lightloom.controller.change import Change
from lightloom.controller.config import ControllerTable
from lightloom.controller.forecast import Carried, carried
from lightloom.controller.managed import Managed
from lightloom.controller.matrices import Matrix, Seen
from lightloom.units.durations import duration_ps


@dataclass(frozen=True)
class Foresight:
    """The next interval with the circuits that are lit, and with a change."""

    interval_s: float
    now: Carried
    changed: Carried


def foresee(
    config: ControllerTable, one: Managed, change: Change, dark_s: float | None
) -> Foresight | str:
    """Simulates the next interval of a switch; returns the reason as text if this is not possible.

    Args:
        config: the rates of the racks, and the interval.
        one: the switch, its demand and its circuits.
        change: the cross-connects that would be removed and added.
        dark_s: dark time of circuits that change; None if it is not known.

    Raises:
        ConfigError: if the simulator refuses the rates of the configuration.
    """
    network = config.network
    if network is None:
        return "the configuration has no table [network] with the rates of the racks"
    if one.demand is None or not any(map(any, one.demand.matrix)):
        return "there is no demand"
    if dark_s is None:
        return "the dark time of this switch is not known: set settle in its table"
    there, before = one.racks.circuits(one.lit)
    later, after = one.racks.circuits([*change.kept, *change.unowned, *change.added])
    if there or later:
        return "some circuits lead one way only"
    interval_ps = duration_ps("interval", config.interval)
    demand = _of_one_interval(one.demand, interval_ps / 1e12)
    settle_ps = round(dark_s * 1e12)
    now = carried(network, demand, before, before, interval_ps, settle_ps)
    changed = carried(network, demand, before, after, interval_ps, settle_ps)
    return Foresight(interval_ps / 1e12, now, changed)


def _of_one_interval(seen: Seen, interval_s: float) -> Matrix:
    """The demand of one interval: demand of a span is scaled to the interval."""
    if seen.span_s is None:
        return seen.matrix
    share = interval_s / seen.span_s
    return [[round(size * share) for size in row] for row in seen.matrix]
