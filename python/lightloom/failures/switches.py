"""The number of switches in an electrical network, which determines the links that fail with one of
them.

The numbers in the fabric's table apply. If the table has none, the model would take one switch for
each link, so that a failed switch would cost one link. Here the number is that in the bill of the
same network at the prices of a book, so that the switches that fail are those that are paid for. If
a tier has a single switch, everything behind it fails.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil

from lightloom.config import physics
from lightloom.config.experiment import Experiment
from lightloom.costs import network as networks
from lightloom.costs.bills import needs_of
from lightloom.costs.book import Book
from lightloom.costs.needs import Boxes
from lightloom.failures.probing import switch_count_refused

CORE, AGGREGATION = "core_switches", "aggregation_switches"


@dataclass(frozen=True)
class Switches:
    """The number of switches in a tier; for aggregation switches, in each pod."""

    key: str
    """The key of the number."""
    count: int | None
    """The number of switches; None: one for each link of the tier."""
    why: str
    """The source of the number."""

    def __str__(self) -> str:
        pod = " a pod" if self.key == AGGREGATION else ""
        count = "" if self.count is None else f"{self.count}{pod}, "
        return f"{self.key.replace('_', ' ')}: {count}{self.why}"


def switches_of(experiment: Experiment, label: str, book: Book) -> list[Switches]:
    """Returns the tiers of a fabric; empty unless it is a network of tiers.

    Raises:
        ConfigError: if the fabric cannot run.
    """
    resolved = experiment.only(label).resolved()
    table = resolved["fabric"][0]
    tiers = physics.assumptions_of(resolved, label)["switch_tiers"]
    if not tiers:
        return []
    network = networks.network_of(resolved, table)
    return [
        _tier(experiment, label, key, table.get(key), billed, book)
        for key, billed in _billed(network, tiers, book)
    ]


def _billed(
    network: networks.Network, tiers: Collection[str], book: Book
) -> Iterator[tuple[str, Fraction]]:
    """The number of switches of each tier in the bill; for aggregation switches, in each pod. A
    network is billed with the tiers that it is simulated with, even if two tiers are enough."""
    as_simulated = network
    if AGGREGATION in tiers and network.fabric.get("racks_per_pod") != network.racks:
        as_simulated = replace(network, fabric={"tiers": 3, **network.fabric})
    boxes = [
        need
        for need in needs_of(as_simulated, book)
        if isinstance(need, Boxes) and need.part == "switch" and need.where.startswith("layer ")
    ]
    if AGGREGATION in tiers:
        yield AGGREGATION, boxes[0].count(book) / boxes[0].groups
    if AGGREGATION not in tiers or len(boxes) > 1:
        yield CORE, boxes[-1].count(book) / boxes[-1].groups


def _tier(
    experiment: Experiment, label: str, key: str, own: int | None, billed: Fraction, book: Book
) -> Switches:
    """A tier, with the source of its number."""
    if own is not None:
        return Switches(key, own, "as its table says")
    count = ceil(billed)
    if switch_count_refused(experiment, label, key, count):
        return Switches(key, None, "as many as links lead there, which are few")
    share = "" if billed == count else f", which has {float(billed):.3g}"
    return Switches(key, count, f"by its bill at the prices of {book.name}{share}")
