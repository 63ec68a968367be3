"""Runs figure scripts, judges their claims, writes figures and `claims.json`."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib

from lightloom import identity
from lightloom.reproduce.claims import Claims, Measured, Verdict, judge
from lightloom.reproduce.readings import Readings
from lightloom.reproduce.scripts import Script, find_validation, load_script, targets
from lightloom.reproduce.simulate import observed, simulated_by
from lightloom.sweep.executors import Executor
from lightloom.writing import Staging

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
    executor: Executor | None = None,
    progress: Progress = lambda name, finished, total: None,
    told: Told = lambda line: None,
) -> tuple[list[Verdict], list[Path]]:
    """Measures and judges the claims of `all`, `sirius` or `sirius/fig12`; `told` hears
    when each figure begins and ends. Simulations run where `executor` has them run; in so many
    processes (`workers`) unless it is given.

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
            with observed(partial(progress, f"{fabric}/{name}")), simulated_by(executor):
                measured = script.measure(quick, workers)
            told(f"{fabric}/{name} took {time.monotonic() - begun:.1f} s")
            verdicts += _judge(fabric, name, claims, measured, quick)
            drawn.append((script, measured["data"]))
    files: dict[Path, bytes] = {}
    for script, data in drawn:
        files |= _draw(script, data, out)
    files[out / "claims.json"] = _json([verdict.to_dict() for verdict in verdicts])
    with Staging(out) as staging:
        for path, content in files.items():
            staging.content(path, content)
        staging.record(out, {"build": identity.build(), "inputs": []}, keep=True)
    return verdicts, list(files)


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


def _draw(script: Script, data: Any, out: Path) -> dict[Path, bytes]:
    """The figure's files, and its data."""
    folder = out / script.fabric
    figure = script.figure(data)
    files: dict[Path, bytes] = {}
    # The same data give the same bytes: no date, and identifiers by name.
    for suffix, metadata in (("svg", {"Date": None}), ("png", {"Software": None})):
        drawn = io.BytesIO()
        with matplotlib.rc_context({"svg.hashsalt": script.name}):
            figure.savefig(drawn, format=suffix, dpi=160, metadata=metadata)
        files[folder / f"{script.name}.{suffix}"] = drawn.getvalue()
    files[folder / f"{script.name}.json"] = _json(data)
    return files


def _json(value: Any) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()
