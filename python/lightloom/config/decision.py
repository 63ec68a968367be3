"""The table `[decision]` of an experiment: prices, and the other options of the decision page.

`compare` and `cost` read it. The core does not, so that no figure of a run depends on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from lightloom.config import price_books
from lightloom.config.own_tables import DECISION
from lightloom.config.refused import first_of
from lightloom.errors import refusal

#: Default number of parts of each kind that are tried [count].
TRIES = 8


class Options(BaseModel):
    """Prices of the fabrics' parts, and options of the decision page; only `compare` and `cost`
    read them."""

    model_config = ConfigDict(extra="forbid", strict=True)

    prices: str = Field(
        default=price_books.DEFAULT,
        description="Price book: sirius-2020, hydra-2013, cthrough-2010, ai-cluster-2026, or a "
        "file, relative to the experiment. --prices overrides this key and `price`.",
    )
    price: list[str] = Field(
        default=[],
        description='Prices of parts in the units of the book: "tunable-transceiver=700", '
        '"circuit-switch=200..700". --price adds to them and overrides the price of the same part.',
    )
    counting: Literal["whole", "share"] | None = Field(
        default=None,
        description='Whether boxes are bought "whole", or by the "share" of a box that a fabric '
        "uses. Default: the rule of the price book.",
    )
    worst_failure: bool = Field(
        default=False,
        description="Whether every fabric is also run with one failed part, and the worst single "
        "failure is reported. --worst-failure sets this key.",
    )
    worst_of: int = Field(
        default=TRIES,
        ge=1,
        description="Largest number of parts of each kind that are tried as the failed part; of a "
        "kind with more parts, a sample is tried. --worst-of overrides this key.",
    )
    readings: list[str] = Field(
        default=[],
        description="Readings of Sirius' Fig 6 by which the costs of sirius and clos are also "
        "computed: A, F, G, H, or files. --reading overrides this key.",
    )


def read(raw: Mapping[str, Any]) -> Options | None:
    """Returns the options of an experiment, as written or resolved; None without the table.

    Raises:
        ConfigError: if a key is unknown (the message names the nearest key) or a value is invalid.
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
    """Returns the table with all defaults, under its name; empty if the experiment does not have
    it.

    Raises:
        ConfigError: as for `read`.
    """
    options = read(raw)
    return {} if options is None else {DECISION: options.model_dump(exclude_none=True)}
