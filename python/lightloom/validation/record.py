"""The last measured values, beside the claims: `measured.json`. The status page is made from them
without simulation."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from math import inf
from pathlib import Path
from typing import Any

from lightloom.errors import ConfigError
from lightloom.storage.staging import Staging
from lightloom.validation.estimate import Estimate
from lightloom.validation.scripts import find_validation
from lightloom.validation.verdicts import Verdict

FILE = "measured.json"


@dataclass(frozen=True)
class Recorded:
    """The recorded value of a claim."""

    measured: Estimate | None
    """The value; None if nothing is measured."""
    reading: str | None = None
    """The reading that the verdict follows, if there are several."""
    readings: Mapping[str, Estimate] = field(default_factory=dict)
    """The values by other readings, if they were measured."""

    def to_dict(self) -> dict[str, Any]:
        """Returns the form in the file."""
        others = {name: _plain(value) for name, value in self.readings.items()}
        return {
            **({} if self.measured is None else _plain(self.measured)),
            **({"reading": self.reading} if self.reading else {}),
            **({"readings": others} if others else {}),
        }

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Recorded:
        """Reads the form in the file."""
        others = {name: _estimate(one) for name, one in data.get("readings", {}).items()}
        measured = _estimate(data) if "value" in data else None
        return cls(measured, data.get("reading"), others)


def read(folder: Path) -> dict[str, Recorded]:
    """Returns the recorded values of a paper by claim; empty if nothing was recorded.

    Raises:
        ConfigError: if the file is damaged.
    """
    path = folder / FILE
    if not path.is_file():
        return {}
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return {claim: Recorded.of(data) for claim, data in found.items()}
    except (ValueError, KeyError, TypeError, AttributeError) as problem:
        remedy = "write it anew by lightloom reproduce --record"
        raise ConfigError(f"{path}: {problem}; {remedy}") from None


def record(verdicts: Sequence[Verdict]) -> list[Path]:
    """Records the values of these claims. Values of claims that no longer exist are removed; others
    stay.

    Returns the files, one for each paper.
    """
    root = find_validation()
    files: dict[Path, bytes] = {}
    for fabric, group in groupby(verdicts, lambda v: v.fabric):
        folder = root / fabric
        known = _known(folder)
        kept = {claim: one for claim, one in read(folder).items() if claim in known}
        for verdict in group:
            new = _recorded(verdict)
            kept[verdict.claim.id] = _with_old_readings(new, kept.get(verdict.claim.id))
        ordered = {claim: kept[claim].to_dict() for claim in known if claim in kept}
        files[folder / FILE] = (json.dumps(ordered, indent=1, ensure_ascii=False) + "\n").encode()
    for path, content in files.items():
        with Staging(path.parent) as staging:
            staging.content(path, content)
    return list(files)


def outdated(verdicts: Sequence[Verdict]) -> list[str]:
    """Returns the claims whose values by other readings are removed when these are recorded,
    because they belong to another value and were not measured again."""
    root = find_validation()
    kept = {fabric: read(root / fabric) for fabric in {v.fabric for v in verdicts}}
    gone = []
    for verdict in verdicts:
        old = kept[verdict.fabric].get(verdict.claim.id, Recorded(None))
        if old.readings and not _with_old_readings(_recorded(verdict), old).readings:
            gone.append(f"{verdict.fabric}/{verdict.claim.id}")
    return gone


def _known(folder: Path) -> list[str]:
    """The claims of a paper, in their order."""
    from lightloom.validation.claims import Claims

    return [claim.id for claim in Claims.read(folder / "claims.toml").claim]


def _recorded(verdict: Verdict) -> Recorded:
    others = {by.reading.name: by.measured for by in verdict.readings if not by.judged}
    return Recorded(verdict.measured, verdict.reading, others)


def _with_old_readings(new: Recorded, old: Recorded | None) -> Recorded:
    """Keeps earlier values by other readings as long as the value itself does not change."""
    if new.readings or old is None or old.measured != new.measured:
        return new
    return Recorded(new.measured, new.reading, old.readings)


def _plain(value: Estimate) -> dict[str, Any]:
    found: dict[str, Any] = {"value": value.value}
    if value.half_width:
        found["half_width"] = None if value.half_width == inf else value.half_width
    if value.runs:
        found["runs"] = value.runs
    return found


def _estimate(data: Mapping[str, Any]) -> Estimate:
    width = data.get("half_width", 0.0)
    return Estimate(data["value"], inf if width is None else width, data.get("runs", 0))


def fabrics(folder: Path) -> Iterable[str]:
    """The papers that have claims, in order."""
    return [path.parent.name for path in sorted(folder.glob("*/claims.toml"))]
