"""The needs of a network, independent of how parts are sold: pieces, ends of links, boxes with
ports. With the parts of a book, a need becomes a number of parts.

Ports and transceivers of a book have a rate. A faster link takes several of them; several slower
links share one that has `lanes`. If a book counts by share (`counting = "share"`), neither applies,
and only capacity is counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from lightloom.costs.book import Book, Part
from lightloom.costs.parts import PARTS

#: A number of links, and their rate [b/s].
Links = tuple[int | Fraction, int | Fraction]


@dataclass(frozen=True)
class Need:
    """A number of one part at one place in the network."""

    part: str
    where: str
    formula: str
    """The calculation of the number, as text."""

    def count(self, book: Book) -> Fraction:
        """Returns the number of pieces of the book's part."""
        raise NotImplementedError

    def worked(self, book: Book) -> str:
        """The calculation with the book's parts, if their rate or size differs: `576 × 50 ÷ 400
        Gb/s`; empty if `formula` is sufficient."""
        return ""


@dataclass(frozen=True)
class Pieces(Need):
    """Pieces whose number does not depend on the book."""

    number: int | Fraction

    def count(self, book: Book) -> Fraction:
        """The number of pieces."""
        return Fraction(self.number)


@dataclass(frozen=True)
class Ends(Need):
    """Ends of links: `groups` places, each with the same number of links."""

    groups: int
    links: Links

    def count(self, book: Book) -> Fraction:
        """The number of transceivers, or of other parts at the ends."""
        part = book.part(self.part)
        if part is None or part.rate is None:
            return Fraction(self.groups * self.links[0])
        return self.groups * places(self.links, part.rate, part.lanes, book.counting)

    def worked(self, book: Book) -> str:
        """The calculation, if links have another rate than the transceiver."""
        part = book.part(self.part)
        if part is None or part.rate is None:
            return ""
        number, each = self.groups * Fraction(self.links[0]), Fraction(self.links[1])
        if book.counting == "share":
            same = each == part.rate
            return "" if same else f"{_short(number)} × {_rates(each, part.rate)} Gb/s"
        if each > part.rate:
            return f"{_short(number)} × ⌈{_rates(each, part.rate)} Gb/s⌉"
        together = _together(part.rate, part.lanes, each)
        return f"{self.groups} × ⌈{_short(self.links[0])} ÷ {together}⌉" if together > 1 else ""


@dataclass(frozen=True)
class Boxes(Need):
    """Packet switches: `groups` places, each with ports for all of these links. If boxes are bought
    whole, each place has at least `least` of them."""

    groups: int
    links: Sequence[Links]
    least: int = 1

    def count(self, book: Book) -> Fraction:
        """The number of boxes with the book's number of ports."""
        part = book.part(self.part)
        if part is None or part.rate is None or part.ports is None:
            return Fraction(self.groups)
        if book.counting == "share":
            ports = sum((places(link, part.rate, 1, "share") for link in self.links), Fraction(0))
            return self.groups * ports / part.ports
        return Fraction(self.groups * self._each(part, part.rate, part.ports))

    def worked(self, book: Book) -> str:
        """The calculation from the book's ports to boxes."""
        part = book.part(self.part)
        if part is None or part.rate is None or part.ports is None:
            return f"{self.groups}"
        if book.counting == "share":
            ports = sum((places(link, part.rate, 1, "share") for link in self.links), Fraction(0))
            rate = f"{float(part.rate) / 1e9:g} Gb/s"
            return f"{self.groups} × {_short(ports)} ports of {rate} ÷ {part.ports}"
        each = self._each(part, part.rate, part.ports)
        return f"{self.groups} × {each} of {part.ports} ports"

    def _each(self, part: Part, rate: int, ports: int) -> int:
        """The number of whole boxes of a place."""
        return max(self.least, _boxes(part, rate, ports, self.links))


def _boxes(part: Part, rate: int, ports: int, links: Sequence[Links]) -> int:
    """The number of whole boxes with a port for each link; faster links take the uplink ports
    first."""
    above = [link for link in links if part.uplink_rate is not None and link[1] > rate]
    below = [link for link in links if link not in above]
    plain = sum((places(link, rate, part.lanes, "whole") for link in below), Fraction(0))
    fast = sum((places(link, part.uplink_rate or rate, 1, "whole") for link in above), Fraction(0))
    by_uplinks = ceil(fast / part.uplinks) if part.uplinks else 0
    if above and not part.uplinks:
        plain += fast
    return max(1, ceil(plain / ports), by_uplinks)


@dataclass(frozen=True)
class Fibres(Ends):
    """Pairs of fibres to optical switches; their number is that of the fibre pairs of the
    transceivers `of`."""

    of: str

    def count(self, book: Book) -> Fraction:
        """One pair or more for each link."""
        each = pairs_of_link(book, self.of, self.links[1])
        return Fraction(self.groups) * self.links[0] * each

    def worked(self, book: Book) -> str:
        """The calculation, if transceivers have several pairs."""
        each = pairs_of_link(book, self.of, self.links[1])
        number = Fraction(self.groups) * self.links[0]
        return "" if each == 1 else f"{_short(number)} × {each} pairs"


