"""Limits beyond which a run shows that a fabric does not carry the load."""

from __future__ import annotations

SURELY = 2 / 3
"""A fabric that accepts less than this share of the due bytes is short of the load: with
heavy-tailed sizes on 32 servers a Clos that carries the load accepted 0.8 of it in a seventh of a
relaxation time."""
