"""Bill of a hybrid: planes of circuit switches, and an electrical tree unless `electrical =
false`."""

from lightloom.costs.bills.circuits import beside_tree as bill

__all__ = ["bill"]
