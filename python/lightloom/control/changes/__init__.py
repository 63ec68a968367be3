"""What changes where one plan takes the place of another: circuits to break, to make and
to keep, how long whom is dark, and what that costs.

| file | what |
|---|---|
| `old_plan` | the circuits of a plan in a file, by name |
| `change` | both plans side by side |
"""

from lightloom.control.changes.change import Change, Changed, Pair, changed
from lightloom.control.changes.old_plan import OldPlan, read_old_plan

__all__ = ["Change", "Changed", "OldPlan", "Pair", "changed", "read_old_plan"]
