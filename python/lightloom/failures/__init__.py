"""Single failures: simulates every fabric of a comparison with one failed part.

- `elements`: kinds of parts that can fail, and the `[[fault]]` of each;
- `probing`: the kinds and the number of parts that a fabric has, by the core;
- `switches`: the number of switches in an electrical network;
- `sample`: the parts that are tried of a kind with many parts;
- `sentences`: texts about single failures;
- `search`: the options; `plan`: the runs; `measure`: their simulation;
- `estimate`: a forecast of their time.
"""
