"""Which fabric to buy: what a bit that arrives costs and draws, and what would overturn the choice.

| module | |
|---|---|
| `options` | `[decision]` of an experiment: its price book, its own prices |
| `purchases`, `order` | a fabric, its cost and what it delivered; who is cheaper, or level |
| `overturns` | the price at which another costs as much |
| `pareto` | fabrics that no other dominates in performance, dollars and watts |
| `lead` | which fabric leads in cost, as data |
| `sentences` | all that in words |
| `breaking` | goodput with the worst part dead, and the cheapest fabric then |

Comparisons are read, and the page is drawn, by `lightloom.report.decisions`.
"""
