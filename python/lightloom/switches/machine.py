"""The state machine of an optical circuit switch, without I/O, on a virtual clock.

Every method takes the time `now` [ps], which must not decrease. States follow from times: a
connection is PENDING_CONNECTION until its mirrors have settled, then CONNECTED; no call is needed
in between. A change is validated as a whole, then compared with the present connections; those that
stay are not touched. Then it deletes, then it creates (the order of the OCP model).

Not modelled: the paths of beams between mirrors (a moving mirror lights no third port),
crosstalk, drift of the loss with time.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

from lightloom.switches import faults as fault_kinds
from lightloom.switches._connection import Connection
from lightloom.switches.changes import (
    BrokenError,
    Conflict,
    Done,
    RefusedError,
    Requested,
    check_ends,
    requested,
)
from lightloom.switches.design import Design
from lightloom.switches.faults import Fault
from lightloom.switches.optics import DARK_DBM, Monitor
from lightloom.switches.packets import Counted, Counter, Stream
from lightloom.switches.ports import Pair, Port, ends_of
from lightloom.switches.resolution import Request, Resolver
from lightloom.switches.states import (
    Admin,
    PortSeen,
    PortStatus,
    Recovery,
    Seen,
    Status,
    Times,
)

FREED = "its ports are free, and it is not retried"
"""The reason of an INVALID connection without a blocker (`retry_invalid = false`)."""

_FACTORY = Monitor()


class Machine:
    """An emulated switch at a virtual time."""

    def __init__(self, design: Design) -> None:
        self.design = design
        self.now = 0
        self.boot_until_ps = 0
        self.boots = 0
        """Number of reboots since the start; each ends the connections of clients."""
        self.changed_ps = 0
        self.labels: dict[Port, str] = {}
        self.monitors: dict[Port, Monitor] = {}
        """Settings of monitors that differ from the factory settings."""
        self.next_change: list[str] = []
        """Faults of connections of clients that wait for the next change."""
        self._random = random.Random(design.seed)
        self._intents: dict[str, Connection] = {}
        self._active: dict[Port, Connection] = {}
        self._leaving: list[Connection] = []
        self._free_ps: dict[Port, int] = {}
        """Port → time at which it is free of its last deleted connection [ps]."""
        self._saved: list[Requested] = []
        self._admin: dict[Port, Admin] = {}
        self._stuck: set[Port] = set()
        self._failed: set[Port] = set()
        self._dark_ps: dict[Port, int] = {}
        """Port → time since which it is dark [ps], for ports that have failed or are not in the
        normal state."""
        self._factor = 1.0
        self._partial = False
        self._packets: Counter | None = None
        self._schedule = sorted(design.faults, key=lambda fault: fault.at_ps)

    def advance(self, now: int) -> None:
        """Advances the clock, and applies scheduled faults in order."""
        while self._schedule and self._schedule[0].at_ps <= now:
            fault = self._schedule.pop(0)
            self._move(max(fault.at_ps, self.now))
            self._strike(fault)
            self._count()
        self._move(max(now, self.now))

    def change(
        self,
        now: int,
        remove: Iterable[str | Pair] = (),
        add: Iterable[Requested] = (),
        *,
        conflict: Conflict = Conflict.REFUSE,
        wipe: bool = False,
        lenient: bool = False,
        stale: bool = False,
    ) -> Done:
        """Deletes connections by name and creates others.

        Args:
            now: the present time [ps].
            remove: connections by name, or by their ports whatever their name.
            add: connections; an existing one stays as it is.
            conflict: the treatment of a port that is in use.
            wipe: also delete every connection that is not in `add`.
            lenient: ignore connections to delete that do not exist.
            stale: also delete stale entries that are given by their ports, because a dialect
                without a separate configuration cannot tell them from others.

        Raises:
            RefusedError: if the change is refused; nothing has changed.
            BrokenError: if a fault ended the change before it was complete.
        """
        self.advance(now)
        request = Request(remove, add, conflict, wipe=wipe, lenient=lenient, stale=stale)
        plan = self._resolver().resolve(request)
        try:
            return self._carry_out(plan.gone, plan.new, plan.kept)
        finally:
            self._count()

    def send_packets(self, now: int, stream: Stream) -> None:
        """Sends packets into every A port from now on, and counts those that arrive."""
        self.advance(now)
        self._packets = Counter(stream, self.now)
        self._count()

    def packets(self, now: int) -> dict[int, Counted]:
        """Returns A port → packets up to now; empty if none are sent."""
        self.advance(now)
        return {} if self._packets is None else self._packets.counts(self.now)

    def connections(self, now: int) -> list[Seen]:
        """Returns all connections: configured ones in the order of their creation, stale ones, and
        those being deleted."""
        self.advance(now)
        listed = [*self._intents.values(), *self._stale(), *self._leaving]
        return [self._seen(one) for one in listed]

    def port(self, now: int, port: Port) -> PortSeen:
        """One port."""
        self.advance(now)
        one = self._active.get(port)
        offset = self.monitors.get(port, _FACTORY).offset_db
        into, out = (round(power + offset, 2) for power in self._powers(port, one))
        peer = None if one is None else one.other(port)
        return PortSeen(
            port,
            self._port_status(port),
            self._admin.get(port, Admin.NORMAL),
            self.labels.get(port, ""),
            peer,
            into,
            out,
        )

    def names_at(self, now: int, pair: Pair) -> list[str]:
        """Returns the names of the configured connections between two ports."""
        self.advance(now)
        return self._names_at(pair)

    def times(self, now: int, name: str) -> Times | None:
        """Returns the times at which a connection becomes usable; None if it does not exist or will
        not settle."""
        self.advance(now)
        one = self._intents.get(name)
        if one is None or not one.active or one.settled_ps is None:
            return None
        locked = one.settled_ps + self.design.relock_ps
        return Times(one.settled_ps, locked, locked + self.design.link_up_ps)

    def pending_until(self, now: int) -> int:
        """Returns the time at which the last pending connection will have settled, failed or been
        deleted [ps]; a past time if none is pending."""
        self.advance(now)
        busy = [one.gone_ps for one in self._leaving]
        for one in {*self._active.values()}:
            if one.status(self.now) is Status.PENDING_CONNECTION and not self._hindrance(one):
                busy.append(min(one.settled_ps or one.give_up_ps, one.give_up_ps))
        return max(busy, default=0)

    def set_admin(self, now: int, port: Port, admin: Admin) -> None:
        """Sets the administrative state of a port; if it returns to normal, its connection is tuned
        again."""
        self.advance(now)
        before = self._admin.get(port, Admin.NORMAL)
        self._admin[port] = admin
        if before is not admin:
            self.changed_ps = self.now
            self._note_dark(port)
            if admin is Admin.NORMAL:
                self._retune([port])
            self._count()

    def save(self, now: int) -> None:
        """Stores the running configuration, as `config save` does."""
        self.advance(now)
        self._saved = self._all_requested()

    def is_up(self, now: int) -> bool:
        """Returns whether the control plane answers."""
        self.advance(now)
        return self.now >= self.boot_until_ps

    def strike(self, now: int, fault: Fault) -> None:
        """Applies a fault now.

        Raises:
            RefusedError: if the switch does not have the port.
        """
        self.advance(now)
        ports = [port for port in [fault.port] if port is not None]
        ports += [end for pair in fault.add for end in ends_of(pair)]
        missing = [port for port in ports if not self.design.size.has(port)]
        if missing:
            raise RefusedError([f"port {missing[0]} does not exist on {self.design.size} ports"])
        self._strike(fault)
        self._count()

    # Validation

    def _resolver(self) -> Resolver:
        stale = [one for one in self._stale() if one.name not in self._intents]
        return Resolver(self._intents, self._active, stale, self.design.size)

    # Carrying out

    def _carry_out(
        self, gone: Sequence[str], new: Sequence[Requested], kept: Sequence[Requested]
    ) -> Done:
        done = Done(kept=[item.name for item in kept], settled_ps=self.now)
        steps = len(gone) + len(new)
        most = steps
        if self._partial and steps > 1:
            most, self._partial = steps // 2, False
        for name in gone[:most]:
            self._delete(name)
            done.removed.append(name)
        for item in new[: max(0, most - len(gone))]:
            self._create(item, done)
        self._promote()
        if steps:
            self.changed_ps = self.now
        if most < steps:
            raise BrokenError(done, steps - most)
        return done

    def _delete(self, name: str) -> None:
        stale = (one for one in self._stale() if one.name == name)
        one = self._intents.get(name) or next(stale, None)
        if one is not None:
            self._remove(one)

    def _remove(self, one: Connection) -> None:
        if one.configured:
            del self._intents[one.name]
        if not one.active:
            return
        for port in one.ports:
            del self._active[port]
        one.leave(self.now, self.now + self.design.release_ps)
        if one.gone_ps > self.now:
            self._leaving.append(one)
            self._free_ps |= dict.fromkeys(one.ports, one.gone_ps)

    def _create(self, item: Requested, done: Done) -> None:
        holders = {self._active[port].name for port in (item.a, item.b) if port in self._active}
        stale = self._active.get(item.a)
        if stale is not None and stale.requested.ends == item.ends and not stale.configured:
            stale.configured = True  # a stale entry is deleted by adding, then deleting it
            stale.requested = item
            self._intents[item.name] = stale
            done.added.append(item.name)
            return
        one = Connection(item, created_ps=self.now)
        self._intents[item.name] = one
        problem = check_ends(item, self.design.size)
        if problem or holders:
            one.reason, one.blocked = problem, not problem
            done.invalid.append(item.name)
            return
        self._light(one)
        done.added.append(item.name)
        done.settled_ps = max(done.settled_ps, one.settled_ps or 0)

    def _light(self, one: Connection) -> None:
        """Moves the mirrors of a connection."""
        for port in one.ports:
            self._active[port] = one
        one.active, one.reason, one.blocked = True, "", False
        self._tune(one, self._free_at(one))

    def _free_at(self, one: Connection) -> int:
        """Returns the time at which both ports are free of connections that are being deleted."""
        busy = [self._free_ps.get(port, 0) for port in one.ports]
        return max([self.now, self.boot_until_ps if self._is_booting() else 0, *busy])

    def _tune(self, one: Connection, start: int) -> None:
        design = self.design
        settle = design.settle_ps
        if design.deviation_ps:
            settle = max(0, round(self._random.gauss(settle, design.deviation_ps)))
        settle = round(settle * self._factor)
        longest = max(design.settle_ps, design.deviation_ps, 1)
        give_up = start + design.give_up_settles * longest
        is_stuck = bool(self._stuck & {*one.ports})
        one.tune(start, None if is_stuck else start + settle, give_up)

    def _promote(self) -> None:
        """Sets up INVALID connections whose ports have become free."""
        if not self.design.retry_invalid:
            return
        for one in self._intents.values():
            if one.blocked and not any(port in self._active for port in one.ports):
                self._light(one)

    def _retune(self, ports: Iterable[Port]) -> None:
        held = [self._active[port] for port in ports if port in self._active]
        for one in {one.requested.a: one for one in held}.values():
            if not self._hindrance(one):
                self._tune(one, self.now)

    # Time and faults

    def _move(self, now: int) -> None:
        self.now = now
        if self._leaving:
            self._leaving = [one for one in self._leaving if one.gone_ps > now]

    def _is_booting(self) -> bool:
        return self.now < self.boot_until_ps

    def _strike(self, fault: Fault) -> None:
        self.changed_ps = self.now
        kind = fault.kind
        if kind in fault_kinds.OF_CONNECTIONS:
            self.next_change.append(kind)
        elif kind == "stuck" and fault.port is not None:
            self._stuck.add(fault.port)
        elif kind == "failed" and fault.port is not None:
            self._failed.add(fault.port)
            self._note_dark(fault.port)
        elif kind == "slow":
            self._factor = fault.factor
        elif kind == "partial":
            self._partial = True
        elif kind in ("reboot-cold", "reboot-warm"):
            self._reboot(cold=kind == "reboot-cold")
        elif kind == "intruder":
            self._intrude(fault)
        elif kind == "stale":
            self._add_stale(fault.add)
            self._promote()
        elif kind == "clear":
            self._clear(fault.port)

    def _intrude(self, fault: Fault) -> None:
        """Applies the change of another client, and deletes the connections that hold its ports."""
        names = [name for pair in fault.remove for name in self._names_at(pair)]
        new = self._resolver().lacking(map(requested, fault.add), names)
        for name in names:
            self._delete(name)
        self._evict(item.pair for item in new)
        for item in new:
            self._create(item, Done())
        self._promote()

    def _evict(self, pairs: Iterable[Pair]) -> None:
        """Deletes the connections that occupy ports of others."""
        for port in (port for pair in pairs for port in ends_of(pair)):
            if port in self._active:
                self._remove(self._active[port])

    def _add_stale(self, pairs: Iterable[Pair]) -> None:
        for item in map(requested, pairs):
            self._evict([item.pair])
            one = Connection(item, created_ps=self.now, configured=False)
            self._light(one)

    def _clear(self, port: Port | None) -> None:
        healed = {port} if port is not None else self._stuck | self._failed
        dark = healed & self._failed
        self._stuck -= healed
        self._failed -= healed
        for at in healed:
            self._note_dark(at)
        if port is None:
            self._factor, self._partial = 1.0, False
            self.next_change.clear()
        held = {at: self._active[at] for at in healed if at in self._active}
        dark |= {at for at, one in held.items() if one.status(self.now) is not Status.CONNECTED}
        self._retune(sorted(dark))

    def _reboot(self, *, cold: bool) -> None:
        design = self.design
        self.boots += 1
        self.boot_until_ps = self.now + (design.cold_boot_ps if cold else design.warm_boot_ps)
        if not cold or design.recovery is Recovery.MAINTAIN:
            return
        kept = self._all_requested()
        if design.recovery is Recovery.RESTORE_SAVED:
            kept = self._saved
        self._intents, self._active, self._leaving, self._free_ps = {}, {}, [], {}
        if design.recovery is not Recovery.REMOVE:
            for item in kept:
                self._create(item, Done())

    def _all_requested(self) -> list[Requested]:
        """Returns the configuration; connections that hold their ports come before INVALID ones."""
        listed = sorted(self._intents.values(), key=lambda one: not one.active)
        return [one.requested for one in listed]

    # Views

    def _names_at(self, pair: Pair) -> list[str]:
        return [one.name for one in self._intents.values() if one.requested.ends == ends_of(pair)]

    def _stale(self) -> list[Connection]:
        held = (one for port, one in self._active.items() if port.side == "A")
        return [one for one in held if not one.configured]

    def _count(self) -> None:
        """Passes the links that are up, or will be, to the packet counter after a change."""
        if self._packets is None:
            return
        later = self.design.relock_ps + self.design.link_up_ps
        up = {
            one.requested.pair: one.settled_ps + later
            for port, one in self._active.items()
            if port.side == "A" and one.settled_ps is not None and one.settled_ps <= one.give_up_ps
            if not self._hindrance(one)
        }
        self._packets.note(self.now, up)

    def _note_dark(self, port: Port) -> None:
        """Records since when a port is dark, after a failure, a repair or a change of its state."""
        if port in self._failed or self._admin.get(port, Admin.NORMAL) is not Admin.NORMAL:
            self._dark_ps.setdefault(port, self.now)
        else:
            self._dark_ps.pop(port, None)

    def _hindrance(self, one: Connection) -> str:
        """Returns why a connection has no light although its mirrors may have settled."""
        for port in one.ports:
            if port in self._failed:
                return f"port {port} has failed"
            admin = self._admin.get(port, Admin.NORMAL)
            if admin is not Admin.NORMAL:
                return f"port {port} is {admin.value}"
        return ""

    def _seen(self, one: Connection) -> Seen:
        hindrance = self._hindrance(one) if one.active else ""
        status, reason = one.status(self.now), one.reason
        if one.blocked:
            holders = sorted({str(self._active[at]) for at in one.ports if at in self._active})
            reason = f"a port is in existing cross-connect {holders[0]}" if holders else FREED
        updated = one.updated_ps(self.now)
        if hindrance:
            status, reason = Status.FAILED, hindrance
            since = min(self._dark_ps[port] for port in one.ports if port in self._dark_ps)
            updated = max(one.start_ps, since)
        elif status is Status.FAILED:
            reason = "the mirrors did not settle"
        return Seen(
            one.name,
            one.requested.pair,
            status,
            reason,
            updated,
            one.configured,
            one.requested.ends,
        )

    def _port_status(self, port: Port) -> PortStatus:
        if port in self._failed:
            return PortStatus.FAILED
        one = self._active.get(port)
        if one is None or self._admin.get(port, Admin.NORMAL) is not Admin.NORMAL:
            return PortStatus.BLOCKED
        if self._hindrance(one):  # from the other port; this connection is dark
            return PortStatus.BLOCKED
        known = {Status.CONNECTED: PortStatus.TUNED, Status.FAILED: PortStatus.FAILED}
        return known.get(one.status(self.now), PortStatus.TUNING)

    def _powers(self, port: Port, one: Connection | None) -> tuple[float, float]:
        """Returns the power that enters and the power that leaves at a port [dBm]."""
        optics = self.design.optics
        through = DARK_DBM
        if one is not None and not self._hindrance(one):
            through = optics.output_dbm(one.requested.pair, one.remaining(self.now))
        sends = port.side == "A" or self.design.bidirectional
        receives = port.side == "B" or self.design.bidirectional
        return (optics.launch_dbm if sends else DARK_DBM, through if receives else DARK_DBM)
