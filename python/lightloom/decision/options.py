"""`[decision]` of an experiment: prices, and what the decision page asks for beside them.

`compare` and `cost` read it; the core never sees it, so that no figure of a run depends on it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from lightloom.config.refused import first_of
from lightloom.config.schema import DECISION
from lightloom.costs import book as books
from lightloom.costs.book import Book
from lightloom.costs.given import with_prices
from lightloom.errors import refusal

#: Of a kind with more members, so many are tried.
TRIES = 8


class Options(BaseModel):
    """Prices of the fabrics' parts, for the decision page: `compare` and `cost` alone read them."""

    model_config = ConfigDict(extra="forbid", strict=True)

    prices: str = Field(
        default=books.DEFAULT,
        description="A price book: sirius-2020, hydra-2013, cthrough-2010, ai-cluster-2026, or a "
        "file beside the experiment. --prices goes before it, and before `price`.",
    )
    price: list[str] = Field(
        default=[],
        description='Prices of parts in the units of the book: "tunable-transceiver=700", '
        '"circuit-switch=200..700". --price adds to them, and goes before one of the same part.',
    )
    counting: Literal["whole", "share"] | None = Field(
        default=None,
        description='Whether boxes are bought "whole", or by a "share" as if they came in every '
        "size; as the book counts unless given.",
    )
    worst_failure: bool = Field(
        default=False,
        description="Run every fabric with one part dead, too, and say what the worst single "
        "failure leaves; --worst-failure does the same.",
    )
    worst_of: int = Field(
        default=TRIES,
        ge=1,
        description="Parts of each kind that are tried, at most: all of as many, of more a sample. "
        "--worst-of goes before it.",
    )
    readings: list[str] = Field(
        default=[],
        description="Readings of Sirius' Fig 6 by which cost counts sirius and clos, too: A, F, G, "
        "H, or files. --reading goes before them.",
    )


def read(raw: Mapping[str, Any]) -> Options | None:
    """The options of an experiment, as given or resolved; None of one without the table.

    Raises:
        ConfigError: of an unknown key, naming the nearest, or of another type.
    """
    if DECISION not in raw:
        return None
    table = raw[DECISION]
    if not isinstance(table, Mapping):
        raise refusal(DECISION, table, "not a table", f"write [{DECISION}] above its keys")
    try:
        return Options.model_validate(dict(table))
    except ValidationError as problem:
        raise first_of(problem, Options.model_fields, f"{DECISION}.") from None


def completed(raw: Mapping[str, Any]) -> dict[str, Any]:
    """The table with every default filled in, by its name; nothing where there is none.

    Raises:
        ConfigError: as of `read`.
    """
    options = read(raw)
    return {} if options is None else {DECISION: options.model_dump(exclude_none=True)}


def book(raw: Mapping[str, Any]) -> Book | None:
    """The prices of an experiment; None of one without the table.

    Raises:
        ConfigError: of a book that cannot be read, or a price that is none.
    """
    options = read(raw)
    if options is None:
        return None
    found = books.load(options.prices, f"{DECISION}.prices")
    if options.counting is not None:
        found = replace(found, counting=options.counting)
    return with_prices(found, options.price, f"{DECISION}.price")


def with_flags(
    raw: Mapping[str, Any], prices: str | None, price: Sequence[str] | None
) -> dict[str, Any]:
    """The experiment with what `--prices` and `--price` say: another book takes the place of the
    table's and of its own prices, which are in the units of that; a price is added.

    Raises:
        ConfigError: that names the flag, of either; that names the key, of the table.
    """
    if prices is None and not price:
        return dict(raw)
    table = completed(raw).get(DECISION, {})
    if prices is not None:
        table = {**table, "prices": prices, "price": []}
        found = books.load(prices)
    else:
        found = book({DECISION: table}) or books.load(None)
    with_prices(found, price or [])
    table["price"] = [*table.get("price", []), *(price or [])]
    return {**raw, DECISION: table}
