"""The difference between two plans: circuits to break, to make and to keep, how long which racks
are dark, and how many bytes that delays.

| file | what |
|---|---|
| `comparison` | the comparison of both plans |

`control.differences` has the old plan and the difference, which a plan holds.
"""

from lightloom.control.changes.comparison import changed
from lightloom.control.differences.change import Change, Changed, Pair
from lightloom.control.differences.old_plan import OldPlan, read_old_plan

__all__ = ["Change", "Changed", "OldPlan", "Pair", "changed", "read_old_plan"]
