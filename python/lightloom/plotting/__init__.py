"""Figures of results, comparisons and plans as matplotlib's, for notebooks and papers.

`result.plot`, `comparison.plot` and `plan.plot` have them. Each function returns a
`matplotlib.figure.Figure`, which a notebook shows and `savefig` writes; with `ax` it draws on
axes of yours and returns their figure. They show what the report shows, from the same data and
with the same looks, and know nothing of pyplot: nothing has to be closed.

`write` makes the figures of a comparison for a paper or a slide: SVG, PNG and PDF, as wide as a
column, on the sheets of `styles`. `axes` has the same for axes of your own.
"""

from lightloom.plotting.files import write
from lightloom.plotting.picture import Picture
from lightloom.plotting.plan import PlanPlots
from lightloom.plotting.runs import RunPlots
from lightloom.plotting.styles import STYLES, find

__all__ = ["STYLES", "Picture", "PlanPlots", "RunPlots", "find", "write"]
