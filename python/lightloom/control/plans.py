"""Plans: a demand, what an algorithm makes of it, and how good that is.

`lightloom plan` prints and writes them. Every plan has the same figures; one
that an algorithm does not have is None.
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
from lightloom.storage import write_files

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
    """Circuits that stay as they are: a column per field, a row per circuit."""

    a: Integers
    """One node; the source if circuits are directed."""
    b: Integers
    """The other."""
    carried: Integers
    """Demand that crosses it [bytes]; on planes, what paths reserve each way."""
    directed: bool
    """Whether a circuit carries from `a` to `b` only."""
    plane: Integers | None = None
    """The switch that it is on, where there are several."""

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
    """One of `ALGORITHMS`."""
    demand: Demand
    """What was planned for."""
    options: dict[str, Any]
    """All options of the algorithm, as text."""
    figures: dict[str, Any]
    """`objective`, what was sought: the name of another figure; `weight`, the demand
    on the circuits [bytes]; `carried_bytes`, by circuits or in one period, and
    `coverage`, its share of the demand; `bound`, the most (of times the least)
    that any plan reaches; `optimal`, whether it was proved to be reached;
    `circuits`, `slots`; `period_ps`, `duty_cycle`; `completion_ps`, when all is
    served with packets beside the circuits."""
    circuits: CircuitTable | None = None
    """Circuits that stay."""
    schedule: Schedule | None = None
    """Circuits that take turns."""
    proof: Proof | None = None
    """The proof of the optimum."""
    details: dict[str, Any] = field(default_factory=dict)
    """What only this algorithm has."""
    wiring: Wiring | None = None
    """At which ports of the switches its racks are, if a port map said so."""
    change: Change | None = None
    """What it takes to get here from another plan, if it was compared with one."""

    def text(self) -> str:
        """The plan as JSON, as docs/control.md defines it."""
        return as_text(self)

    def save(self, path: str | Path) -> Path:
        """Writes the plan as JSON."""
        return write_files({Path(path): self.text().encode()})[0]

    def picture(self, path: str | Path) -> Path:
        """Draws demand and plan side by side, for a paper, as SVG, PDF or PNG."""
        path = Path(path)
        return write_files({path: self.drawn(path.suffix.lower())})[0]

    def drawn(self, kind: str) -> bytes:
        """The picture as a file of that kind: ".svg", ".pdf" or ".png"."""
        drawn: bytes = above("plotting.plan_picture").render(self, kind)
        return drawn


def figures(*, carried: int, total: int, **known: Any) -> dict[str, Any]:
    """Those of `Plan.figures`, None where they are not given."""
    found = {**known, "carried_bytes": carried, "coverage": carried / total}
    return {name: found.get(name) for name in FIGURES}
