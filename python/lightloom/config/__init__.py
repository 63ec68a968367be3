"""The experiment file. The core alone defines its keys, except those of two tables.

| module | |
|---|---|
| `experiment` | reads an experiment, applies `--set` and `--fabric`, resolves it by the core |
| `overrides` | keys set by `--set` and by cases |
| `integers`, `toml_errors`, `refused`, `refusal_text`, `trace_hints` | errors in values and files |
| `schema`, `own_tables` | the JSON Schema; the tables that only Python reads |
| `decision`, `testbed` | the tables `[decision]` and `[testbed]`, which only Python reads |
| `fabrics` | the fabrics of the core |
| `physics`, `networks` | physics presets; rates of electrical networks |
| `loads` | the loads that a workload offers |
| `inputs`, `price_books` | files that an experiment names; packaged price books |
| `identity` | digests of the build and the configuration |
"""
