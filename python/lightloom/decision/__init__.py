"""Decides which fabric to buy: cost and power per delivered bit, and the changes that would
overturn the choice.

| module | |
|---|---|
| `options` | `[decision]` of an experiment: its price book, its own prices |
| `purchases`, `order` | a fabric, its cost and its goodput; which fabric is cheaper, or level |
| `overturns` | the price at which two fabrics cost the same |
| `pareto` | fabrics that no other dominates in performance, dollars and watts |
| `lead`, `verdict` | which fabric leads in cost, and which one to buy, as data |
| `remarks` | cost, power, goodput, seeds and loads beside the verdict, as data |
| `sentences` | the sentences of these findings |
| `breaking` | goodput after the worst failure, and the cheapest fabric then |

Comparisons are read, and the page is drawn, by `lightloom.report.decisions`.
"""
