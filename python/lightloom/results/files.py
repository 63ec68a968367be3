"""The files that results leave in a folder: their names, how a folder is told from an earlier
one, how an experiment and JSON are written and read back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from lightloom.config import inputs
from lightloom.config.experiment import read_toml, to_toml
from lightloom.errors import ConfigError
from lightloom.storage import Staging, reading
from lightloom.storage.records import RECORD

Summary = dict[str, Any]
Table = dict[str, Any]
#: Files that an experiment reads, and where their copies are to be.
Copies = Mapping[Path, Path]

CIRCUITS = "circuits.parquet"
LINKS = "links.parquet"
CONTROLLER = "controller.jsonl"
#: What a result may leave in its folder.
RESULT_FILES = (
    *("experiment.toml", "flows.parquet", "timeseries.parquet", CIRCUITS, LINKS, CONTROLLER),
    *("summary.json", RECORD),
)
SATURATION = "saturation.json"
RESILIENCE = "resilience.json"
#: What a comparison may leave in its folder, beside those of its fabrics.
COMPARISON_FILES = (
    *("comparison.json", "loads.json", SATURATION, RESILIENCE, "experiment.toml", RECORD),
)
#: What a comparison is shown by, in the same folder.
PAGE_FILES = ("report.html", "figures", "decision.pdf")
#: What prices leave there: it goes when the comparison is written anew.
COST_FILES = ("costs.json", "bill.csv", "decision.json")


def repeating(experiment: Table, times: int) -> Table:
    """The experiment of the first seed as that of so many."""
    return {**experiment, "run": {**experiment["run"], "repeat": times}}


def seeds_of(experiment: Table) -> list[int]:
    """The seeds of a resolved experiment."""
    run = experiment["run"]
    return list(range(run["seed"], run["seed"] + run.get("repeat", 1)))


def folder_of(seed: int) -> str:
    """The folder of a seed's results, beside those of others."""
    return f"seed-{seed}"


def result_names(seeds: Sequence[int]) -> list[str]:
    """The files that the results of a fabric may be written to, with so many seeds."""
    if len(seeds) < 2:
        return list(RESULT_FILES)
    each = [f"{folder_of(seed)}/{name}" for seed in seeds for name in RESULT_FILES]
    return ["summary.json", "experiment.toml", RECORD, *each]


def comparison_names(labels: Sequence[str], seeds: Sequence[int]) -> list[str]:
    """The files that a comparison of these fabrics may be written to, with so many seeds."""
    if len(seeds) < 2:
        return [*COMPARISON_FILES, *(f"{of}/{name}" for of in labels for name in RESULT_FILES)]
    once = comparison_names(labels, seeds[:1])
    each = [f"{folder_of(seed)}/{name}" for seed in seeds for name in once]
    return [*COMPARISON_FILES, *each]


def drop_seeds(staging: Staging, directory: Path, keep: Sequence[int] = ()) -> None:
    """Results of seeds that an earlier run left in the folder go, but for those to keep."""
    try:
        seeds = seeds_of(read_toml(directory / "experiment.toml"))
    except (ConfigError, KeyError, TypeError):  # none is there, or another file
        return
    for seed in set(seeds) - set(keep) if len(seeds) > 1 else ():
        folder = directory / folder_of(seed)
        for label in labels_there(folder):
            for name in RESULT_FILES:
                staging.absent(folder / label / name)
        for name in (*RESULT_FILES, *COMPARISON_FILES):
            staging.absent(folder / name)


def labels_there(directory: Path) -> set[str]:
    """The fabrics of an earlier comparison in the same folder."""
    try:
        labels = set(read_json(directory / "comparison.json"))
        return {label for label in labels if Path(label).name == label}
    except (OSError, ValueError, TypeError):
        return set()


def parts_of(directory: Path) -> list[str]:
    """Folders of results that a result in a folder consists of: a folder a seed, or a fabric."""
    try:
        seeds = seeds_of(read_toml(directory / "experiment.toml"))
    except (ConfigError, KeyError, TypeError):  # none is there, or another file
        return []
    if len(seeds) > 1:
        return [folder_of(seed) for seed in seeds]
    return sorted(labels_there(directory))


def check_parts(directory: Path) -> None:
    """Refuses a result of which folders are missing.

    Raises:
        ConfigError: naming them.
    """
    missing = [name for name in parts_of(directory) if not (directory / name).is_dir()]
    if missing:
        are = "is" if len(missing) == 1 else "are"
        limit = f"{', '.join(missing)} {are} missing, which it consists of"
        raise ConfigError(f"{directory}: {limit}; copy all of it, or simulate it again")


def stage_record(staging: Staging, directory: Path, table: Table, summary: Summary) -> None:
    """What says that a result is whole, and what made it."""
    build = summary.get("build")  # of the run, which may be another's than this process
    staging.record(directory, {"build": build, "inputs": inputs.located(table, directory)})


def stage_experiment(staging: Staging, directory: Path, table: Table, copies: Copies) -> None:
    """The experiment, with the files that it reads relative to it."""
    text = to_toml(inputs.relative(table, directory, copies))
    staging.text(directory / "experiment.toml", text)


#: What has a file of that name.
_SAVED = {
    "summary.json": "the result of one fabric; Comparison.load reads those of several",
    "comparison.json": "a comparison; Result.load reads the result of one fabric",
}


def read_experiment(directory: Path) -> Table:
    """The same read back, with the paths of files as a run needs them."""
    table = read_toml(directory / "experiment.toml")
    inputs.anchor(table, directory)
    return table


def read_table(path: Path) -> pa.Table:
    """A table of a result.

    Raises:
        ConfigError: if it is not there, or is none.
    """
    try:
        return pq.read_table(path)
    except OSError:
        raise ConfigError(
            f"{path}: it is missing; copy all of the result, or simulate it again"
        ) from None
    except pa.ArrowInvalid:
        raise ConfigError(f"{path}: is no Parquet file; simulate it again") from None


def read_json(path: Path) -> Any:
    """A file of a result.

    Raises:
        ConfigError: if it is not there, or is none.
    """
    try:
        return json.loads(reading.text(path, reading.DATA))
    except OSError as problem:
        reason = (problem.strerror or str(problem)).lower()
        has = _SAVED.get(path.name, "a result of that kind")
        raise ConfigError(f"{path}: {reason}; name a folder that holds {has}") from None
    except ValueError:
        raise ConfigError(f"{path}: is no JSON; simulate it again") from None
