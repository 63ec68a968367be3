"""The notebook display of results, comparisons and plans: a table and a small figure.

The HTML is self-contained: names are escaped, it has no scripts and loads nothing. Its colours are
those of the notebook, so that it is readable on light and on dark pages.

| file | concept |
|---|---|
| `text` | one line for consoles |
| `runs`, `plans` | the display of runs and of plans |
| `page` | HTML around tables and figures |
"""
