"""Runs figure scripts, judges their claims, writes figures and `claims.json`."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib

from lightloom.config import identity
from lightloom.errors import refusal
from lightloom.storage.records import RECORD
from lightloom.storage.staging import Staging
from lightloom.storage.trial import check_names
from lightloom.sweep.executors import Executor
from lightloom.validation import by_readings
from lightloom.validation.claims import Claims
from lightloom.validation.grid import CHOSEN, Grid
from lightloom.validation.readings import Measured, Readings
from lightloom.validation.scripts import Script, find_validation, load_script, targets
from lightloom.validation.simulate import observed, simulated_by
from lightloom.validation.verdicts import Verdict, judge

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Called with the name of a figure, the number of its finished simulations and their total.
Progress = Callable[[str, int, int], None]
#: Called with a line of text when a figure begins or ends.
Told = Callable[[str], None]


def reproduce(
    wanted: str,
    out: Path,
    *,
    quick: bool = False,
    readings: bool = False,
    workers: int = 1,
    executor: Executor | None = None,
    progress: Progress = lambda name, finished, total: None,
    told: Told = lambda line: None,
) -> tuple[list[Verdict], list[Path]]:
    """Measures and judges the claims of `all`, `sirius` or `sirius/fig12`; `told` is called when
    each figure begins and ends. Simulations run in `executor` if it is given, otherwise in
    `workers` processes. With `readings`, claims also get a value by each reading in their paper's
    `readings.toml`.

    Returns the verdicts and the files written below `out`: for each figure an SVG, a PNG and its
    data; with `readings` a picture of each paper; and one `claims.json`.

    Raises:
        ConfigError: if claims or readings are invalid, or a file cannot be written.
    """
    folder = find_validation()
    verdicts: list[Verdict] = []
    chosen = targets(folder, wanted)
    check_names(out, _names(chosen, readings))
    papers = {fabric: Paper.read(folder, fabric) for fabric in chosen}
    names = [(fabric, name) for fabric, scripts in chosen.items() for name in scripts]
    drawn: list[tuple[Script, Any]] = []
    for place, (fabric, name) in enumerate(names, 1):
        script = load_script(folder, fabric, name)
        begun = time.monotonic()
        told(f"{fabric}/{name} begins, {place} of {len(names)}")
        with observed(partial(progress, f"{fabric}/{name}")), simulated_by(executor):
            measured = by_readings.measured_by(
                script, papers[fabric].grid, quick, workers, every=readings
            )
        told(f"{fabric}/{name} took {time.monotonic() - begun:.1f} s")
        verdicts += papers[fabric].judge(script, measured, quick)
        drawn.append((script, measured["data"]))
    pictures = _by_reading(chosen, verdicts, out) if readings else {}
    return verdicts, _write(out, drawn, pictures, verdicts)


def _names(chosen: Mapping[str, Sequence[str]], readings: bool) -> list[str]:
    """The names of the files that will be written, relative to the common folder."""
    files = ["claims.json", RECORD]
    for fabric, scripts in chosen.items():
        files += [f"{fabric}/{name}.{kind}" for name in scripts for kind in ("svg", "png", "json")]
        files += [f"{fabric}/readings.{kind}" for kind in ("svg", "png")] if readings else []
    return files


def _write(
    out: Path,
    drawn: Sequence[tuple[Script, Any]],
    pictures: Mapping[Path, bytes],
    verdicts: Sequence[Verdict],
) -> list[Path]:
    """Writes the figures with their data, and the claims; returns the paths."""
    files: dict[Path, bytes] = {}
    for script, data in drawn:
        files |= _draw(script, data, out)
    files |= pictures
    files[out / "claims.json"] = _json([verdict.to_dict() for verdict in verdicts])
    with Staging(out) as staging:
        for path, content in files.items():
            staging.content(path, content)
        staging.record(out, {"build": identity.build(), "inputs": []}, keep=True)
    return list(files)


@dataclass(frozen=True)
class Paper:
    """The claims of a paper, and its readings."""

    fabric: str
    claims: Claims
    grid: Grid | None

    @classmethod
    def read(cls, folder: Path, fabric: str) -> Paper:
        """Reads them from the folder of the claims."""
        own = folder / fabric
        claims, scripts = own / "claims.toml", {path.stem for path in own.glob("*.py")}
        for claim in Claims.read(claims).claim:
            if claim.script not in scripts:
                remedy = "correct the command, or remove the claim"
                raise refusal(f"{claims}: {claim.id}", claim.command, "no such script", remedy)
        return cls(fabric, Claims.read(own / "claims.toml"), by_readings.of_fabric(own))

    def judge(self, script: Script, found: dict[str, Any], quick: bool) -> list[Verdict]:
        """Returns the verdicts on all claims of a script."""
        mine = [claim for claim in self.claims.claim if claim.script == script.name]
        readings: Readings | None = found.get("readings")
        measured: dict[str, Measured] = dict(found["claims"])
        if readings is not None:
            measured = {**measured, **readings.measured()}
        unknown = set(measured) - {claim.id for claim in mine}
        if unknown:
            name = f"{self.fabric}/{script.name}"
            limit = "not among the claims of claims.toml whose command runs it"
            raise refusal(f"{name} measures", ", ".join(sorted(unknown)), limit, "add them there")
        by = CHOSEN if script.factors else None
        return [
            judge(
                self.fabric,
                claim,
                measured.get(claim.id),
                quick,
                self.claims.title,
                readings,
                readings.verdict if readings and readings.of(claim.id) else by,
            )
            for claim in mine
        ]


def _by_reading(
    chosen: Mapping[str, Sequence[str]], verdicts: Sequence[Verdict], out: Path
) -> dict[Path, bytes]:
    """Draws each paper whose figures were measured by several readings."""
    files: dict[Path, bytes] = {}
    for fabric in chosen:
        own = [v for v in verdicts if v.fabric == fabric and v.readings and v.reading == CHOSEN]
        if own:
            picture = by_readings.picture(fabric, own)
            files |= _saved(picture, out / fabric / "readings", "readings")
    return files


def _draw(script: Script, data: Any, out: Path) -> dict[Path, bytes]:
    """Returns the files of a figure, and its data."""
    stem = out / script.fabric / script.name
    files = _saved(script.figure(data), stem, script.name)
    return files | {stem.with_suffix(".json"): _json(data)}


def _saved(figure: Figure, stem: Path, salt: str) -> dict[Path, bytes]:
    """Returns a figure as SVG and PNG. The same data give the same bytes: there is no date, and
    identifiers are derived from names."""
    files: dict[Path, bytes] = {}
    for suffix, metadata in (("svg", {"Date": None}), ("png", {"Software": None})):
        drawn = io.BytesIO()
        with matplotlib.rc_context({"svg.hashsalt": salt}):
            figure.savefig(drawn, format=suffix, dpi=160, metadata=metadata)
        files[stem.with_suffix(f".{suffix}")] = drawn.getvalue()
    return files


def _json(value: Any) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()
