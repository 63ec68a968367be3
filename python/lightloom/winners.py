"""Who is best in a comparison, and whether that changes in another: under other physics, say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lightloom.unfinished import ranked

if TYPE_CHECKING:
    from lightloom.results import Comparison

Summary = Mapping[str, Any]
#: What is compared, where it is in a summary, and which end is better.
MEASURES = (
    ("short flows' p99", ("fct", "short", "p99_us"), min),
    ("goodput", ("goodput_normalized",), max),
)
#: Whoever is within this share of the best is as good.
ALIKE = 0.01


def best(comparison: Comparison, path: tuple[str, ...], better: Any) -> list[str]:
    """Labels of the fabrics that are best, all that are alike; none of those that finished
    far less than others."""
    summaries = comparison.summaries
    fair = ranked([_finished(summary) for summary in summaries.values()])
    found = {
        label: value
        for (label, summary), kept in zip(summaries.items(), fair, strict=True)
        if kept and (value := _figure(summary, path)) is not None
    }
    if not found:
        return []
    most = better(found.values())
    return [label for label, value in found.items() if abs(value - most) <= ALIKE * abs(most)]


def changes(before: Comparison, after: Comparison, names: tuple[str, str]) -> Iterator[str]:
    """A sentence for each measure: who is best in both comparisons, called by `names`, and
    whether the winner changes."""
    for measure, path, better in MEASURES:
        first, second = best(before, path, better), best(after, path, better)
        if not first or not second or len(before.results) < 2:
            continue
        stays = [label for label in first if label in second]
        if stays:
            yield f"{measure}: {_all(stays)} best, {names[0]} and {names[1]}"
        else:
            yield (
                f"{measure}: the winner changes: {_all(first)} {names[0]}, "
                f"{_all(second)} {names[1]}"
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
        sentence
        for other in others
        for sentence in changes(first, other, (_under(first), _under(other)))
    ]


def _under(comparison: Comparison) -> str:
    return f"under {_preset(comparison)} physics"


def _preset(comparison: Comparison) -> str | None:
    preset = (comparison.experiment.get("physics") or {}).get("preset")
    return None if preset is None else str(preset)


def _all(labels: list[str]) -> str:
    return " and ".join(labels)


def _finished(summary: Summary) -> float | None:
    offered, done = summary.get("flows_offered"), summary.get("flows_completed")
    return done / offered if offered and done is not None else None


def _figure(summary: Summary, path: tuple[str, ...]) -> float | None:
    value: Any = summary
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return None if value is None else float(value)
