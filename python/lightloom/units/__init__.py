"""Quantities: how they are parsed, counted and printed, and how sure they are.

| module | |
|---|---|
| `durations` | durations of options, in picoseconds |
| `counts` | numbers of things in words |
| `steps` | which unit a figure takes |
| `formats` | figures on terminals and in notes |
| `quantities` | figures on pages and in plots |
| `intervals` | means over independent runs with their 95 % intervals |
| `bounds` | figures of flows of which some are unfinished when a run ends |
"""
