"""Evaluates a run or a comparison: figures, ranking, findings, verdicts and warnings.

| module | |
|---|---|
| `model`, `reading` | a comparison as plain numbers; reads it from results |
| `ranking`, `factors` | the order of fabrics by a figure; ratios between figures |
| `fair`, `unfinished` | the fabrics that carry the workload, or finish its flows |
| `findings` | the findings that decide a comparison, as data; their sentences |
| `verdicts` | the verdict, and the cards of the report |
| `winners`, `presets` | the winner under other physics presets |
| `table`, `workload_lines` | the table of a report; the workload in one line |
| `growth` | tests whether later flows take longer |
| `notes`, `doubts`, `fabric_doubts`, `cuts`, `circuits` | limits of conclusions from a run |
| `note`, `wording` | a note as data; the sentences of all notes, and the formatter of sentences |
| `statement`, `answers` | a statement of a verdict as data; the sentences of all verdicts |
| `swept_traffic` | notes on the traffic of the points of a sweep |
| `derived_values` | derived values and parts of a fabric |
| `nights`, `opening` | days and nights of circuits; the part of a timeline that is shown first |

*Not here*: prices (`lightloom.decision`) and drawing (`lightloom.plotting`).
"""
