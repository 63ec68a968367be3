"""Cost and power of the fabrics of an experiment."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lightloom.config import loads
from lightloom.config.experiment import Experiment
from lightloom.config.experiment import load as load_experiment
from lightloom.costs import book as books
from lightloom.costs import network as networks
from lightloom.costs import of_experiment, pricing, readings
from lightloom.costs.amounts import Range
from lightloom.costs.book import Book
from lightloom.costs.equal import BreakEven, break_evens
from lightloom.costs.pricing import FabricCost
from lightloom.costs.readings import Reading
from lightloom.errors import refusal
from lightloom.results.views import Tables, Viewed

if TYPE_CHECKING:
    import pyarrow as pa

    from lightloom.results.result import Comparison

#: Columns of `bill.csv`; money is in the currency of the book.
BILL_COLUMNS = (
    *("fabric", "part", "where", "count", "formula", "unit_price_low", "unit_price_high"),
    *("cost_low", "cost_high", "unit_power_low_w", "unit_power_high_w"),
    *("power_low_w", "power_high_w"),
)


@dataclass(frozen=True, repr=False)
class Costs(Viewed):
    """The fabrics of an experiment at the prices of one book."""

    name: str
    book: Book
    fabrics: Mapping[str, FabricCost]
    """Label → cost of the fabric, in the order of the experiment."""
    goodput: Mapping[str, float] = field(default_factory=dict)
    """Label → `goodput_normalized` of a run, for fabrics that were run."""
    reading: Reading | None = None
    """The reading by which `sirius` and `clos` are counted; None if by their bills."""

    def __repr__(self) -> str:
        labels = ", ".join(self.fabrics)
        return f"<Costs {self.name}: {labels} at {self.book.name}>"

    def rows(self) -> list[dict[str, Any]]:
        """Returns one row for each fabric: capital, power and derived figures; None if unknown."""
        return [_row(cost, self.goodput.get(label)) for label, cost in self.fabrics.items()]

    def bill_rows(self, label: str | None = None) -> list[dict[str, Any]]:
        """Returns the lines of the bill of one fabric, or of all fabrics.

        Raises:
            ConfigError: if there is no such label; it lists the labels.
        """
        return [row for cost in self._of(label) for row in _bill_rows(cost)]

    def bill_csv(self, label: str | None = None) -> str:
        """Returns the bill as CSV with exact decimals; unknown values are empty."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(BILL_COLUMNS)
        for row in self.bill_rows(label):
            writer.writerow([_exact(row[column]) for column in BILL_COLUMNS])
        return text.getvalue()

    def break_even(self, part: str) -> list[BreakEven]:
        """Returns the price of a part at which each fabric that has it costs the same as each other
        fabric.

        Raises:
            ConfigError: if no fabric has the part.
        """
        return break_evens(list(self.fabrics.values()), part)

    def _tables(self) -> Tables:
        made = {"costs": self.rows, "bill": self.bill_rows}
        return {name: partial(_as_table, rows) for name, rows in made.items()}

    def to_json(self) -> dict[str, Any]:
        """Returns all figures as plain data; money and watts are [low, high]."""
        return {
            "name": self.name,
            "prices": {
                "book": self.book.name,
                "year": self.book.year,
                "counting": self.book.counting,
            },
            "currency": self.book.currency,
            "reading": None if self.reading is None else self.reading.name,
            "fabrics": {row["fabric"]: _paired(row) for row in self.rows()},
            "bill": [_floats(row) for row in self.bill_rows()],
        }

    def _of(self, label: str | None) -> Iterator[FabricCost]:
        if label is not None and label not in self.fabrics:
            remedy = f"choose one of {', '.join(self.fabrics)}, or all"
            raise refusal("--bill", label, "no such fabric", remedy)
        yield from (self.fabrics.values() if label is None else [self.fabrics[label]])


def cost(
    experiment: Experiment | str | Path | Mapping[str, Any],
    prices: str | Path | Book | None = None,
    *,
    reading: str | Path | None = None,
    goodput: Mapping[str, float] | None = None,
) -> Costs:
    """Computes cost and power of the fabrics of an experiment; nothing is simulated.

    Args:
        experiment: an `Experiment`, or a source that `lightloom.load` accepts.
        prices: name or file of a price book. Default: that of `[decision]`, or else `sirius-2020`.
        reading: name or file of a reading of Sirius' Fig 6, by which `sirius` and `clos` are
            counted.
        goodput: label → `goodput_normalized` of a run, for the cost per delivered bit.

    Raises:
        ConfigError: if the experiment is invalid, or the prices cannot be read.

    >>> costs = cost("examples/sirius.toml", "sirius-2020")  # doctest: +SKIP
    >>> costs.fabrics["sirius"].per_gbps  # doctest: +SKIP
    """
    made = experiment if isinstance(experiment, Experiment) else load_experiment(experiment)
    book = of_experiment.book(made.raw) if prices is None else books.load(prices)
    book = books.load() if book is None else book
    read = None if reading is None else readings.load(reading)
    resolved = made.resolved()
    found = {}
    for table in resolved["fabric"]:
        network = networks.network_of(resolved, table)
        label = str(table["label"])
        if read is not None and network.kind in readings.KINDS:
            found[label] = readings.apply(read, label, network, book)
        else:
            found[label] = pricing.of_network(label, network, book)
    return Costs(made.name, book, found, goodput or {}, read)


