"""Runs figure scripts, judges their claims, writes figures and `claims.json`."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib

from lightloom import signals
from lightloom.reproduce.claims import Claims, Measured, Verdict, judge
from lightloom.reproduce.readings import Readings
from lightloom.reproduce.scripts import Script, find_validation, load_script, targets
from lightloom.reproduce.simulate import observed

#: Told the figure at work and how many of its simulations are finished.
Progress = Callable[[str, int, int], None]
#: Told in a line that a figure begins, or what it took.
Told = Callable[[str], None]


def reproduce(
    wanted: str,
    out: Path,
    *,
    quick: bool = False,
    workers: int = 1,
    progress: Progress = lambda name, finished, total: None,
    told: Told = lambda line: None,
) -> tuple[list[Verdict], list[Path]]:
    """Measures and judges the claims of `all`, `sirius` or `sirius/fig12`; `told` hears
    when each figure begins and ends.

    Returns the verdicts and the files written below `out`: per figure an SVG,
    a PNG and its data, and one `claims.json`.
    """
    folder = find_validation()
    verdicts: list[Verdict] = []
    drawn: list[tuple[Script, Any]] = []
    chosen = targets(folder, wanted)
    total = sum(map(len, chosen.values()))
    for fabric, names in chosen.items():
        claims = Claims.read(folder / fabric / "claims.toml")
        for name in names:
            script = load_script(folder, fabric, name)
            begun = time.monotonic()
            told(f"{fabric}/{name} begins, {len(drawn) + 1} of {total}")
            with observed(partial(progress, f"{fabric}/{name}")):
                measured = script.measure(quick, workers)
            told(f"{fabric}/{name} took {time.monotonic() - begun:.1f} s")
            verdicts += _judge(fabric, name, claims, measured, quick)
            drawn.append((script, measured["data"]))
    paths = [path for script, data in drawn for path in _draw(script, data, out)]
    paths.append(_write_verdicts(verdicts, out))
    return verdicts, paths


def _judge(
    fabric: str, script: str, claims: Claims, found: dict[str, Any], quick: bool
) -> list[Verdict]:
    mine = [claim for claim in claims.claim if claim.script == script]
    readings: Readings | None = found.get("readings")
    measured: dict[str, Measured] = dict(found["claims"])
    if readings is not None:
        measured |= readings.measured()
    unknown = set(measured) - {claim.id for claim in mine}
    if unknown:
        raise LookupError(f"{fabric}/{script} measures {sorted(unknown)}: not in claims.toml")
    return [
        judge(fabric, claim, measured.get(claim.id), quick, claims.title, readings)
        for claim in mine
    ]


def _draw(script: Script, data: Any, out: Path) -> list[Path]:
    folder = out / script.fabric
    folder.mkdir(parents=True, exist_ok=True)
    figure = script.figure(data)
    paths = []
    # The same data give the same bytes: no date, and identifiers by name.
    for suffix, metadata in (("svg", {"Date": None}), ("png", {"Software": None})):
        path = folder / f"{script.name}.{suffix}"
        with (
            signals.unfinished(path.with_name(f".{path.name}.part")) as part,
            matplotlib.rc_context({"svg.hashsalt": script.name}),
        ):
            figure.savefig(part, format=suffix, dpi=160, metadata=metadata)
            part.replace(path)
        paths.append(path)
    paths.append(_write(folder / f"{script.name}.json", data))
    return paths


def _write_verdicts(verdicts: list[Verdict], out: Path) -> Path:
    out.mkdir(parents=True, exist_ok=True)
    return _write(out / "claims.json", [verdict.to_dict() for verdict in verdicts])


def _write(path: Path, value: Any) -> Path:
    with signals.unfinished(path.with_name(f".{path.name}.part")) as part:
        part.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        part.replace(path)
    return path
