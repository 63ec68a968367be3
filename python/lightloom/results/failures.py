"""What came of a network with one part dead, beside the sound one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lightloom.units.bounds import Bound

Table = dict[str, Any]


@dataclass(frozen=True)
class Figures:
    """Those of one run that are set beside another's."""

    goodput: float | None
    """Of what all servers can send: accepted in the window, where one is measured; delivered
    until the last arrival, where there is a load; else over the run. None of a run whose end
    never came."""
    p99: Bound | None
    """99th percentile of completion times, of all flows that were offered [µs]."""
    missing: float
    """Share of the bytes offered that had not arrived when the run ended."""
    unfinished: int
    """Flows that had not."""
    drops: int
    """Cells or packets lost, most of them sent again."""
    jobs_s: float | None = None
    """Sum of the jobs' times [s]; None without jobs, and where one never ended."""

    def to_json(self) -> Table:
        """As `resilience.json` has it."""
        return {
            "goodput": self.goodput,
            "p99_us": None if self.p99 is None else [self.p99.low, _finite(self.p99.high)],
            "missing": self.missing,
            "unfinished": self.unfinished,
            "drops": self.drops,
            "jobs_s": self.jobs_s,
        }

    @staticmethod
    def of_json(table: Mapping[str, Any]) -> Figures:
        """The same read back."""
        low, high = table["p99_us"] or (None, None)
        p99 = None if low is None else Bound(low, math.inf if high is None else high)
        rest = {key: value for key, value in table.items() if key != "p99_us"}
        return Figures(p99=p99, **rest)


@dataclass(frozen=True)
class Run:
    """A network with one part dead."""

    part: str
    """Which."""
    set: Sequence[str]
    """Keys and values by which the experiment becomes this run, as `--set` takes them."""
    figures: Figures


@dataclass(frozen=True)
class OfKind:
    """The parts of one kind, one dead at a time."""

    kind: str
    members: int
    """How many the fabric has."""
    chosen: str
    """By what those that were tried were chosen: "all", or the sample in words."""
    takes_servers: bool
    """Whether servers die with it in any network: it decides nothing between them."""
    runs: Sequence[Run]

    @property
    def tried(self) -> str:
        """How many of how many.

        >>> OfKind("grating", 64, "the first", False, [None] * 8).tried
        '8 of 64'
        """
        return str(self.members) if self.chosen == "all" else f"{len(self.runs)} of {self.members}"

    @property
    def least(self) -> Run:
        """Of those tried, the one with which least arrives."""
        return min(self.runs, key=_delivering)

    @property
    def slowest(self) -> Run:
        """Of those tried, the one with which the 99th percentile is longest."""
        return max(self.runs, key=_slowness)


@dataclass(frozen=True)
class OfFabric:
    """A fabric, sound and with one part dead."""

    label: str
    sound: Figures
    kinds: Sequence[OfKind]
    """Empty where its model has no failures."""
    refused: Mapping[str, str]
    """Kind of part → why the fabric has none that dies, in the core's words."""
    why_none: str = ""
    """Why nothing can die, where nothing can."""
    assumed: str = ""
    """Who notices, how soon, and what does not die in its model."""
    switches: Sequence[str] = ()
    """Of how many switches its tiers are, and where the numbers are from."""

    @property
    def ranked(self) -> Sequence[OfKind]:
        """The kinds that tell networks apart: those that take no servers with them."""
        return [kind for kind in self.kinds if not kind.takes_servers]

    @property
    def least(self) -> Run | None:
        """The worst single failure for what arrives; None where there is none."""
        return min((kind.least for kind in self.ranked), key=_delivering, default=None)

    @property
    def slowest(self) -> Run | None:
        """The worst single failure for the 99th percentile; None where there is none."""
        return max((kind.slowest for kind in self.ranked), key=_slowness, default=None)

    @property
    def kept(self) -> float | None:
        """Goodput with the worst single failure ÷ that of the sound network; 0 where what
        should have ended never does."""
        worst = self.least
        if worst is None or not self.sound.goodput:
            return None
        return (worst.figures.goodput or 0.0) / self.sound.goodput


