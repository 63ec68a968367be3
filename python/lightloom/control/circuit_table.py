"""The table of the permanent circuits of a plan."""

from __future__ import annotations

from dataclasses import dataclass

from lightloom.control.arrays import Integers


@dataclass(frozen=True, eq=False)
class CircuitTable:
    """Permanent circuits: one column for each field, one row for each circuit."""

    a: Integers
    """One node; the source if circuits are directed."""
    b: Integers
    """The other node."""
    carried: Integers
    """Demand that the circuit carries [bytes]; on planes, the capacity that paths reserve in each
    direction."""
    directed: bool
    """Whether circuits carry data from `a` to `b` only."""
    plane: Integers | None = None
    """The switch of each circuit; None if there is only one."""

    def __len__(self) -> int:
        return len(self.a)
