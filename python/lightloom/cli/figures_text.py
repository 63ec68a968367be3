"""Formats measured figures of claims, and their expected values."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lightloom.validation import Claim


def expected(claim: Claim) -> str:
    """Formats the value in the source; a dash if there is none."""
    return "-" if claim.expect is None else f"{claim.expect} {claim.unit}".rstrip()


def figure(value: float) -> str:
    """Formats four digits, without an exponent if the number is of usual size.

    >>> figure(41.3624), figure(110_600.0), figure(2.4121e-15)
    ('41.36', '110,600', '2.412e-15')
    """
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e9 else f"{value:.4g}"
