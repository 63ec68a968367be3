"""The difference between a plan and the previous plan.

| file | what |
|---|---|
| `old_plan` | the circuits of a plan in a file, by name of rack |
| `change` | the difference: circuits to break, make and keep, and pairs that are dark |
"""
