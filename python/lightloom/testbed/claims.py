"""Claims of papers that need an application, judged on the testbed.

Each script in `validation/<fabric>/testbed/` has a function `measure(run)`: it runs experiments by
`run` and returns a value for each claim. It is called several times. A repetition counts only if
all of its runs were within the limits of the testbed. If too few repetitions count, no claim of the
script is judged, and the outcome lists the values that exceeded the limits.
"""

from __future__ import annotations

import json
import math
import os
import platform
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import lightloom
from lightloom.errors import ConfigError, refusal
from lightloom.storage.staging import Staging
from lightloom.testbed import shell
from lightloom.testbed.live import Live
from lightloom.testbed.live import measure as measure_live
from lightloom.testbed.programs import built
from lightloom.testbed.setup import setup_of
from lightloom.units.intervals import over_runs
from lightloom.validation import find_validation
from lightloom.validation.claims import Claim, Claims, Status
from lightloom.validation.estimate import Estimate
from lightloom.validation.scripts import load_module
from lightloom.validation.verdicts import judged

FOLDER = "testbed"
"""Folder, below that of a paper, with its claims for the testbed and their scripts."""
FILE = "measured.json"
REPEATS, QUICK = 5, 2
"""Number of repetitions that have to be within the limits, by default and with `quick`."""
ATTEMPTS = 2
"""Largest number of attempts, as a multiple of the required repetitions."""

Run = Callable[..., Live]
"""Runs an experiment of the folder, with keys set as by `--set`."""
Told = Callable[[str], None]


class UnfitError(Exception):
    """The machine cannot make a measurement that a repetition needs; the message contains the
    measured reason.

    Args:
        values: the claims of the script that do not need this measurement, with their values.
    """

    def __init__(self, reason: str, values: Mapping[str, float] | None = None) -> None:
        super().__init__(reason)
        self.values = values or {}


@dataclass
class Trials:
    """The measurements of a script's repetitions."""

    values: dict[str, list[float]] = field(default_factory=dict)
    """Claim → the value of each repetition that counts."""
    set_aside: dict[str, list[float]] = field(default_factory=dict)
    """The measurements of repetitions that exceeded the limits, which do not affect the outcome."""
    beyond: list[str] = field(default_factory=list)
    """The reasons why repetitions do not count."""
    loads: list[float] = field(default_factory=list)
    """The largest load average of each run."""

    @property
    def counted(self) -> int:
        """Number of repetitions that count."""
        return max((len(values) for values in self.values.values()), default=0)


@dataclass(frozen=True)
class TestbedVerdict:
    """A claim and its outcome on this machine."""

    __test__ = False  # its name begins as those of tests do

    fabric: str
    claim: Claim
    measured: Estimate | None
    outcome: Status
    record: Mapping[str, Any]
    """The measurements, with the machine, its load and the time."""

    @property
    def as_recorded(self) -> bool:
        """Whether the outcome does not contradict the one on record: a machine that cannot judge a
        claim contradicts nothing."""
        open_ = ("not judged", "undecided")
        return self.outcome == self.claim.status or self.outcome in open_

    @property
    def reason(self) -> str | None:
        """The reason why the claim is not judged on this machine."""
        found: str | None = self.record.get("reason")
        return found


def judge_claims(
    wanted: str, *, quick: bool = False, told: Told = lambda line: None
) -> list[TestbedVerdict]:
    """Runs the scripts of `all`, `cthrough` or `cthrough/fill`, and judges their claims.

    Raises:
        ConfigError: if there is no such target, without the required rights, or without a tool.
        RuntimeError: if a tool fails.
        OSError: if the kernel refuses.
    """
    shell.check_rights()
    verdicts = []
    for fabric, claims in _chosen(wanted).items():
        folder = find_validation() / fabric / FOLDER
        for script in dict.fromkeys(claim.script for claim in claims):
            told(f"{fabric}/{script} begins on the testbed")
            module = load_module(folder / f"{script}.py")
            repeats = QUICK if quick else REPEATS
            with built(getattr(module, "PROGRAMS", {})):
                trials = repeat(module.measure, folder, repeats, told)
            mine = [claim for claim in claims if claim.script == script]
            verdicts += [judge_claim(fabric, claim, trials, quick) for claim in mine]
    return verdicts


def _chosen(wanted: str) -> dict[str, list[Claim]]:
    """The claims of a target, by paper."""
    known = papers(find_validation())
    fabric, _, script = wanted.partition("/")
    if wanted != "all" and fabric not in known:
        options = ", ".join(["all", *known])
        limit = "no claims of this name for the testbed"
        raise refusal("TARGET", wanted, limit, f"choose one of {options}")
    chosen = known if wanted == "all" else {fabric: known[fabric]}
    found = {name: [c for c in of.claim if script in ("", c.script)] for name, of in chosen.items()}
    if not any(found.values()):
        scripts = dict.fromkeys(f"{fabric}/{claim.script}" for claim in known[fabric].claim)
        limit = "no such script for the testbed"
        raise refusal("TARGET", wanted, limit, f"choose one of {', '.join(scripts)}")
    return found


