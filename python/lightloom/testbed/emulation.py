"""The kinds of fabrics that a testbed can emulate, and how, as the core's registry states it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

from lightloom.config import fabrics


@dataclass(frozen=True)
class Emulation:
    """How a testbed emulates a kind of fabric."""

    plane: Literal["kernel", "user"]
    """The data plane that carries its packets."""
    server_rules: bool
    """Whether its servers may tag packets for a path, by Open vSwitch."""
    dark: tuple[str, ...]
    """The keys of its table whose sum is the time from a circuit's going dark to the light of the
    next one."""


@cache
def emulations() -> dict[str, Emulation]:
    """Kind → emulation, for the fabrics that a testbed can emulate."""
    found = {kind: entry["testbed"] for kind, entry in fabrics.registry().items()}
    return {
        kind: Emulation(one["plane"], one["server_rules"], tuple(one["dark"]))
        for kind, one in found.items()
        if one is not None
    }
