"""Tables, data frames, plots and notebook display that results, comparisons and plans have in
common.

Everything is computed when it is requested; optional libraries are imported then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from lightloom.errors import refusal

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

Tables = Mapping[str, "Callable[[], pa.Table]"]


def above(module: str) -> Any:
    """Imports a module of a package that builds on this one. By name, because an import statement
    would close an import circle."""
    return import_module(f"lightloom.{module}")


class Viewed:
    """An object with `table`, `to_pandas`, `to_polars` and a notebook display."""

    def table(self, name: str | None = None) -> pa.Table:
        """Returns one of its tables, with the columns and units of docs/api.md.

        Args:
            name: the table; by default the first.

        Raises:
            ConfigError: if there is no such table; it names those that exist.
        """
        tables = self._tables()
        wanted = next(iter(tables)) if name is None else name
        if wanted not in tables:
            remedy = f"choose one of {', '.join(tables)}"
            raise refusal("table", wanted, "no such table", remedy)
        return tables[wanted]()

    def to_pandas(self, name: str | None = None) -> pd.DataFrame:
        """Returns the same table as a pandas data frame. Columns of signed integers, which may have
        missing values, are `Int64`, so that picoseconds stay exact.

        Raises:
            ConfigError: as for `table`.
            ImportError: if pandas is not installed.
        """
        frame: pd.DataFrame = above("frames").to_pandas(self.table(name))
        return frame

    def to_polars(self, name: str | None = None) -> pl.DataFrame:
        """Returns the same table as a polars data frame.

        Raises:
            ConfigError: as for `table`.
            ImportError: if polars is not installed.
        """
        frame: pl.DataFrame = above("frames").to_polars(self.table(name))
        return frame

    def _tables(self) -> Tables:
        """Its tables by name; the first is the default."""
        raise NotImplementedError


class Runs(Viewed):
    """The results of one or several simulations."""

    @property
    def plot(self) -> Any:
        """Its figures as matplotlib figures, such as `plot.fct_ccdf()`.

        >>> run("examples/sirius.toml").plot.fct_ccdf().savefig("tail.pdf")  # doctest: +SKIP
        """
        return above("plotting").RunPlots(self)

    def _tables(self) -> Tables:
        tables: Tables = above("frames.runs").tables(self)
        return tables

    def _repr_html_(self) -> str:
        text: str = above("notebook.runs").html(self)
        return text

    def __repr__(self) -> str:
        text: str = above("notebook.text").of_runs(self)
        return text


class Planned(Viewed):
    """A plan of circuits or a schedule."""

    @property
    def plot(self) -> Any:
        """Its figures as matplotlib figures, such as `plot.circuits()`."""
        return above("plotting").PlanPlots(self)

    def _tables(self) -> Tables:
        tables: Tables = above("frames.plans").tables(self)
        return tables

    def _repr_html_(self) -> str:
        text: str = above("notebook.plans").html(self)
        return text

    def __repr__(self) -> str:
        text: str = above("notebook.text").of_plan(self)
        return text
