"""The contents of a request of the HTTP interface: its body, or the parameters of its address."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from lightloom.controller.leases import MOST_PRIORITY
from lightloom.controller.matrices import MOST

LATEST = 253_402_300_799.0
"""The end of the year 9999 [s since 1970], the latest end of a lease."""
MOST_PORTS = 1_024
"""Largest number of rows of a matrix or a list of circuits."""

Priority = Annotated[int, Field(strict=True, ge=0, le=MOST_PRIORITY)]
CROSS_CONNECT = "^[1-9][0-9]{0,3}A-[1-9][0-9]{0,3}B$"
CrossConnectName = Annotated[str, Field(pattern=CROSS_CONNECT)]
Rack = Annotated[str, Field(min_length=1, max_length=256)]
Time = Annotated[float, Field(strict=True, ge=0, le=LATEST, allow_inf_nan=False)]
"""Seconds since 1970."""
SWITCH = r"^[A-Za-z0-9_.-]{1,64}$"
"""Names of switches, as in the configuration."""
Bytes = Annotated[float, Field(strict=True, ge=0, le=MOST, allow_inf_nan=False)]


class Body(BaseModel):
    """A request."""

    model_config = ConfigDict(extra="forbid")


When = Literal["now", "at checkpoint"] | Time
"""The start of a change: now, when every job that loses a circuit is at a checkpoint, or at a time
[s since 1970]."""
JobName = r"^[A-Za-z0-9_.:-]{1,128}$"
"""Names of jobs, which are part of an address."""
MOST_ACCELERATORS = 10_000_000


class Intent(Body):
    """Cross-connects that an operator requests; all other requests of this operator end."""

    cross_connects: list[CrossConnectName] = Field(max_length=2 * MOST_PORTS)
    priority: Priority = 0
    dry_run: bool = Field(False, strict=True)
    when: When = "now"


class Circuits(Body):
    """Circuits that an operator requests by racks, in both directions; all other requests of this
    operator end."""

    circuits: list[tuple[Rack, Rack]] = Field(max_length=MOST_PORTS)
    priority: Priority = 0
    dry_run: bool = Field(False, strict=True)
    when: When = "now"


class Reservation(Body):
    """Two racks to be connected from one time to another [s since 1970]."""

    racks: tuple[Rack, Rack]
    begins: Time | None = None
    ends: Time
    priority: Priority = 0
    dry_run: bool = False
    """Only return the change when it begins, with the present requests; nothing is written."""


class Job(Body):
    """A job on some racks."""

    racks: list[Rack] = Field(min_length=1, max_length=MOST_PORTS)
    accelerators: Annotated[int, Field(strict=True, ge=1, le=MOST_ACCELERATORS)] | None = None
    until: Time | None = None
    """Time at which the job ends, unless it is announced again."""


class Boundary(Body):
    """The time in which a job is stopped [s since 1970]."""

    begins: Time | None = None
    ends: Time


class Demand(Body):
    """Racks × racks [bytes]."""

    matrix: list[Annotated[list[Bytes], Field(max_length=MOST_PORTS)]] = Field(
        max_length=MOST_PORTS
    )


class History(Body):
    """Which transactions to list."""

    switch: str | None = Field(None, pattern=SWITCH)
    limit: int = Field(50, ge=1, le=1000)


class Records(Body):
    """Which audit records to list: those after a number."""

    after: int = Field(0, ge=0, le=2**31 - 1)
