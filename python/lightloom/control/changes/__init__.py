"""The difference between two plans: circuits to break, to make and to keep, the dark time of each
pair of racks, and the bytes that it delays.

| file | what |
|---|---|
| `comparison` | the comparison of both plans |

`control.differences` defines the old plan and the difference, which is part of a plan.
"""

from lightloom.control.changes.comparison import changed
from lightloom.control.differences.change import Change, Changed, Pair
from lightloom.control.differences.old_plan import OldPlan, read_old_plan

__all__ = ["Change", "Changed", "OldPlan", "Pair", "changed", "read_old_plan"]
