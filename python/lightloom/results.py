"""What runs leave behind: tables, figures, and the files that hold them.

A result is written under temporary names and renamed at the end, so no file
with a final name is ever half written.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from lightloom import _core
from lightloom.config import read_toml, to_toml
from lightloom.saturation import Saturation

Summary = dict[str, Any]
Table = dict[str, Any]

CIRCUITS = "circuits.parquet"
CONTROLLER = "controller.jsonl"
#: What a result may leave in its folder.
RESULT_FILES = (
    *("experiment.toml", "flows.parquet", "timeseries.parquet", CIRCUITS, CONTROLLER),
    "summary.json",
)
SATURATION = "saturation.json"


@dataclass
class Result:
    """One simulation.

    >>> result = Result.load("results/sirius/sirius")  # doctest: +SKIP
    >>> import pyarrow.compute as pc
    >>> fct = pc.subtract(result.flows["finish_ps"], result.flows["arrival_ps"])  # doctest: +SKIP
    """

    label: str
    """The fabric's label in its experiment."""
    flows: pa.Table
    """A row per flow: flow, src, dst, bytes, arrival_ps (null if what it waits
    for was not delivered), start_ps (null if it was never served), finish_ps
    (null if unfinished), hops (null if unknown), group."""
    timeseries: pa.Table
    """A row per sample; counters are cumulative, `goodput_normalized` and
    `utilisation` are over the interval that ends at the row."""
    summary: Summary
    """The figures, with the same keys for every fabric; None where a fabric
    has no such figure."""
    experiment: Table
    """The resolved experiment with this fabric alone; it runs again to the
    same flows."""
    circuits: pa.Table | None = None
    """A row per circuit, in the order in which they came up: racks a and b
    (a < b) were joined on `plane` during [from_ps, until_ps). None where the
    fabric has no circuits that come and go."""
    controller_log: str | None = None
    """What the controller of circuits heard and asked for, a line of JSON each, where
    `run.controller_log` asks for it. None where the fabric has no controller."""

    @property
    def utilisation(self) -> float | None:
        """Share of the capacity of all links that was used, over the whole run; None of
        a run without samples."""
        return mean_over_time(self.timeseries, "utilisation")

    def save(self, directory: str | Path) -> Path:
        """Writes `experiment.toml`, `flows.parquet`, `timeseries.parquet`,
        `summary.json` and, if there are circuits, `circuits.parquet`, if a log of the
        controller was asked for, `controller.jsonl`; returns the directory."""
        directory = Path(directory)
        with _Staging() as staging:
            self._stage(staging, directory)
        return directory

    def _stage(self, staging: _Staging, directory: Path) -> None:
        staging.parquet(directory / "flows.parquet", self.flows)
        staging.parquet(directory / "timeseries.parquet", self.timeseries)
        if self.circuits is not None:
            staging.parquet(directory / CIRCUITS, self.circuits)
        else:
            staging.absent(directory / CIRCUITS)
        if self.controller_log is not None:
            staging.text(directory / CONTROLLER, self.controller_log)
        else:
            staging.absent(directory / CONTROLLER)
        staging.json(directory / "summary.json", self.summary)
        staging.text(directory / "experiment.toml", to_toml(self.experiment))

    @staticmethod
    def load(directory: str | Path) -> Result:
        """Reads what `save` wrote."""
        directory = Path(directory)
        summary = _read_json(directory / "summary.json")
        circuits, log = directory / CIRCUITS, directory / CONTROLLER
        return Result(
            label=summary["label"],
            flows=pq.read_table(directory / "flows.parquet"),
            timeseries=pq.read_table(directory / "timeseries.parquet"),
            summary=summary,
            experiment=read_toml(directory / "experiment.toml"),
            circuits=pq.read_table(circuits) if circuits.exists() else None,
            controller_log=log.read_text(encoding="utf-8") if log.exists() else None,
        )


@dataclass
class Comparison:
    """Several fabrics on the same workload."""

    name: str
    """What reports call it."""
    experiment: Table
    """The resolved experiment with all its fabrics."""
    results: dict[str, Result]
    """Label → result, in the order of the experiment."""
    loads: dict[str, list[Summary]] = field(default_factory=dict)
    """Label → one summary per load of `[compare].loads`; without flows."""
    saturation: dict[str, Saturation] = field(default_factory=dict)
    """Label → how much it carries, where `[compare].saturation` asks for it."""

    @property
    def summaries(self) -> dict[str, Summary]:
        """Label → summary."""
        return {label: result.summary for label, result in self.results.items()}

    def save(self, directory: str | Path) -> Path:
        """Writes a directory per label, `comparison.json` (label → summary),
        `loads.json` (label → summaries), `saturation.json` (label → what was found,
        where it was looked for) and `experiment.toml`."""
        directory = Path(directory)
        with _Staging() as staging:
            self._stage(staging, directory)
        return directory

    def _stage(self, staging: _Staging, directory: Path) -> None:
        for label in _labels_there(directory) - set(self.results):
            for name in RESULT_FILES:
                staging.absent(directory / label / name)
        for label, result in self.results.items():
            result._stage(staging, directory / label)
        staging.json(directory / "comparison.json", self.summaries)
        staging.json(directory / "loads.json", self.loads)
        if self.saturation:
            found = {label: s.to_json() for label, s in self.saturation.items()}
            staging.json(directory / SATURATION, found)
        else:
            staging.absent(directory / SATURATION)
        table = {**self.experiment, "name": self.name}
        staging.text(directory / "experiment.toml", to_toml(table))

    @staticmethod
    def load(directory: str | Path) -> Comparison:
        """Reads what `save` wrote."""
        directory = Path(directory)
        experiment = read_toml(directory / "experiment.toml")
        labels = _read_json(directory / "comparison.json")
        found = directory / SATURATION
        saturation = _read_json(found) if found.exists() else {}
        return Comparison(
            name=experiment.pop("name"),
            experiment=experiment,
            results={label: Result.load(directory / label) for label in labels},
            loads=_read_json(directory / "loads.json"),
            saturation={label: Saturation(**made) for label, made in saturation.items()},
        )


