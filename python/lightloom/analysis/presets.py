"""Comparisons of one workload under several presets of physics: `lightloom compare --physics`
names them "web search, ideal" and "web search, realistic"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeVar

from lightloom.units import quantities


class Named(Protocol):
    """A comparison, from a run or as the report has read it."""

    @property
    def name(self) -> str:
        """The name of the preset."""

    @property
    def experiment(self) -> Mapping[str, Any]:
        """The resolved experiment."""


T = TypeVar("T", bound=Named)


def preset(comparison: Named) -> str | None:
    """The preset of physics of a comparison; None if it has none."""
    found = (comparison.experiment.get("physics") or {}).get("preset")
    return None if found is None else str(found)


def workload_of(comparison: Named) -> str:
    """The name of a comparison without that of its preset."""
    return comparison.name.removesuffix(f", {preset(comparison)}")


def groups(comparisons: Sequence[T]) -> dict[str, list[T]]:
    """The comparisons under several presets, grouped by workload."""
    made: dict[str, list[T]] = {}
    for comparison in comparisons:
        if workload_of(comparison) != comparison.name:
            made.setdefault(workload_of(comparison), []).append(comparison)
    return {name: group for name, group in made.items() if len(group) > 1}


def under(comparison: Named) -> str:
    """`realistic physics`."""
    return f"{preset(comparison)} physics"


def places(comparisons: Sequence[Named]) -> list[str]:
    """Names of the comparisons by the property in which they differ: the physics, if nothing else
    differs."""
    if of_one_workload(comparisons):
        return [under(c) for c in comparisons]
    return [c.name for c in comparisons]


def of_one_workload(comparisons: Sequence[Named]) -> bool:
    """Whether all comparisons have one workload under several presets."""
    return [len(group) for group in groups(comparisons).values()] == [len(comparisons)]


def counted(comparisons: Sequence[Named]) -> str:
    """Describes the workloads and physics of all comparisons.

    `ideal and realistic physics`; `2 workloads, each under ideal and realistic physics`;
    `3 workloads`.
    """
    names = {workload_of(c) for c in comparisons}
    found = [{preset(c): None for c in group} for group in groups(comparisons).values()]
    alike = len(found) == len(names) and all(one == found[0] for one in found)
    if not alike:
        return f"{len(comparisons)} workloads"
    physics = f"{quantities.listed(map(str, found[0]))} physics"
    return physics if len(names) == 1 else f"{len(names)} workloads, each under {physics}"


def all_of(comparisons: Sequence[Named]) -> str:
    """The number of workloads, for statements that hold in each comparison: `both workloads`, `all
    3 workloads`."""
    said = counted(comparisons)
    if said == f"{len(comparisons)} workloads":
        return all_workloads(len(comparisons))
    return said if of_one_workload(comparisons) else f"all {said}"


def all_workloads(count: int) -> str:
    """The number of workloads with its noun."""
    return "both workloads" if count == 2 else f"all {count} workloads"
