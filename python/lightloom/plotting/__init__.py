"""Figures of results, comparisons and plans with matplotlib, for notebooks and papers.

`result.plot`, `comparison.plot` and `plan.plot` draw them. Each method returns a
`matplotlib.figure.Figure`, which a notebook displays and `savefig` writes; with `ax` it draws on
the given axes and returns their figure. The figures show the same data as the report in the same
style. They do not use pyplot, so that no figure has to be closed.

`write` makes the figures of a comparison for a paper or a slide: SVG, PNG and PDF, as wide as a
column, on the sheets of `styles`. `axes` draws distributions on given axes.

| module | |
|---|---|
| `spec`, `style` | a figure as data; colours |
| `sheet`, `styles` | the size of the page that a figure is drawn on; styles of journals |
| `figures`, `distributions`, `bands`, `over_time` | the figures of a comparison |
| `latency_load`, `timelines`, `jobs` | latency by load; circuits over time; job times |
| `backend_matplotlib`, `backend_plotly`, `arrows` | the two back ends; bounds as arrows |
| `draw`, `files` | the files of a report; files for papers |
| `runs`, `plan`, `compared`, `picture`, `axes` | figures of results and plans for notebooks |
| `plan_picture`, `clock`, `tornado` | pictures of plans, of clocks, and of the effect of prices |
"""

from lightloom.plotting.files import write
from lightloom.plotting.picture import Picture
from lightloom.plotting.plan import PlanPlots
from lightloom.plotting.runs import RunPlots
from lightloom.plotting.styles import STYLES, find

__all__ = ["STYLES", "Picture", "PlanPlots", "RunPlots", "find", "write"]
