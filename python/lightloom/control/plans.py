"""Plans: a demand, the circuits or schedule that an algorithm computes for it, and figures.

`lightloom plan` prints and writes them. Every plan has the same figures; if an algorithm does not
have one, it is None.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lightloom.control import plan_json
from lightloom.control.circuit_table import CircuitTable
from lightloom.control.differences.change import Change
from lightloom.control.files import Demand
from lightloom.control.ports.lights import Light, Wiring, lights_of_circuits, lights_of_slots
from lightloom.control.proofs import AssignmentProof, MatchingProof
from lightloom.control.schedules import Schedule
from lightloom.results.views import Planned, above
from lightloom.storage.staging import write_files

FIGURES = (
    *("objective", "weight", "carried_bytes", "coverage", "bound", "optimal"),
    *("circuits", "slots", "period_ps", "duty_cycle", "completion_ps"),
)
PICTURES = (".svg", ".pdf", ".png")

Proof = MatchingProof | AssignmentProof


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Planned):
    """Circuits or a schedule for a demand.

    >>> demand = np.array([[0, 9, 1, 0], [9, 0, 0, 2], [1, 0, 0, 7], [0, 2, 7, 0]])
    >>> found = plan(demand, "edmonds")
    >>> found.figures["weight"], found.figures["bound"], found.figures["optimal"]
    (32, 32, True)
    >>> found.circuits.a, found.circuits.b
    (array([0, 2]), array([1, 3]))
    """

    algorithm: str
    """The algorithm, one of `ALGORITHMS`."""
    demand: Demand
    """The demand of the plan."""
    options: dict[str, Any]
    """All options of the algorithm, as text."""
    figures: dict[str, Any]
    """`objective`, the name of the figure that the algorithm optimises; `weight`, the demand of the
    pairs with circuits [bytes]; `carried_bytes`, by circuits or in one period, and `coverage`, its
    share of the demand; `bound`, the largest value (for times the smallest) that any plan can
    reach; `optimal`, whether the plan provably reaches it; `circuits`, `slots`; `period_ps`,
    `duty_cycle`; `completion_ps`, when all demand is served, with packets beside the circuits."""
    circuits: CircuitTable | None = None
    """Permanent circuits; None if the plan is a schedule."""
    schedule: Schedule | None = None
    """A schedule of circuits; None if circuits are permanent."""
    proof: Proof | None = None
    """The proof that the plan is optimal; None if there is none."""
    details: dict[str, Any] = field(default_factory=dict)
    """Data that only this algorithm has."""
    wiring: Wiring | None = None
    """The switch ports of its racks, if a port map was given."""
    change: Change | None = None
    """The difference from another plan, if it was compared with one."""

    def text(self) -> str:
        """Returns the plan as JSON, in the form that docs/control.md defines."""
        return plan_json.as_text(self._table())

    def _table(self) -> dict[str, Any]:
        """Returns the plan as plain data."""
        details = dict(self.details)
        carried, topology = details.pop("carried", None), details.pop("topology", None)
        vlans = details.pop("vlans", None)
        if topology is not None:
            details["paths"] = plan_json.paths(topology, vlans)
        if vlans is not None:
            details["vlans"] = {"count": len(vlans.members), "lower_bound": vlans.lower_bound}
        circuits, schedule, proof = self.circuits, self.schedule, self.proof
        table = {
            **plan_json.head(self.algorithm, self.demand),
            "options": self.options,
            "figures": self.figures,
            "directed": None if circuits is None else circuits.directed,
            "circuits": None if circuits is None else plan_json.circuits(circuits),
            "schedule": None if schedule is None else plan_json.schedule(schedule, carried),
            "proof": None if proof is None else plan_json.proof(proof),
            **details,
            **plan_json.read(self.demand.reading),
        }
        if self.wiring is not None:
            self.wiring.add_to(table, self.numbered_lights())
        if self.change is not None:
            self.change.add_to(table)
        return table

    def numbered_lights(self) -> Iterator[tuple[int, Light]]:
        """All directions of light, each with the number of its circuit or slot."""
        if self.circuits is not None:
            return lights_of_circuits(self.circuits, self.demand, self.wiring)
        if self.schedule is None or self.details.get("carried") is None:
            return iter(())
        return lights_of_slots(self.schedule, self.details["carried"], self.demand, self.wiring)

    def save(self, path: str | Path) -> Path:
        """Writes the plan as JSON."""
        return write_files({Path(path): self.text().encode()})[0]

    def picture(self, path: str | Path) -> Path:
        """Draws the demand and the plan side by side, as SVG, PDF or PNG for a paper."""
        path = Path(path)
        return write_files({path: self.drawn(path.suffix.lower())})[0]

    def drawn(self, kind: str) -> bytes:
        """Returns the picture as a file of the given kind: ".svg", ".pdf" or ".png"."""
        drawn: bytes = above("plotting.plan_picture").render(self, kind)
        return drawn


def figures(*, carried: int, total: int, **known: Any) -> dict[str, Any]:
    """Returns the figures of a plan; those that are not given are None."""
    found = {**known, "carried_bytes": carried, "coverage": carried / total}
    return {name: found.get(name) for name in FIGURES}
