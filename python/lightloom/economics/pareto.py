"""Who is worth a look: fabrics than which no other is both cheaper and better."""

from __future__ import annotations

from collections.abc import Mapping

from lightloom.economics.pricing import FabricCost


def front(
    costs: Mapping[str, FabricCost], figures: Mapping[str, float], *, better: str = "lower"
) -> list[str]:
    """The Pareto front of capital and one figure, in the order of `costs`.

    A fabric falls behind where another has as good a figure and costs less at all prices of the
    book, or costs no more and has a better figure. What has no total or no figure is not on it.

    Args:
        costs: label → what it costs.
        figures: label → figure of a run, such as the 99th percentile of completion times.
        better: which of two figures is the better one, `lower` or `higher`.
    """
    sign = 1.0 if better == "lower" else -1.0
    there = [label for label, cost in costs.items() if label in figures and not cost.unpriced]

    def beats(other: str, label: str) -> bool:
        share = costs[other].relative_to(costs[label])
        if share is None or share.high > 1:
            return False
        own, its = sign * figures[label], sign * figures[other]
        return its < own or (its == own and share.high < 1)

    return [one for one in there if not any(beats(other, one) for other in there if other != one)]
