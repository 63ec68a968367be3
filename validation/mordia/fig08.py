"""Fig 8: lengths of nights, from the recorded circuits."""

from pathlib import Path
from typing import Any

import numpy as np

import lightloom
from lightloom.validation.estimate import Estimate
from lightloom.validation.study import draw, panel

SETUP = Path(__file__).with_name("prototype.toml")
#: The paper's sample, its mean and deviation [us].
NIGHTS, MEAN, DEVIATION = 705, 11.55, 2.36
#: Edges of the bins that are drawn [us].
BINS = np.arange(3.0, 21.0)


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """Between the end of one day and the light of the next."""
    del quick, workers  # it takes no time
    stop = f"run.stop={(NIGHTS + 1) * 106 + 1} us"
    circuits = lightloom.run(lightloom.load(SETUP, [stop]), "prototype").circuits
    of_host = np.flatnonzero(circuits["a"].to_numpy() == 0)
    light, dark = (circuits[name].to_numpy()[of_host] for name in ("from_ps", "until_ps"))
    nights = (light[1 : NIGHTS + 1] - dark[:NIGHTS]) * 1e-6
    if nights.size != NIGHTS:
        raise AssertionError(f"{nights.size} nights were recorded")
    deviation = float(nights.std(ddof=1))
    claims = {
        "fig08-mean": Estimate(float(nights.mean()), 1.96 * deviation / NIGHTS**0.5),
        "fig08-deviation": Estimate(deviation, 1.96 * deviation / (2 * NIGHTS) ** 0.5),
    }
    return {"data": [_panel(nights)], "claims": claims}


def _panel(nights: Any) -> dict[str, Any]:
    share = np.histogram(nights, BINS)[0] / NIGHTS
    middle = (BINS[:-1] + BINS[1:]) / 2
    normal = np.exp(-(((middle - MEAN) / DEVIATION) ** 2) / 2) / (DEVIATION * (2 * np.pi) ** 0.5)
    x = ("night [µs]", list(map(float, middle)))
    theory = {"nights": (x[1], list(map(float, normal)))}
    return panel("705 nights", x, "share a µs", {"nights": list(map(float, share))}, theory=theory)


figure = draw
