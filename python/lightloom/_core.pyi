"""The native core. Configurations and summaries cross as JSON text, columns
as NumPy arrays. Users call `lightloom`, not this module."""

from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray

__version__: str

Columns = dict[str, Any]
"""Name → NumPy array; `groups` is a list of names."""

class ConfigError(ValueError):
    """A configuration that cannot run.

    Its text is `key = value: limit; remedy`; the four are attributes too where
    the error comes from a key.
    """

    key: str | None
    value: str | None
    limit: str | None
    remedy: str | None

def registry() -> str:
    """JSON: every fabric with its kind, title, source, summary, presets and schema."""

def workloads() -> str:
    """JSON: the published flow-size distributions with source, points and means."""

def schema() -> str:
    """JSON Schema of an experiment."""

def resolve(json: str) -> str:
    """The experiment with every default filled in; refused if it cannot run."""

def run(
    json: str,
    fabric: int,
    threads: int,
    progress: Callable[[float, float, float], object] | None = None,
    columns: Columns | None = None,
) -> tuple[str, Columns, dict[str, NDArray[Any]], dict[str, NDArray[Any]] | None]:
    """Runs the fabric at index `fabric`: (summary as JSON, flows, time series,
    circuits or None where the fabric has none).

    The flows are drawn from the workload, or taken from `columns` (`src`,
    `dst` u32, `bytes` u64, `arrival_ps` i64, and `group` u16 with `groups`, if
    they have groups). `progress(now_s, end_s, delivered_fraction)` is called at
    most 20 times a second; what it raises ends the run. Flow columns that hold
    `NEVER` (start, finish) or NaN (hops) have no value there.
    """

def read_trace(path: str, format: str | None = None, hosts: int | None = None) -> Columns:
    """The flow columns of a text trace: "csv", "cm" or "ns", by its name unless given."""

def trace_text(columns: Columns, format: str, hosts: int | None = None) -> str:
    """Flow columns as a text trace. `hosts` is how many there are; as many as
    the flows name, unless given."""

NEVER: int
"""The time of what did not happen [ps]."""
