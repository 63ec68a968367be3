"""Slots of a schedule under rules.

A slot assigns one output to each input; an idle input has the output of its own number. In a slot
that breaks a rule, inputs are assigned again: a pinned input gets its output, an input that is down
gets its own number, and no input gets an output that it is kept apart from. If the inputs that must
change can exchange their outputs among themselves, all other inputs keep theirs. Otherwise the new
slot is the assignment that obeys the rules and carries most of the demand of the old slot; among
equals, it is the one that keeps most of its circuits.
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
"""Largest number of bits of a slot's demand; sums of weights then stay far below 2⁶¹."""


def obeying(schedule: Schedule, carried: Integers, rules: Rules) -> Schedule:
    """Returns the schedule with a new assignment in each slot that breaks a rule.

    Args:
        schedule: the schedule.
        carried: the demand that each slot carries for each input [bytes].
        rules: the rules, which hold in every slot.

    Raises:
        ConfigError: if the pinned circuits leave a rack without an output.
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
    """Returns 1 for each input and output that may be connected, otherwise 0."""
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
    """The slot in which only inputs that must change do so; None if that is impossible."""
    wrong = np.flatnonzero(may[np.arange(len(outputs)), outputs] == 0)
    free = outputs[wrong]
    found = hopcroft_karp(may[np.ix_(wrong, free)])
    if (found < 0).any():
        return None
    after = outputs.copy()
    after[wrong] = free[found]
    return after


def _assigned(outputs: Integers, carried: Integers, may: Integers) -> Integers:
    """The assignment of one slot that is best under the rules."""
    ports = len(outputs)
    shift = max(int(carried.max()).bit_length() - BITS, 0)
    worth = np.zeros((ports, ports), np.int64)
    worth[np.arange(ports), outputs] = 1 + (ports + 1) * (carried >> shift)
    # Any permitted output outweighs all demand that the slot carries.
    allowed = int(worth.sum()) + 1
    weights = (worth + allowed) * may
    found = assignment(weights)
    if not may[np.arange(ports), found.column_of].all():
        limit = "with these rules, an input would have an output that is forbidden for it"
        raise refusal("pin", "(given)", limit, "pin or forbid fewer pairs")
    return found.column_of