def papers(folder: Path) -> dict[str, Claims]:
    """The claims for the testbed of each paper, by the folder of its fabric."""
    paths = sorted(folder.glob(f"*/{FOLDER}/claims.toml"))
    return {path.parent.parent.name: Claims.read(path) for path in paths}


def repeat(
    measure: Callable[[Run], Mapping[str, float]], folder: Path, repeats: int, told: Told
) -> Trials:
    """Calls a script until enough repetitions were within the limits, or too many were not."""
    trials = Trials()
    for attempt in range(ATTEMPTS * repeats):
        beyond: list[str] = []
        unfit: list[str] = []
        try:
            values = measure(_runner(folder, trials, beyond))
        except UnfitError as problem:
            values = problem.values
            unfit.append(str(problem))
        reasons = [*beyond, *unfit]
        trials.beyond.extend(reasons[:1])
        kept = trials.set_aside if beyond else trials.values
        for claim, value in values.items():
            kept.setdefault(claim, []).append(value)
        said = reasons[0] if reasons else "within the limits"
        told(f"  repetition {attempt + 1}: {said}")
        left = ATTEMPTS * repeats - attempt - 1
        if not 0 < repeats - trials.counted <= left:
            break
    return trials


def _runner(folder: Path, trials: Trials, beyond: list[str]) -> Run:
    def run(file: str, *overrides: str) -> Live:
        live = measure_live(
            setup_of(lightloom.load(folder / file, list(overrides)), None, "claims")
        )
        failed = [one for one in live.applications if one["exit_code"] != 0]
        if failed:
            said = failed[0].get("said", "").strip()[-300:]
            raise RuntimeError(f"{file}: {failed[0]['name']} failed: {said}")
        trials.loads.append(live.fidelity.load)
        beyond.extend(live.fidelity.beyond)
        return live

    return run


def judge_claim(fabric: str, claim: Claim, trials: Trials, quick: bool = False) -> TestbedVerdict:
    """The outcome of a claim; "not judged" if too few repetitions were within the limits."""
    values = trials.values.get(claim.id, [])
    needed = QUICK if quick else REPEATS
    record: dict[str, Any] = {
        "values": values,
        "set_aside": trials.set_aside.get(claim.id, []),
        "beyond_limits": len(trials.beyond),
        "load": max(trials.loads, default=None),
        "processors": os.cpu_count(),
        "machine": f"{platform.system()} {platform.release()}, {platform.machine()}",
        "when": datetime.fromtimestamp(time.time(), UTC).isoformat(timespec="seconds"),
        "version": lightloom.__version__,
    }
    if len(values) < needed:
        first = trials.beyond[0] if trials.beyond else "nothing was measured"
        record["reason"] = f"{len(values)} of {needed} repetitions were within the limits: {first}"
        return TestbedVerdict(fabric, claim, None, "not judged", record)
    found = over_runs(values)
    width = math.inf if found is None or found.half_width is None else found.half_width
    measured = Estimate(statistics.fmean(values), width, len(values))
    return TestbedVerdict(fabric, claim, measured, judged(claim, measured, quick), record)


def record(verdicts: Sequence[TestbedVerdict]) -> list[Path]:
    """Writes the measurements next to the claims; returns the files."""
    root, written = find_validation(), []
    for fabric in dict.fromkeys(verdict.fabric for verdict in verdicts):
        folder = root / fabric / FOLDER
        kept = read_record(folder)
        for one in verdicts:
            if one.fabric == fabric:
                kept[one.claim.id] = {"outcome": one.outcome, **_plain(one), **one.record}
        known = [claim.id for claim in Claims.read(folder / "claims.toml").claim]
        ordered = {claim: kept[claim] for claim in known if claim in kept}
        text = json.dumps(ordered, indent=1, ensure_ascii=False) + "\n"
        with Staging(folder) as staging:
            staging.content(folder / FILE, text.encode())
        written.append(folder / FILE)
    return written


def read_record(folder: Path) -> dict[str, dict[str, Any]]:
    """The recorded measurements, by claim; empty if nothing was recorded.

    Raises:
        ConfigError: if a file is damaged.
    """
    path = folder / FILE
    if not path.is_file():
        return {}
    try:
        found: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as problem:
        remedy = "write it anew by lightloom reproduce --testbed --record"
        raise ConfigError(f"{path}: {problem}; {remedy}") from None
    return found


def _plain(verdict: TestbedVerdict) -> dict[str, Any]:
    if verdict.measured is None:
        return {}
    return {"value": verdict.measured.value, "half_width": verdict.measured.half_width}
