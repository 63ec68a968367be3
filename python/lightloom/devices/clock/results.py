"""Results of clock simulations: figures, tables, files."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from lightloom import _core
from lightloom.config import identity
from lightloom.config.experiment import to_toml
from lightloom.results.views import above
from lightloom.storage.staging import Staging

Table = dict[str, Any]
Columns = Mapping[str, Any]
SIRIUS_PS = 5.0
"""Largest deviation of two nodes over 24 hours that Sirius reports, in both directions (§6)
[ps]."""
PICTURES = ("svg", "png", "pdf")


@dataclass(frozen=True)
class Synchronisation:
    """The result of a clock simulation."""

    summary: Table
    """All figures, with the version, the seed and the configuration."""
    samples: pa.Table
    """One row for each sample: `time_ps`, `deviation_ps`, `ahead`, `behind`, `wander_ps`,
    `pair_ps`. If a day was simulated, these are samples of its worst moment."""
    nodes: pa.Table
    """One row for each node: `node`, `sound`, `mean_ps`, `rms_ps`, `least_ps`, `most_ps`."""
    day_samples: pa.Table | None = None
    """Samples for each step of the day; None if no day was simulated."""
    day_nodes: pa.Table | None = None
    """Nodes over the day; None if no day was simulated."""

    @classmethod
    def of(cls, config: Table, figures: Table, columns: Mapping[str, Any]) -> Synchronisation:
        """Makes a result from the core's figures and columns."""
        told = {"version": _core.__version__, "seed": config["seed"], "config": config}
        summary = told | figures
        summary["dominant"] = dominant(figures["contributions"])
        summary["within_sirius"] = within(figures, SIRIUS_PS)
        note = {b"lightloom": json.dumps(told).encode()}

        def table(part: Columns) -> pa.Table:
            return pa.table(dict(part)).replace_schema_metadata(note)

        samples, nodes = map(table, columns["epochs"])
        day = [table(part) for part in columns["day"]] if "day" in columns else (None, None)
        return cls(summary, samples, nodes, *day)

    @property
    def config(self) -> Table:
        """The configuration with all defaults; running it again gives the same bytes."""
        config: Table = self.summary["config"]
        return config

    def figure(self) -> Any:
        """Draws the deviation over time and the contribution of each term with matplotlib."""
        return above("plotting.clock").draw(self)

    def content(self, kind: str) -> bytes:
        """Returns the content of a file: `json`, `toml`, `parquet`, `csv`, `svg`, `png` or `pdf`.

        Columns are those of the day if there is one.
        """
        if kind in PICTURES:
            return self._drawn(kind)
        if kind == "json":
            return (json.dumps(self.summary, indent=2, allow_nan=False) + "\n").encode()
        if kind == "toml":
            return to_toml(self.config).encode()
        return as_file(self.samples if self.day_samples is None else self.day_samples, kind)

    def files(self, folder: Path) -> dict[Path, bytes]:
        """All files that `save` writes into a folder, with their contents."""
        tables = {"epochs": self.samples, "nodes": self.nodes}
        if self.day_samples is not None and self.day_nodes is not None:
            tables |= {"day": self.day_samples, "day-nodes": self.day_nodes}
        found = {f"{name}.parquet": as_file(table, "parquet") for name, table in tables.items()}
        found |= {"summary.json": self.content("json"), "clock.toml": self.content("toml")}
        found["deviation.svg"] = self.content("svg")
        return {folder / name: content for name, content in found.items()}

    def save(self, *targets: str | Path) -> list[Path]:
        """Writes to folders, and to single files in the format of their ending; returns the paths.

        All files get their final names together, and none is ever incomplete.
        """
        found: dict[Path, bytes] = {}
        for path in map(Path, targets):
            kind = path.suffix[1:].lower()
            found |= {path: self.content(kind)} if kind in KINDS else self.files(path)
        with Staging() as staging:
            for path, content in found.items():
                staging.content(path, content)
            for folder in (path for path in map(Path, targets) if path not in found):
                staging.record(folder, {"build": identity.build(), "inputs": []})
        return list(found)

    def _drawn(self, kind: str) -> bytes:
        out = io.BytesIO()
        self.figure().savefig(out, format=kind)
        return out.getvalue()


KINDS = ("json", "toml", "parquet", "csv", *PICTURES)
"""Endings of the files that can be written."""


def within(figures: Table, limit_ps: float) -> Table:
    """Whether the clocks of any two nodes stay within a limit, with and without constant offsets.

    The variation during a day and the variation from epoch to epoch are assumed to add up.
    """
    seen = [figures[part] for part in ("day", "epochs") if figures[part] is not None]
    deviation = max(part["deviation_max_ps"] for part in seen)
    wander = sum(part["wander_max_ps"] for part in seen)
    return {
        "limit_ps": limit_ps,
        "deviation": deviation <= limit_ps,
        "wander": wander <= limit_ps,
        "wander_bound_ps": wander,
    }


def dominant(contributions: list[Table] | None) -> Table | None:
    """Returns the terms that alone cause the largest deviation and the largest variation."""
    if not contributions:
        return None

    def most(key: str) -> str | None:
        found = max(contributions, key=lambda part: part[key] or 0.0)
        return found["term"] if found[key] else None

    return {
        "deviation": most("alone_ps"),
        "wander": most("alone_wander_rms_ps"),
        "day": most("day_alone_ps"),
    }


def as_file(table: pa.Table, kind: str) -> bytes:
    """Returns a table as Parquet or CSV."""
    out = io.BytesIO()
    if kind == "csv":
        pyarrow.csv.write_csv(table, out)
    else:
        pq.write_table(table, out, compression="zstd")
    return out.getvalue()
