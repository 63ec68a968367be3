"""The replay of a day: for each interval the circuits that are lit, the bytes that they carry, and
the circuits that go dark."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lightloom import _core
from lightloom.control.day.intervals import Interval
from lightloom.control.day.light import DARK, Circuit, Light, carried
from lightloom.control.day.players import Player, players
from lightloom.control.day.series import Day, text_of
from lightloom.control.demand.steps import US
from lightloom.errors import refusal
from lightloom.policies.registry import find
from lightloom.units.durations import DARK_TIME, duration_ps

RATE = "10 Gb/s"
"""Default rate of circuits."""
Pair = tuple[int, int]
Count = Callable[[str, int, int], None]


@dataclass
class Step:
    """The decision of a player in an interval, and its result."""

    served: int
    """Bytes carried over circuits."""
    made: int
    """Circuits that were made [count]; 1 for a new schedule."""
    broken: int
    """Circuits that were broken [count]."""
    dark_us: int
    """Time for which at least one circuit was dark because of the decision [µs]."""
    left_bps: float
    """Highest mean rate that the packet network had to carry for one rack, in one direction
    [b/s]."""
    follows: bool
    """Whether a schedule was used, which is changed as a whole."""


@dataclass
class Account:
    """The decisions of a player on a day."""

    player: Player
    steps: list[Step] = field(default_factory=list)
    told: Mapping[str, Any] = field(default_factory=dict)
    """All options of its first plan, including defaults."""
    dark_us: dict[Pair, int] = field(default_factory=dict)
    """Pair of racks → time in which its circuit was dark because of changes [µs]."""

    @property
    def served(self) -> int:
        """Bytes carried over circuits."""
        return sum(step.served for step in self.steps)

    @property
    def changes(self) -> int:
        """Decisions that made or broke circuits [count], without the first one."""
        return max(0, sum(1 for step in self.steps if step.made or step.broken) - 1)


@dataclass(frozen=True)
class Terms:
    """The assumptions of a replay."""

    rate: int
    """Rate of a circuit in each direction [b/s]."""
    dark_us: int
    """Time from the beginning of a change until new circuits carry data [µs]."""
    all_dark: bool
    """Whether a change also makes the kept circuits dark."""


def terms(day: Day, rate: str, dark: str, all_dark: bool) -> Terms:
    """Converts and checks the assumptions.

    Raises:
        ConfigError: if `rate` or `dark` is invalid.
    """
    bps = _core.control_rate("rate", rate)
    dark_us = -(-duration_ps("dark", dark) // 1_000_000)
    shortest = min(one.length_us for one in day.intervals)
    if dark_us >= shortest:
        limit = f"no shorter than the shortest interval, {text_of(shortest)}"
        raise refusal("dark", dark, limit, "lower it, or put intervals together with --every")
    if not bps:
        raise refusal("rate", rate, "must be above 0", 'write it like "100 Gb/s"')
    return Terms(bps, dark_us, all_dark)


def replay_day(
    day: Day,
    algorithm: str,
    *,
    rate: str = RATE,
    dark: str = DARK_TIME,
    all_dark: bool = False,
    count: Count = lambda name, done, several: None,
    **options: Any,
) -> list[Account]:
    """Replays a day with a policy and, for comparison, with its alternatives: a first plan that is
    kept, one plan for the sum of the day, foresight, and no circuits.

    Args:
        day: the demands.
        algorithm: the algorithm, as for `plan`; `options` likewise.
        rate: of a circuit, in each direction.
        dark: time from the beginning of a change until its circuits carry data; shorter than an
            interval.
        all_dark: whether a change also makes the circuits dark that stay.
        count: called with a player's name, the intervals done and their total number.

    Raises:
        ConfigError: if an argument is invalid; as for `plan`.

    >>> day = read_day(["examples/demand-day"])
    >>> accounts = replay_day(day, "edmonds", rate="10 Gb/s", dark="1 s")
    >>> [(one.player.name, round(one.served / day.total, 3)) for one in accounts[:2]]
    [('edmonds', 0.863), ('never change', 0.583)]
    """
    if "rate" in find(algorithm).options:
        options["rate"] = rate
    return play(day, algorithm, options, terms(day, rate, dark, all_dark), count)


def play(
    day: Day, algorithm: str, options: Mapping[str, Any], asked: Terms, count: Count
) -> list[Account]:
    """Replays a day with checked assumptions."""
    return [_played(day, one, asked, count) for one in players(day, algorithm, options)]


def _played(day: Day, player: Player, asked: Terms, count: Count) -> Account:
    account, lit = Account(player), DARK
    for at, interval in enumerate(day.played, 1):
        wanted = player.decide(at, lit)
        account.told = account.told or wanted.told
        made, broken = _change(lit, wanted)
        dark = made
        if asked.all_dark and (made or broken):
            dark = wanted.circuits or made
        sent = carried(wanted, interval, dark, asked.dark_us, asked.rate)
        waits = asked.dark_us if dark else 0
        left = _left(day, interval, interval.bytes - sent)
        follows = wanted.schedule is not None
        step = Step(round(float(sent.sum())), len(made), len(broken), waits, left, follows)
        account.steps.append(step)
        for pair in {circuit[:2] for circuit in dark if not follows}:
            account.dark_us[pair] = account.dark_us.get(pair, 0) + asked.dark_us
        lit = wanted
        count(player.name, at, len(day.played))
    return account


SCHEDULE: Circuit = (-1, -1, -1)
"""Stands for a whole schedule in sets of circuits."""


def _change(before: Light, after: Light) -> tuple[frozenset[Circuit], frozenset[Circuit]]:
    """Returns the circuits that are made, and those that are broken."""
    if before.key == after.key:
        return frozenset(), frozenset()
    old, new = (
        frozenset({SCHEDULE}) if light.schedule is not None else light.circuits
        for light in (before, after)
    )
    if before.schedule is not None and after.schedule is not None:
        return new, old
    return new - old, old - new


def _left(day: Day, interval: Interval, left: np.ndarray[Any, Any]) -> float:
    """Returns the highest rate of one rack, in one direction, that circuits do not carry [b/s]."""
    most = max(
        np.bincount(end, weights=left, minlength=day.nodes).max()
        for end in (interval.src, interval.dst)
    )
    return float(most) * 8 * US / interval.length_us
