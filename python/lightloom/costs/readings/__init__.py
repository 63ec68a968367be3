"""Readings of Sirius' Fig 6: data in `sirius-fig6.toml`, and the figures that follow from each.

The components in the paper do not determine its figures. Each reading therefore states how many
switches and transceivers it counts on a path. Three of the four readings were fitted to the
figures, and are marked as such.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from lightloom.costs.amounts import Range, Tie
from lightloom.costs.book import Book
from lightloom.costs.book import Part as BookPart
from lightloom.costs.exact import number, toml, written
from lightloom.costs.figure import BASES, Figure
from lightloom.costs.network import Network
from lightloom.costs.pricing import FabricCost, Line
from lightloom.errors import refusal

SCHEMA = 1
FILE = Path(__file__).with_name("sirius-fig6.toml")
#: Kinds of fabrics that readings count: that of the paper, and its baseline.
KINDS = PROPOSED, BASELINE = ("sirius", "clos")
#: Cost of a grating ÷ cost of a switch's capacity (§5).
GRATING = Fraction(1, 4)
COST_FACTOR = 3
POWER_FACTORS = (3, 5)
#: The oversubscription of the "3:1" figures.
OVERSUBSCRIBED = 3
_FIGURES = ("power_3x", "power_5x", "cost", "cost_osub", "cost_electrical")
_SIDES = {
    "esn": ("switches", "transceivers"),
    "sirius": ("switches", "transceivers", "gratings"),
}
_KEYS = {"what", "basis", "esn", "sirius", "laser_power", "laser_cost", "kept"}


@dataclass(frozen=True)
class Reading:
    """The number of parts on a path, per unit of bandwidth."""

    name: str
    what: str
    basis: str
    esn: Mapping[str, Fraction]
    """The numbers of `switches` and `transceivers`."""
    sirius: Mapping[str, Fraction]
    """The numbers of `switches`, `transceivers` (tunable) and `gratings`."""
    laser_power: Fraction
    laser_cost: Fraction
    kept: Fraction


def names(file: Path = FILE) -> list[str]:
    """The names of the readings in a file."""
    return list(_toml(file)["reading"])


def published(file: Path = FILE) -> dict[str, Fraction]:
    """The figures in the paper [%]."""
    return {key: number(f"figures.{key}", v) for key, v in _toml(file)["figures"].items()}


def load(wanted: str | Path) -> Reading:
    """Returns a reading by its name, or the first one in a user's file (`FILE:NAME` for another).

    Raises:
        ConfigError: if there is no such reading, or a key is invalid.
    """
    if str(wanted) in names():
        return _made(str(wanted), _toml(FILE)["reading"][str(wanted)])
    path, _, name = str(wanted).partition(":")
    if not Path(path).is_file():
        remedy = f"choose one of {', '.join(names())}, or a file"
        raise refusal("--reading", wanted, "neither a reading nor a file", remedy)
    tables = _toml(Path(path)).get("reading", {})
    if not isinstance(tables, Mapping):
        raise refusal("reading", tables, "not a table of readings", "write [reading.NAME]")
    if not tables or (name and name not in tables):
        remedy = f"choose one of {', '.join(tables)}" if tables else "write [reading.NAME]"
        raise refusal("--reading", wanted, "no such reading in the file", remedy)
    chosen = name or next(iter(tables))
    return _made(chosen, tables[chosen])


def figures(reading: Reading, switch: Part, transceiver: Part) -> dict[str, Fraction]:
    """Returns the five figures of Fig 6 by a reading [%]: power of Sirius ÷ ESN with tunable lasers
    that draw as much as 3 and as 5 fixed ones; cost of Sirius ÷ ESN, ÷ ESN at 3:1, and ÷ Sirius
    with switches instead of gratings."""
    esn = _sum(reading.esn, switch, transceiver)
    found = {}
    for key, factor in zip(_FIGURES, POWER_FACTORS, strict=False):
        tunable = transceiver[1] * (1 + reading.laser_power * (factor - 1))
        power = reading.sirius["switches"] * switch[1] + reading.sirius["transceivers"] * tunable
        found[key] = 100 * power / esn[1]
    tunable = transceiver[0] * (1 + reading.laser_cost * (COST_FACTOR - 1))
    own = reading.sirius
    gratings = own["gratings"] * GRATING * switch[0]
    cost = own["switches"] * switch[0] + own["transceivers"] * tunable + gratings
    osub = esn[0] * (reading.kept + (1 - reading.kept) / OVERSUBSCRIBED)
    inside = own["gratings"] * switch[0] + own["gratings"] * transceiver[0]
    electrical = _sum(own, switch, transceiver)[0] + inside
    rest = (100 * cost / esn[0], 100 * cost / osub, 100 * cost / electrical)
    return found | dict(zip(_FIGURES[2:], rest, strict=True))


#: Price and power of a switch's capacity, or of a transceiver, per unit of bandwidth.
Part = tuple[Fraction, Fraction]


def components(book: Book) -> tuple[Part, Part]:
    """Returns switch and transceiver of a book, in dollars and watts per Tb/s; upper ends of
    ranges.

    Raises:
        ConfigError: if the book does not have them.
    """
    return _component(book, "switch"), _component(book, "transceiver")


def _component(book: Book, name: str) -> Part:
    part, price, power = book.part(name), book.price(name), book.power(name)
    if part is None or part.rate is None or price is None or power is None:
        remedy = "use --prices sirius-2020, or give the part price and power"
        raise refusal("--reading", name, f"{book.name} has no price and power of it", remedy)
    capacity = Fraction(part.rate * (part.ports or 1), 10**12)
    return price.high / capacity, power.high / capacity


def meets(found: Mapping[str, Fraction], paper: Mapping[str, Fraction]) -> dict[str, bool]:
    """Whether a reading gives each of the paper's figures, to the printed percent."""
    return {key: abs(found[key] - paper[key]) <= Fraction(1, 2) for key in paper}


