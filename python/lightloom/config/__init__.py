"""The experiment file. What a key means is known to the core alone, but for two tables.

| module | |
|---|---|
| `experiment` | an experiment read, with `--set` and `--fabric`, and resolved by the core |
| `overrides` | keys set by hand |
| `integers`, `toml_errors`, `refused`, `refusal_text`, `trace_hints` | refusals of values, files |
| `schema` | the JSON Schema |
| `decision`, `testbed` | the tables `[decision]` and `[testbed]`, which Python alone reads |
| `physics`, `networks` | physics presets; rates of electrical networks |
| `loads` | the loads that a workload offers |
| `inputs`, `price_books` | files that an experiment names; packaged price books |
| `identity` | digests of the build and the configuration |
"""
