"""Control algorithms, which decide which circuits are lit, and for how long.

They are plain functions on NumPy arrays. The simulated managers, `lightloom plan` and the
controller of real switches call the same code. Demand is a square matrix of bytes, row = source,
column = destination; times and rates are texts with a unit.

>>> import numpy as np
>>> from lightloom.control import maximum_weight_matching
>>> demand = np.array([[0, 9, 1, 0], [9, 0, 0, 2], [1, 0, 0, 7], [0, 2, 7, 0]])
>>> matching = maximum_weight_matching(demand)
>>> matching.pairs, matching.weight, matching.certificate.verify()
(array([[0, 1],
       [2, 3]]), 32, True)

If a demand cannot be planned, they raise a `lightloom.ConfigError` that names the entry, its value,
the limit and the remedy.
"""

from lightloom.control.arbiters import Agreement, drrm, islip
from lightloom.control.circuit_table import CircuitTable
from lightloom.control.day.play import Account, replay_day
from lightloom.control.day.series import Day, read_day
from lightloom.control.files import Demand, read_demand
from lightloom.control.matching import (
    Assignment,
    Matching,
    assignment,
    hopcroft_karp,
    maximum_weight_matching,
)
from lightloom.control.planners import ALGORITHMS, plan
from lightloom.control.plans import Plan
from lightloom.control.proofs import AssignmentProof, Blossom, MatchingProof
from lightloom.control.schedules import (
    CoverageSchedule,
    Decomposition,
    HybridSchedule,
    Scaled,
    Schedule,
    birkhoff,
    coverage_bound,
    eclipse,
    quickstuff,
    round_robin,
    sinkhorn,
    solstice,
    traffic_matrix_schedule,
)
from lightloom.control.topology import Topology, Vlans, multihop, vlans

__all__ = [
    "ALGORITHMS",
    "Account",
    "Agreement",
    "Assignment",
    "AssignmentProof",
    "Blossom",
    "CircuitTable",
    "CoverageSchedule",
    "Day",
    "Decomposition",
    "Demand",
    "HybridSchedule",
    "Matching",
    "MatchingProof",
    "Plan",
    "Scaled",
    "Schedule",
    "Topology",
    "Vlans",
    "assignment",
    "birkhoff",
    "coverage_bound",
    "drrm",
    "eclipse",
    "hopcroft_karp",
    "islip",
    "maximum_weight_matching",
    "multihop",
    "plan",
    "quickstuff",
    "read_day",
    "read_demand",
    "replay_day",
    "round_robin",
    "sinkhorn",
    "solstice",
    "traffic_matrix_schedule",
    "vlans",
]
