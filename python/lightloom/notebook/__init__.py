"""What a notebook shows of results, comparisons and plans: a table, and a small figure.

The HTML stands alone: names are escaped, nothing is scripted or loaded from elsewhere, and
its colours are the notebook's own, so that it reads on light and on dark pages.

| file | concept |
|---|---|
| `text` | a line for consoles |
| `runs`, `plans` | what is shown of either |
| `page` | HTML around tables and figures |
"""
