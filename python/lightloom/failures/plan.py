"""The runs of a search for single failures: the parts of each fabric that can fail, and the
settings that make each part fail."""

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
    """The parts of one fabric that can fail."""

    experiment: Experiment
    """The experiment without failures; of several seeds the first."""
    label: str
    parts: Parts
    switches: Sequence[Switches]
    own_faults: bool
    """Whether the experiment has faults of its own in this fabric, which these runs leave out."""

    @property
    def set(self) -> list[str]:
        """The settings of all runs, including the fault-free one."""
        return _keys(self.label, self.switches)

    def dead(self, part: Part) -> list[str]:
        """Returns the settings of the run in which a part has failed."""
        return [*self.set, f"fault={toml_literal(part.faults(self.label))}"]

    def sample(self, traffic: Traffic, tries: int) -> Iterator[tuple[Population, list[Part], str]]:
        """The parts of each kind that are tried, and a description of the choice."""
        seed = int(self.experiment.resolved()["run"]["seed"])
        for population in self.parts.populations:
            yield population, *chosen(population, traffic, tries, seed, self.label)

    def runs(self, tries: int) -> int:
        """Returns the number of runs, without the fault-free run of the comparison."""
        tried = sum(min(tries, population.members) for population in self.parts.populations)
        return tried + (1 if tried and self.own_faults else 0)

    def table(self) -> dict[str, Any]:
        """The resolved table of the fabric, with its numbers of switches."""
        resolved = self.experiment.resolved()["fabric"]
        found: dict[str, Any] = resolved[self.experiment.index(self.label)]
        return found


def fabric(experiment: Experiment, label: str, book: Book) -> Fabric:
    """Returns the parts of a fabric that can fail.

    Raises:
        ConfigError: if the fabric cannot run.
    """
    sound = experiment.seeds()[0]
    own = bool(faults_of(sound.resolved().get("fault", []), label))
    sound = sound.with_overrides(["fault=[]"])
    tiers = switches_of(sound, label, book)
    parts = parts_of(sound.with_overrides(_keys(label, tiers)), label)
    return Fabric(sound, label, parts, tiers, own)


def _keys(label: str, tiers: Sequence[Switches]) -> list[str]:
    """The settings of the numbers of switches that the fabric's table leaves open."""
    of = toml_key(label)
    return [f"fabric.{of}.{s.key}={s.count}" for s in tiers if s.count is not None]
