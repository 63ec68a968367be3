"""Conversion of Arrow tables to pandas and polars, which are imported when needed."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

EXTRA = "notebook"
"""The optional extra of the package that installs both libraries."""


def to_pandas(table: pa.Table) -> pd.DataFrame:
    """Returns a data frame with the same columns. Signed integers become pandas' `Int64`, which has
    missing values; as floats, picoseconds beyond 2⁵³ would be rounded.

    Raises:
        ImportError: if pandas is not installed.
    """
    pandas = _needed("pandas")
    integers = {pa.int64(): pandas.Int64Dtype()}
    frame: pd.DataFrame = table.to_pandas(types_mapper=integers.get)
    return frame


def to_polars(table: pa.Table) -> pl.DataFrame:
    """Returns a data frame with the same columns.

    Raises:
        ImportError: if polars is not installed.
    """
    frame: pl.DataFrame = _needed("polars").from_arrow(table)
    return frame


def _needed(name: str) -> Any:
    """Imports an optional library."""
    try:
        return import_module(name)
    except ModuleNotFoundError as missing:
        if missing.name != name:
            raise
        remedy = f"pip install 'lightloom[{EXTRA}]'"
        raise ImportError(f"{name} is not installed: {remedy}", name=name) from None
