"""Changes of cross-connects, their results, and the reasons for refusal."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from lightloom.switches.ports import Pair, Port, Size, ends_of, name_of

MOST_REASONS = 3
"""Largest number of reasons in one message."""


class Conflict(StrEnum):
    """Treatment of a new cross-connect that needs a port of an existing one."""

    REFUSE = "refuse"
    """The whole change is refused."""
    REPLACE = "replace"
    """The other cross-connect is deleted."""
    INVALID = "invalid"
    """The new connection is stored with the status INVALID."""


@dataclass(frozen=True)
class Requested:
    """A connection that a client requests."""

    name: str
    """Chosen by the client."""
    a: Port
    """The ingress port."""
    b: Port
    """The egress port."""
    named: bool = field(default=True, compare=False)
    """Whether a client chose the name.

    If not, the request concerns the connection between these ports, whatever its name is.
    """

    @property
    def pair(self) -> Pair:
        """Both port numbers."""
        return self.a.number, self.b.number

    @property
    def ends(self) -> tuple[Port, Port]:
        """Both ports."""
        return self.a, self.b


def requested(pair: Pair) -> Requested:
    """Returns the request for a connection that a client identifies by its ports alone."""
    return Requested(name_of(pair), *ends_of(pair), named=False)


@dataclass
class Done:
    """The result of a change, by names of connections."""

    removed: list[str] = field(default_factory=list)
    added: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    """Requested connections that already existed and were not touched."""
    invalid: list[str] = field(default_factory=list)
    """Connections that are stored, but not set up."""
    settled_ps: int = 0
    """Time at which the last new cross-connect will have settled [ps]."""


class RefusedError(Exception):
    """Raised if a change is refused as a whole; nothing has changed then."""

    def __init__(self, reasons: Iterable[str]) -> None:
        self.reasons = list(reasons)
        more = len(self.reasons) - MOST_REASONS
        text = "; ".join(self.reasons[:MOST_REASONS])
        super().__init__(f"{text}; and {more} more" if more > 0 else text)


class BrokenError(Exception):
    """Raised if a change ends before it is complete; `done` lists the completed part."""

    def __init__(self, done: Done, left: int) -> None:
        self.done, self.left = done, left
        super().__init__(f"internal error: {left} operations were not done")


def check_ends(item: Requested, size: Size) -> str:
    """Returns why no switch of this size can have the connection; empty if one can."""
    for port, side in ((item.a, "A"), (item.b, "B")):
        if port.side != side:
            role = "an input" if side == "A" else "an output"
            return f"port {port} cannot be {role} of {item.name}"
        if not size.has(port):
            return f"port {port} of {item.name} does not exist on a switch of {size} ports"
    return ""
