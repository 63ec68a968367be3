"""Fig 6: power and cost of Sirius relative to electrical networks, by each reading of §5.

The paper's components do not determine its figures. The verdict is that of reading A, the paper's
words literally; the figure has all readings, and three of them were fitted.
"""

from typing import Any

from lightloom.costs import book as books
from lightloom.costs import readings
from lightloom.costs.papers import sirius
from lightloom.validation.readings import Reading, Readings
from lightloom.validation.study import draw, panel

LITERAL, FITTED = "A", "H"
CLAIMS = {
    "fig06-power-3x": "power_3x",
    "fig06-power-5x": "power_5x",
    "fig06-cost": "cost",
    "fig06-cost-osub": "cost_osub",
    "fig06-cost-electrical": "cost_electrical",
}


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """Each of the paper's figures by each reading."""
    del quick, workers
    parts, paper = readings.components(books.load("sirius-2020")), readings.published()
    found = {name: readings.figures(readings.load(name), *parts) for name in readings.names()}
    lines = {name: [float(value) for value in of.values()] for name, of in found.items()}
    lines["paper"] = [float(value) for value in paper.values()]
    text = "power 3x, power 5x, cost, cost at 3:1, cost of switches"
    panels = [panel("Fig 6, by reading", (text, range(1, 6)), "Sirius, relative [%]", lines)]
    clos = sirius.clos(4000, 12_800_000_000_000, 4)
    claims = {
        "fig06-fitted": float(sum(readings.meets(found[FITTED], paper).values())),
        "fig06-absolute-power": float(clos.power / 10**6),
    }
    values = {
        claim: {name: float(of[key]) for name, of in found.items()} for claim, key in CLAIMS.items()
    }
    return {"data": panels, "claims": claims, "readings": Readings(LITERAL, _known(), values)}


def _known() -> list[Reading]:
    """The readings that are shipped, with what was fitted."""
    return [_reading(readings.load(name)) for name in readings.names()]


def _reading(found: readings.Reading) -> Reading:
    basis = "fitted" if found.basis == "fitted" else "assumed"
    return Reading(found.name, found.what, basis)


figure = draw
