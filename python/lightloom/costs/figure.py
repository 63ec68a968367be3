"""A figure of a price book: a number or a range, with its unit, source and year."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lightloom.costs.amounts import Range
from lightloom.costs.exact import number, shown
from lightloom.errors import refusal

#: Units that a figure may be per; a piece has a number of each of the others.
PER = ("piece", "port", "Gb/s")
BASES = ("published", "fitted", "assumed")
_KEYS = {"value", "low", "high", "unknown", "share", "of", "per", "source", "year", "basis", "note"}
_KEYS |= {"currency"}


@dataclass(frozen=True)
class Figure:
    """A price or a power of a part."""

    range: Range | None
    """The range in its unit; None if it is not published, or is a share of another part's
    figure."""
    per: str
    source: str
    year: int
    basis: str = "published"
    note: str = ""
    share: Range | None = None
    of: str | None = None


def read(key: str, value: Any, source: Any, year: Any, currency: str) -> Figure:
    """Reads a figure of a book: a number, `[low, high]`, or a table with `value`, or `low` and
    `high`, or `share` and `of`, or `unknown` with the reason.

    Args:
        key: the key that errors name: `part.switch.price`.
            source, year: those of its part, which apply unless the figure has its own.
        currency: the currency of the book.

    Raises:
        ConfigError: with that key.
    """
    table = value if isinstance(value, Mapping) else _plain(key, value)
    _check_keys(key, table, currency)
    source, year = table.get("source", source), table.get("year", year)
    if "unknown" not in table:
        _check_source(key, source, year)
    per, basis = table.get("per", "piece"), table.get("basis", "published")
    if per not in PER:
        raise refusal(
            f"{key}.per", per, "not a unit of a figure", f"choose one of {', '.join(PER)}"
        )
    if basis not in BASES:
        remedy = f"choose one of {', '.join(BASES)}"
        raise refusal(f"{key}.basis", basis, "not a basis", remedy)
    shared = {"share", "of"} & set(table)
    _check_one_form(key, table)
    found = None if shared or "unknown" in table else _range(key, table)
    share = _range(key, _plain(key, table["share"])) if "share" in table else None
    if shared and (share is None or not isinstance(table.get("of"), str)):
        raise refusal(
            key, shown(value), "a share needs what it is of", 'write share = … and of = "…"'
        )
    note = str(table.get("note", table.get("unknown", "")))
    source, year = ("", 0) if "unknown" in table else (str(source), int(year))
    return Figure(found, per, source, year, basis, note, share, table.get("of"))


def _plain(key: str, value: Any) -> Mapping[str, Any]:
    if isinstance(value, list):
        if len(value) != 2:
            raise refusal(key, shown(value), "a range has two ends", "write [low, high]")
        return {"low": value[0], "high": value[1]}
    return {"value": value}


def _check_keys(key: str, table: Mapping[str, Any], currency: str) -> None:
    for name in table:
        if name not in _KEYS:
            remedy = f"choose among {', '.join(sorted(_KEYS))}"
            raise refusal(f"{key}.{name}", shown(table[name]), "no such key", remedy)
    own = table.get("currency", currency)
    if own != currency:
        limit = f"the book is in {currency}, and a book has one currency"
        raise refusal(f"{key}.currency", own, limit, f"convert it to {currency} of its year")


def _check_one_form(key: str, table: Mapping[str, Any]) -> None:
    """Raises an error for a figure in two forms, of which one would not be used."""
    forms = [
        form
        for form in (("value",), ("low", "high"), ("share", "of"), ("unknown",))
        if not table.keys().isdisjoint(form)
    ]
    if len(forms) > 1:
        names = " and ".join(next(name for name in form if name in table) for form in forms)
        raise refusal(key, names, "give only one of them", "remove one")


def _check_source(key: str, source: Any, year: Any) -> None:
    if not isinstance(source, str) or not source.strip():
        remedy = "give the source beside the number, or for the whole part"
        raise refusal(f"{key}.source", "(missing)", "every number needs a source", remedy)
    if isinstance(year, bool) or not isinstance(year, int) or not 1900 <= year <= 2200:
        told = "(missing)" if year is None else shown(year)
        raise refusal(f"{key}.year", told, "not the year of a source", "write it as 2026")


def _range(key: str, table: Mapping[str, Any]) -> Range:
    """Returns the interval of `value`, or of `low` and `high`."""
    if "value" in table:
        low = high = number(key, table["value"])
    elif "low" in table and "high" in table:
        low, high = number(f"{key}.low", table["low"]), number(f"{key}.high", table["high"])
    else:
        remedy = 'write value = …, low = … and high = …, or unknown = "why"'
        raise refusal(key, "(missing)", "has no number", remedy)
    if low > high:
        raise refusal(key, f"{low} to {high}", "ends before it begins", "swap low and high")
    return Range(low, high)
