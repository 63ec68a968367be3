"""The fabrics of the core: their tables, presets and names, by kind."""

from __future__ import annotations

import functools
import json
from typing import Any

from lightloom import _core

Table = dict[str, Any]


@functools.cache
def registry() -> dict[str, Table]:
    """The entries of all fabrics by kind, in the order of the registry."""
    return {entry["kind"]: entry for entry in json.loads(_core.registry())}


def of(kind: object) -> Table:
    """The entry of a kind; empty for a kind that this version does not have."""
    return registry().get(str(kind), {})
