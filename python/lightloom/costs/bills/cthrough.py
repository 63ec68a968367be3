"""Bill of c-Through: rack switches, one circuit switch, and an electrical tree beside it."""

from lightloom.costs.bills.circuits import beside_tree as bill

__all__ = ["bill"]
