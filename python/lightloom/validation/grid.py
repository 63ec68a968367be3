"""The questions about its measurements that a paper leaves open, as data: `readings.toml` beside
its claims.

A factor is a question with alternatives. A reading selects one alternative of each factor. The
verdicts on all figures of a paper follow one reading, which the file names with its reasons. Other
readings differ from it in one factor each, or are combinations that the file names; not every
combination is measured.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from lightloom.config.experiment import read_toml
from lightloom.errors import ConfigError
from lightloom.validation.readings import Reading

#: The name of the file, beside claims.toml.
FILE = "readings.toml"
#: The name of the reading that all verdicts follow.
CHOSEN = "chosen"


class Alternative(BaseModel):
    """One answer to an open question of a paper."""

    model_config = ConfigDict(extra="forbid")

    what: str = Field(min_length=1, description="The meaning of the paper under this answer.")
    set: list[str] = Field(
        default=[],
        description="Overrides of the set-up, `KEY=VALUE` as for --set. Empty if the set-up has "
        "these values, or if the answer is another measurement of the same run.",
    )

    @field_validator("set")
    @classmethod
    def _overrides(cls, value: list[str]) -> list[str]:
        for override in value:
            if "=" not in override.strip("="):
                raise ValueError(f"{override}: no override; write KEY=VALUE, as for --set")
        return value


class Factor(BaseModel):
    """An open question of a paper."""

    model_config = ConfigDict(extra="forbid")

    question: str = Field(min_length=1, description="The open question.")
    source: str = Field(min_length=1, description="The statement of the paper, and its place.")
    alternative: dict[str, Alternative] = Field(description="The answers, by name.")

    @field_validator("alternative")
    @classmethod
    def _several(cls, value: dict[str, Alternative]) -> dict[str, Alternative]:
        if len(value) < 2:
            raise ValueError("one answer leaves nothing open; give two or more")
        return value


class Chosen(BaseModel):
    """The reading that all verdicts follow."""

    model_config = ConfigDict(extra="forbid")

    choice: dict[str, str] = Field(description="Factor → alternative, for every factor.")
    because: dict[str, str] = Field(
        description="Factor → reason for its alternative, for every factor."
    )


class Combination(BaseModel):
    """A reading that differs from the chosen one in several factors."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1, description="Name of the combination in tables.")
    what: str = Field(min_length=1, description="The reason to measure it.")
    choice: dict[str, str] = Field(description="Factor → alternative, for the factors that differ.")


@dataclass(frozen=True)
class Setting:
    """A reading with which figures are measured."""

    name: str
    what: str
    choice: Mapping[str, str]
    """Factor → alternative, for every factor."""
    overrides: tuple[str, ...]
    """Settings of the experiment, in the form of --set."""

    @property
    def reading(self) -> Reading:
        """Returns the reading in the form that tables use."""
        return Reading(self.name, self.what, "assumed")


class Grid(BaseModel):
    """The contents of a `readings.toml`."""

    model_config = ConfigDict(extra="forbid")

    factor: dict[str, Factor] = Field(description="The open questions, by name.")
    chosen: Chosen
    combination: list[Combination] = Field(default=[])

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        for what in ("choice", "because"):
            lacking = [name for name in self.factor if name not in getattr(self.chosen, what)]
            if lacking:
                raise ValueError(f"chosen.{what} has nothing of {lacking[0]}; give every factor's")
        self._known("chosen.because", dict.fromkeys(self.chosen.because))
        self._known("chosen.choice", self.chosen.choice)
        for one in self.combination:
            self._known(f"combination {one.name}", one.choice)
        names = [setting.name for setting in self.settings()]
        for one in self.combination:
            if names.count(one.name) > 1:
                raise ValueError(f"combination {one.name}: the name is taken; choose another")
            differs = [f for f, to in one.choice.items() if self.chosen.choice[f] != to]
            if len(differs) < 2:
                raise ValueError(
                    f"combination {one.name}: differs from the chosen reading in less than two "
                    "factors, which is measured anyway; leave it out"
                )
        return self

    def _known(self, where: str, choice: Mapping[str, str | None]) -> None:
        """Raises an error for unknown factors and alternatives."""
        for name, alternative in choice.items():
            if name not in self.factor:
                known = ", ".join(self.factor)
                raise ValueError(f"{where}: no factor is called {name}; choose from {known}")
            known = ", ".join(self.factor[name].alternative)
            if alternative is not None and alternative not in self.factor[name].alternative:
                raise ValueError(
                    f"{where}: {name} has no alternative {alternative}; choose from {known}"
                )

    @classmethod
    def read(cls, path: Path) -> Grid:
        """Reads and validates a file of readings.

        Raises:
            ConfigError: if the file is invalid; it names the path and the key.
        """
        try:
            return cls.model_validate(read_toml(path))
        except ValidationError as problem:
            first = problem.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            said = first["msg"].removeprefix("Value error, ")
            place = f"{path}: {where}" if where else str(path)
            raise ConfigError(f"{place}: {said}; correct the readings") from None

    @property
    def judged(self) -> Setting:
        """The reading that all verdicts follow."""
        words = ", ".join(f"{name} {value}" for name, value in self.chosen.choice.items())
        return self._setting(CHOSEN, words, {})

    def settings(self, of: Collection[str] | None = None) -> Iterator[Setting]:
        """Yields all readings, the chosen one first; with `of`, those that differ in these
        factors."""
        yield self.judged
        for name, factor in self.factor.items():
            for alternative, answer in factor.alternative.items():
                if alternative != self.chosen.choice[name] and (of is None or name in of):
                    change = {name: alternative}
                    yield self._setting(f"{name} = {alternative}", answer.what, change)
        for one in self.combination:
            if of is None or len(set(one.choice) & set(of)) > 1:
                yield self._setting(one.name, one.what, one.choice)

    def _setting(self, name: str, what: str, change: Mapping[str, str]) -> Setting:
        choice = {**self.chosen.choice, **change}
        overrides = [
            override
            for factor, alternative in choice.items()
            for override in self.factor[factor].alternative[alternative].set
        ]
        return Setting(name, what, choice, tuple(overrides))
