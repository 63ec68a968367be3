"""The states of connections and ports (OCP OCS YANG 0.8, SAI), and views of them."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from lightloom.switches.ports import Pair, Port


class Status(StrEnum):
    """The status of a connection."""

    CONNECTED = "CONNECTED"
    PENDING_CONNECTION = "PENDING_CONNECTION"
    PENDING_DELETION = "PENDING_DELETION"
    FAILED = "FAILED"
    INVALID = "INVALID"


class PortStatus(StrEnum):
    """The status of a port. Only OCP has `UNKNOWN`; SAI and SONiC have no such state."""

    BLOCKED = "BLOCKED"
    TUNING = "TUNING"
    TUNED = "TUNED"
    FAILED = "FAILED"
    UNKNOWN = "UNKNOWN"


class Admin(StrEnum):
    """The administrative state of a port, in SONiC's spelling."""

    NORMAL = "normal"
    FORCE_BLOCKED = "force_blocked"
    POWERED_OFF = "powered_off"


class Recovery(StrEnum):
    """Treatment of cross-connects in a cold reboot."""

    MAINTAIN = "maintain"
    """They stay lit (OCP `MAINTAIN`)."""
    RESTORE = "restore"
    """They go dark, and are set up again from the running configuration (OCP `RESTORE`)."""
    RESTORE_SAVED = "restore-saved"
    """As `restore`, but from the configuration that `config save` stored last."""
    REMOVE = "remove"
    """They are deleted (OCP `REMOVE`)."""


class Seen(NamedTuple):
    """A connection as a face reports it."""

    name: str
    """Chosen by the client; `1A-29B` if its dialect has no names."""
    pair: Pair
    """Its ports."""
    status: Status
    """Its state."""
    reason: str
    """Reason why it is FAILED or INVALID; otherwise empty."""
    updated_ps: int
    """Time of the last change of its state [ps]."""
    configured: bool
    """False for a stale entry: a status without a configuration."""
    ends: tuple[Port, Port]
    """Its ports as the client wrote them; an INVALID connection may have them on the wrong
    sides."""


class PortSeen(NamedTuple):
    """A port as a face reports it."""

    port: Port
    """Which."""
    status: PortStatus
    """Its state."""
    admin: Admin
    """The administrative state of the port."""
    label: str
    """Its label."""
    peer: Port | None
    """The port at the other end of its active connection."""
    input_dbm: float
    """Power that enters the switch here [dBm]."""
    output_dbm: float
    """Power that leaves the switch here [dBm]."""


class Times(NamedTuple):
    """The times at which a cross-connect becomes usable, in three successive steps [ps]."""

    lit_ps: int
    """The switch has settled: the loss is within 0.5 dB of its target."""
    locked_ps: int
    """The receiver behind it has locked."""
    up_ps: int
    """The link behind it carries packets."""
