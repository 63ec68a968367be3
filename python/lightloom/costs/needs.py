"""What a network needs, before anyone says how it is sold: pieces, ends of links, boxes with
ports. With a book's parts a need becomes a number of them.

Ports and transceivers of a book have a rate of their own. A faster link takes several; several
slower links share one where it has `lanes`. Where a book counts by share (`counting = "share"`)
neither matters, and capacity alone counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from lightloom.costs.book import Book, Part
from lightloom.costs.parts import PARTS

#: So many links of such a rate [b/s].
Links = tuple[int | Fraction, int | Fraction]


@dataclass(frozen=True)
class Need:
    """A number of one part, somewhere in the network."""

    part: str
    where: str
    formula: str
    """How the number comes about, in words."""

    def count(self, book: Book) -> Fraction:
        """How many pieces of the book's part that takes."""
        raise NotImplementedError

    def worked(self, book: Book) -> str:
        """By which sum the formula gives the count, where the book's parts are of another rate or
        size: `576 × 50 ÷ 400 Gb/s`; empty where the formula itself does."""
        return ""


@dataclass(frozen=True)
class Pieces(Need):
    """Pieces that are counted as they are."""

    number: int | Fraction

    def count(self, book: Book) -> Fraction:
        """The number."""
        return Fraction(self.number)


@dataclass(frozen=True)
class Ends(Need):
    """Ends of links: `groups` places, each with so many links."""

    groups: int
    links: Links

    def count(self, book: Book) -> Fraction:
        """Transceivers, or whatever is at each end."""
        part = book.part(self.part)
        if part is None or part.rate is None:
            return Fraction(self.groups * self.links[0])
        return self.groups * places(self.links, part.rate, part.lanes, book.counting)

    def worked(self, book: Book) -> str:
        """Links of another rate than the transceiver's."""
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
    """Packet switches: `groups` places, each with ports for all of these links. Where boxes are
    bought whole, each place has at `least` so many of them."""

    groups: int
    links: Sequence[Links]
    least: int = 1

    def count(self, book: Book) -> Fraction:
        """Boxes of the book's ports."""
        part = book.part(self.part)
        if part is None or part.rate is None or part.ports is None:
            return Fraction(self.groups)
        if book.counting == "share":
            ports = sum((places(link, part.rate, 1, "share") for link in self.links), Fraction(0))
            return self.groups * ports / part.ports
        return Fraction(self.groups * self._each(part, part.rate, part.ports))

    def worked(self, book: Book) -> str:
        """Ports of the book's rate, of so many a box."""
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
        """Whole boxes of a place."""
        return max(self.least, _boxes(part, rate, ports, self.links))


def _boxes(part: Part, rate: int, ports: int, links: Sequence[Links]) -> int:
    """Whole boxes with a port for each link: those for faster links first take uplinks."""
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
    """Pairs of fibres to optical switches: those of the transceivers of a part."""

    of: str

    def count(self, book: Book) -> Fraction:
        """A pair, or more, for each link."""
        each = pairs_of_link(book, self.of, self.links[1])
        return Fraction(self.groups) * self.links[0] * each

    def worked(self, book: Book) -> str:
        """Of transceivers with several pairs."""
        each = pairs_of_link(book, self.of, self.links[1])
        number = Fraction(self.groups) * self.links[0]
        return "" if each == 1 else f"{_short(number)} × {each} pairs"


@dataclass(frozen=True)
class Mirrors(Need):
    """Optical switches that join all of their ports: `planes`, each with a link of `rate` [b/s] to
    so many racks. One with more ports than a box is two stages of boxes, half of a leaf's ports
    upwards."""

    planes: int
    racks: int
    rate: int
    ports: int | None = None
    """Of a box, where devices say so: bought whole, and counted by the port of the book's."""

    def count(self, book: Book) -> Fraction:
        """Boxes of the book's ports."""
        part = book.part(self.part)
        if part is None or part.ports is None:
            return Fraction(self.planes)
        ports = self.racks * pairs_of_link(book, "circuit-transceiver", self.rate)
        box = self.ports or part.ports
        if book.counting == "share" and self.ports is None:
            return Fraction(self.planes * ports * (1 if ports <= box else 3), box)
        return Fraction(self.planes * sum(stages(ports, box)) * box, part.ports)

    def worked(self, book: Book) -> str:
        """Ports of a plane, by those of a box."""
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
    """Pairs of fibres, and ports of a circuit switch, of a link of such a rate [b/s]."""
    found = book.part(part)
    if found is None or found.rate is None:
        return 1
    if rate > found.rate:
        return ceil(Fraction(rate) / found.rate) * found.pairs
    together = max(1, min(found.lanes, int(found.rate // Fraction(rate))))
    return max(1, found.pairs // together)


@dataclass(frozen=True)
class Passive(Need):
    """Gratings or rotor switches: boxes that cannot be joined to larger ones, each with so many
    ports."""

    number: int | Fraction
    ports: int
    own: bool = False
    """Whether devices say so: bought whole, and counted by the port of the book's."""

    def count(self, book: Book) -> Fraction:
        """Boxes; of a smaller sort proportionally more."""
        part = book.part(self.part)
        if part is None or part.ports is None:
            return Fraction(self.number)
        if self.own:
            return Fraction(ceil(Fraction(self.number)) * self.ports, part.ports)
        if book.counting == "share":
            return Fraction(self.number) * self.ports / part.ports
        return Fraction(ceil(Fraction(self.number)) * ceil(Fraction(self.ports, part.ports)))

    def worked(self, book: Book) -> str:
        """Boxes of other ports than the book's."""
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
    """A link's rate by that of a port."""
    return f"{float(each) / 1e9:.6g} ÷ {float(rate) / 1e9:.6g}"


def places(links: Links, rate: int, lanes: int, counting: str) -> Fraction:
    """Ports or transceivers of a rate [b/s] that so many links of another take."""
    number, each = Fraction(links[0]), Fraction(links[1])
    if counting == "share":
        return number * each / rate
    if each > rate:
        return Fraction(ceil(number) * ceil(each / rate))
    return Fraction(ceil(number / _together(rate, lanes, each)))


def _together(rate: int, lanes: int, each: Fraction) -> int:
    """Slower links that share one place."""
    return max(1, min(lanes, int(rate // each))) if each else lanes


def stages(ports: int, box: int) -> tuple[int, int]:
    """Leaves and spines of a circuit switch of so many ports, made of boxes (c-Through §7.3: 1,000
    racks from 11 switches of 320 ports).

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
    """The same, checked: every part is one of the vocabulary."""
    for need in needs:
        if need.part not in PARTS:
            raise LookupError(f"a bill has {need.part}, which lightloom.costs.parts has not")
    return needs
