"""An emulated switch in this process: implements `CircuitSwitch` on the state machine, without
sockets.

Its time is virtual: to wait, it advances its clock, which takes no real time.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from lightloom.switches.changes import BrokenError, RefusedError, requested
from lightloom.switches.design import Design
from lightloom.switches.machine import Machine
from lightloom.switches.ports import Pair, Port, name_of
from lightloom.switches.protocol import (
    WAIT_S,
    CrossConnect,
    Description,
    Outcome,
    Reading,
    SwitchError,
    check_pairs,
    difference,
)
from lightloom.switches.states import Status


class EmulatedSwitch:
    """An emulated switch in this process."""

    def __init__(self, design: Design | None = None) -> None:
        self.machine = Machine(design or Design())
        self.now = 0
        """Virtual time [ps]; may be set to a later one."""

    def describe(self) -> Description:
        """Returns the properties of the switch."""
        design = self.machine.design
        return Description(
            "emulated:",
            "in process",
            design.name,
            design.size,
            design.settle_ps,
            design.bidirectional,
            reports_status=True,
            reports_power=True,
        )

    def read(self) -> Reading:
        """Returns its present cross-connects and ports."""
        found = [
            CrossConnect(one.pair, one.name, one.status, one.reason, one.configured)
            for one in self.machine.connections(self.now)
        ]
        ports = self.machine.design.size.ports()
        return Reading(found, {port: self.machine.port(self.now, port).status for port in ports})

    def change(
        self, remove: Collection[Pair], add: Collection[Pair], *, wait_s: float = WAIT_S
    ) -> Outcome:
        """Deletes, then creates; advances the clock until the new cross-connects have settled."""
        check_pairs(remove, add, self.machine.design.size)
        before = self.read()
        gone, new, kept = difference(before, remove, add)
        start = self.now
        try:
            done = self.machine.change(
                self.now, gone, map(requested, new), lenient=True, stale=True
            )
        except RefusedError as problem:
            raise SwitchError(f"emulated: {problem}; read the switch", Outcome()) from None
        except BrokenError as problem:
            there, lit = {*self.read().pairs}, {*before.pairs}
            half = Outcome(sorted(lit - there), sorted(there - lit))
            raise SwitchError(f"emulated: {problem}", half) from None
        state = self._await(new, max(self.now, done.settled_ps), start + round(wait_s * 1e12))
        outcome = Outcome(gone, new, kept, not state, (self.now - start) / 1e12)
        if state:
            raise SwitchError(f"emulated: {state}; look at its ports", outcome)
        return outcome

    def _await(self, new: Collection[Pair], settled_ps: int, until_ps: int) -> str:
        """Advances the clock until the new cross-connects have settled or failed; returns why one
        has not settled."""
        self.now = min(settled_ps, until_ps)
        design = self.machine.design
        step = max(design.settle_ps, design.deviation_ps, 1)
        while True:
            listed = self.machine.connections(self.now)
            states = {one.pair: one for one in reversed(listed) if one.pair in new}
            failed = [one for one in states.values() if one.status in _ENDED]
            waiting = [one for one in states.values() if one.status is Status.PENDING_CONNECTION]
            if failed:
                return (
                    f"{name_of(failed[0].pair)} is {failed[0].status.lower()}: {failed[0].reason}"
                )
            if not waiting:
                return ""
            if self.now >= until_ps:
                return f"{name_of(waiting[0].pair)} had not settled in time"
            self.now = min(self.now + step, until_ps)

    def power(self) -> Mapping[Port, float]:
        """Returns the measured power that enters A ports and leaves B ports [dBm]."""
        seen = (self.machine.port(self.now, port) for port in self.machine.design.size.ports())
        return {one.port: one.input_dbm if one.port.side == "A" else one.output_dbm for one in seen}

    def close(self) -> None:
        """Nothing is open."""


_ENDED = (Status.FAILED, Status.INVALID)
