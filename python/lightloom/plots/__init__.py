"""Figures of results, comparisons and plans as matplotlib's, for notebooks and papers.

`result.plot`, `comparison.plot` and `plan.plot` have them. Each function returns a
`matplotlib.figure.Figure`, which a notebook shows and `savefig` writes; with `ax` it draws on
axes of yours and returns their figure. They show what the report shows, from the same data and
with the same looks, and know nothing of pyplot: nothing has to be closed.
"""

from lightloom.plots.picture import Picture
from lightloom.plots.plan import PlanPlots
from lightloom.plots.runs import RunPlots

__all__ = ["Picture", "PlanPlots", "RunPlots"]
