"""Bill of HydRA: K planes of mirrors, a transceiver of long reach for each port, and a low-rate
network that servers are joined to directly (Table I leaves its price out).
"""

from lightloom.costs.bills.circuits import dual_homed as bill

__all__ = ["bill"]