@dataclass(frozen=True)
class Resilience:
    """What breaks: the fabrics of a comparison with one part dead."""

    seed: int
    """Of several seeds the first: traffic is the same in all runs."""
    tries: int
    """Of a kind with more members, so many were tried."""
    goodput: str
    """What `goodput` is: a key of `summary.json`."""
    p99: str
    """Of which flows `p99` is: its key there."""
    fabrics: Mapping[str, OfFabric]
    """By label, in the order of the experiment."""

    def rows(self) -> list[Table]:
        """A row for each part that was tried, and one for each sound fabric (part None)."""
        return [row for fabric in self.fabrics.values() for row in _rows(fabric)]

    def to_json(self) -> Table:
        """As `resilience.json` has it, but for the experiment."""
        return {
            "seed": self.seed,
            "tries": self.tries,
            "goodput": self.goodput,
            "p99": self.p99,
            "fabrics": {label: _fabric_json(fabric) for label, fabric in self.fabrics.items()},
        }

    @staticmethod
    def of_json(table: Mapping[str, Any]) -> Resilience:
        """The same read back."""
        fabrics = {label: _fabric(label, found) for label, found in table["fabrics"].items()}
        same = {key: table[key] for key in ("seed", "tries", "goodput", "p99")}
        return Resilience(**same, fabrics=fabrics)


def _delivering(run: Run) -> tuple[float, float]:
    """In order of what arrives: that whose end never came first."""
    goodput = run.figures.goodput
    return (-1.0 if goodput is None else goodput, -run.figures.missing)


def _slowness(run: Run) -> tuple[float, float]:
    found = run.figures.p99
    return (-1.0, -1.0) if found is None else (found.low, found.high)


def _rows(fabric: OfFabric) -> Iterator[Table]:
    yield {"fabric": fabric.label, "kind": None, "part": None, **fabric.sound.to_json()}
    for kind in fabric.kinds:
        for run in kind.runs:
            named = {"fabric": fabric.label, "kind": kind.kind, "part": run.part}
            yield {**named, **run.figures.to_json()}


def _fabric_json(fabric: OfFabric) -> Table:
    least, slowest = fabric.least, fabric.slowest
    return {
        "modelled": bool(fabric.kinds),
        "why_none": fabric.why_none or None,
        "assumed": fabric.assumed,
        "switches": list(fabric.switches),
        "sound": fabric.sound.to_json(),
        "worst": {
            "goodput": None if least is None else least.part,
            "p99": None if slowest is None else slowest.part,
            "kept": fabric.kept,
        },
        "kinds": [_kind_json(kind) for kind in fabric.kinds],
        "refused": dict(fabric.refused),
    }


def _kind_json(kind: OfKind) -> Table:
    return {
        "kind": kind.kind,
        "members": kind.members,
        "chosen": kind.chosen,
        "takes_servers": kind.takes_servers,
        "worst": {"goodput": kind.least.part, "p99": kind.slowest.part},
        "runs": [
            {"part": run.part, "set": list(run.set), **run.figures.to_json()} for run in kind.runs
        ],
    }


def _fabric(label: str, table: Mapping[str, Any]) -> OfFabric:
    return OfFabric(
        label,
        Figures.of_json(table["sound"]),
        [_kind(found) for found in table["kinds"]],
        table["refused"],
        table["why_none"] or "",
        table["assumed"],
        table["switches"],
    )


def _kind(table: Mapping[str, Any]) -> OfKind:
    def run(found: Mapping[str, Any]) -> Run:
        figures = {key: value for key, value in found.items() if key not in ("part", "set")}
        return Run(found["part"], found["set"], Figures.of_json(figures))

    same = {key: table[key] for key in ("kind", "members", "chosen", "takes_servers")}
    return OfKind(**same, runs=[run(found) for found in table["runs"]])


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
