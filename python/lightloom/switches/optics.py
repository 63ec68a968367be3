"""Light through a switch: insertion loss per path, and the power that a monitor reads.

The factory table of a real switch holds a measured loss for each pair of ports. Here the loss of a
pair is drawn from the seed, uniformly between two bounds, so that a table of a million pairs needs
no memory. Dependence on polarisation, wavelength and temperature is not modelled.
"""

from __future__ import annotations

from dataclasses import dataclass

from lightloom.switches.ports import Pair

TUNED_WITHIN_DB = 0.5
"""A port is tuned if its loss is at most this far off its target [dB] (SAI, OCP)."""
DARK_DBM = -60.0
"""The lowest power that a monitor reports [dBm]: the reading at a dark port."""
_DECADES = 2.0
"""The excess loss falls by this many decades during one settling time."""


@dataclass(frozen=True)
class Monitor:
    """Settings of the monitor of a port."""

    wavelength_nm: float | None = None
    """The wavelength for which it is calibrated [nm]; None is the factory setting. Its readings do
    not depend on it."""
    offset_db: float = 0.0
    """Offset of the monitor's readings [dB]."""


@dataclass(frozen=True)
class Optics:
    """The optical properties of a switch."""

    seed: int = 1
    """Seed of the factory table."""
    loss_min_db: float = 1.5
    """The lowest insertion loss of a path [dB]."""
    loss_max_db: float = 2.0
    """The highest insertion loss of a path [dB]."""
    accuracy_db: float = 0.1
    """Accuracy of the factory measurement [dB]."""
    frequency_thz: float = 229.1
    """Optical frequency of the factory measurement [THz]."""
    temperature_c: float = 25.0
    """Temperature of the factory measurement [°C]."""
    launch_dbm: float = 0.0
    """Power that enters each A port [dBm]."""

    def loss_db(self, pair: Pair) -> float:
        """Returns the factory insertion loss of a path, to two decimals [dB]."""
        share = _draw(self.seed, *pair) / 2**32
        return round(self.loss_min_db + share * (self.loss_max_db - self.loss_min_db), 2)

    def output_dbm(self, pair: Pair, remaining: float) -> float:
        """Returns the power that leaves the B port of a settling path, to two decimals [dBm].

        Args:
            pair: the path.
            remaining: time until it settles, in units of its settling time; negative afterwards.
        """
        power = self.launch_dbm - self.loss_db(pair) - excess_db(remaining)
        return round(max(power, DARK_DBM), 2)


def excess_db(remaining: float) -> float:
    """Returns the loss above the target during settling, which is exactly `TUNED_WITHIN_DB` at its
    end.

    >>> excess_db(0.0), excess_db(1.0)
    (0.5, 50.0)
    """
    return TUNED_WITHIN_DB * 10 ** float(_DECADES * max(min(remaining, 1.0), -4.0))


def _draw(seed: int, a: int, b: int) -> int:
    """Returns 32 bits that depend on all three numbers (the finaliser of SplitMix64)."""
    mask = 2**64 - 1
    mixed = (seed * 0x9E3779B97F4A7C15 + a * 0xD1B54A32D192ED03 + b * 0x8CB92BA72F3D8DD7) & mask
    mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & mask
    mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & mask
    return (mixed ^ (mixed >> 31)) >> 32
