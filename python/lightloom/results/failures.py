"""Results of a network with one failed part, beside those of the fault-free network."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lightloom.units.bounds import Bound

Table = dict[str, Any]


@dataclass(frozen=True)
class Figures:
    """The figures by which a run with a failed part is compared with the fault-free run."""

    goodput: float | None
    """Goodput ÷ capacity of all servers: accepted in the window if one is measured, else delivered
    until the last arrival if there is a load, else delivered in the whole run. None if the run did
    not end."""
    p99: Bound | None
    """99th percentile of completion times, of all flows that were offered [µs]."""
    missing: float
    """Share of the bytes offered that were not delivered when the run ended."""
    unfinished: int
    """Flows that were not finished when the run ended."""
    drops: int
    """Cells or packets lost. Most of them were retransmitted."""
    jobs_s: float | None = None
    """Sum of the durations of all jobs [s]; None without jobs, or if a job did not end."""

    def to_json(self) -> Table:
        """Returns the figures in the form of `resilience.json`."""
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
        """Reads the figures from that form."""
        low, high = table["p99_us"] or (None, None)
        p99 = None if low is None else Bound(low, math.inf if high is None else high)
        rest = {key: value for key, value in table.items() if key != "p99_us"}
        return Figures(p99=p99, **rest)


@dataclass(frozen=True)
class Run:
    """A run with one failed part."""

    part: str
    """Name of the part."""
    set: Sequence[str]
    """Settings in the form of `--set` that turn the experiment into this run."""
    figures: Figures


@dataclass(frozen=True)
class OfKind:
    """The runs with one failed part of one kind."""

    kind: str
    members: int
    """Number of parts of this kind in the fabric."""
    chosen: str
    """How the parts were chosen: "all", or a description of the sample."""
    takes_servers: bool
    """Whether servers fail with the part in any network. Such parts do not rank fabrics."""
    runs: Sequence[Run]

    @property
    def tried(self) -> str:
        """The number of parts that were tried, with the total if it is larger.

        >>> OfKind("grating", 64, "the first", False, [None] * 8).tried
        '8 of 64'
        """
        return str(self.members) if self.chosen == "all" else f"{len(self.runs)} of {self.members}"

    @property
    def least(self) -> Run:
        """The run that delivers least."""
        return min(self.runs, key=_delivering)

    @property
    def slowest(self) -> Run:
        """The run with the longest 99th percentile."""
        return max(self.runs, key=_slowness)


@dataclass(frozen=True)
class OfFabric:
    """A fabric without faults, and with one failed part."""

    label: str
    sound: Figures
    kinds: Sequence[OfKind]
    """Empty if the model of the fabric has no failures."""
    refused: Mapping[str, str]
    """Kind of part → the core's reason why the fabric has no such part that can fail."""
    why_none: str = ""
    """The reason why nothing can fail; empty if something can."""
    assumed: str = ""
    """Which failures are detected, how soon, and which parts do not fail in the model."""
    switches: Sequence[str] = ()
    """The number of switches in each tier, and the source of the numbers."""

    @property
    def ranked(self) -> Sequence[OfKind]:
        """The kinds of parts that rank fabrics: those whose failure leaves all servers
        connected."""
        return [kind for kind in self.kinds if not kind.takes_servers]

    @property
    def least(self) -> Run | None:
        """The single failure with the lowest goodput; None if there is none."""
        return min((kind.least for kind in self.ranked), key=_delivering, default=None)

    @property
    def slowest(self) -> Run | None:
        """The single failure with the longest 99th percentile; None if there is none."""
        return max((kind.slowest for kind in self.ranked), key=_slowness, default=None)

    @property
    def kept(self) -> float | None:
        """Goodput with the worst single failure ÷ that of the fault-free network; 0 if the run with
        the failure did not end."""
        worst = self.least
        if worst is None or not self.sound.goodput:
            return None
        return (worst.figures.goodput or 0.0) / self.sound.goodput


@dataclass(frozen=True)
class Resilience:
    """Single failures: each fabric of a comparison with one failed part."""

    seed: int
    """The seed of all these runs, the first of several; the traffic is the same in all of them."""
    tries: int
    """The largest number of parts of one kind that were tried."""
    goodput: str
    """The key of `summary.json` from which `goodput` is read."""
    p99: str
    """The key of `summary.json` from which `p99` is read."""
    fabrics: Mapping[str, OfFabric]
    """By label, in the order of the experiment."""

    def rows(self) -> list[Table]:
        """Returns a row for each fault-free fabric (part None) and one for each part that was
        tried."""
        return [row for fabric in self.fabrics.values() for row in _rows(fabric)]

    def to_json(self) -> Table:
        """Returns the form of `resilience.json`, without the experiment."""
        return {
            "seed": self.seed,
            "tries": self.tries,
            "goodput": self.goodput,
            "p99": self.p99,
            "fabrics": {label: _fabric_json(fabric) for label, fabric in self.fabrics.items()},
        }

    @staticmethod
    def of_json(table: Mapping[str, Any]) -> Resilience:
        """Reads it from that form."""
        fabrics = {label: _fabric(label, found) for label, found in table["fabrics"].items()}
        same = {key: table[key] for key in ("seed", "tries", "goodput", "p99")}
        return Resilience(**same, fabrics=fabrics)


def _delivering(run: Run) -> tuple[float, float]:
    """Sort key by goodput; runs that did not end are first."""
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
