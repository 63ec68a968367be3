"""Bill of HydRA: K planes of MEMS switches, a long-reach transceiver for each port, and a low-rate
network with direct links to the servers (Table I leaves out its price).
"""

from lightloom.costs.bills.circuits import dual_homed as bill

__all__ = ["bill"]
