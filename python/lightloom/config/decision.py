"""`[decision]` of an experiment: prices, and what the decision page asks for beside them.

`compare` and `cost` read it; the core never sees it, so that no figure of a run depends on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from lightloom.config import price_books
from lightloom.config.refused import first_of
from lightloom.config.schema import DECISION
from lightloom.errors import refusal

#: The most members [count] of a kind that are tried.
TRIES = 8


class Options(BaseModel):
    """Prices of the fabrics' parts, for the decision page: `compare` and `cost` alone read them."""

    model_config = ConfigDict(extra="forbid", strict=True)

    prices: str = Field(
        default=price_books.DEFAULT,
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
