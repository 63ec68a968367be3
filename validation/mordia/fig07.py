"""Fig 7: days of three lengths, and the throughput of each."""

from pathlib import Path
from typing import Any

import numpy as np

import lightloom
from lightloom.validation.study import draw, panel

SETUP = Path(__file__).with_name("days.toml")
DAYS = (80, 160, 240)
NIGHT = 11.5
ROUNDS = 10


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """Bytes to each of three hosts, relative to the first."""
    del quick, workers  # it takes no time
    days = _shares([])
    slots = [
        f"fabric.mordia.policy.schedule.slots.{i}.day_ps={int((day - NIGHT) * 1e6)}"
        for i, day in enumerate(DAYS)
    ]
    nights_within = _shares(slots)
    claims = {
        "fig07-twice": days[1],
        "fig07-three-times": days[2],
        "fig07-slots": nights_within[2],
    }
    x = ("day [µs]", list(DAYS))
    lines = {"as days": days, "as slots, night included": nights_within}
    theory = {"in proportion": (list(DAYS), [1.0, 2.0, 3.0])}
    panels = [panel("Bytes relative to 80 µs", x, "", lines, theory=theory)]
    return {"data": panels, "claims": claims}


def _shares(settings: list[str]) -> list[float]:
    """Bytes from host 0 to each of the others in whole rounds, relative to the first."""
    nights = 0 if settings else len(DAYS) * NIGHT
    stop = f"run.stop={ROUNDS * (sum(DAYS) + nights) + 1:g} us"
    flows = lightloom.run(lightloom.load(SETUP, [*settings, stop])).flows
    done = flows["finish_ps"].is_valid().to_numpy() & (flows["src"].to_numpy() == 0)
    frames = np.bincount(flows["dst"].to_numpy()[done], minlength=4)[1:]
    if frames.max() >= np.count_nonzero(flows["src"].to_numpy() == 0) / len(DAYS):
        raise AssertionError("a host had nothing left to send")
    return [float(n / frames[0]) for n in frames]


figure = draw
