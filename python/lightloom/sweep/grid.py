"""A sweep file, and the points of its grid in a fixed order."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationError,
    field_validator,
)

import lightloom
from lightloom.config import identity, inputs
from lightloom.config.experiment import read_toml
from lightloom.config.overrides import toml_literal
from lightloom.config.refused import first_of
from lightloom.errors import refusal
from lightloom.policies import files as policies
from lightloom.simulation import windows

Value = str | int | float | bool | list[Any] | dict[str, Any]

#: Largest number of points; more are probably a typing error.
POINTS_MAX = 100_000
#: The largest seed that an integer column can hold.
SEED_MAX = (1 << 63) - 1


class SweepFile(BaseModel):
    """The contents of a sweep file."""

    model_config = ConfigDict(extra="forbid")

    base: Path = Field(description="Experiment that is varied, relative to the sweep file.")
    grid: dict[str, list[Value]] = Field(
        description="Keys as for --set, each with its values; every combination is run."
    )
    set: list[str] = Field(
        default=[], description="Overrides of keys of the base, `KEY=VALUE` as for --set."
    )
    fabrics: list[str] | None = Field(
        default=None, description="Labels of the fabrics to run. Default: all."
    )
    repeat: int = Field(
        default=1, ge=1, le=10_000, description="Seeds of each point: run.seed and the next ones."
    )
    flows: bool = Field(
        default=False,
        description="Whether flows.parquet and timeseries.parquet of every point are kept.",
    )

    _files: tuple[inputs.Read, ...] = PrivateAttr(default=())

    @property
    def files(self) -> tuple[inputs.Read, ...]:
        """The sweep file, unless it was made in Python, and its base."""
        if any(one.path == self.base for one in self._files):
            return self._files
        return _read_from(base=self.base)

    @field_validator("grid", mode="before")
    @classmethod
    def _flatten(cls, value: Any) -> Any:
        """Accepts `workload.load = […]` with and without quotes."""
        return _flat(value) if isinstance(value, dict) else value

    @field_validator("grid")
    @classmethod
    def _some_values(cls, value: dict[str, list[Value]]) -> dict[str, list[Value]]:
        empty = [key for key, values in value.items() if not values]
        if empty or not value:
            raise ValueError(f"no values for {empty[0]}" if empty else "no keys")
        return value


@dataclass(frozen=True)
class Point:
    """One simulation of a sweep."""

    id: str
    fabric: str
    seed: int
    grid: dict[str, Value]
    experiment: lightloom.Experiment
    digest: str
    """The identity of its result: `lightloom.config.identity.digest`."""
    reads: tuple[inputs.Read, ...] = ()
    """The files that it reads, with their digests when the point was made."""


def read(path: Path) -> SweepFile:
    """Reads a sweep file; errors name the invalid key."""
    table = read_toml(path)
    if "base" not in table and ("cluster" in table or "fabric" in table):
        limit = "a sweep has a base: this looks like an experiment"
        raise refusal("base", "(missing)", limit, "use `lightloom run`")
    try:
        sweep = SweepFile.model_validate(table)
    except ValidationError as problem:
        raise first_of(problem, SweepFile.model_fields) from None
    sweep = sweep.model_copy(update={"base": path.parent / sweep.base})
    sweep._files = _read_from(sweep=path, base=sweep.base)
    return sweep


def _read_from(**paths: Path) -> tuple[inputs.Read, ...]:
    """The files with their present digests; a pipe is omitted, because it cannot be read again."""
    now = {key: inputs.digest_of(path) for key, path in paths.items()}
    return tuple(inputs.Read(key, paths[key], of) for key, of in now.items() if of is not None)


def _refuse_twice(sweep: SweepFile) -> None:
    """Raises an error for values and seeds that occur twice, because they would be the same run."""
    for key, values in sweep.grid.items():
        written = [toml_literal(value) for value in values]
        twice = [value for place, value in enumerate(written) if value in written[:place]]
        if twice:
            raise refusal(f"grid.{key}", twice[0], "is there twice", "leave one out")
    seeds = sorted(int(seed) for seed in sweep.grid.get("run.seed", []) if isinstance(seed, int))
    for seed, following in itertools.pairwise(seeds):
        if following < seed + sweep.repeat:
            limit = f"with repeat = {sweep.repeat} seed {following} is there twice"
            remedy = f"leave out repeat, or take seeds {sweep.repeat} apart"
            raise refusal("grid.run.seed", seeds, limit, remedy)


def expand(sweep: SweepFile) -> list[Point]:
    """Returns every point, resolved and thereby validated; seeds vary fastest."""
    if not sweep.base.is_file():
        raise refusal("base", sweep.base, "no such file", "name an experiment file")
    for override in sweep.set:
        if (key := override.partition("=")[0].strip()) in sweep.grid:
            limit = "[grid] also has this key"
            raise refusal("--set", override, limit, f"remove it, or {key} from [grid]")
    _refuse_twice(sweep)
    base = lightloom.load(sweep.base, sweep.set)
    if (window := chosen_window(sweep, base)) is not None:
        base = windows.with_window(base, window)
    labels = _labels(base, sweep.fabrics)
    combinations = 1
    for values in sweep.grid.values():
        combinations *= len(values)
    count = combinations * sweep.repeat * len(labels)
    if count > POINTS_MAX:
        raise refusal("grid", f"{count} points", f"at most {POINTS_MAX}", "vary fewer keys")
    points = []
    for combination in itertools.product(*sweep.grid.values()):
        taken = dict(zip(sweep.grid, combination, strict=True))
        varied = base.with_overrides(
            [f"{key}={toml_literal(value)}" for key, value in taken.items()]
        )
        resolved = varied.resolved()
        _refuse_repeat(resolved["run"])
        policies.check(resolved["fabric"])
        first = int(resolved["run"]["seed"])
        _refuse_seeds(first, sweep.repeat)
        for seed in range(first, first + sweep.repeat):
            seeded = varied.with_overrides([f"run.seed={seed}"])
            points += [_point(seeded.only(label), label, seed, taken) for label in labels]
    return points


def chosen_window(
    sweep: SweepFile, base: lightloom.Experiment | None = None
) -> windows.Chosen | None:
    """Returns the window that points at several loads measure; None if the sweep or its base sets
    the length of runs."""
    loads = sweep.grid.get("workload.load", [])
    if len(loads) < 2 or any(key in sweep.grid for key in windows.KEYS):
        return None
    return windows.for_loads(base or lightloom.load(sweep.base, sweep.set), loads)


def _refuse_repeat(run: dict[str, Any]) -> None:
    """Raises an error for an experiment that repeats; a sweep varies seeds by its own key."""
    times = run.get("repeat", 1)
    if times > 1:
        limit = "a sweep repeats its points by its own key"
        remedy = f"remove it from the experiment, and write repeat = {times} in the sweep"
        raise refusal("run.repeat", times, limit, remedy)


def _refuse_seeds(first: int, repeat: int) -> None:
    """Raises an error for seeds that the columns of `sweep.parquet` cannot hold."""
    if first + repeat - 1 > SEED_MAX:
        limit = f"seeds of a sweep are at most {SEED_MAX:,}, those of repeat too"
        raise refusal("run.seed", first, limit, "lower it")


def _point(
    experiment: lightloom.Experiment, label: str, seed: int, taken: dict[str, Value]
) -> Point:
    digest = identity.digest(experiment)
    words = [label, *(f"{key.rpartition('.')[2]}={value}" for key, value in taken.items())]
    words.append(f"seed={seed}")
    readable = re.sub(r"[^A-Za-z0-9.=+-]+", "-", "_".join(words))[:100]
    name = f"{readable}-{digest.rpartition(':')[2][:10]}"
    reads = inputs.reads(experiment.pinned().raw)
    return Point(name, label, seed, taken, experiment, digest, reads)


def _labels(base: lightloom.Experiment, wanted: list[str] | None) -> list[str]:
    for label in wanted or []:
        if label not in base.labels:
            known = ", ".join(base.labels)
            raise refusal("fabrics", label, "no such label", f"choose from {known}")
    return wanted or list(base.labels)


def _flat(table: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = value
    return flat
