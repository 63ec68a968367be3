"""The files of a result: defines their names, finds and removes those of an earlier result, and
writes and reads experiments and JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lightloom.config import inputs
from lightloom.config.experiment import read_toml, to_toml
from lightloom.errors import ConfigError
from lightloom.storage import reading
from lightloom.storage.records import RECORD
from lightloom.storage.staging import Staging

if TYPE_CHECKING:
    import pyarrow as pa

Summary = dict[str, Any]
Table = dict[str, Any]
#: Files that an experiment reads → their copies.
Copies = Mapping[Path, Path]

CIRCUITS = "circuits.parquet"
LINKS = "links.parquet"
CONTROLLER = "controller.jsonl"
#: Files that a result may have in its folder.
RESULT_FILES = (
    *("experiment.toml", "flows.parquet", "timeseries.parquet", CIRCUITS, LINKS, CONTROLLER),
    *("summary.json", RECORD),
)
SATURATION = "saturation.json"
RESILIENCE = "resilience.json"
#: Files that a comparison may have in its folder, beside the folders of its fabrics.
COMPARISON_FILES = (
    *("comparison.json", "loads.json", SATURATION, RESILIENCE, "experiment.toml", RECORD),
)
#: Files of a comparison's pages, in the same folder.
PAGE_FILES = ("report.html", "figures", "decision.pdf")
#: Files that depend on prices; they are removed when the comparison is written again.
COST_FILES = ("costs.json", "bill.csv", "decision.json")


def repeating(experiment: Table, times: int) -> Table:
    """Returns the experiment of the first seed with `run.repeat` set."""
    return {**experiment, "run": {**experiment["run"], "repeat": times}}


def seeds_of(experiment: Table) -> list[int]:
    """The seeds of a resolved experiment."""
    run = experiment["run"]
    return list(range(run["seed"], run["seed"] + run.get("repeat", 1)))


def folder_of(seed: int) -> str:
    """The folder of one seed's results."""
    return f"seed-{seed}"


def result_names(seeds: Sequence[int]) -> list[str]:
    """The files that the results of a fabric with these seeds may have."""
    if len(seeds) < 2:
        return list(RESULT_FILES)
    each = [f"{folder_of(seed)}/{name}" for seed in seeds for name in RESULT_FILES]
    return ["summary.json", "experiment.toml", RECORD, *each]


def comparison_names(labels: Sequence[str], seeds: Sequence[int]) -> list[str]:
    """The files that a comparison of these fabrics with these seeds may have."""
    if len(seeds) < 2:
        return [*COMPARISON_FILES, *(f"{of}/{name}" for of in labels for name in RESULT_FILES)]
    once = comparison_names(labels, seeds[:1])
    each = [f"{folder_of(seed)}/{name}" for seed in seeds for name in once]
    return [*COMPARISON_FILES, *each]


def drop_seeds(staging: Staging, directory: Path, keep: Sequence[int] = ()) -> None:
    """Removes the results of seeds that an earlier run left in the folder, except those in
    `keep`."""
    try:
        seeds = seeds_of(read_toml(directory / "experiment.toml"))
    except (ConfigError, KeyError, TypeError):  # there is no experiment, or another file
        return
    for seed in set(seeds) - set(keep) if len(seeds) > 1 else ():
        folder = directory / folder_of(seed)
        for label in labels_there(folder):
            for name in RESULT_FILES:
                staging.absent(folder / label / name)
        for name in (*RESULT_FILES, *COMPARISON_FILES):
            staging.absent(folder / name)


def labels_there(directory: Path) -> set[str]:
    """The labels of the fabrics of an earlier comparison in the folder."""
    try:
        labels = set(read_json(directory / "comparison.json"))
        return {label for label in labels if Path(label).name == label}
    except (OSError, ValueError, TypeError):
        return set()


def parts_of(directory: Path) -> list[str]:
    """The folders of the parts of a result: one for each seed, or one for each fabric."""
    try:
        seeds = seeds_of(read_toml(directory / "experiment.toml"))
    except (ConfigError, KeyError, TypeError):  # there is no experiment, or another file
        return []
    if len(seeds) > 1:
        return [folder_of(seed) for seed in seeds]
    return sorted(labels_there(directory))


def check_parts(directory: Path) -> None:
    """Raises an error if folders of parts of a result, or its record, are missing.

    Raises:
        ConfigError: naming them.
    """
    missing = [name for name in parts_of(directory) if not (directory / name).is_dir()]
    if (directory / "experiment.toml").is_file() and not (directory / RECORD).is_file():
        missing.append(RECORD)
    if missing:
        are = "is" if len(missing) == 1 else "are"
        limit = f"{', '.join(missing)} {are} missing, which it consists of"
        raise ConfigError(f"{directory}: {limit}; copy all of it, or simulate it again")


def stage_record(staging: Staging, directory: Path, table: Table, summary: Summary) -> None:
    """Stages the record that marks a result as complete and states its version and inputs."""
    build = summary.get("build")  # the build of the run, not necessarily that of this process
    staging.record(directory, {"build": build, "inputs": inputs.located(table, directory)})


def stage_experiment(staging: Staging, directory: Path, table: Table, copies: Copies) -> None:
    """Stages the experiment; paths of files that it reads become relative to the folder."""
    text = to_toml(inputs.relative(table, directory, copies))
    staging.text(directory / "experiment.toml", text)


#: Name of a file → the kind of result in its folder.
_SAVED = {
    "summary.json": "the result of one fabric; Comparison.load reads those of several",
    "comparison.json": "a comparison; Result.load reads the result of one fabric",
}


def read_experiment(directory: Path) -> Table:
    """Reads the experiment back; the paths of its files become absolute."""
    table = read_toml(directory / "experiment.toml")
    inputs.anchor(table, directory)
    return table


def read_table(path: Path) -> pa.Table:
    """Reads a table of a result.

    Raises:
        ConfigError: if the file is missing or not Parquet.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.read_table(path)
    except OSError:
        raise ConfigError(
            f"{path}: it is missing; copy all of the result, or simulate it again"
        ) from None
    except pa.ArrowInvalid:
        raise ConfigError(f"{path}: is no Parquet file; simulate it again") from None


def read_json(path: Path) -> Any:
    """Reads a JSON file of a result.

    Raises:
        ConfigError: if the file is missing or not JSON.
    """
    try:
        return json.loads(reading.text(path, reading.DATA))
    except OSError as problem:
        reason = (problem.strerror or str(problem)).lower()
        has = _SAVED.get(path.name, "a result of that kind")
        raise ConfigError(f"{path}: {reason}; name a folder that holds {has}") from None
    except ValueError:
        raise ConfigError(f"{path}: is no JSON; simulate it again") from None
