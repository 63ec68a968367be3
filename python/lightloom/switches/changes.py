"""Changes of cross-connects, what came of them, and why they were refused."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from lightloom.switches.ports import Pair, Port, Size, ends_of, name_of

MOST_REASONS = 3
"""Reasons [count] that one message holds."""


class Conflict(StrEnum):
    """What happens to a new cross-connect whose port is in another one."""

    REFUSE = "refuse"
    """The whole change is refused."""
    REPLACE = "replace"
    """The other cross-connect is deleted."""
    INVALID = "invalid"
    """The new connection is stored with the status INVALID."""


@dataclass(frozen=True)
class Wish:
    """A connection that a client asks for."""

    name: str
    """Chosen by the client."""
    a: Port
    """The ingress port."""
    b: Port
    """The egress port."""
    named: bool = field(default=True, compare=False)
    """Whether a client chose the name; otherwise a connection between these ports is meant,
    whatever its name."""

    @property
    def pair(self) -> Pair:
        """Both port numbers."""
        return self.a.number, self.b.number

    @property
    def ends(self) -> tuple[Port, Port]:
        """Both ports."""
        return self.a, self.b


def wish(pair: Pair) -> Wish:
    """A connection that a client names by its ports alone."""
    return Wish(name_of(pair), *ends_of(pair), named=False)


@dataclass
class Done:
    """The result of a change, by names of connections."""

    removed: list[str] = field(default_factory=list)
    added: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    """Asked for, and there already: untouched."""
    invalid: list[str] = field(default_factory=list)
    """Stored, but not set up."""
    settled_ps: int = 0
    """When the last new cross-connect will be tuned [ps]."""


class RefusedError(Exception):
    """A change that was refused as a whole: nothing has changed."""

    def __init__(self, reasons: Iterable[str]) -> None:
        self.reasons = list(reasons)
        more = len(self.reasons) - MOST_REASONS
        text = "; ".join(self.reasons[:MOST_REASONS])
        super().__init__(f"{text}; and {more} more" if more > 0 else text)


class BrokenError(Exception):
    """A change that ended half-way; `done` has what was done."""

    def __init__(self, done: Done, left: int) -> None:
        self.done, self.left = done, left
        super().__init__(f"internal error: {left} operations were not done")


def check_ends(item: Wish, size: Size) -> str:
    """Why no switch of this size can have the connection; empty if it can."""
    for port, side in ((item.a, "A"), (item.b, "B")):
        if port.side != side:
            role = "an input" if side == "A" else "an output"
            return f"port {port} cannot be {role} of {item.name}"
        if not size.has(port):
            return f"port {port} of {item.name} does not exist on a switch of {size} ports"
    return ""