def of_comparison(comparison: Comparison, prices: str | Path | Book | None = None) -> Costs:
    """Computes the cost of the fabrics of a comparison, also per delivered Gb/s.

    Raises:
        ConfigError: if the prices cannot be read.
    """
    experiment = as_compared(comparison.name, comparison.experiment)
    return cost(experiment, prices, goodput=goodput_of(comparison.summaries))


def as_compared(name: str, resolved: Mapping[str, Any]) -> Experiment:
    """Returns the experiment of a comparison; its files may have changed since."""
    table = {key: value for key, value in resolved.items() if key != "inputs"}
    return Experiment({**table, "name": name})


def goodput_of(summaries: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """Returns label → load by which a fabric is priced (`loads.sustained`), where it is
    positive."""
    found = {}
    for label, summary in summaries.items():
        value = loads.sustained(summary)
        if value:
            found[label] = value
    return found


#: Figure → its name in rows.
_FIGURES = (
    *("capital", "power_w", "per_gbps", "watts_per_tbps", "per_delivered_gbps"),
    "watts_per_delivered_tbps",
)


def _row(cost: FabricCost, goodput: float | None) -> dict[str, Any]:
    figures: Sequence[Range | None] = (
        *(cost.capital, cost.power, cost.per_gbps, cost.watts_per_tbps),
        *(cost.per_delivered(goodput), cost.watts_per_delivered(goodput)),
    )
    row: dict[str, Any] = {"fabric": cost.label, "kind": cost.network.kind}
    row["server_gbps"] = cost.network.bandwidth / pricing.GIGABIT
    for name, found in zip(_FIGURES, figures, strict=True):
        row |= _ends(name, found)
    row["unpriced"] = ", ".join(cost.unpriced)
    return row


def _bill_rows(cost: FabricCost) -> Iterator[dict[str, Any]]:
    for line in cost.lines:
        row: dict[str, Any] = {"fabric": cost.label, "part": line.part, "where": line.where}
        row |= {"count": line.count, "formula": line.how}
        row |= _ends("unit_price", line.price) | _ends("cost", line.cost)
        row |= _ends("unit_power", line.power, "_w") | _ends("power", line.watts, "_w")
        yield row


def _ends(name: str, found: Range | None, unit: str = "") -> dict[str, Fraction | None]:
    stem = name.removesuffix("_w")
    unit = "_w" if name.endswith("_w") else unit
    low, high = (None, None) if found is None else (found.low, found.high)
    return {f"{stem}_low{unit}": low, f"{stem}_high{unit}": high}


def _floats(row: Mapping[str, Any]) -> dict[str, Any]:
    return {k: float(v) if isinstance(v, Fraction) else v for k, v in row.items()}


def _paired(row: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a row in which the two ends of each interval are adjacent."""
    flat = _floats(row)
    paired: dict[str, Any] = {}
    for key, value in flat.items():
        if "_low" in key:
            high = flat[key.replace("_low", "_high")]
            paired[key.replace("_low", "")] = None if value is None else [value, high]
        elif "_high" not in key and key != "fabric":
            paired[key] = value
    return paired


def _exact(value: Any) -> str:
    """Formats a number exactly if its decimals end, otherwise with 12 decimals."""
    if value is None:
        return ""
    if not isinstance(value, Fraction):
        return str(value)
    if value.denominator == 1:
        return str(value.numerator)
    return f"{float(value):.12g}" if _endless(value) else _decimal(value)


def _endless(value: Fraction) -> bool:
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    return rest != 1


def _decimal(value: Fraction) -> str:
    places = 0
    while (value * 10**places).denominator != 1:
        places += 1
    digits = str(int(value * 10**places)).rjust(places + 1, "0")
    return f"{digits[:-places]}.{digits[-places:]}"


def _as_table(rows: Callable[[], list[dict[str, Any]]]) -> pa.Table:
    import pyarrow as pa

    return pa.Table.from_pylist([_floats(row) for row in rows()])