def _labels_there(directory: Path) -> set[str]:
    """The fabrics of an earlier comparison in the same folder."""
    try:
        labels = set(_read_json(directory / "comparison.json"))
        return {label for label in labels if Path(label).name == label}
    except (OSError, ValueError, TypeError):
        return set()


def save_cases(comparisons: Mapping[str, Comparison], directory: str | Path) -> Path:
    """Writes each comparison below the name of its folder, and `comparison.json`
    over all of them: name of the comparison → label → summary. All or nothing."""
    directory = Path(directory)
    with _Staging() as staging:
        for folder, comparison in comparisons.items():
            comparison._stage(staging, directory / folder)
        summaries = {c.name: c.summaries for c in comparisons.values()}
        staging.json(directory / "comparison.json", summaries)
    return directory


def mean_over_time(timeseries: pa.Table, name: str) -> float | None:
    """Mean over a run of a rate that each row of its time series has for the interval
    that ends there; None if there is no such figure."""
    if name not in timeseries.column_names:
        return None
    values = timeseries[name].to_numpy(zero_copy_only=False).astype(float)
    widths = np.diff(timeseries["time_ps"].to_numpy().astype(float), prepend=0.0)
    known = np.isfinite(values) & (widths > 0)
    return float(np.average(values[known], weights=widths[known])) if known.any() else None


def flow_table(columns: Mapping[str, Any], experiment: Table) -> pa.Table:
    """The flow columns of the core as an Arrow table."""
    rows = len(columns["src"])
    groups = pa.DictionaryArray.from_arrays(
        pa.array(columns["group"].astype(np.int32)), pa.array(columns["groups"], pa.string())
    )
    return _table(
        {
            "flow": pa.array(np.arange(rows, dtype=np.uint64)),
            "src": pa.array(columns["src"]),
            "dst": pa.array(columns["dst"]),
            "bytes": pa.array(columns["bytes"]),
            "arrival_ps": _instants(columns["arrival_ps"]),
            "start_ps": _instants(columns["start_ps"]),
            "finish_ps": _instants(columns["finish_ps"]),
            "hops": _numbers(columns["hops"]),
            "group": groups,
        },
        experiment,
    )


def series_table(columns: Mapping[str, Any], experiment: Table) -> pa.Table:
    """The time series of the core as an Arrow table."""
    return _named_table(columns, experiment)


def circuit_table(columns: Mapping[str, Any] | None, experiment: Table) -> pa.Table | None:
    """The circuits of the core as an Arrow table, where the fabric has any."""
    return None if columns is None else _named_table(columns, experiment)


def _named_table(columns: Mapping[str, Any], experiment: Table) -> pa.Table:
    """Columns under their names; what is no number is null."""
    arrays = {
        name: _numbers(column) if column.dtype.kind == "f" else pa.array(column)
        for name, column in columns.items()
    }
    return _table(arrays, experiment)


def _instants(column: Any) -> pa.Array:
    return pa.array(column, mask=column == _core.NEVER)


def _numbers(column: Any) -> pa.Array:
    return pa.array(column, mask=np.isnan(column))


def _table(arrays: dict[str, pa.Array], experiment: Table) -> pa.Table:
    """A table that says where it comes from. What differs between equal runs
    (threads, times of day, names, what is recorded beside it) stays out: equal runs give
    equal bytes."""
    origin = {key: value for key, value in experiment.items() if key != "name"}
    origin["run"] = {k: v for k, v in experiment["run"].items() if k != "controller_log"}
    metadata = {
        "lightloom.version": _core.__version__,
        "lightloom.seed": str(experiment["run"]["seed"]),
        "lightloom.experiment": json.dumps(origin, sort_keys=True),
    }
    return pa.table(arrays).replace_schema_metadata(metadata)


def _read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


class _Staging:
    """Files that get their names together, when the block ends well."""

    def __init__(self) -> None:
        self._files: list[tuple[Path, Path]] = []
        self._stale: list[Path] = []
        self._made: list[Path] = []

    def parquet(self, path: Path, table: pa.Table) -> None:
        self._write(path, lambda part: pq.write_table(table, part, compression="zstd"))

    def json(self, path: Path, value: Any) -> None:
        self.text(path, json.dumps(value, indent=2, allow_nan=False) + "\n")

    def text(self, path: Path, text: str) -> None:
        self._write(path, lambda part: part.write_text(text, encoding="utf-8"))

    def absent(self, path: Path) -> None:
        """A file that an earlier result may have left there goes, and its folder if
        nothing is left in it."""
        self._stale.append(path)

    def _write(self, path: Path, write: Callable[[Path], object]) -> None:
        missing = [p for p in (path.parent, *path.parent.parents) if not p.exists()]
        path.parent.mkdir(parents=True, exist_ok=True)
        self._made += reversed(missing)
        part = path.with_name(f".{path.name}.{os.getpid()}.part")
        self._files.append((part, path))
        write(part)

    def __enter__(self) -> _Staging:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            for part, path in self._files:
                part.replace(path)
            for path in self._stale:
                path.unlink(missing_ok=True)
            for folder in {path.parent for path in self._stale}:
                with suppress(OSError):  # something else is in it
                    folder.rmdir()
            return
        for part, _ in self._files:
            part.unlink(missing_ok=True)
        for directory in reversed(self._made):
            try:
                directory.rmdir()
            except OSError:
                return
