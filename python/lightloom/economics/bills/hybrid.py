"""Bill of a hybrid: planes of circuit switches, beside a tree unless `electrical = false`."""

from lightloom.economics.bills.circuits import beside_tree as bill

__all__ = ["bill"]
