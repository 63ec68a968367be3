"""The parts of an answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from lightloom.units import quantities

from ..model import Fabric
from ..statement import Statement, text

# From this share of bytes or flows, the missing ones were in flight when the run ended.
COMPLETE = 0.995


@dataclass(frozen=True)
class Evidence:
    """The number of a fabric that supports the sentence."""

    label: str
    slot: int
    text: str
    bar: float | None = None  # 0 to 1
    detail: str = ""


@dataclass(frozen=True)
class Share:
    """A share with a number of decimal places, as a value of a statement."""

    value: float | None
    places: int | None = None

    def __format__(self, _: str) -> str:
        return quantities.show(self.value, "share", self.places)


@dataclass(frozen=True)
class Range:
    """The ends of a range, as a value of a statement."""

    low: float
    high: float
    quantity: quantities.Quantity

    def __format__(self, _: str) -> str:
        low, high = (quantities.show(end, self.quantity) for end in (self.low, self.high))
        return low if low == high else f"{low} to {high}"


@dataclass(frozen=True)
class Verdict:
    """A question, its answer, and the evidence."""

    question: str
    said: tuple[Statement, ...]
    evidence: tuple[Evidence, ...] = ()
    remarks: tuple[Statement, ...] = ()

    @property
    def answer(self) -> str:
        """The sentences of the answer."""
        return text(self.said)

    @property
    def notes(self) -> tuple[str, ...]:
        """The sentence of each remark."""
        return tuple(map(str, self.remarks))


def evidence(
    fabrics: Sequence[Fabric],
    read: Callable[[Fabric], float | None],
    quantity: quantities.Quantity,
    detail: Callable[[Fabric], str] = lambda _: "",
    places: int | None = None,
    texts: Mapping[str, str] | None = None,
) -> tuple[Evidence, ...]:
    """A line for each fabric with a bar, relative to the largest value, or to 1 for shares; `texts`
    has the figures that are not plain numbers."""
    values = [read(f) for f in fabrics]
    top = max((v for v in values if v is not None), default=0.0)
    top = max(top, 1.0) if quantity == "share" else top  # the bar of a share is relative to 1
    places = places or quantities.percent_places(values)
    return tuple(
        Evidence(
            f.label,
            f.slot,
            (texts or {}).get(f.label) or quantities.show(v, quantity, places),
            v / top if v is not None and top > 0 else None,
            detail(f),
        )
        for f, v in zip(fabrics, values, strict=True)
    )
