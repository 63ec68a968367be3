"""Plans: a demand, the circuits or schedule that an algorithm computes for it, and figures.

`lightloom plan` prints and writes them. Every plan has the same figures; if an algorithm does not
have one, it is None.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lightloom.control.arrays import Integers
from lightloom.control.files import Demand
from lightloom.control.plan_json import as_text
from lightloom.control.proofs import AssignmentProof, MatchingProof
from lightloom.control.schedules import Schedule
from lightloom.control.wiring.lights import Wiring
from lightloom.results.views import Planned, above
from lightloom.storage.staging import write_files

if TYPE_CHECKING:
    from lightloom.control.changes import Change

FIGURES = (
    *("objective", "weight", "carried_bytes", "coverage", "bound", "optimal"),
    *("circuits", "slots", "period_ps", "duty_cycle", "completion_ps"),
)
PICTURES = (".svg", ".pdf", ".png")

Proof = MatchingProof | AssignmentProof


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
        return as_text(self)

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
