"""Evaluates a run or a comparison: figures, ranking, findings, verdicts and warnings.

| module | |
|---|---|
| `model`, `reading` | a comparison as plain numbers, and how it is read from results |
| `ranking`, `factors` | the order of fabrics by a figure; ratios between figures |
| `fair`, `unfinished` | the fabrics that carry the workload, or finish its flows |
| `findings` | what decides a comparison, as data, with the catalogue of their sentences |
| `verdicts` | the verdict, and the cards of the report |
| `winners`, `presets` | the winner under other physics presets |
| `table`, `workload_lines` | the table of a report; the workload in one line |
| `growth` | whether flows take longer the later they arrive |
| `notes`, `doubts`, `cuts`, `circuits`, `rates` | what limits conclusions from a run |
| `swept_traffic` | notes on the traffic of the points of a sweep |
| `derived_values` | derived values and parts of a fabric |
| `nights`, `opening` | when circuits are lit; the part of a timeline that opens first |

*Not here*: prices (`lightloom.decision`) and drawing (`lightloom.plotting`).
"""
