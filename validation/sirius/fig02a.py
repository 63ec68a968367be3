"""Fig 2a: power for each Tb/s of bisection as layers of switches are added (§2)."""

from typing import Any

from lightloom.costs.papers import sirius
from lightloom.validation.study import draw, panel

LAYERS = range(5)
#: 100 Pb/s of bisection [Tb/s], in MW for each W/(Tb/s).
BISECTION = 100_000 / 1e6


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """Arithmetic on the paper's components."""
    del quick, workers
    watts = [float(sirius.watts_per_tbps(layers)) for layers in LAYERS]
    x = ("layers of switches", list(LAYERS))
    panels = [panel("Fig 2a", x, "[W/(Tb/s)]", {"scale tax": watts})]
    claims = {
        "fig02a-direct-link": watts[0],
        "fig02a-four-layers": watts[4],
        "fig02a-100-pbps": watts[4] * BISECTION,
        "fig02a-three-layers-end": float(sirius.reach(3)),
    }
    return {"data": panels, "claims": claims}


figure = draw
