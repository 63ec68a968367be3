"""Shared parts of the studies: traffic between uniform and a permutation, and frames that grow with
the night."""

from __future__ import annotations

from pathlib import Path

SETUP = Path(__file__).with_name("study.toml")
RACKS = 16
POLICIES = ("round-robin", "TMS", "Solstice", "Eclipse")
#: A slot of a round robin and the shortest of others, in nights: as Mordia's 106 and 61 us
#: of 11.5 us, about.
SLOT, SHORTEST = 10, 5
#: No slot of a round robin is shorter than 20 packets of 1,500 B at 25 Gb/s [ns].
LEAST = 9_600
#: Length of the measurement window in intervals, and its minimum [ns].
INTERVALS, WINDOW = 10, 200_000_000


def weights(folder: Path, skew: float) -> Path:
    """The share `skew` of each rack's bytes goes to one other rack, the rest equally to all others.
    Partners do not have a common shift, because round robins connect racks by shifts."""
    path = folder / f"weights-{skew:g}.csv"
    # 5 and 16 have no common divisor, so this is a permutation; 5 i + 3 = i (mod 16) has no
    # solution, because 4 i = 13 has none.
    partner = [(5 * i + 3) % RACKS for i in range(RACKS)]
    even = (1 - skew) / (RACKS - 1)
    rows = [
        [0.0 if j == i else even + skew * (j == partner[i]) for j in range(RACKS)]
        for i in range(RACKS)
    ]
    path.write_text("\n".join(",".join(f"{w:.9f}" for w in row) for row in rows) + "\n")
    return path


def interval(night: int) -> int:
    """From one decision to the next, a round of 15 slots [ns]."""
    return max(SLOT * night, LEAST) * (RACKS - 1)


def settings(label: str, night: int, quick: bool) -> list[str]:
    """The overrides for a night [ns]: values that follow from it, and the measurement window."""
    slot = max(SLOT * night, LEAST)
    shortest = max(SHORTEST * night, LEAST // 2)
    window = max(INTERVALS * interval(night), WINDOW) // (2 if quick else 1)
    table = {"night": night, "slot": slot, "shortest_slot": shortest, "interval": interval(night)}
    return [
        *(f"fabric.{label}.{key}={value} ns" for key, value in table.items()),
        f"run.warm_up={window // 2} ns",
        f"run.measure={window} ns",
    ]