def apply(reading: Reading, label: str, network: Network, book: Book) -> FabricCost:
    """Counts a `sirius` or `clos` by a reading: parts on a path × the servers' capacity. The laser
    of Sirius costs 3 to 5 fixed ones, and a grating a share of a switch, unless the user has set
    their prices. A Clos has the oversubscription of its table."""
    switch, transceiver = book.part("switch"), book.part("transceiver")
    components(book)  # raises an error if the book lacks them
    assert switch is not None
    assert transceiver is not None
    boxes = network.bandwidth / Fraction((switch.rate or 1) * (switch.ports or 1))
    ends = network.bandwidth / Fraction(transceiver.rate or 1)
    prices = {n: (book.price(n), book.power(n)) for n in ("switch", "transceiver")}
    lines = []
    counts = reading.esn if network.kind == BASELINE else reading.sirius
    kept = reading.kept + (1 - reading.kept) / network.ratio()
    share = kept if network.kind == BASELINE else Fraction(1)
    for name, key, size in (("switch", "switches", boxes), ("transceiver", "transceivers", ends)):
        part, price, power = name, *prices[name]
        if name == "transceiver" and network.kind == PROPOSED:
            part = "tunable-transceiver"
            price = _set(book, part) or _tunable(price, reading.laser_cost)
            power = _tunable(power, reading.laser_power)
        formula = f"{counts[key]} a path (reading {reading.name})"
        lines.append(Line(part, "path", counts[key] * size * share, formula, price, power))
    if network.kind == PROPOSED:
        price = book.price("switch")
        price = _set(book, "grating") or (None if price is None else price * GRATING)
        formula = f"{counts['gratings']} a path (reading {reading.name})"
        count = counts["gratings"] * boxes
        lines.append(Line("grating", "path", count, formula, price, Range.of(0)))
    shares = {"tunable-transceiver": Tie("transceiver", _factor(reading.laser_cost))}
    shares["grating"] = Tie("switch", Range.of(GRATING))
    ties = {part: tie for part, tie in shares.items() if _set(book, part) is None}
    return FabricCost(label, network, _priced(book, lines, ties), lines)


