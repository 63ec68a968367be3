"""Quantities: how they are parsed, counted and printed, and their uncertainty.

| module | |
|---|---|
| `durations` | durations in options, in picoseconds |
| `dates` | times since 1970 as text |
| `counts` | numbers of things as text |
| `steps` | the unit in which a figure is shown |
| `formats` | figures on terminals and in notes |
| `quantities` | figures on pages and in plots |
| `intervals` | means over independent runs with their 95 % intervals |
| `bounds` | figures of flows of which some are unfinished when a run ends |
"""
