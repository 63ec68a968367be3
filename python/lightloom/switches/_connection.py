"""One connection of an emulated switch, and its state as a function of time."""

from __future__ import annotations

from dataclasses import dataclass

from lightloom.switches.changes import Requested
from lightloom.switches.ports import Port
from lightloom.switches.states import Status


@dataclass(slots=True, eq=False)
class Connection:
    """A connection of an emulated switch."""

    requested: Requested
    """The request of a client."""
    created_ps: int
    """Time of the request [ps]."""
    configured: bool = True
    """False for a stale entry, which is in the status but not in the configuration."""
    active: bool = False
    """Whether it holds its ports; INVALID connections do not."""
    blocked: bool = False
    """Whether it is INVALID because another connection holds one of its ports."""
    reason: str = ""
    """Why it is INVALID."""
    start_ps: int = 0
    """Time at which its mirrors begin to move [ps]."""
    settled_ps: int | None = None
    """Time at which they have settled [ps]; None if they never settle."""
    give_up_ps: int = 0
    """Time after which the connection fails if it has not settled [ps]."""
    leaving: bool = False
    """Whether it is being deleted."""
    left_ps: int = 0
    """Time at which it was deleted [ps]."""
    gone_ps: int = 0
    """Time at which its ports are free again [ps]."""

    def __str__(self) -> str:
        return self.name

    @property
    def name(self) -> str:
        """Its name."""
        return self.requested.name

    @property
    def ports(self) -> tuple[Port, Port]:
        """Both ports."""
        return self.requested.a, self.requested.b

    def other(self, port: Port) -> Port:
        """The port at the other end."""
        return self.requested.b if port == self.requested.a else self.requested.a

    def tune(self, start_ps: int, settled_ps: int | None, give_up_ps: int) -> None:
        """Starts to move its mirrors."""
        self.start_ps, self.settled_ps, self.give_up_ps = start_ps, settled_ps, give_up_ps

    def leave(self, now: int, gone_ps: int) -> None:
        """Deletes it; it then no longer holds its ports."""
        self.active, self.leaving = False, True
        self.left_ps, self.gone_ps = now, gone_ps

    def status(self, now: int) -> Status:
        """Returns its state, without regard to faults of ports."""
        if self.leaving:
            return Status.PENDING_DELETION
        if not self.active:
            return Status.INVALID
        if self.settled_ps is not None and self.settled_ps <= min(now, self.give_up_ps):
            return Status.CONNECTED
        return Status.FAILED if now >= self.give_up_ps else Status.PENDING_CONNECTION

    def updated_ps(self, now: int) -> int:
        """Returns the time of the last change of its state [ps]."""
        times = {
            Status.CONNECTED: self.settled_ps or 0,
            Status.FAILED: self.give_up_ps,
            Status.PENDING_CONNECTION: self.start_ps,
            Status.PENDING_DELETION: self.left_ps,
        }
        return min(times.get(self.status(now), self.created_ps), now)

    def remaining(self, now: int) -> float:
        """Returns the time until it settles, in units of its settling time: negative once it has
        settled, 1 if it never does."""
        if self.settled_ps is None or not self.active:
            return 1.0
        if self.settled_ps == self.start_ps:
            return -4.0 if now >= self.settled_ps else 1.0
        if self.status(now) is Status.FAILED:
            return 1.0
        return (self.settled_ps - now) / (self.settled_ps - self.start_ps)
