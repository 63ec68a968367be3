"""What clocks came to: figures, tables, files."""

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
from lightloom.storage import Staging

Table = dict[str, Any]
Columns = Mapping[str, Any]
SIRIUS_PS = 5.0
"""Deviation of two nodes over 24 hours that Sirius reports, either way (§6) [ps]."""
PICTURES = ("svg", "png", "pdf")


@dataclass(frozen=True)
class Synchronisation:
    """Clocks that were simulated."""

    summary: Table
    """All figures, with the version, the seed and the configuration."""
    samples: pa.Table
    """A row for each sample: `time_ps`, `deviation_ps`, `ahead`, `behind`, `wander_ps`,
    `pair_ps`; after a day, of its worst moment."""
    nodes: pa.Table
    """A row for each node: `node`, `sound`, `mean_ps`, `rms_ps`, `least_ps`, `most_ps`."""
    day_samples: pa.Table | None = None
    """The same for each step of a day."""
    day_nodes: pa.Table | None = None
    """The same over a day."""

    @classmethod
    def of(cls, config: Table, figures: Table, columns: Mapping[str, Any]) -> Synchronisation:
        """From what the core returns."""
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
        """The configuration with every default filled in; it runs again to the same bytes."""
        config: Table = self.summary["config"]
        return config

    def figure(self) -> Any:
        """Deviation over time, and what each term comes to, as a figure of matplotlib."""
        return above("plotting.clock").draw(self)

    def content(self, kind: str) -> bytes:
        """A file: `json`, `toml`, `parquet`, `csv`, `svg`, `png` or `pdf`.

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
        """All that `save` writes into a folder."""
        tables = {"epochs": self.samples, "nodes": self.nodes}
        if self.day_samples is not None and self.day_nodes is not None:
            tables |= {"day": self.day_samples, "day-nodes": self.day_nodes}
        found = {f"{name}.parquet": as_file(table, "parquet") for name, table in tables.items()}
        found |= {"summary.json": self.content("json"), "clock.toml": self.content("toml")}
        found["deviation.svg"] = self.content("svg")
        return {folder / name: content for name, content in found.items()}

    def save(self, *targets: str | Path) -> list[Path]:
        """Writes folders, and single files by their endings; returns what was written.

        All get their names together, and none is ever half written.
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
"""Endings of files."""


def within(figures: Table, limit_ps: float) -> Table:
    """Whether any two nodes stay within a limit, with and without offsets that stay.

    What moves during a day and what moves from epoch to epoch are taken to add up.
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
    """Which term alone parts clocks the most, and which moves them the most."""
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
    """A table as Parquet or CSV."""
    out = io.BytesIO()
    if kind == "csv":
        pyarrow.csv.write_csv(table, out)
    else:
        pq.write_table(table, out, compression="zstd")
    return out.getvalue()
