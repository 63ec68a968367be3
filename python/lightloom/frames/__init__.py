"""Tables of results, comparisons and plans, and their conversion to data frames.

| file | concept |
|---|---|
| `convert` | converts Arrow tables to pandas and polars; both are optional |
| `runs` | the rows of results, of their seeds, and of comparisons |
| `figures` | the figures of summaries, a row each |
| `plans` | the circuits, slots and demand of a plan |
"""

from lightloom.frames.convert import to_pandas, to_polars

__all__ = ["to_pandas", "to_polars"]
