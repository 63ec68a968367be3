"""What results, comparisons and plans have in common for whoever looks at them: their rows as
tables of Arrow and as frames of pandas or polars, and what a notebook shows.

Everything is made when it is asked for; what only some users have is loaded then.
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
    """A module of a package that builds on this one, loaded for those who ask for it. By name:
    an import would close a circle."""
    return import_module(f"lightloom.{module}")


class Viewed:
    """What can be looked at: `table`, `to_pandas`, `to_polars`, and itself in a notebook."""

    def table(self, name: str | None = None) -> pa.Table:
        """One of its tables, with the columns and units of docs/api.md.

        Args:
            name: which; the first of them unless given.

        Raises:
            ConfigError: naming those that there are.
        """
        tables = self._tables()
        wanted = next(iter(tables)) if name is None else name
        if wanted not in tables:
            remedy = f"choose one of {', '.join(tables)}"
            raise refusal("table", wanted, "no such table", remedy)
        return tables[wanted]()

    def to_pandas(self, name: str | None = None) -> pd.DataFrame:
        """The same as a frame of pandas. Signed integers, which may be missing, are `Int64`:
        picoseconds stay whole.

        Raises:
            ConfigError: of `table`.
            ImportError: if pandas is not installed.
        """
        frame: pd.DataFrame = above("frames").to_pandas(self.table(name))
        return frame

    def to_polars(self, name: str | None = None) -> pl.DataFrame:
        """The same as a frame of polars.

        Raises:
            ConfigError: of `table`.
            ImportError: if polars is not installed.
        """
        frame: pl.DataFrame = above("frames").to_polars(self.table(name))
        return frame

    def _tables(self) -> Tables:
        """Its tables by name, the one that is meant without a name first."""
        raise NotImplementedError


class Runs(Viewed):
    """A simulation, or several of them: a result, its seeds, a comparison."""

    @property
    def plot(self) -> Any:
        """Its figures, as matplotlib's: `plot.fct_ccdf()` and others.

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
    """A plan."""

    @property
    def plot(self) -> Any:
        """Its figures, as matplotlib's: `plot.circuits()` and others."""
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
