"""What results, comparisons and plans have in common for whoever looks at them: their rows as
tables of Arrow and as frames of pandas or polars, and what a notebook shows.

Everything is made when it is asked for; what only some users have is loaded then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from lightloom.errors import refusal

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from lightloom.plotting import PlanPlots, RunPlots

Tables = Mapping[str, Callable[[], pa.Table]]


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
        from lightloom.frames import to_pandas

        return to_pandas(self.table(name))

    def to_polars(self, name: str | None = None) -> pl.DataFrame:
        """The same as a frame of polars.

        Raises:
            ConfigError: of `table`.
            ImportError: if polars is not installed.
        """
        from lightloom.frames import to_polars

        return to_polars(self.table(name))

    def _tables(self) -> Tables:
        """Its tables by name, the one that is meant without a name first."""
        raise NotImplementedError


def _whole(view: Viewed) -> Any:
    """The same, as what it is: classes that can be looked at are defined on top of these."""
    return view


class Runs(Viewed):
    """A simulation, or several of them: a result, its seeds, a comparison."""

    @property
    def plot(self) -> RunPlots:
        """Its figures, as matplotlib's: `plot.fct_ccdf()` and others.

        >>> run("examples/sirius.toml").plot.fct_ccdf().savefig("tail.pdf")  # doctest: +SKIP
        """
        from lightloom.plotting import RunPlots

        return RunPlots(_whole(self))

    def _tables(self) -> Tables:
        from lightloom.frames import runs

        return runs.tables(_whole(self))

    def _repr_html_(self) -> str:
        from lightloom.notebook import runs

        return runs.html(_whole(self))

    def __repr__(self) -> str:
        from lightloom.notebook import text

        return text.of_runs(_whole(self))


class Planned(Viewed):
    """A plan."""

    @property
    def plot(self) -> PlanPlots:
        """Its figures, as matplotlib's: `plot.circuits()` and others."""
        from lightloom.plotting import PlanPlots

        return PlanPlots(_whole(self))

    def _tables(self) -> Tables:
        from lightloom.frames import plans

        return plans.tables(_whole(self))

    def _repr_html_(self) -> str:
        from lightloom.notebook import plans

        return plans.html(_whole(self))

    def __repr__(self) -> str:
        from lightloom.notebook import text

        return text.of_plan(_whole(self))
