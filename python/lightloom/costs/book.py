"""Price books: price and power of parts, each number with its source and year.

A book is a TOML file. Those of the package are in `books`. A user's book may extend one of them and
replace some of its parts. Unpublished prices are unknown: a network with such a part has no total,
but a break-even price.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from lightloom import _core
from lightloom.config import price_books
from lightloom.costs.amounts import NOTHING, Amounts, Range, Tie
from lightloom.costs.exact import number, toml
from lightloom.costs.figure import Figure, read
from lightloom.costs.parts import PARTS, PORTS, RATE
from lightloom.errors import ConfigError, refusal, shortened

#: Version of the format that this version reads.
SCHEMA = 1
_GBPS = "Gb/s"
COUNTINGS = ("whole", "share")
_BOOK_KEYS = {"schema", "name", "title", "currency", "year", "counting", "extends", "part", "notes"}
_PART_KEYS = {"what", "price", "power", "source", "year", "excluded", "same_as", PORTS, RATE}
_PART_KEYS |= {"lanes", "pairs", "uplinks", "uplink_rate", "note"}


@dataclass(frozen=True)
class Part:
    """A part in a book: the numbers that a bill needs to count it, and its figures."""

    name: str
    what: str = ""
    ports: int | None = None
    rate: int | None = None
    """The rate of one port, or of the transceiver [b/s]."""
    lanes: int = 1
    """The number of slower links into which one port or transceiver can be split."""
    pairs: int = 1
    """The number of fibre pairs of one transceiver, and thus of the circuit switch ports that it
    takes."""
    uplinks: int = 0
    """The number of additional ports for links faster than `rate`, at `uplink_rate` [b/s]."""
    uplink_rate: int | None = None
    price: Figure | None = None
    power: Figure | None = None
    excluded: str | None = None
    """The source's reason for leaving the part out; its price and power are then 0."""
    same_as: str | None = None


@dataclass(frozen=True)
class Book:
    """A price book."""

    name: str
    title: str
    currency: str
    year: int
    counting: str
    """`whole`: boxes and transceivers are bought whole. `share`: they are counted by the capacity
    that is used, as in sources that give a price per Gb/s."""
    parts: Mapping[str, Part]
    notes: tuple[str, ...] = ()
    inherited: int | None = None
    """The year of the book that it extends, if prices of that book remain."""
    given: Mapping[str, Range] = field(default_factory=dict)
    """Prices that the user has set, in the unit of the part's price."""

    @property
    def money(self) -> str:
        """Currency and year; both years if it has prices of a book that it extends."""
        own = f"{self.currency} of {self.year}"
        if self.inherited in (None, self.year):
            return own
        return f"{own}, inherited prices of {self.inherited}"

    @property
    def knows_power(self) -> bool:
        """Whether it states the power of any part."""
        return any(part.power is not None for part in self.parts.values())

    def part(self, name: str) -> Part | None:
        """Returns the part that is bought under this name, or the part that it is equal to."""
        part = self.parts.get(name)
        return self.parts[part.same_as] if part is not None and part.same_as else part

    def price(self, name: str) -> Range | None:
        """Returns the price of one piece; None if it is unknown, or if the book does not have the
        part."""
        part = self.part(name)
        if name in self.given:
            return self.given[name] * _pieces(part, self.unit(name))
        return None if part is None else self._figure(part, "price")

    def power(self, name: str) -> Range | None:
        """Returns the power of one piece [W]; None if it is unknown."""
        part = self.part(name)
        return None if part is None else self._figure(part, "power")

    def amounts(self, which: str, names: Iterable[str]) -> Amounts:
        """Returns the known `price` or `power` of one piece of each of these parts, with the parts
        to which the book ties them."""
        free: dict[str, Range] = {}
        ties: dict[str, Tie] = {}
        for name in names:
            tie = self.tie(name, which)
            if tie is not None:
                ties[name] = tie
            base = name if tie is None else tie.of
            found = self.price(base) if which == "price" else self.power(base)
            if found is not None:
                free[base] = found
        return Amounts(free, ties)

    def tie(self, name: str, which: str = "price") -> Tie | None:
        """Returns the part of whose price, or power, that of a part is a share; None if it is no
        share, or if the user has set the price."""
        part = self.part(name)
        if part is None or part.excluded is not None:
            return None
        figure: Figure | None = getattr(part, which)
        if figure is None or figure.share is None or figure.of is None:
            return None
        return (
            None if which == "price" and part.name in self.given else Tie(figure.of, figure.share)
        )

    def unit(self, name: str) -> str:
        """The unit of a part's price: a piece, a port, or a Gb/s."""
        part = self.part(name)
        return "piece" if part is None or part.price is None else part.price.per

    def pieces(self, name: str) -> Fraction:
        """The number of units of its price that one piece of a part has."""
        return _pieces(self.part(name), self.unit(name))

    def variable(self, name: str) -> str:
        """Returns the name under which a part's price is stored; equal parts share one."""
        part = self.part(name)
        return name if part is None else part.name

    def with_price(self, name: str, price: Range, key: str = "--price") -> Book:
        """Returns the book with the price of a part set, in its unit; errors name `key`."""
        check_part(key, name)
        if (own := self.variable(name)) != name:
            limit = f"is the same as {own} in {self.name}"
            raise refusal(key, name, limit, f"set {own}, or give it a price in a book of yours")
        return replace(self, given={**self.given, self.variable(name): price})

    def _figure(self, part: Part, which: str) -> Range | None:
        if which == "price" and part.name in self.given:
            return self.given[part.name] * _pieces(part, self.unit(part.name))
        if part.excluded is not None:
            return NOTHING if which == "price" or self.knows_power else None
        figure: Figure | None = getattr(part, which)
        if figure is None:
            return None
        if (tie := self.tie(part.name, which)) is not None:
            whole = self.price(tie.of) if which == "price" else self.power(tie.of)
            return None if whole is None else whole * tie.share
        return None if figure.range is None else figure.range * _pieces(part, figure.per)


