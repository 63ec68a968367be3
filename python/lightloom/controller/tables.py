"""Tables (CSV) of the configuration, whose first line names the columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from lightloom.control.demand.source import source_of
from lightloom.control.demand.tables import Rows
from lightloom.errors import ConfigError


def read_rows(file: Path, needed: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """The place of each row, and its cells by column.

    Raises:
        ConfigError: if the file cannot be read, or lacks one of the `needed` columns.
    """
    try:
        rows = Rows(source_of(file))
        cells = iter(rows)
        header = [cell.strip().lower() for cell in next(cells, [])]
    except OSError as problem:
        raise ConfigError(f"{file}: {problem.strerror}; name a CSV file") from None
    missing = [name for name in needed if name not in header]
    if missing:
        limit = f"no column {', '.join(missing)}"
        raise ConfigError(f"{rows.where()}: {limit}; begin it with {','.join(needed)}")
    for row in cells:
        yield rows.where(), {n: row[at].strip() for at, n in enumerate(header) if at < len(row)}
