"""Decides which fabric to buy: cost and power per delivered bit, and the changes that would
overturn the choice.

| module | |
|---|---|
| `options` | `[decision]` of an experiment: its price book, its own prices |
| `purchases`, `order` | a fabric with its cost and goodput; orders fabrics by cost |
| `overturns` | the price at which two fabrics cost the same |
| `pareto` | fabrics that no other dominates in performance, dollars and watts |
| `lead`, `verdict` | the fabric that leads in cost, and the fabric to buy, as data |
| `remarks` | cost, power, goodput, seeds and loads beside the verdict, as data |
| `sentences` | the sentences of these findings |
| `breaking` | goodput after the worst failure, and the fabric that is cheapest then |

Comparisons are read, and the page is drawn, by `lightloom.report.decisions`.
"""
