"""The tables of an experiment that only Python reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: The table of prices and the other options of the decision page.
DECISION = "decision"
#: The table of keys that only the Linux testbed uses.
TESTBED = "testbed"


def of_core(table: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the tables that the core reads."""
    return {key: value for key, value in table.items() if key not in (DECISION, TESTBED)}