def _pieces(part: Part | None, per: str) -> Fraction:
    """The number of units that one piece has."""
    if part is None or per == "piece":
        return Fraction(1)
    return Fraction(part.ports or 1) if per == "port" else Fraction(part.rate or 0, 10**9)


def load(source: str | Path | Book | None = None, key: str = "--prices") -> Book:
    """Returns a book by its name, or reads it from the user's file.

    Args:
        key: the key that an error names.

    Raises:
        ConfigError: if a key is invalid, or there is no such book.
    """
    if isinstance(source, Book):
        return source
    wanted = price_books.DEFAULT if source is None else source
    if str(wanted) in price_books.names():
        return _shipped(str(wanted))
    path = Path(wanted)
    if not path.is_file():
        near = difflib.get_close_matches(path.name, price_books.names(), 1)
        hint = (
            f'did you mean "{near[0]}"?'
            if near
            else f"choose {', '.join(price_books.names())}, or a file"
        )
        raise refusal(key, wanted, "neither a price book nor a file", hint)
    return _book(path)


@cache
def _shipped(name: str) -> Book:
    """Reads a book of the package; cached, because `cost` with several readings reads it
    repeatedly."""
    return _book(price_books.FOLDER / f"{name}.toml")


def _book(path: Path) -> Book:
    try:
        return _made(toml(path), path)
    except ConfigError as problem:
        if problem.key is None or path.parent == price_books.FOLDER:
            raise
        told = refusal(problem.key, problem.value, problem.limit or "", problem.remedy or "")
        told.args = (f"{path}: {told}",)
        raise told from None


