"""Measured figures of claims, and what was expected, as people read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lightloom.validation import Claim


def expected(claim: Claim) -> str:
    """What the source says, or a dash where it says nothing."""
    return "-" if claim.expect is None else f"{claim.expect} {claim.unit}".rstrip()


def figure(value: float) -> str:
    """Four digits, without an exponent where people read.

    >>> figure(41.3624), figure(110_600.0), figure(2.4121e-15)
    ('41.36', '110,600', '2.412e-15')
    """
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e9 else f"{value:.4g}"
