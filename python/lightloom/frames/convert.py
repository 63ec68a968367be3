"""Arrow as pandas and as polars, which are loaded when they are asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

EXTRA = "notebook"
"""The extra of the package that installs both."""


def to_pandas(table: pa.Table) -> pd.DataFrame:
    """A frame with the same columns. Signed integers are `Int64` of pandas, which has missing
    values: as floats, picoseconds beyond 2⁵³ would be rounded.

    Raises:
        ImportError: if pandas is not installed.
    """
    pandas = _needed("pandas")
    integers = {pa.int64(): pandas.Int64Dtype()}
    frame: pd.DataFrame = table.to_pandas(types_mapper=integers.get)
    return frame


def to_polars(table: pa.Table) -> pl.DataFrame:
    """A frame with the same columns.

    Raises:
        ImportError: if polars is not installed.
    """
    frame: pl.DataFrame = _needed("polars").from_arrow(table)
    return frame


def _needed(name: str) -> Any:
    """A library that not everybody has."""
    try:
        return import_module(name)
    except ModuleNotFoundError as missing:
        if missing.name != name:
            raise
        remedy = f"pip install 'lightloom[{EXTRA}]'"
        raise ImportError(f"{name} is not installed: {remedy}", name=name) from None