def _made(raw: Mapping[str, Any], path: Path) -> Book:
    schema = raw.get("schema")
    if schema != SCHEMA or isinstance(schema, bool):
        shown = "(missing)" if schema is None else str(schema)
        raise refusal(
            "schema",
            shown,
            f"this version reads price books of schema {SCHEMA}",
            f"write schema = {SCHEMA}, in the form of docs/cost.md",
        )
    for key in raw:
        if key not in _BOOK_KEYS:
            raise refusal(key, "(a key)", "no such key", _near(key, _BOOK_KEYS))
    base = _base(raw.get("extends"))
    currency = _currency(raw.get("currency", base.currency if base else None), base)
    tables = raw.get("part", {})
    if not isinstance(tables, Mapping):
        raise refusal("part", tables, "not a table of parts", "write [part.switch]")
    own = {name: _part(name, table, currency, base) for name, table in tables.items()}
    parts = {**(base.parts if base else {}), **own}
    if not parts:
        raise refusal("part", "(missing)", "the book prices nothing", "write [part.switch]")
    _check_links(parts)
    counting = raw.get("counting", base.counting if base else "whole")
    if counting not in COUNTINGS:
        raise refusal(
            "counting", counting, "not a way of counting", f"choose {' or '.join(COUNTINGS)}"
        )
    year = raw.get("year", base.year if base else None)
    if isinstance(year, bool) or not isinstance(year, int):
        raise refusal(
            "year", "(missing)" if year is None else year, "not a year", "write year = 2026"
        )
    own_notes = raw.get("notes", [])
    if not isinstance(own_notes, list):
        raise refusal("notes", own_notes, "not a list of sentences", 'write notes = ["…"]')
    inherited = (f"{base.name}: {note}" for note in base.notes) if base else ()
    notes = (*inherited, *map(str, own_notes))
    name = str(raw.get("name", path.stem))
    over = f"Own prices over {base.name}" if base else name
    title = str(raw.get("title", over))
    left = base is not None and any(part not in own for part in base.parts)
    return Book(
        *(name, title, currency, year, counting, parts, notes),
        inherited=(base.inherited or base.year) if base is not None and left else None,
    )


def _base(name: Any) -> Book | None:
    if name is None:
        return None
    if name not in price_books.names():
        raise refusal(
            "extends",
            name,
            "no price book of the package",
            f"choose {', '.join(price_books.names())}",
        )
    return load(str(name))


def _currency(currency: Any, base: Book | None) -> str:
    if not isinstance(currency, str) or len(currency) != 3 or not currency.isupper():
        shown = "(missing)" if currency is None else currency
        raise refusal("currency", shown, "not a currency", 'write its code: currency = "USD"')
    if base is not None and currency != base.currency:
        limit = f"{base.name}, which it extends, is in {base.currency}; a book has one currency"
        raise refusal("currency", currency, limit, f"convert your prices to {base.currency}")
    return currency


def _part(name: str, table: Any, currency: str, base: Book | None) -> Part:
    key = f"part.{name}"
    check_part(key, name, "(a part)")
    if not isinstance(table, Mapping):
        raise refusal(key, table, "not a table", f"write [{key}]")
    for inner in table:
        if inner not in _PART_KEYS:
            raise refusal(f"{key}.{inner}", "(a key)", "no such key", _near(inner, _PART_KEYS))
    _check_one_price(key, table)
    if "same_as" in table:
        return Part(name, same_as=str(table["same_as"]))
    if "excluded" not in table and "price" not in table:
        remedy = 'give it, or write price = { unknown = "why" } or excluded = "why"'
        raise refusal(
            f"{key}.price", "(missing)", f"a part has a price{_whole_of(name, base)}", remedy
        )
    source, year = table.get("source"), table.get("year")
    figures = {
        which: read(f"{key}.{which}", table[which], source, year, currency)
        for which in ("price", "power")
        if which in table
    }
    excluded = table.get("excluded")
    made = Part(
        name,
        what=str(table.get("what", PARTS[name].about)),
        ports=_whole(f"{key}.ports", table.get(PORTS)),
        rate=_rate(f"{key}.rate", table.get(RATE)),
        lanes=_whole(f"{key}.lanes", table.get("lanes", 1)) or 1,
        pairs=_whole(f"{key}.pairs", table.get("pairs", 1)) or 1,
        uplinks=_whole(f"{key}.uplinks", table.get("uplinks")) or 0,
        uplink_rate=_rate(f"{key}.uplink_rate", table.get("uplink_rate")),
        price=figures.get("price"),
        power=figures.get("power"),
        excluded=None if excluded is None else str(excluded),
    )
    _check_needs(key, made, base)
    return made


