"""Rules of a switch, and their removal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

NORMAL = 0xFFFFFFFA
"""The reserved port for the switch's own forwarding."""
LOCAL = 0xFFFFFFFE
"""The reserved port for the switch's own network device."""


@dataclass(frozen=True)
class Match:
    """The packets that a rule applies to; without any field, all packets."""

    in_port: int | None = None
    eth_dst: tuple[str, str] | None = None
    """Address and mask."""
    ipv4_dst: tuple[str, str] | None = None
    """Address and mask."""


@dataclass(frozen=True)
class Rule:
    """A rule to add; it replaces a rule of the same priority and match."""

    priority: int
    match: Match
    out: int | None
    """The output port; None drops the packets."""
    vlan: int | None = None
    """The VLAN that is pushed before the output."""
    cookie: int = 0


@dataclass(frozen=True)
class Removal:
    """Removes the rule of exactly this priority and match, if it exists."""

    priority: int
    match: Match


Stage = Sequence[Rule | Removal]
"""Changes whose order does not matter; a stage begins after a barrier has ended the stage
before."""
