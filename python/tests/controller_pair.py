"""A controller of two switches in virtual time. One switch is fault-free, and the other reports
wrong states, is slow, dies or refuses changes. A seed determines all events.

Clients request circuits on both switches. While one switch is slow to answer, requests reach the
other, so that changes of both are in progress when the controller crashes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from controller_world import (
    CrashError,
    FaultySwitch,
    World,
    WorldHook,
    matchings,
)
from sqlalchemy import event

from lightloom.controller.config import ControllerTable, config_of
from lightloom.controller.service import Controller, UnreachableError
from lightloom.controller.store import Store
from lightloom.controller.timed import Pace
from lightloom.controller.transaction_log import OPEN, OVER, Transaction
from lightloom.errors import ConfigError
from lightloom.switches.ports import Pair
from lightloom.switches.protocol import SwitchError

SWITCHES = ("east", "west")
ILLS = ("lies", "is slow", "dies", "refuses")
CLIENTS = ("ann", "bob")


class Clock:
    """The clock of both switches."""

    now = 1_000_000.0


class Place(World):
    """One of the two switches, its light and its traffic."""

    def __init__(self, seed: int, clock: Clock) -> None:
        self._time = clock
        super().__init__(seed)
        self.crash_share = 1 / 60
        self.foreign, self.stuck_port = False, None
        self.faults_left = 0
        self.is_dead = False
        self.ill: str | None = None

    @property
    def now(self) -> float:
        return self._time.now

    @now.setter
    def now(self, at: float) -> None:
        self._time.now = at

    def sicken(self, ill: str) -> None:
        """Sets the fault of the switch."""
        self.ill = ill
        self.lies_left = 6 if ill == "lies" else 0
        self.faults_left = 12 if ill == "refuses" else 0
        self.fault_factor = 3.0

    def recover(self) -> None:
        """Ends the fault."""
        self.ill, self.is_dead = None, False
        self.lies_left = self.faults_left = self.crashes_left = 0


class PairSwitch(FaultySwitch):
    """A switch of the pair; clients act while the controller waits for its answer."""

    def __init__(self, life: PairLife, name: str) -> None:
        super().__init__(life.places[name])
        self._life, self._name = life, name

    def read(self) -> Any:
        self._check()
        return super().read()

    def change(
        self, remove: Collection[Pair], add: Collection[Pair], *, wait_s: float = 60.0
    ) -> Any:
        self._check()
        return super().change(remove, add, wait_s=wait_s)

    def after(self) -> None:
        self._life.meanwhile(self._name)
        self._check()

    def power(self) -> Any:
        self._check()
        return super().power()

    def _check(self) -> None:
        place = self._life.places[self._name]
        if place.ill == "dies" and place.random.random() < 0.1:
            place.is_dead = not place.is_dead
        if place.is_dead:
            raise SwitchError("no answer")


class PairHook:
    """Drains and restores the traffic of both switches."""

    def __init__(self, places: Mapping[str, Place]) -> None:
        self._of = {name: WorldHook(place) for name, place in places.items()}

    def start(self, check: Callable[[], None]) -> None:
        """Does nothing: the hook has no connection."""

    def drain(self, switch: str, pairs: Collection[Pair]) -> None:
        self._of[switch].drain(switch, pairs)

    def enter(self, switch: str, pairs: Collection[Pair]) -> None:
        self._of[switch].enter(switch, pairs)

    def forget(self, switch: str, pairs: Collection[Pair]) -> None:
        self._of[switch].forget(switch, pairs)

    def keep(self, switch: str, pairs: Collection[Pair]) -> None:
        """Nothing is lost."""

    def stop(self) -> None:
        """Does nothing: the hook has no connection."""


class Witnessed(Store):
    """A store that records the cross-connects that each switch keeps."""

    life: PairLife

    def plan(self, switch: str, plan: Mapping[str, Any], who: str) -> Transaction:
        made = super().plan(switch, plan, who)
        self.life.planned(made)
        return made

    def move(
        self, number: int, state: str, reason: str = "", *rest: Any, **keys: Any
    ) -> Transaction:
        moved = super().move(number, state, reason, *rest, **keys)
        if state in OVER:
            self.life.places[moved.switch].kept = set()
        return moved


class PairLife:
    """A life of a controller of two switches."""

    def __init__(self, seed: int, folder: Path) -> None:
        clock = Clock()
        self.places = {n: Place(2 * seed + at, clock) for at, n in enumerate(SWITCHES)}
        self.chance = self.places["east"].random
        self.ill = self.chance.choice(SWITCHES)
        self.sound = next(name for name in SWITCHES if name != self.ill)
        self.places[self.ill].sicken(self.chance.choice(ILLS))
        self.wanted: dict[str, dict[str, list[Pair]]] = {name: {} for name in SWITCHES}
        """Acknowledged requests by switch and client."""
        self.most_open = 0
        self.crashes = 0
        self._since_crash = 4
        self._is_nested, self._is_watched = False, True
        tables = [{"name": n, "url": f"scpi://{n}:1", "ports": "ports.csv"} for n in SWITCHES]
        self.config: ControllerTable = config_of({"switch": tables, "interval": "10 s"}, folder)
        self.store = Witnessed("sqlite://", self.places["east"].clock)
        self.store.life = self
        event.listen(self.store._engine, "commit", lambda connection: self._point())
        self.controller = self._begun()

    def _point(self) -> None:
        if self._is_watched:
            self.places[self.ill].point()

    def _begun(self) -> Controller:
        east = self.places["east"]
        pace = Pace(lambda: east.now, self._sleep)
        opener = lambda one: PairSwitch(self, one.name)  # noqa: E731
        return Controller(
            self.config, self.store, east.clock, opener, PairHook(self.places), pace=pace
        )

    def _sleep(self, seconds: float) -> None:
        self.places["east"].now += seconds

    def planned(self, made: Transaction) -> None:
        """Checks that a plan lights the requests of clients on this switch, and removes nothing
        from the other one."""
        place = self.places[made.switch]
        place.kept = {*made.pairs("kept")}
        wanted = {pair for own in self.wanted[made.switch].values() for pair in own}
        if not {*made.pairs("added")} <= wanted:
            place.breaches.append(f"{made} adds what nobody wants there")
        if not {*made.pairs("removed")} <= place.answered:
            place.breaches.append(f"{made} removes what is not there")

    def meanwhile(self, name: str) -> None:
        """Lets clients request changes of the other switch while a slow one does not answer."""
        place = self.places[name]
        if self._is_nested or place.ill != "is slow":
            return
        self._is_nested = True
        other = self.places[self.sound]
        try:
            place.now += self.chance.choice([0.5, 5.0, 20.0])
            if self.chance.random() < 0.5:
                # The process is likely to end while changes of both switches are in progress.
                other.crash_share = self.chance.choice([1 / 60, 1 / 6])
                self.apply(self.sound)
        finally:
            other.crash_share = 1 / 60
            self._is_nested = False

    def apply(self, name: str) -> None:
        """A client requests circuits on a switch, and the controller changes the switch."""
        who = self.chance.choice(CLIENTS)
        half = matchings(self.chance)
        # The two clients never request the same ports, so that only faults keep circuits dark.
        pairs = [p for p in half if (p[0] <= 2) == (p[1] <= 2) == (who == "ann")]
        before = self.wanted[name].get(who, [])
        self.wanted[name][who] = pairs
        try:
            self.controller.want(name, pairs, who)
        except CrashError:
            there = {w.pair for w in self.store.intents(name) if w.owner == f"operator:{who}"}
            assert there in ({*before}, {*pairs})
            self.wanted[name][who] = sorted(there)
            raise
        # If the switch does not answer, or a hook fails, the request is kept.
        with suppress(UnreachableError, ConfigError):
            self.controller.reconcile(name, who)

    def step(self) -> None:
        """Clients send requests for one or both switches, and the loop runs once."""
        self.places["east"].now += 10.0
        acts: list[Callable[[], object]] = [
            lambda name=name: self.apply(name)  # type: ignore[misc]
            for name in self.chance.choice([["east"], ["west"], ["east", "west"], []])
        ]
        self._since_crash += 1
        for act in [*acts, self.controller.cycle]:
            try:
                act()
            except CrashError:
                self.restart()
        # A change that a crash has undone is tried again after two intervals.
        self.check(is_whole=self._since_crash > 3)

    def restart(self) -> None:
        """Restarts the process after each crash; changes of both switches may be in progress."""
        self.crashes += 1
        self._since_crash = 0
        self._is_nested = False
        with self.store._engine.connect() as db:
            states = db.exec_driver_sql("select state from transaction_log").scalars().all()
        self.most_open = max(self.most_open, sum(state in OPEN for state in states))
        for place in self.places.values():
            place.answered = set()
        try:
            self.controller = self._begun()
            self.controller.start()
        except CrashError:
            self.restart()

    def requests(self, name: str) -> set[Pair]:
        """Returns all requests for a switch."""
        return {pair for own in self.wanted[name].values() for pair in own}

    def check(self, is_whole: bool) -> None:
        """Checks the invariants that hold after every step; reading the store never crashes
        here."""
        self._is_watched = False
        for name, place in self.places.items():
            assert place.breaches == []
            there = {request.pair for request in self.store.intents(name)}
            assert there == self.requests(name), "what was acknowledged is stored"
            assert len(self.store.transactions(name, OPEN)) <= 1
        self._is_watched = True
        if is_whole:
            assert self.places[self.sound].lit == self.requests(self.sound), "it is held up"

    def calm(self) -> None:
        """Ends all faults, and checks that both switches reach the requested state."""
        for place in self.places.values():
            place.recover()
        for _ in range(6):
            self.places["east"].now += 700.0
            self.controller.cycle()
        for name in SWITCHES:
            if self.store.stuck(name):
                self.controller.reconcile(name, "ann")
        self.check(is_whole=True)
        assert self.store.transactions(states=OPEN) == []
        assert self.store.broken_link() is None
        for name, place in self.places.items():
            assert place.lit == self.requests(name)
            assert not place.drained & place.lit, "traffic is kept away"