@dataclass(frozen=True)
class Mirrors(Need):
    """Circuit switches that connect any of their ports: `planes` of them, each with a link of
    `rate` [b/s] to every rack. A plane with more ports than a box consists of two stages of boxes;
    half of the ports of a leaf lead to the spines."""

    planes: int
    racks: int
    rate: int
    ports: int | None = None
    """Ports of a box, if devices state them: such boxes are bought whole, and the price of the
    book's box is scaled by port. None: those of the book."""

    def count(self, book: Book) -> Fraction:
        """The number of boxes with the book's number of ports."""
        part = book.part(self.part)
        if part is None or part.ports is None:
            return Fraction(self.planes)
        ports = self.racks * pairs_of_link(book, "circuit-transceiver", self.rate)
        box = self.ports or part.ports
        if book.counting == "share" and self.ports is None:
            return Fraction(self.planes * ports * (1 if ports <= box else 3), box)
        return Fraction(self.planes * sum(stages(ports, box)) * box, part.ports)

    def worked(self, book: Book) -> str:
        """The calculation from the ports of a plane to boxes."""
        part = book.part(self.part)
        if part is None or part.ports is None:
            return f"{self.planes} of {self.racks} ports"
        ports = self.racks * pairs_of_link(book, "circuit-transceiver", self.rate)
        box = self.ports or part.ports
        if book.counting == "share" and self.ports is None:
            twice = "" if ports <= box else " × 3 for two stages"
            return f"{self.planes} × {ports} ports{twice} ÷ {box}"
        leaves, spines = stages(ports, box)
        how = f"({leaves} + {spines})" if spines else f"{leaves}"
        sold = "" if box == part.ports else f" × {box} ÷ {part.ports}"
        need = f" for {ports} ports" if spines else ""
        return f"{self.planes} × {how}{sold}{need}"


def pairs_of_link(book: Book, part: str, rate: int | Fraction) -> int:
    """The number of fibre pairs, and of circuit switch ports, of a link at that rate [b/s]."""
    found = book.part(part)
    if found is None or found.rate is None:
        return 1
    if rate > found.rate:
        return ceil(Fraction(rate) / found.rate) * found.pairs
    together = max(1, min(found.lanes, int(found.rate // Fraction(rate))))
    return max(1, found.pairs // together)


@dataclass(frozen=True)
class Passive(Need):
    """Gratings or rotor switches: boxes that cannot be combined to larger ones, each with a given
    number of ports."""

    number: int | Fraction
    ports: int
    own: bool = False
    """Whether devices state the ports: such boxes are bought whole, and the price of the book's box
    is scaled by port."""

    def count(self, book: Book) -> Fraction:
        """The number of boxes; smaller boxes count in proportion to their ports."""
        part = book.part(self.part)
        if part is None or part.ports is None:
            return Fraction(self.number)
        if self.own:
            return Fraction(ceil(Fraction(self.number)) * self.ports, part.ports)
        if book.counting == "share":
            return Fraction(self.number) * self.ports / part.ports
        return Fraction(ceil(Fraction(self.number)) * ceil(Fraction(self.ports, part.ports)))

    def worked(self, book: Book) -> str:
        """The calculation, if boxes have another number of ports than the book's."""
        part = book.part(self.part)
        if part is None or part.ports is None:
            return f"{_short(self.number)} of {self.ports} ports"
        number, size = Fraction(self.number), f"{self.ports} ÷ {part.ports} ports"
        if self.own:
            return f"{_whole(number)} × {size}"
        if book.counting == "share":
            return f"{_short(number)} × {size}"
        return f"{_whole(number)} × ⌈{size}⌉"


def _short(number: Fraction | int) -> str:
    return f"{float(number):.6g}"


def _whole(number: Fraction) -> str:
    return f"{number}" if number.denominator == 1 else f"⌈{_short(number)}⌉"


def _rates(each: Fraction, rate: int) -> str:
    """The ratio of a link's rate to that of a port, as text."""
    return f"{float(each) / 1e9:.6g} ÷ {float(rate) / 1e9:.6g}"


def places(links: Links, rate: int, lanes: int, counting: str) -> Fraction:
    """Returns the number of ports or transceivers of a rate [b/s] that links of another rate
    take."""
    number, each = Fraction(links[0]), Fraction(links[1])
    if counting == "share":
        return number * each / rate
    if each > rate:
        return Fraction(ceil(number) * ceil(each / rate))
    return Fraction(ceil(number / _together(rate, lanes, each)))


def _together(rate: int, lanes: int, each: Fraction) -> int:
    """The number of slower links that share one port."""
    return max(1, min(lanes, int(rate // each))) if each else lanes


def stages(ports: int, box: int) -> tuple[int, int]:
    """Returns the leaves and spines of a circuit switch with this number of ports, made of boxes
    (c-Through §7.3: 1,000 racks with 11 switches of 320 ports).

    >>> stages(1000, 320)
    (7, 4)
    >>> stages(300, 320)
    (1, 0)
    """
    if ports <= box:
        return 1, 0
    down = box // 2
    leaves = ceil(ports / down)
    return leaves, ceil(leaves * down / box)


def known(needs: Sequence[Need]) -> Sequence[Need]:
    """Returns the needs after checking that every part is in the vocabulary."""
    for need in needs:
        if need.part not in PARTS:
            raise LookupError(f"a bill has {need.part}, which lightloom.costs.parts has not")
    return needs
