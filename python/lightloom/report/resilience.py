"""Single failures on the page: a table of fabrics with one failed part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lightloom.analysis.model import Workload
from lightloom.failures import sentences
from lightloom.results.failures import Figures, OfFabric, OfKind, Resilience
from lightloom.units import quantities
from lightloom.units.bounds import Bound


@dataclass(frozen=True)
class Row:
    """A fabric without faults, or with one failed part of a kind."""

    part: str
    tried: str
    goodput: str
    kept: str
    """The share of the fault-free network's goodput that remains."""
    least: str
    """The part whose failure leaves the least goodput; empty if there is only one part."""
    p99: str
    slowest: str
    """The part whose failure leads to the longest 99th percentile."""
    missing: str
    jobs: str


@dataclass(frozen=True)
class Group:
    """The rows of one fabric."""

    slot: int
    label: str
    rows: Sequence[Row]


@dataclass(frozen=True)
class Failing:
    """The section of the page."""

    heading: str
    answer: str
    goodput: str
    p99: str
    jobs: bool
    groups: Sequence[Group]
    legend: Sequence[str]
    """Explanations of the rows and their assumptions."""


def failing(found: Resilience | None, workload: Workload) -> Failing | None:
    """Returns the section of a comparison; None if failures were not requested."""
    if found is None:
        return None
    slots = {fabric.label: fabric.slot for fabric in workload.fabrics}
    groups = [
        Group(slots[label], label, list(_rows(fabric))) for label, fabric in found.fabrics.items()
    ]
    return Failing(
        sentences.heading(found),
        answer(found),
        sentences.goodput_of(found),
        sentences.p99_of(found),
        any(fabric.sound.jobs_s is not None for fabric in found.fabrics.values()),
        groups,
        list(sentences.legend(found)),
    )


def answer(found: Resilience) -> str:
    """States how much of its goodput each fabric keeps."""
    return sentences.answer(
        found, sentences.Shown(lambda share: quantities.show(share, "share"), _time)
    )


def _rows(fabric: OfFabric) -> Iterator[Row]:
    part = "none" if fabric.kinds else sentences.NOT_MODELLED
    yield _row(part, "", fabric.sound, fabric.sound)
    for kind in fabric.kinds:
        yield _of_kind(kind, fabric.sound)


def _of_kind(kind: OfKind, sound: Figures) -> Row:
    least, slowest = kind.least, kind.slowest
    goodput = least.figures.goodput or 0.0
    kept = goodput / sound.goodput if sound.goodput else None
    named = len(kind.runs) > 1
    return _row(
        kind.kind,
        kind.tried,
        least.figures,
        slowest.figures,
        kept=quantities.show(kept, "share"),
        least_part=least.part if named else "",
        slowest_part=slowest.part if named else "",
    )


def _row(
    part: str,
    tried: str,
    least: Figures,
    slowest: Figures,
    *,
    kept: str = "",
    least_part: str = "",
    slowest_part: str = "",
) -> Row:
    return Row(
        part,
        tried,
        quantities.show(least.goodput, "share"),
        kept,
        least_part,
        _time(slowest.p99),
        slowest_part,
        quantities.show(least.missing, "share"),
        quantities.show(least.jobs_s, "time"),
    )


def _time(found: Bound | None) -> str:
    """Formats a time or its bound."""
    if found is None:
        return quantities.MISSING
    return found.scaled(1e-6).text(lambda seconds: quantities.show(seconds, "time"))
