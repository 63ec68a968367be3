"""Carries out a change on a switch: step by step with write-ahead, undone if a step fails.

`planned → draining → changing → verifying → done | undone | stuck`. Each state is in the store
before its step changes anything. After a crash `recover` reads the store and the switch, and
finishes or undoes the transaction. Kept cross-connects are never changed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence, Set
from types import MappingProxyType
from typing import Any

from lightloom.controller.change import Change
from lightloom.controller.dark_clock import DarkClock
from lightloom.controller.hooks import Hook, HookError
from lightloom.controller.store import Store
from lightloom.controller.timed import REAL, Pace
from lightloom.controller.transaction_log import Transaction
from lightloom.switches.ports import Pair, Port, name_of
from lightloom.switches.protocol import CircuitSwitch, Reading, SwitchError
from lightloom.switches.states import Status

DARK_DBM = -40.0
"""Largest optical power at which a port counts as dark."""
POLL_S = 0.1
"""Time between two readings of a switch that is setting up cross-connects [s]."""
TRIES = 3
"""Number of attempts at a switch that refuses or does not answer, before the change is undone."""
KEPT_AWAY = "; traffic is kept away still: "
"""Part of the reason of an undone change whose hook fails."""
UNTIL_LIGHT = "; traffic is kept away from there until it has light"
"""End of the reason of an undone change whose circuits lost their light meanwhile."""
NOTHING: Mapping[str, Any] = MappingProxyType({})
Open = Callable[[str], CircuitSwitch]
"""A function that opens a named switch."""
Forbids = Callable[[Transaction, Collection[Pair]], str | None]
"""A function that returns why a transaction may not make more circuits dark, given those that are
lit; None if it may."""


def nothing_forbids(one: Transaction, lit: Collection[Pair]) -> None:
    """Any transaction may make circuits dark."""


class Guarded:
    """The switches and the hook of one transaction.

    They are used only while the controller holds the role that it had when the transaction began.
    """

    def __init__(self, store: Store, open_switch: Open, hook: Hook) -> None:
        self._store, self._open, self._hook = store, open_switch, hook
        self._fence = store.fence

    def check(self) -> None:
        """Refuses if another controller may have taken the role.

        Raises:
            DeposedError: if another controller may have taken it.
        """
        self._store.check_role(self._fence)

    def open(self, switch: str) -> CircuitSwitch:
        """Opens a switch, to read it or to change it."""
        self.check()
        return self._open(switch)

    def drain(self, switch: str, pairs: Sequence[Pair]) -> None:
        """Drains these cross-connects."""
        self.check()
        self._hook.drain(switch, pairs)

    def enter(self, switch: str, pairs: Sequence[Pair]) -> None:
        """Lets traffic use these cross-connects."""
        self.check()
        self._hook.enter(switch, pairs)

    def forget(self, switch: str, pairs: Sequence[Pair]) -> None:
        """Removes the state that keeps traffic away from these cross-connects, which are dark."""
        self.check()
        self._hook.forget(switch, pairs)


class Steps:
    """The steps of one transaction."""

    def __init__(
        self,
        store: Store,
        guarded: Guarded,
        wait_s: float,
        tell: Callable[[], None],
        pace: Pace = REAL,
        forbids: Forbids = nothing_forbids,
    ) -> None:
        self._store, self._guarded, self._wait_s, self._tell = store, guarded, wait_s, tell
        self._pace, self._forbids = pace, forbids
        self._dark = DarkClock((), pace.now)

    def _move(
        self,
        one: Transaction,
        state: str,
        reason: str = "",
        dark: Collection[Pair] = (),
    ) -> Transaction:
        self._guarded.check()
        dark_s = self._dark.take_s()
        moved = self._store.move(one.id, state, reason, one.state, dark_s, dark)
        self._tell()
        return moved

    def carry_out(self, one: Transaction) -> Transaction:
        """Carries out a planned transaction."""
        self._dark = DarkClock(one.pairs("given_up"), self._pace.now)
        one = self._move(one, "draining")
        try:
            self._guarded.drain(one.switch, one.pairs("removed"))
        except HookError as problem:
            return self._let_in_again(one, str(problem))
        if (reason := self._forbids(one, one.pairs("before"))) is not None:
            return self._let_in_again(one, reason)
        one = self._move(one, "changing")
        return self._change_and_verify(one)

    def _change_and_verify(self, one: Transaction) -> Transaction:
        failure = self._change(one, one.pairs("removed"), one.pairs("added"), self._forbids)
        return self._verify(one) if failure is None else self._undo(one, failure)

    def resume(self, one: Transaction) -> Transaction:
        """Continues a transaction after a crash or a failed hook."""
        self._dark = DarkClock(one.pairs("given_up"), self._pace.now)
        if one.state in ("planned", "draining"):
            # The switch was not changed, or has been restored.
            why = one.reason.partition(KEPT_AWAY)[0]
            return self._let_in_again(one, why or "the controller stopped before the change")
        if not one.reason:
            one = self._move(one, one.state, "the controller stopped during the change")
        try:
            # An undo that the crash interrupted may have let traffic in again.
            there = {*self._read(one.switch).pairs}
            self._guarded.drain(one.switch, [p for p in one.pairs("removed") if p in there])
        except (HookError, SwitchError) as problem:
            return self._move(one, one.state, str(problem))
        if one.state == "changing":
            self._dark.begin()
        return self._change_and_verify(one)

    def _change(
        self,
        one: Transaction,
        removed: Sequence[Pair],
        added: Sequence[Pair],
        forbids: Forbids = nothing_forbids,
    ) -> str | None:
        """Removes `removed` from the switch and adds `added`; returns the reason of a failure, or
        None. Before each command `forbids` may refuse it."""
        why = ""
        for _ in range(TRIES):
            try:
                reading = self._settled(one.switch, added)
                missing = self._missing(reading, removed, added)
                if missing is None:
                    return None
                if (taken := _taken(reading, removed, added)) is not None:
                    return taken
                if (reason := forbids(one, reading.pairs)) is not None:
                    return reason
                self._ask(one.switch, removed, added)
                missing = self._missing(self._read(one.switch), removed, added)
                if missing is None:
                    return None
                why = missing
            except SwitchError as problem:
                why = str(problem)
        return why

    def _ask(self, switch: str, removed: Sequence[Pair], added: Sequence[Pair]) -> None:
        opened = self._guarded.open(switch)
        self._dark.begin()
        try:
            opened.change(removed, added, wait_s=self._wait_s)
        finally:
            opened.close()

    def _read(self, switch: str) -> Reading:
        opened = self._guarded.open(switch)
        try:
            found = opened.read()
        finally:
            opened.close()
        self._dark.see(lambda: found.pairs)
        return found

    def _settled(self, switch: str, added: Sequence[Pair]) -> Reading:
        """A reading in which none of these cross-connects is still being set up, as by a change
        that a crash interrupted; the last reading if the longest wait is over."""
        until = self._pace.now() + self._wait_s
        while True:
            reading = self._read(switch)
            found = reading.by_pair()
            begun = [found[pair] for pair in added if pair in found]
            if all(one.status is not Status.PENDING_CONNECTION for one in begun):
                return reading
            if self._pace.now() >= until:
                return reading
            self._pace.sleep(POLL_S)

    @staticmethod
    def _missing(reading: Reading, removed: Sequence[Pair], added: Sequence[Pair]) -> str | None:
        """The part of a change that a switch has not made; None if it has made all of it."""
        # A change concerns only a few of possibly a thousand cross-connects.
        ours = {*removed, *added}
        part = Reading([one for one in reading.cross_connects if one.pair in ours])
        there, found_of = {*part.pairs}, part.by_pair()
        for pair in removed:
            if pair in there:
                return f"{name_of(pair)} is still there"
        for pair in added:
            found = found_of.get(pair)
            if pair not in there or found is None:
                return f"{name_of(pair)} is not there"
            if found.status not in (None, Status.CONNECTED):
                said = f" ({found.reason})" if found.reason else ""
                return f"{name_of(pair)} is {found.status.value}{said}"
        return None

    def _verify(self, one: Transaction) -> Transaction:
        # All new circuits are connected.
        self._dark.end()
        one = self._move(one, "verifying")
        failure = self._still_unlit(one.switch, one.pairs("added"))
        if failure is not None:
            return self._undo(one, failure)
        try:
            self._guarded.enter(one.switch, one.pairs("added"))
            lit = {*one.pairs("before"), *one.pairs("added")} - {*one.pairs("removed")}
            self._forget(one, lit)
        except HookError as problem:
            # The circuits are lit, but traffic is kept away: the next cycle calls the hook again.
            return self._move(one, "verifying", f"lit, but {problem}")
        return self._move(one, "done")

    def _power(self, switch: str) -> Mapping[Port, float] | str:
        """The power at the ports of a switch, empty if it does not measure it; or why it could not
        be read."""
        try:
            opened = self._guarded.open(switch)
            try:
                return opened.power() or {}
            finally:
                opened.close()
        except SwitchError as problem:
            return f"light was not measured: {problem}"

    def _unlit(self, switch: str, pairs: Sequence[Pair]) -> str | None:
        """The first of some cross-connects without light, on a switch that measures it."""
        power = self._power(switch)
        return power if isinstance(power, str) else without_light(pairs, power)

    def _still_unlit(self, switch: str, pairs: Sequence[Pair]) -> str | None:
        """The first cross-connect without light after several attempts, because a circuit may need
        time until it has light."""
        why = self._unlit(switch, pairs)
        for _ in range(TRIES - 1):
            if why is None:
                return None
            self._pace.sleep(POLL_S)
            why = self._unlit(switch, pairs)
        return why

    def _let_in_again(self, one: Transaction, why: str) -> Transaction:
        """Ends a transaction whose switch is in its former state: traffic may use the
        cross-connects that were to be removed and have light, unless another client has removed
        them. A hook that fails is called again at every cycle."""
        try:
            reading = self._read(one.switch)
            back = sorted({*one.pairs("removed")} & {*reading.pairs})
            power = self._power(one.switch) if back else {}
            if isinstance(power, str):
                raise SwitchError(power)
            why_not = {
                pair: self._missing(reading, (), [pair]) or without_light([pair], power)
                for pair in back
            }
            dark = {pair: text for pair, text in why_not.items() if text is not None}
            self._guarded.enter(one.switch, [pair for pair in back if pair not in dark])
            self._forget(one, {*reading.pairs})
        except (HookError, SwitchError) as problem:
            # The transaction stays open; the next cycle tries again.
            return self._move(one, "draining", f"{why}{KEPT_AWAY}{problem}")
        reasons = [why, f"{', '.join(dark.values())}{UNTIL_LIGHT}"] if dark else [why]
        return self._move(one, "undone", "; ".join(reasons), dark=[*dark])

    def _forget(self, one: Transaction, lit: Set[Pair]) -> None:
        """Clears the hook's state of drained cross-connects that are not lit, of this change and of
        earlier ones."""
        left = {*one.pairs("removed"), *one.pairs("added"), *self._store.away(one.switch)}
        self._guarded.forget(one.switch, sorted(left - lit))

    def _undo(self, one: Transaction, why: str) -> Transaction:
        """Restores the state of the switch before the transaction."""
        removed = {*one.pairs("removed")}
        before = [pair for pair in one.pairs("before") if pair in removed]
        try:
            # After a crash, or by another client, traffic may be on the new circuits.
            self._guarded.drain(one.switch, one.pairs("added"))
        except HookError as problem:
            return self._move(one, one.state, f"{why}{KEPT_AWAY}{problem}")
        failure = self._change(one, one.pairs("added"), before)
        if failure is None:
            dark = {*one.pairs("dark")}
            failure = self._still_unlit(one.switch, [pair for pair in before if pair not in dark])
        if failure is None:
            return self._let_in_again(one, why)
        ports = sorted({name_of(pair) for pair in [*one.pairs("added"), *before]})
        text = (
            f"{why}; undoing it failed: {failure}. Ports of {', '.join(ports)}: check them on the "
            f"switch, set the requested cross-connects by hand, then run `circuits apply`"
        )
        return self._move(one, "stuck", text)


class Executor:
    """Carries transactions out on switches."""

    steps: type[Steps] = Steps
    """How."""

    def __init__(
        self,
        store: Store,
        open_switch: Open,
        hook: Hook,
        wait_s: float = 60.0,
        tell: Callable[[], None] = lambda: None,
        pace: Pace = REAL,
        forbids: Forbids = nothing_forbids,
    ) -> None:
        """Creates the executor; contacts no switch yet.

        Args:
            store: records transactions before each step.
            open_switch: opens a switch by its name.
            hook: drains traffic and lets it in.
            wait_s: the longest wait for a switch to settle [s].
            tell: function that is called after each step.
            pace: source of time.
            forbids: is asked before circuits go dark.
        """
        self._store = store
        self._tell = tell
        self._open = open_switch
        self._hook = hook
        self._wait_s = wait_s
        self._pace = pace
        self._forbids = forbids

    def run(
        self,
        switch: str,
        change: Change,
        lit: Sequence[Pair],
        who: str,
        about: Mapping[str, Any] = NOTHING,
    ) -> Transaction:
        """Carries out a change; returns the transaction in its last state.

        Args:
            switch: its name.
            change: cross-connects to remove, add and keep.
            lit: cross-connects of the switch.
            who: client that requested it.
            about: further contents of the transaction: its cost, the deferred requests that it
                carries out.

        Raises:
            ConfigError: if another transaction of the switch is not over.
        """
        steps = self._steps_now()
        one = self._store.plan(switch, {**change.plan(lit), **about}, who)
        return steps.carry_out(one)

    def let_in(self, switch: str, pairs: Sequence[Pair]) -> None:
        """Lets traffic use cross-connects that were lit before the controller owned them.

        Raises:
            HookError: if it may not.
        """
        Guarded(self._store, self._open, self._hook).enter(switch, pairs)

    def leave(self, switch: str, gone: Sequence[Pair], lit: Sequence[Pair]) -> None:
        """Removes traffic from cross-connects that the switch has lost. Others at the same ports
        keep theirs.

        Raises:
            HookError: if traffic may still be sent there.
        """
        guarded = Guarded(self._store, self._open, self._hook)
        guarded.drain(switch, gone)
        ports = {pair[0] for pair in gone}
        if others := [pair for pair in lit if pair[0] in ports]:
            guarded.enter(switch, others)
        guarded.forget(switch, gone)

    def recover(self, switch: str | None = None) -> list[Transaction]:
        """Finishes or undoes every transaction that a crash left open; only those of `switch` if it
        is given."""
        left = self._store.unfinished(switch)
        return [self._steps_now().resume(one) for one in reversed(left)]

    def _steps_now(self) -> Steps:
        guarded = Guarded(self._store, self._open, self._hook)
        return self.steps(self._store, guarded, self._wait_s, self._tell, self._pace, self._forbids)


def without_light(pairs: Sequence[Pair], power: Mapping[Port, float]) -> str | None:
    """The first of some cross-connects whose output port emits no light; None if there is none."""
    for pair in pairs:
        level = power.get(Port("B", pair[1]))
        if level is not None and level <= DARK_DBM:
            return f"{name_of(pair)} is connected, and no light leaves it ({level:.1f} dBm)"
    return None


def _taken(reading: Reading, removed: Sequence[Pair], added: Sequence[Pair]) -> str | None:
    """A port of a new cross-connect that another cross-connect holds and that is not to be
    removed."""
    own = {*removed, *added}
    by_a = {pair[0]: pair for pair in added}
    by_b = {pair[1]: pair for pair in added}
    listed = [one for one in reading.cross_connects if one.pair[0] in by_a or one.pair[1] in by_b]
    for held in Reading(listed).pairs:
        pair = by_a.get(held[0]) or by_b.get(held[1])
        if pair is not None and held not in own:
            return f"{name_of(pair)}: {name_of(held)} holds one of its ports"
    return None
