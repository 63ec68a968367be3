"""Demand as it comes: matrices and records in files, from standard input, from tools.

| file | concept |
|---|---|
| `source` | a file or standard input, read once |
| `formats` | which format something is in |
| `long_or_matrix` | which of the two a table is, where nodes are numbers |
| `matrices`, `json_form` | what holds a matrix |
| `long_form`, `nfdump`, `pmacct`, `sflowtool`, `prometheus` | what holds records |
| `tables`, `columns`, `amounts`, `times` | rows of CSV, their columns, what cells say |
| `hosts` | which rack a host is in |
| `folding` | records as a matrix, and what was left out |
| `units`, `reading` | what a number stands for; what was read, to be told |
"""
