"""Whether who is best changes in another comparison of the same fabrics: under other physics,
say. Who is best is what the verdict says, by the same measures and intervals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from . import units
from .model import Workload, slots, workload
from .verdicts.criteria import criteria

if TYPE_CHECKING:
    from lightloom.results import Comparison


def changes(before: Comparison, after: Comparison, names: tuple[str, str]) -> Iterator[str]:
    """A sentence for each measure that both have: who leads in both comparisons, called by
    `names`, and whether the winner changes. Measures by which nobody is known to lead are
    left out, and so are fabrics that are alone."""
    if len(before.results) < 2:
        return
    places = slots([before, after])
    first, second = (leaders(workload(c, places)) for c in (before, after))
    for measure in first:
        if measure in second:
            yield sentence(measure, first[measure], second[measure], names)


def leaders(made: Workload) -> dict[str, list[str]]:
    """By measure the labels of those that lead, all that are level."""
    rankings = {c.name: c.ranking(made.fabrics) for c in criteria(made)}
    return {
        name: [score.fabric.label for score in ranking.leaders]
        for name, ranking in rankings.items()
        if ranking.level
    }


def sentence(
    measure: str, first: Sequence[str], second: Sequence[str], names: tuple[str, str]
) -> str:
    """Whether somebody leads in both.

    >>> sentence("goodput", ["a"], ["b", "a"], ("then", "now"))
    'goodput: a best, then and now'
    """
    stays = [label for label in first if label in second]
    if stays:
        return f"{measure}: {units.listed(stays)} best, {names[0]} and {names[1]}"
    return (
        f"{measure}: the winner changes: {units.listed(first)} {names[0]}, "
        f"{units.listed(second)} {names[1]}"
    )


def under_presets(comparisons: Sequence[Comparison]) -> dict[str, list[Comparison]]:
    """Those that were made under several presets of physics, by what they have in common: a
    name, to which each adds its preset."""
    groups: dict[str, list[Comparison]] = {}
    for comparison in comparisons:
        ending = f", {_preset(comparison)}"
        if comparison.name.endswith(ending):
            groups.setdefault(comparison.name.removesuffix(ending), []).append(comparison)
    return {name: group for name, group in groups.items() if len(group) > 1}


def sentences(group: Sequence[Comparison]) -> list[str]:
    """Whether the winner changes from the first of a group to each other."""
    first, *others = group
    return [
        said for other in others for said in changes(first, other, (_under(first), _under(other)))
    ]


def _under(comparison: Comparison) -> str:
    return f"under {_preset(comparison)} physics"


def _preset(comparison: Comparison) -> str | None:
    preset = (comparison.experiment.get("physics") or {}).get("preset")
    return None if preset is None else str(preset)
