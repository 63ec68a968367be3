"""Optical devices: figures derived from lasers, gratings, receivers and links; circuit switches and
their link budgets.

>>> from lightloom import photonics
>>> found = photonics.derive({"grating": {"ports": 100}})
>>> found.derived["guardband"]["total"], found.derived["link"]["share"]
('3.84 ns', 8)
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lightloom import _core
from lightloom.config.overrides import plain
from lightloom.errors import refusal
from lightloom.storage import reading
from lightloom.storage.staging import write_files

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

__all__ = ["FORMATS", "Devices", "Switch", "derive", "presets", "schema", "switch", "switches"]

Table = Mapping[str, Any]

#: Endings of the files that `Devices.save` writes.
FORMATS = (".svg", ".png", ".pdf", ".csv", ".json")


@dataclass(frozen=True)
class Devices:
    """A design of optical devices, and the figures derived from it."""

    design: dict[str, Any]
    """The design with all defaults."""
    derived: dict[str, Any]
    """Slot, guardband, link budget, reach, ports and error rates, with their units."""
    tuning_by_distance: list[dict[str, Any]]
    """Median and worst tuning time over all pairs of wavelengths that are `channels` apart."""

    def tuning(self) -> NDArray[np.int64]:
        """Returns the tuning times [ps] from each wavelength (row) to each other (column), 0 on the
        diagonal."""
        return _core.laser_tuning(json.dumps(self.design))

    def to_dict(self) -> dict[str, Any]:
        """Returns design and figures as plain data."""
        return {
            "design": self.design,
            "derived": self.derived,
            "tuning_by_distance": self.tuning_by_distance,
        }

    def figure(self) -> Figure:
        """Draws the share of ordered pairs of wavelengths that are tuned within a time."""
        import numpy as np
        from matplotlib.figure import Figure

        times = _pairs(self.tuning())[:, 2] / 1000
        figure = Figure(figsize=(5, 3.2), layout="constrained")
        axes = figure.subplots()
        axes.step(np.sort(times), np.arange(1, len(times) + 1) / len(times), where="post")
        axes.set_xlabel("Tuning time [ns]")
        axes.set_ylabel(f"Share of {len(times):,} ordered pairs")
        axes.set_ylim(0, 1.02)
        axes.set_title(str(self.design["laser"]["kind"]))
        axes.grid(alpha=0.3)
        return figure

    def save(self, path: str | Path) -> None:
        """Writes a file in the format of its ending: the figure of tuning times (`.svg`, `.png`,
        `.pdf`), the tuning times of all pairs (`.csv`: from, to, time_ps), or all data (`.json`).

        Raises:
            ConfigError: The ending is none of these.
            OSError: The file cannot be written.
        """
        path = Path(path)
        write_files({path: self._as(_format(path))})

    def _as(self, ending: str) -> bytes:
        if ending == ".json":
            return (json.dumps(self.to_dict(), indent=2, allow_nan=False) + "\n").encode()
        if ending == ".csv":
            text = io.StringIO()
            rows = csv.writer(text, lineterminator="\n")
            rows.writerow(["from", "to", "time_ps"])
            rows.writerows(_pairs(self.tuning()).tolist())
            return text.getvalue().encode()
        picture = io.BytesIO()
        undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
        kind = ending[1:]
        self.figure().savefig(picture, format=kind, metadata=undated.get(kind))
        return picture.getvalue()


@dataclass(frozen=True)
class Switch:
    """A circuit switch that is not a grating, and the link budget of its circuits."""

    design: dict[str, Any]
    """Ports, constraint, settle time, loss and `link`, with all defaults."""
    budget: dict[str, Any] | None
    """`launch`, `losses` (name and dB each), `received`, `sensitivity`, `spare`, `reach` and the
    key that limits it, with their units; None if the loss is unknown."""

    def to_dict(self) -> dict[str, Any]:
        """Returns design and budget as plain data."""
        return {"design": self.design, "budget": self.budget}

    def save(self, path: str | Path) -> None:
        """Writes design and budget to a `.json` file.

        Raises:
            ConfigError: The file has another ending; a switch has no tuning times.
            OSError: The file cannot be written.
        """
        path = Path(path)
        check_switch_format(path)
        text = json.dumps(self.to_dict(), indent=2, allow_nan=False) + "\n"
        write_files({path: text.encode()})


def switch(design: Table | None = None, preset: str | None = None) -> Switch:
    """Computes the link budget of a circuit switch.

    Args:
        design: Its keys, such as `{"loss": "2 dB"}`; other keys are the preset's.
        preset: The `name` of one of `switches`.

    Raises:
        ConfigError: The preset or a key does not exist, or the loss exceeds the link budget; the
            message names the key below `devices`.

    >>> switch(preset="mems-hydra").budget["spare"]
    '0.5 dB'
    """
    named = {} if preset is None else {"preset": preset}
    table = merged(named, design or {})
    return Switch(**json.loads(_core.derive_switch(json.dumps(plain(table, "")))))


def is_switch(table: Table, preset: str | None = None) -> bool:
    """Whether a table describes a circuit switch: by the name of its preset, or by a key that
    designs of gratings do not have."""
    names = {named["name"] for named in switches()}
    keys = {"settle", "constraint", "loss", "deviation"}
    return preset in names or table.get("preset") in names or not keys.isdisjoint(table)


def derive(design: Table | None = None, preset: str | None = None) -> Devices:
    """Computes the figures that follow from a design.

    Args:
        design: The design as a dictionary, such as `{"grating": {"ports": 100}}`; other keys are
            the preset's, or those of the second prototype of Sirius.
        preset: The name of one of `presets`.

    Raises:
        ConfigError: The preset or a key does not exist, or the design is impossible; the message
            names the key of the failing part below `devices`.
    """
    table = merged({} if preset is None else _preset(preset), design or {})
    reading.check_depth(table)
    return Devices(**json.loads(_core.derive_devices(json.dumps(plain(_given(table), "")))))


def presets() -> dict[str, dict[str, Any]]:
    """Designs by their name, each with a `summary` and its `design`."""
    return {preset.pop("name"): preset for preset in _listed()["designs"]}


def switches() -> list[dict[str, Any]]:
    """Returns the circuit switches of the papers that are not gratings: constraint, settle time,
    ports, loss and the transceivers of their circuits."""
    return list(_listed()["switches"])


def schema() -> dict[str, Any]:
    """Returns the JSON Schema of a design: every key with its meaning, unit and source."""
    return dict(json.loads(_core.device_schema()))


def merged(below: Table, above: Table) -> dict[str, Any]:
    """Returns a table with the values of another one added or replaced; nested tables are merged.

    >>> merged({"a": {"b": 1, "c": 2}}, {"a": {"c": 3}})
    {'a': {'b': 1, 'c': 3}}
    """
    both = dict(below)
    for key, value in above.items():
        old = both.get(key)
        tables = isinstance(old, Mapping) and isinstance(value, Mapping)
        both[key] = merged(old, value) if tables else value  # type: ignore[arg-type]
    return both


def _given(table: Table) -> dict[str, Any]:
    """Returns a design without the keys that are None, which a printed design has for open keys.

    >>> _given({"slot": None, "grating": {"ports": 16, "loss": None}})
    {'grating': {'ports': 16}}
    """
    return {
        key: _given(value) if isinstance(value, Mapping) else value
        for key, value in table.items()
        if value is not None
    }


def check_format(path: Path, option: str = "path") -> None:
    """Raises an error if the ending of a file is not one of `FORMATS`."""
    _format(path, option)


def check_switch_format(path: Path, option: str = "path") -> None:
    """Raises an error if a file for a circuit switch does not end in `.json`."""
    if path.suffix.lower() != ".json":
        limit = "a circuit switch has no tuning times to draw"
        raise refusal(option, path, limit, "use .json")


def _format(path: Path, option: str = "path") -> str:
    if path.suffix.lower() not in FORMATS:
        limit = "its extension names no known format"
        raise refusal(option, path, limit, f"use {', '.join(FORMATS)}")
    return path.suffix.lower()


def _listed() -> dict[str, Any]:
    return dict(json.loads(_core.device_presets()))


def _preset(name: str) -> dict[str, Any]:
    known = presets()
    if name not in known:
        limit = f"must be one of {', '.join(known)}"
        raise refusal("preset", name, limit, "choose one of them")
    return dict(known[name]["design"])


def _pairs(times: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns rows (from, to, time) of all ordered pairs of wavelengths."""
    import numpy as np

    start, end = np.nonzero(~np.eye(len(times), dtype=bool))
    return np.column_stack([start, end, times[start, end]])
