"""A switch of the controller: its address, its racks, and the results of the last reading and the
last decision."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lightloom.controller.decider import Decider
from lightloom.controller.matrices import Seen
from lightloom.controller.meters import Meters
from lightloom.controller.racks import Racks
from lightloom.switches.ports import Pair, Port, Size
from lightloom.switches.protocol import Description

LONGEST_PASS_S = 120.0
"""Time of a pass after which the switch counts as unreachable [s]."""


@dataclass
class Managed:
    """A switch of the controller."""

    name: str
    url: str
    racks: Racks
    credentials: Path | None = None
    decider: Decider | None = None
    settle_s: float | None = None
    """Dark time of a change as configured; None if it is not."""
    description: Description | None = None
    lit: list[Pair] = field(default_factory=list)
    connected: set[Pair] = field(default_factory=set)
    """Those of them that the switch does not report as failed or unfinished."""
    being_added: set[Pair] = field(default_factory=set)
    """Cross-connects that an open transaction has added."""
    power: Mapping[Port, float] = field(default_factory=dict)
    """The optical power that each port emits, if the switch measures it [dBm]."""
    port_count: int | None = None
    """Number of ports in the last reading; if it changes, another switch may have this address."""
    read_at: float | None = None
    pass_began: float | None = None
    """Time at which the present pass began [s since 1970]; None if there is none."""
    trouble: str | None = None
    """The reason why it could not be read; None if it could."""
    advice: list[Pair] | None = None
    """The circuits that the policy requests; None if it has not decided."""
    held_back: str | None = None
    """The reason why the advice is not carried out."""
    policy_trouble: str | None = None
    """The reason why the policy is no longer called; None if it is."""
    kept_away: dict[str, str] = field(default_factory=dict)
    """By step of the hook: the reason why traffic is kept away from lit circuits although no
    transaction is open."""
    unowned: list[Pair] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)
    demand: Seen | None = None
    decided_at: float | None = None
    meters: Meters = field(default_factory=Meters)
    lock: threading.RLock = field(default_factory=threading.RLock, repr=False, compare=False)
    """Held while the switch is read or changed."""

    @property
    def size(self) -> Size | None:
        """Its ports; None if it has not been read."""
        return None if self.description is None else self.description.size

    def why_unreachable(self, now: float) -> str | None:
        """The reason why its last reading is not valid, or may be old; None if it is valid."""
        lasts = 0.0 if self.pass_began is None else now - self.pass_began
        if self.trouble is None and lasts > LONGEST_PASS_S:
            return f"a pass has not ended for {lasts:.0f} s: the switch or the hook hangs"
        return self.trouble

    def is_idle(self, pair: Pair) -> bool:
        """Whether there is no demand either way between the racks that a cross-connect joins."""
        if self.demand is None:
            return True
        matrix = self.demand.matrix
        return all(matrix[a][b] == matrix[b][a] == 0 for a, b in self.racks.ways([pair]))

    def share(self, pairs: list[Pair]) -> float:
        """The share of the demand between racks that cross-connects connect."""
        if self.demand is None:
            return 0.0
        matrix = self.demand.matrix
        whole = sum(map(sum, matrix))
        directed, circuits = self.racks.circuits(pairs)
        ways = [*circuits] if directed else [*circuits, *((b, a) for a, b in circuits)]
        return sum(matrix[a][b] for a, b in ways) / whole if whole else 0.0
