"""The physical state around a controller in virtual time: light, traffic, time, faults."""

import random
from collections.abc import Collection, Mapping

from lightloom.controller.hooks import HookError
from lightloom.switches.ports import Pair, Port, Size
from lightloom.switches.protocol import (
    CrossConnect,
    Description,
    Outcome,
    Reading,
    SwitchError,
)
from lightloom.switches.states import Status

PORTS = 5
SWITCH = "east"
SETTLE_S = 2.0


class CrashError(BaseException):
    """The process of the controller crashes."""


class World:
    """The physical state, and the checks that it must always pass."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lit: set[Pair] = set()
        self.drained: set[Pair] = set()
        self.now = 1_000_000.0
        self.crashes_left = self.random.choice([0, 1, 1, 2, 3])
        self.crash_share = 0.05
        self.faults_left = self.random.choice([0, 0, 1, 2, 4])
        self.fault_factor = 1.0
        """Factor on the probability of a fault, because faults of a switch often occur in
        series."""
        self.lies_left = 0
        """Number of further changes that a switch reports without making them."""
        self.kept: set[Pair] = set()
        """Cross-connects that the transaction in progress must not touch."""
        self.foreign = self.random.random() < 0.15
        self.foreigners: set[Pair] = set()
        """Cross-connects that another client made."""
        self.answered: set[Pair] = set()
        """The last answer of the switch."""
        self.breaches: list[str] = []
        self.stuck_port = self.random.choice([None] * 4 + [1])
        self.stuck_from = self.random.randint(0, 60)
        """Step from which on the mirror of that port does not move."""
        self.dim_port: int | None = None
        """B port from which no light leaves."""
        self.is_permissive = False
        """Whether the switch lights a second cross-connect at a port."""
        self.steps = 0
        self.dark_since: dict[Pair, float] = {}
        """Times at which commands made cross-connects dark, except those before a crash."""
        self.dark_spans: list[tuple[Pair, float, float]] = []
        """Cross-connects that were lit again, with the start and end of their dark time."""

    def clock(self) -> float:
        self.now += 0.001
        return self.now

    def point(self) -> None:
        """Crashes the process with some probability."""
        self.steps += 1
        if self.crashes_left and self.random.random() < self.crash_share:
            self.crashes_left -= 1
            raise CrashError

    def faulty(self, share: float) -> bool:
        if self.faults_left and self.random.random() < share * self.fault_factor:
            self.faults_left -= 1
            return True
        return False

    def lying(self) -> bool:
        if self.lies_left and self.random.random() < 0.2:
            self.lies_left -= 1
            return True
        return False

    def is_stuck(self, port: int) -> bool:
        return self.stuck_port == port and self.steps >= self.stuck_from

    def is_taken(self, pair: Pair) -> bool:
        return any(pair[0] == a or pair[1] == b for a, b in self.lit)

    def darken(self, pair: Pair) -> None:
        if pair in self.kept:
            self.breaches.append(f"kept {pair} went dark")
        if pair not in self.drained:
            self.breaches.append(f"{pair} went dark with traffic on it")
        self.lit.discard(pair)
        self.foreigners.discard(pair)
        self.dark_since[pair] = self.now

    def light(self, pair: Pair) -> None:
        if self.is_taken(pair):
            self.breaches.append(f"a port of {pair} is in two cross-connects")
        self.lit.add(pair)
        if (since := self.dark_since.pop(pair, None)) is not None:
            self.dark_spans.append((pair, since, self.now))
        # A new cross-connect carries no traffic until traffic is admitted.
        self.drained.add(pair)

    def enter(self, pair: Pair) -> None:
        """Admits traffic.

        Changes of other clients since the last answer are unknown to the controller.
        """
        if pair not in self.lit | self.answered:
            self.breaches.append(f"traffic was sent to {pair}, which is dark")
        if pair[1] == self.dim_port and pair in self.drained:
            self.breaches.append(f"traffic was sent to {pair}, and no light leaves it")
        self.drained.discard(pair)

    def meddle(self) -> None:
        """Another client changes a cross-connect that is not kept."""
        if not self.foreign or self.random.random() > 0.1:
            return
        self.foreign = False
        loose = sorted(self.lit - self.kept)
        if loose and self.random.random() < 0.5:
            pair = self.random.choice(loose)
            self.lit.discard(pair)
            self.foreigners.discard(pair)
            return
        a = sorted({*range(1, PORTS + 1)} - {a for a, _ in self.lit})
        b = sorted({*range(1, PORTS + 1)} - {b for _, b in self.lit})
        if a and b:
            pair = (self.random.choice(a), self.random.choice(b))
            self.lit.add(pair)
            self.foreigners.add(pair)


class FaultySwitch:
    """A switch of the world that sometimes refuses a change, carries out half of it, or acts and
    does not answer."""

    def __init__(self, world: World) -> None:
        self.world = world

    def describe(self) -> Description:
        model = "of a simulated world"
        return Description(SWITCH, "none", model, Size(PORTS, PORTS), int(SETTLE_S * 1e12))

    def read(self) -> Reading:
        world = self.world
        world.point()
        world.meddle()
        if world.faulty(0.1):
            raise SwitchError("no answer")
        world.answered = {*world.lit}
        found = [CrossConnect(p, f"{p[0]}A-{p[1]}B", Status.CONNECTED) for p in world.lit]
        self.after()
        return Reading(sorted(found, key=lambda one: one.pair))

    def change(
        self, remove: Collection[Pair], add: Collection[Pair], *, wait_s: float = 60.0
    ) -> Outcome:
        world = self.world
        world.point()
        self.before(remove, add)
        if world.faulty(0.15):
            raise SwitchError("refused", Outcome())
        if world.lying():
            return Outcome([*remove], [*add])
        half = world.faulty(0.15)
        steps = [(world.darken, p) for p in sorted(remove) if p in world.lit]
        steps += [(world.light, p) for p in sorted(add) if p not in world.lit]
        for number, (act, pair) in enumerate(steps):
            if half and number == len(steps) // 2:
                raise SwitchError("half of it is done")
            if act == world.light:
                if world.is_stuck(pair[0]):
                    raise SwitchError(f"port {pair[0]}A is stuck")
                if world.is_taken(pair) and not world.is_permissive:
                    raise SwitchError("port in use")
            act(pair)
            world.point()
        self.after()
        if world.faulty(0.15):
            raise SwitchError("the connection was cut after the switch acted")
        return Outcome([*remove], [*add])

    def before(self, remove: Collection[Pair], add: Collection[Pair]) -> None:
        """The command has arrived."""

    def after(self) -> None:
        """The switch has acted but has not answered yet."""

    def power(self) -> Mapping[Port, float] | None:
        self.world.point()
        dim = self.world.dim_port
        return {Port("B", b): -60.0 if b == dim else -3.0 for _, b in self.world.lit}

    def close(self) -> None:
        pass


class WorldHook:
    """Drains and admits traffic, and sometimes fails."""

    def __init__(self, world: World) -> None:
        self.world = world

    def start(self, check: object) -> None:
        pass

    def forget(self, switch: str, pairs: object) -> None:
        pass

    def keep(self, switch: str, pairs: object) -> None:
        pass

    def stop(self) -> None:
        pass

    def drain(self, switch: str, pairs: Collection[Pair]) -> None:
        self.world.point()
        world = self.world
        world.drained |= {*pairs}
        if self.world.faulty(0.1):
            raise HookError("no answer")

    def enter(self, switch: str, pairs: Collection[Pair]) -> None:
        self.world.point()
        for pair in pairs:
            self.world.enter(pair)
        if self.world.faulty(0.05):
            raise HookError("no answer")


def matchings(chance: random.Random) -> list[Pair]:
    ports = [*range(1, PORTS + 1)]
    outputs = chance.sample(ports, PORTS)
    return sorted(chance.sample([*zip(ports, outputs, strict=True)], chance.randint(0, PORTS)))
