"""Bill of Opera: rack switches with an uplink to each rotor switch."""

from lightloom.costs.bills.rotor import bill

__all__ = ["bill"]
