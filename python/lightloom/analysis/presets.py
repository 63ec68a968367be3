"""Comparisons of one workload under several presets of physics: `lightloom compare --physics`
names them "web search, ideal" and "web search, realistic"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeVar

from lightloom.units import quantities


class Named(Protocol):
    """A comparison, as it was made or as the report reads it."""

    @property
    def name(self) -> str:
        """The name of the preset."""

    @property
    def experiment(self) -> Mapping[str, Any]:
        """The resolved experiment."""


T = TypeVar("T", bound=Named)


def preset(comparison: Named) -> str | None:
    """The preset that it was made under; None where that is none."""
    found = (comparison.experiment.get("physics") or {}).get("preset")
    return None if found is None else str(found)


def workload_of(comparison: Named) -> str:
    """Its name without that of its preset."""
    return comparison.name.removesuffix(f", {preset(comparison)}")


def groups(comparisons: Sequence[T]) -> dict[str, list[T]]:
    """Those made under several presets, by what they have in common: their workload."""
    made: dict[str, list[T]] = {}
    for comparison in comparisons:
        if workload_of(comparison) != comparison.name:
            made.setdefault(workload_of(comparison), []).append(comparison)
    return {name: group for name, group in made.items() if len(group) > 1}


def under(comparison: Named) -> str:
    """`realistic physics`."""
    return f"{preset(comparison)} physics"


def places(comparisons: Sequence[Named]) -> list[str]:
    """The property in which comparisons differ: their physics, if they differ in nothing else."""
    if of_one_workload(comparisons):
        return [under(c) for c in comparisons]
    return [c.name for c in comparisons]


def of_one_workload(comparisons: Sequence[Named]) -> bool:
    """Whether all are one workload under several presets."""
    return [len(group) for group in groups(comparisons).values()] == [len(comparisons)]


def counted(comparisons: Sequence[Named]) -> str:
    """Under what all of them were made.

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
    """The same of statements that hold in each: `both workloads`, `all 3 workloads`."""
    said = counted(comparisons)
    if said == f"{len(comparisons)} workloads":
        return all_workloads(len(comparisons))
    return said if of_one_workload(comparisons) else f"all {said}"


def all_workloads(count: int) -> str:
    """Their number with the noun."""
    return "both workloads" if count == 2 else f"all {count} workloads"
