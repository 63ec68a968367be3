"""The parts of `run`, `repeat` and `compare` (`lightloom.api`).

| module | |
|---|---|
| `pool` | runs in parallel threads; a fabric with several seeds |
| `curves` | each fabric at each load, and its saturation |
| `windows` | the default warm-up and window |
| `trials`, `forecasts` | short trial runs; forecasts of the time and the memory of runs |
| `traces`, `trace_formats` | reads, writes and converts traces; their formats |
| `trace_input` | reads the flows of a Parquet trace for a run |
| `machine`, `interrupts` | processors and memory; signals during parallel work |
"""

from importlib import import_module

_MODULES = frozenset({"traces"})


def __getattr__(name: str) -> object:
    """Imports a module when it is first used."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.{name}")
