"""What `run` and `compare` say of what fabrics share: the physics and the oversubscription in
force, what is ideal, who wins under which preset."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

import lightloom
from lightloom.config import networks, physics
from lightloom.results.result import Comparison


def wanted(presets: str | None) -> list[str]:
    """The presets of `--physics`, in order; none where it is not given."""
    return [] if presets is None else [preset.strip() for preset in presets.split(",")]


def cases(experiment: lightloom.Experiment, presets: Sequence[str]) -> list[lightloom.Experiment]:
    """The cases of an experiment, each under every one of these presets."""
    if not presets:
        return experiment.cases()
    return [made for case in experiment.cases() for made in physics.variants(case, presets)]


def in_force(resolved: physics.Table) -> Iterator[str]:
    """What the experiment says of physics, how fast electrical networks and circuits are, and
    what of all that fabrics do not obey."""
    said = physics.line(resolved.get("physics"))
    if said is not None:
        yield _wrapped(f"physics: {said}")
    if (found := networks.line(resolved)) is not None:
        yield _wrapped(f"electrical networks: {found}")
    yield from (f"note: {note}" for note in physics.notes(resolved))


def ideal(comparison: Comparison) -> Iterator[str]:
    """What is ideal about each competitor, a line each."""
    return (_wrapped(f"idealised: {line}") for line in physics.ideal(comparison.experiment))


def _wrapped(line: str) -> str:
    """A line as lines of a terminal."""
    return textwrap.fill(line, 80, subsequent_indent="  ", break_on_hyphens=False)


def changes(comparisons: Sequence[Comparison]) -> Iterator[str]:
    """Whether the winner changes from one preset to another; of each case by name, where
    there are several."""
    from lightloom.analysis import winners

    groups = winners.under_presets(comparisons)
    for name, group in groups.items():
        for sentence in winners.sentences(group):
            yield f"{name}: {sentence}" if len(groups) > 1 else sentence
