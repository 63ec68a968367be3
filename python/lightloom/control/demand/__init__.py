"""Demand in all supported formats: matrices and records in files, from standard input, from tools.

| file | concept |
|---|---|
| `source` | a file or standard input, read once |
| `formats` | recognises the format of a source |
| `long_or_matrix` | decides whether a table of numbers is the long form or a matrix |
| `matrices`, `csv_file`, `json_form` | formats that hold a matrix |
| `long_form`, `nfdump`, `pmacct`, `sflowtool`, `prometheus` | formats that hold records |
| `tables`, `columns`, `amounts`, `times` | rows of CSV, their columns, the values of cells |
| `hosts` | the rack of each host |
| `records` | amounts of data between hosts |
| `folding` | adds up records to a matrix; counts omitted records |
| `units`, `reading` | the unit of a number; a description of what was read |
"""
