#!/usr/bin/env python3
"""What eight racks had for each other on a day, hour by hour: writes `demand-day/`.

Made up, not measured: two training jobs that reduce gradients around rings of racks, one
of which moves at 6, 13 and 20 h; a backup at night; a web front end that follows the sun.
Numbers come from a seeded generator, so that the files are the same whenever it runs.

    python examples/demand_day.py
"""

from pathlib import Path

import numpy as np

RACKS = ("gpu-0", "gpu-1", "gpu-2", "gpu-3", "store-0", "store-1", "web", "cache")
GB = 10**9
HOURS = 24
RINGS = {
    0: ("gpu-0", "gpu-1"),
    6: ("gpu-2", "gpu-3"),
    13: ("gpu-0", "gpu-3"),
    20: ("gpu-1", "gpu-2"),
}
"""Racks that a job has from an hour on; the other job has the other two."""
LINE = "# Made by examples/demand_day.py, not measured: bytes from rack to rack in an hour."


def files() -> dict[str, str]:
    """The text of each file by its name."""
    draw, found = np.random.default_rng(2026), {}
    for hour in range(HOURS):
        rows = [f"{dst},{amount},{src}" for (src, dst), amount in hourly(hour, draw).items()]
        lines = [LINE, "dst,bytes,src", *draw.permutation(rows)]
        found[f"2026-11-23T{hour:02}-00.csv"] = "\n".join(lines) + "\n"
    return found


def hourly(hour: int, draw: np.random.Generator) -> dict[tuple[str, str], int]:
    """The demand of an hour [bytes]."""
    sun = max(0.0, np.sin(np.pi * (hour - 6) / 16))
    found = {(a, b): 2.0 for a in RACKS for b in RACKS if a != b}
    begun = max(at for at in RINGS if at <= hour)
    first = RINGS[begun]
    second = tuple(rack for rack in RACKS[:4] if rack not in first)
    for (a, b), size in ((first, 1900.0), (second, 1100.0)):
        found[a, b] += size
        found[b, a] += size
    found["web", "cache"] += 900 * sun
    found["cache", "web"] += 2400 * sun
    if hour < 5:
        found["store-0", "store-1"] += 2600
    for source, rack in (("store-0", first[0]), ("store-1", second[1])):
        found[source, rack] += 400
    noise = draw.lognormal(0, 0.2, len(found))
    return {
        pair: int(size * GB * by) for (pair, size), by in zip(found.items(), noise, strict=True)
    }


if __name__ == "__main__":
    folder = Path(__file__).with_name("demand-day")
    folder.mkdir(exist_ok=True)
    for name, text in files().items():
        (folder / name).write_text(text, encoding="utf-8")
