"""Tables of Arrow as frames, and the tables that results, comparisons and plans have.

| file | concept |
|---|---|
| `convert` | Arrow as pandas and as polars, neither of which has to be installed |
| `runs` | the rows of results, of their seeds, and of comparisons |
| `figures` | the figures of summaries, a row each |
| `plans` | the circuits, slots and demand of a plan |
"""

from lightloom.frames.convert import to_pandas, to_polars

__all__ = ["to_pandas", "to_polars"]
