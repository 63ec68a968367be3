"""Slots of a schedule under rules.

A slot gives each input one output, its own number if it is idle. In a slot that breaks a
rule, inputs are assigned anew: who is pinned gets its output, who is down its own, nobody
one that it is kept apart from. Where inputs that have to change can do so among themselves,
all others stay; otherwise, of all that obey, it is the assignment that carries most of what
the slot carried, and then keeps most of its circuits.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lightloom.control.arrays import Integers
from lightloom.control.matching import assignment, hopcroft_karp
from lightloom.control.rules.rules import Rules
from lightloom.control.schedules import Schedule
from lightloom.errors import refusal

BITS = 30
"""Of what a slot carries, so that sums of weights stay far below 2⁶¹."""


def obeying(schedule: Schedule, carried: Integers, rules: Rules) -> Schedule:
    """The same schedule, its circuits assigned anew where they break a rule.

    Args:
        schedule: any.
        carried: what each slot carries for each input [bytes].
        rules: what holds in every slot.

    Raises:
        ConfigError: of `pin`, if those that are pinned leave a rack without an output.
    """
    forced = {a: b for a, b, _ in rules.pinned} | {rack: rack for rack, _ in rules.down}
    may = _may(schedule.ports, forced, rules)
    permutations = schedule.permutations.copy()
    inputs = np.arange(schedule.ports)
    for slot, outputs in enumerate(schedule.permutations):
        if not may[inputs, outputs].all():
            among = _among_themselves(outputs, may)
            permutations[slot] = _assigned(outputs, carried[slot], may) if among is None else among
    return replace(schedule, permutations=permutations)


def _may(ports: int, forced: dict[int, int], rules: Rules) -> Integers:
    """1 where an input may have an output."""
    may = np.ones((ports, ports), np.int64)
    for a, b in rules.apart:
        may[a, b] = may[b, a] = 0
    for input_, output in forced.items():
        may[input_, :] = 0
        may[:, output] = 0
    for input_, output in forced.items():
        may[input_, output] = 1
    return may


def _among_themselves(outputs: Integers, may: Integers) -> Integers | None:
    """The slot in which only those change that have to; None if they cannot."""
    wrong = np.flatnonzero(may[np.arange(len(outputs)), outputs] == 0)
    free = outputs[wrong]
    found = hopcroft_karp(may[np.ix_(wrong, free)])
    if (found < 0).any():
        return None
    after = outputs.copy()
    after[wrong] = free[found]
    return after


def _assigned(outputs: Integers, carried: Integers, may: Integers) -> Integers:
    """The best assignment of one slot."""
    ports = len(outputs)
    shift = max(int(carried.max()).bit_length() - BITS, 0)
    worth = np.zeros((ports, ports), np.int64)
    worth[np.arange(ports), outputs] = 1 + (ports + 1) * (carried >> shift)
    # An output that may be had outweighs all that a slot carries.
    allowed = int(worth.sum()) + 1
    weights = (worth + allowed) * may
    found = assignment(weights)
    if not may[np.arange(ports), found.column_of].all():
        limit = "with these, some input is left with an output that it is kept apart from"
        raise refusal("pin", "(given)", limit, "pin or forbid fewer pairs")
    return found.column_of
