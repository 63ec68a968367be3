"""Results of simulations, in memory and on disk.

| module | |
|---|---|
| `result` | `Result`, `Repeated` (one fabric, several seeds), `Comparison` (several fabrics) |
| `tables`, `columns`, `files` | Arrow tables, their columns; names of the files of a result |
| `verification` | whether files are complete and unchanged |
| `summaries`, `repeats` | values in `summary.json`; means over seeds |
| `saturation`, `steady_state` | the saturation load; whether a run is long enough |
| `window_rules` | conditions under which a window shows that a load is carried, or is not |
| `failures` | results with one failed part |
| `views` | tables, frames, plots and notebook display of a result or plan |
"""