def _whole_of(name: str, base: Book | None) -> str:
    """The reason why a figure of the extended book does not apply to a part."""
    if base is None or name not in base.parts:
        return ""
    return f", and a part of an own book is written whole: nothing of {base.name}'s is kept"


def _check_one_price(key: str, table: Mapping[str, Any]) -> None:
    """Raises an error if the table of a part has a price that would not be used."""
    beside = [k for k in table if k not in ("same_as", "what", "note", "source", "year")]
    if "same_as" in table and beside:
        limit = f"a part that is the same as {table['same_as']} has nothing of its own"
        raise refusal(f"{key}.{beside[0]}", "(given)", limit, "remove it, or same_as")
    if "excluded" in table and (given := [k for k in ("price", "power") if k in table]):
        limit = "a part that is left out costs and draws nothing"
        raise refusal(f"{key}.{given[0]}", "(given)", limit, "remove it, or excluded")


def _check_needs(key: str, part: Part, base: Book | None) -> None:
    """Raises an error if a part lacks numbers that a bill needs."""
    needs = PARTS[part.name].needs
    told = [figure.per for figure in (part.price, part.power) if figure is not None]
    needs += tuple(need for per, need in ((_GBPS, RATE), ("port", PORTS)) if per in told)
    missing = [need for need in needs if getattr(part, need) is None]
    if missing and part.excluded is None:
        examples = {PORTS: "ports = 64", RATE: 'rate = "400 Gb/s"'}
        remedy = f"write {examples[missing[0]]}"
        how = (
            "a bill counts by it" if missing[0] in PARTS[part.name].needs else "it is priced by it"
        )
        limit = f"{how}{_whole_of(part.name, base)}"
        raise refusal(f"{key}.{missing[0]}", "(missing)", limit, remedy)


def _check_links(parts: Mapping[str, Part]) -> None:
    """Raises an error if the price of a part refers to a missing part, or to one that itself refers
    to another."""
    for name, part in parts.items():
        targets = [part.same_as] if part.same_as else []
        targets += [f.of for f in (part.price, part.power) if f is not None and f.of]
        for target in targets:
            other = parts.get(target)
            if other is None:
                remedy = f"price it, or choose one of {', '.join(parts)}"
                raise refusal(f"part.{name}", target, "no such part in the book", remedy)
            refers = other.same_as or any(f and f.of for f in (other.price, other.power))
            if refers or target == name:
                limit = "its price or power refers to another part"
                raise refusal(f"part.{name}", target, limit, "refer to that part directly")


def check_part(key: str, name: str, shown: str = "") -> None:
    """Raises an error for a part that no network has.

    Args:
        shown: the value in the error, if the key already contains the name.

    Raises:
        ConfigError: with `key` and the nearest name.
    """
    if name not in PARTS:
        raise refusal(key, shown or name, "no such part", _near(name, PARTS))


def _near(name: str, known: Any) -> str:
    """Lists the nearest names; all names if a message can hold them."""
    near = difflib.get_close_matches(name, list(known), 1)
    if near:
        return f'did you mean "{near[0]}"?'
    every = f"choose one of {', '.join(sorted(known))}"
    if shortened(every) == every:
        return every
    alike = difflib.get_close_matches(name, sorted(known), 4, 0.0)
    return f"choose one of {len(known)}, as {', '.join(alike)}: docs/cost.md has what is counted"


def _whole(key: str, value: Any) -> int | None:
    if value is None:
        return None
    found = number(key, value)
    if found.denominator != 1 or found < 1:
        raise refusal(key, value, "not a whole number from 1", "correct it")
    return int(found)


def _rate(key: str, value: Any) -> int | None:
    if value is None:
        return None
    found = int(_core.control_rate(key, value))
    if found <= 0:
        raise refusal(key, value, "no rate", 'write one like "400 Gb/s"')
    return found
