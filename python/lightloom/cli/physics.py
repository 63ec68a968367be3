"""The output of `run` and `compare` about the common settings of fabrics: physics,
oversubscription, idealisations, and the winner under each preset."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import lightloom
from lightloom.config import networks, physics

if TYPE_CHECKING:
    from lightloom.results.result import Comparison


def wanted(presets: str | None) -> list[str]:
    """Returns the presets of `--physics`, in order; empty if it is not given."""
    return [] if presets is None else [preset.strip() for preset in presets.split(",")]


def cases(experiment: lightloom.Experiment, presets: Sequence[str]) -> list[lightloom.Experiment]:
    """Returns the cases of an experiment, each under every preset."""
    if not presets:
        return experiment.cases()
    return [made for case in experiment.cases() for made in physics.variants(case, presets)]


def in_force(resolved: physics.Table) -> Iterator[str]:
    """States the physics of the experiment, the rates of electrical networks and circuits, and the
    settings that fabrics do not obey."""
    said = physics.line(resolved.get("physics"))
    if said is not None:
        yield _wrapped(f"physics: {said}")
    if (found := networks.line(resolved)) is not None:
        yield _wrapped(f"electrical networks: {found}")
    yield from (f"note: {note}" for note in physics.notes(resolved))


def ideal(comparison: Comparison) -> Iterator[str]:
    """Lists the idealisations of each fabric, one line each."""
    return (_wrapped(f"idealised: {line}") for line in physics.ideal(comparison.experiment))


def _wrapped(line: str) -> str:
    """Wraps a line for a terminal."""
    return textwrap.fill(line, 80, subsequent_indent="  ", break_on_hyphens=False)


def changes(comparisons: Sequence[Comparison]) -> Iterator[str]:
    """States whether the winner changes from one preset to another; for several cases, for each by
    name."""
    from lightloom.analysis import winners

    groups = winners.under_presets(comparisons)
    for name, group in groups.items():
        for sentence in winners.sentences(group):
            yield f"{name}: {sentence}" if len(groups) > 1 else sentence
