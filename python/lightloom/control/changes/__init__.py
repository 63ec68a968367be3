"""The difference between two plans: circuits to break, to make and to keep, how long which racks
are dark, and how many bytes that delays.

| file | what |
|---|---|
| `old_plan` | the circuits of a plan in a file, by name of rack |
| `change` | the comparison of both plans |
"""

from lightloom.control.changes.change import Change, Changed, Pair, changed
from lightloom.control.changes.old_plan import OldPlan, read_old_plan

__all__ = ["Change", "Changed", "OldPlan", "Pair", "changed", "read_old_plan"]
