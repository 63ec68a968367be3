"""A fabric's bill at the prices of a book: lines, dollars, watts."""

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
    """Of one; None where unknown."""
    power: Range | None
    """Of one [W]; None where unknown."""
    worked: str = ""
    """The sum that gives the count, where the formula does not by itself."""

    @property
    def how(self) -> str:
        """How the count comes about: the formula, and the sum."""
        return f"{self.formula} = {self.worked}" if self.worked else self.formula

    @property
    def shared(self) -> bool:
        """Whether a part of one is counted."""
        return self.count.denominator != 1

    @property
    def cost(self) -> Range | None:
        """Of all."""
        return None if self.price is None else self.price * self.count

    @property
    def watts(self) -> Range | None:
        """Of all [W]."""
        return None if self.power is None else self.power * self.count


@dataclass(frozen=True)
class FabricCost:
    """What one fabric costs and draws at the prices of a book."""

    label: str
    network: Network
    book: Book
    lines: Sequence[Line]

    @property
    def form(self) -> Form:
        """How many of each part, parts that are the same taken together."""
        counts: dict[str, Fraction] = {}
        for line in self.lines:
            name = self.book.variable(line.part)
            counts[name] = counts.get(name, Fraction(0)) + line.count
        return Form(counts)

    @property
    def prices(self) -> Amounts:
        """Price of a piece of each of its parts that has one."""
        return self.book.amounts("price", self.form.counts)

    @property
    def powers(self) -> Amounts:
        """Power of a piece of each of its parts for which it is known [W]."""
        return self.book.amounts("power", self.form.counts)

    @property
    def unpriced(self) -> list[str]:
        """Its parts without a known price."""
        return self.form.unpriced(self.prices)

    @property
    def unpowered(self) -> list[str]:
        """Its parts without a known power."""
        return self.form.unpriced(self.powers)

    @property
    def capital(self) -> Range | None:
        """What all parts cost together; None while one has no price."""
        return None if self.unpriced else self.form.value(self.prices)

    @property
    def known_capital(self) -> Range:
        """What the parts cost that have a price."""
        return Form({p: n for p, n in self.form.counts.items() if p in self.prices}).value(
            self.prices
        )

    @property
    def power(self) -> Range | None:
        """What all parts draw [W]; None while it is not known of one."""
        return None if self.unpowered else self.form.value(self.powers)

    @property
    def per_gbps(self) -> Range | None:
        """Capital for each Gb/s that the servers can send."""
        found = self.capital
        return None if found is None else found / (self.network.bandwidth / GIGABIT)

    @property
    def watts_per_tbps(self) -> Range | None:
        """Power for each Tb/s that the servers can send [W]."""
        found = self.power
        return None if found is None else found / (self.network.bandwidth / TERABIT)

    def per_delivered(self, goodput: float | None) -> Range | None:
        """Capital for each Gb/s that arrives, given `goodput_normalized` of a run."""
        found = self.per_gbps
        return None if found is None or not goodput else found / Fraction(goodput)

    def watts_per_delivered(self, goodput: float | None) -> Range | None:
        """Power for each Tb/s that arrives [W], given the same."""
        found = self.watts_per_tbps
        return None if found is None or not goodput else found / Fraction(goodput)

    def relative_to(self, other: FabricCost) -> Range | None:
        """Its capital ÷ the other's; a part's price is the same in both. None where either has no
        total, or the other can cost nothing."""
        prices = self.prices.joined(other.prices)
        if self.unpriced or other.unpriced or other.form.value(prices).low <= 0:
            return None
        return ratio(self.form, other.form, prices)

    def power_relative_to(self, other: FabricCost) -> Range | None:
        """Its power ÷ the other's, as `relative_to`."""
        powers = self.powers.joined(other.powers)
        if self.unpowered or other.unpowered or other.form.value(powers).low <= 0:
            return None
        return ratio(self.form, other.form, powers)


def of_network(label: str, network: Network, book: Book) -> FabricCost:
    """One fabric at the prices of a book."""
    needs = known(needs_of(network, book))
    lines = [
        Line(
            *(n.part, n.where, n.count(book), n.formula),
            *(book.price(n.part), book.power(n.part), n.worked(book)),
        )
        for n in needs
    ]
    return FabricCost(label, network, book, [line for line in lines if line.count])
