"""Rules of a switch, and their removal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

NORMAL = 0xFFFFFFFA
"""The port that stands for the switch's own forwarding."""
LOCAL = 0xFFFFFFFE
"""The port that stands for the switch's own network device."""


@dataclass(frozen=True)
class Match:
    """The packets of a rule; without any field, all packets."""

    in_port: int | None = None
    eth_dst: tuple[str, str] | None = None
    """Address and mask."""
    ipv4_dst: tuple[str, str] | None = None
    """Address and mask."""


@dataclass(frozen=True)
class Rule:
    """A rule that is added; it replaces one of the same priority and match."""

    priority: int
    match: Match
    out: int | None
    """Output port; None drops."""
    vlan: int | None = None
    """VLAN that is pushed before the output."""
    cookie: int = 0


@dataclass(frozen=True)
class Removal:
    """The rule of exactly this priority and match is removed, if it is there."""

    priority: int
    match: Match


Stage = Sequence[Rule | Removal]
"""Changes that need no order among themselves; a stage begins after a barrier has ended the one
before."""
