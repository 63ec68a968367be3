"""The bill of a fabric at the prices of a book: lines, cost, power."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from lightloom.costs.amounts import Amounts, Form, Range, ratio
from lightloom.costs.bills import needs_of
from lightloom.costs.book import Book
from lightloom.costs.needs import known
from lightloom.costs.network import Network

GIGABIT, TERABIT = 10**9, 10**12


@dataclass(frozen=True)
class Line:
    """One line of a bill."""

    part: str
    where: str
    count: Fraction
    formula: str
    price: Range | None
    """The price of one piece; None if unknown."""
    power: Range | None
    """The power of one piece [W]; None if unknown."""
    worked: str = ""
    """The calculation of the count, if the formula is not sufficient."""

    @property
    def how(self) -> str:
        """The calculation of the count: the formula, and the numbers."""
        return f"{self.formula} = {self.worked}" if self.worked else self.formula

    @property
    def shared(self) -> bool:
        """Whether a fraction of a piece is counted."""
        return self.count.denominator != 1

    @property
    def cost(self) -> Range | None:
        """The cost of all pieces."""
        return None if self.price is None else self.price * self.count

    @property
    def watts(self) -> Range | None:
        """The power of all pieces [W]."""
        return None if self.power is None else self.power * self.count


@dataclass(frozen=True)
class FabricCost:
    """Cost and power of one fabric at the prices of a book."""

    label: str
    network: Network
    book: Book
    lines: Sequence[Line]

    @property
    def form(self) -> Form:
        """The number of each part; equal parts are added up."""
        counts: dict[str, Fraction] = {}
        for line in self.lines:
            name = self.book.variable(line.part)
            counts[name] = counts.get(name, Fraction(0)) + line.count
        return Form(counts)

    @property
    def prices(self) -> Amounts:
        """The price of one piece of each part that has a price."""
        return self.book.amounts("price", self.form.counts)

    @property
    def powers(self) -> Amounts:
        """The power of one piece of each part whose power is known [W]."""
        return self.book.amounts("power", self.form.counts)

    @property
    def unpriced(self) -> list[str]:
        """The parts whose price is unknown."""
        return self.form.unpriced(self.prices)

    @property
    def unpowered(self) -> list[str]:
        """The parts whose power is unknown."""
        return self.form.unpriced(self.powers)

    @property
    def capital(self) -> Range | None:
        """The cost of all parts; None if one has no price."""
        return None if self.unpriced else self.form.value(self.prices)

    @property
    def known_capital(self) -> Range:
        """The cost of the parts that have a price."""
        return Form({p: n for p, n in self.form.counts.items() if p in self.prices}).value(
            self.prices
        )

    @property
    def power(self) -> Range | None:
        """The power of all parts [W]; None if it is unknown for one."""
        return None if self.unpowered else self.form.value(self.powers)

    @property
    def per_gbps(self) -> Range | None:
        """Capital per Gb/s of the servers' capacity."""
        found = self.capital
        return None if found is None else found / (self.network.bandwidth / GIGABIT)

    @property
    def watts_per_tbps(self) -> Range | None:
        """Power per Tb/s of the servers' capacity [W]."""
        found = self.power
        return None if found is None else found / (self.network.bandwidth / TERABIT)

    def per_delivered(self, goodput: float | None) -> Range | None:
        """Capital per delivered Gb/s, from `goodput_normalized` of a run."""
        found = self.per_gbps
        return None if found is None or not goodput else found / Fraction(goodput)

    def watts_per_delivered(self, goodput: float | None) -> Range | None:
        """Power per delivered Tb/s [W], from `goodput_normalized` of a run."""
        found = self.watts_per_tbps
        return None if found is None or not goodput else found / Fraction(goodput)

    def relative_to(self, other: FabricCost) -> Range | None:
        """Its capital ÷ that of `other`; each part has the same price in both. None if one of them
        has no total, or the cost of `other` can be 0."""
        prices = self.prices.joined(other.prices)
        if self.unpriced or other.unpriced or other.form.value(prices).low <= 0:
            return None
        return ratio(self.form, other.form, prices)

    def power_relative_to(self, other: FabricCost) -> Range | None:
        """Its power ÷ that of `other`, as in `relative_to`."""
        powers = self.powers.joined(other.powers)
        if self.unpowered or other.unpowered or other.form.value(powers).low <= 0:
            return None
        return ratio(self.form, other.form, powers)


def of_network(label: str, network: Network, book: Book) -> FabricCost:
    """Computes the cost of one fabric at the prices of a book."""
    needs = known(needs_of(network, book))
    lines = [
        Line(
            *(n.part, n.where, n.count(book), n.formula),
            *(book.price(n.part), book.power(n.part), n.worked(book)),
        )
        for n in needs
    ]
    return FabricCost(label, network, book, [line for line in lines if line.count])
