"""The runs that it takes to find what breaks: what of each fabric can die, and how an experiment
becomes the one in which it is dead."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from lightloom.config.experiment import Experiment, faults_of
from lightloom.config.overrides import toml_key, toml_literal
from lightloom.costs.book import Book
from lightloom.failures.elements import Part, Parts, Population
from lightloom.failures.probing import parts_of
from lightloom.failures.sample import Traffic, chosen
from lightloom.failures.switches import Switches, switches_of


@dataclass(frozen=True)
class Fabric:
    """What of one fabric can die."""

    experiment: Experiment
    """Its experiment, sound; of several seeds the first."""
    label: str
    parts: Parts
    switches: Sequence[Switches]
    own_faults: bool
    """Whether the experiment has faults of its own here, which these runs leave out."""

    @property
    def set(self) -> list[str]:
        """Keys that hold in all its runs, the sound one included."""
        return _keys(self.label, self.switches)

    def dead(self, part: Part) -> list[str]:
        """Keys by which the experiment becomes that in which a part is dead."""
        return [*self.set, f"fault={toml_literal(part.faults(self.label))}"]

    def sample(self, traffic: Traffic, tries: int) -> Iterator[tuple[Population, list[Part], str]]:
        """The parts of each kind that are tried, and by what they were chosen."""
        seed = int(self.experiment.resolved()["run"]["seed"])
        for population in self.parts.populations:
            yield population, *chosen(population, traffic, tries, seed, self.label)

    def runs(self, tries: int) -> int:
        """How many runs it takes, but for the sound one that a comparison makes."""
        tried = sum(min(tries, population.members) for population in self.parts.populations)
        return tried + (1 if tried and self.own_faults else 0)

    def table(self) -> dict[str, Any]:
        """The fabric's resolved table, its numbers of switches included."""
        resolved = self.experiment.resolved()["fabric"]
        found: dict[str, Any] = resolved[self.experiment.index(self.label)]
        return found


def fabric(experiment: Experiment, label: str, book: Book) -> Fabric:
    """The parts of a fabric that can fail.

    Raises:
        ConfigError: if it cannot run.
    """
    sound = experiment.seeds()[0]
    own = bool(faults_of(sound.resolved().get("fault", []), label))
    sound = sound.with_overrides(["fault=[]"])
    tiers = switches_of(sound, label, book)
    parts = parts_of(sound.with_overrides(_keys(label, tiers)), label)
    return Fabric(sound, label, parts, tiers, own)


def _keys(label: str, tiers: Sequence[Switches]) -> list[str]:
    """What sets the numbers of switches that the fabric's table leaves open."""
    of = toml_key(label)
    return [f"fabric.{of}.{s.key}={s.count}" for s in tiers if s.count is not None]
