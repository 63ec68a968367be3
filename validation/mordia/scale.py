"""§7: how many ports a ring has by the spacing of its wavelengths."""

from pathlib import Path
from typing import Any

import lightloom
from lightloom.errors import ConfigError
from lightloom.validation.study import draw, panel

SETUP = Path(__file__).with_name("prototype.toml")
#: Wavelengths in the C band: of the prototype, at 100 GHz, at 50 GHz.
WAVELENGTHS = (24, 44, 88)
MOST = 200


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """The largest number of racks that is accepted."""
    del quick, workers  # it takes no time
    ports = {n: _ports(n) for n in WAVELENGTHS}
    claims = {f"scale-{n}": float(ports[n]) for n in WAVELENGTHS}
    x = ("wavelengths", list(WAVELENGTHS))
    lines = {"racks": [float(ports[n]) for n in WAVELENGTHS]}
    return {"data": [panel("Ports of a ring", x, "", lines)], "claims": claims}


def _ports(wavelengths: int) -> int:
    """By trying each number of racks up to one beyond."""
    for racks in range(wavelengths - 1, MOST):
        settings = [f"fabric.exact.wavelengths={wavelengths}", f"cluster.racks={racks}"]
        try:
            lightloom.load(SETUP, settings).only("exact").resolved()
        except ConfigError as problem:
            if problem.key != "cluster.racks":
                raise
            return racks - 1
    raise AssertionError(f"{MOST} racks are not refused")


figure = draw