def _priced(book: Book, lines: list[Line], ties: Mapping[str, Tie]) -> Book:
    """Returns a book in which each line's part has the line's price and power of one piece. Prices
    that the user has set, in the unit of the other book, are already in the line. A price that
    follows from the reading is a share of another part's price."""
    parts, given = dict(book.parts), dict(book.given)
    for line in lines:
        if line.part not in ("switch", "transceiver"):
            price, power = (
                None if r is None else Figure(r, "piece", "a reading", book.year, "fitted")
                for r in (line.price, line.power)
            )
            if price is not None and (tie := ties.get(line.part)) is not None:
                price = replace(price, range=None, share=tie.share, of=tie.of)
            parts[line.part] = BookPart(line.part, price=price, power=power)
            given.pop(line.part, None)
    return replace(book, parts=parts, given=given)


def _set(book: Book, part: str) -> Range | None:
    """The price of a piece that the user has set; None if it follows from the reading."""
    return book.price(part) if part in book.given else None


def _tunable(fixed: Range | None, share: Fraction) -> Range | None:
    if fixed is None:
        return None
    return fixed * _factor(share)


def _factor(share: Fraction) -> Range:
    """Returns the price of a transceiver with a tunable laser ÷ that with a fixed laser, whose
    share of the price is given."""
    return Range.of(*(1 + share * (factor - 1) for factor in POWER_FACTORS))


def _sum(counts: Mapping[str, Fraction], switch: Part, transceiver: Part) -> Part:
    s, t = counts["switches"], counts["transceivers"]
    return s * switch[0] + t * transceiver[0], s * switch[1] + t * transceiver[1]


def _made(name: str, table: Any) -> Reading:
    key = f"reading.{name}"
    if not isinstance(table, Mapping):
        raise refusal(key, table, "not a table", f"write [{key}] above its keys")
    for inner in table:
        if inner not in _KEYS:
            remedy = f"choose among {', '.join(sorted(_KEYS))}"
            raise refusal(f"{key}.{inner}", "(a key)", "no such key", remedy)
    sides = {side: _side(f"{key}.{side}", table.get(side), parts) for side, parts in _SIDES.items()}
    rest = {k: _fraction(f"{key}.{k}", table.get(k)) for k in ("laser_power", "laser_cost", "kept")}
    for share, value in rest.items():
        if value > 1:
            raise refusal(f"{key}.{share}", value, "a share is at most 1", "write 0.1 for a tenth")
    what, basis = str(table.get("what", "")), str(table.get("basis", "fitted"))
    if basis not in BASES:
        raise refusal(f"{key}.basis", basis, "not a basis", f"choose one of {', '.join(BASES)}")
    return Reading(name, what, basis, sides["esn"], sides["sirius"], **rest)


def _side(key: str, table: Any, parts: tuple[str, ...]) -> dict[str, Fraction]:
    """The number of each part on a path of one of the two networks."""
    if not isinstance(table, Mapping):
        shown = "(missing)" if table is None else table
        raise refusal(key, shown, "not a table", f"write {{ {' = 1, '.join(parts)} = 1 }}")
    for inner in table:
        if inner not in parts:
            remedy = f"choose among {', '.join(parts)}"
            raise refusal(f"{key}.{inner}", "(a key)", "no such key", remedy)
    found = {part: _fraction(f"{key}.{part}", table.get(part)) for part in parts}
    if not any(found.values()):
        limit = "a path needs at least one part"
        raise refusal(key, "0", limit, f"write the number of {' or '.join(parts)} on it")
    return found


def _fraction(key: str, value: Any) -> Fraction:
    if value is None:
        raise refusal(key, "(missing)", "a reading has it", "write a number")
    remedy = 'write 3, 0.5 or "1/2"'
    return written(key, value, remedy) if isinstance(value, str) else number(key, value, remedy)


def _toml(path: Path) -> Mapping[str, Any]:
    return _shipped() if path == FILE else _read(path)


@cache
def _shipped() -> Mapping[str, Any]:
    """The readings of the package; cached."""
    return _read(FILE)


def _read(path: Path) -> Mapping[str, Any]:
    raw = toml(path)
    schema = raw.get("schema", "(missing)")
    if schema != SCHEMA or isinstance(schema, bool):
        limit = f"this version reads readings of schema {SCHEMA}"
        raise refusal("schema", schema, limit, f"write schema = {SCHEMA}")
    return raw
