"""Samples the light of all ports during a change."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise

from lightloom.switches.ports import Port
from lightloom.switches.protocol import CircuitSwitch, SwitchError

LIT_WITHIN_DB = 3.0
"""A port has light if its power is at most this much below its highest power [dB]."""

Samples = list[tuple[float, dict[Port, float]]]
"""Times [s], each with the power that leaves each port [dBm]."""


@contextmanager
def sampling(switch: CircuitSwitch) -> Iterator[Samples]:
    """Samples the light of all ports on a separate connection while the context is open.

    Raises:
        SwitchError: at the end, if the switch did not answer on this connection.
    """
    samples: Samples = []
    problems: list[SwitchError] = []
    over = threading.Event()

    def sample() -> None:
        while True:
            last = over.is_set()
            try:
                powers = switch.power()
            except SwitchError as problem:
                problems.append(problem)
                return
            samples.append((time.monotonic(), dict(powers or {})))
            if last:
                return
            over.wait(0.001)

    thread = threading.Thread(target=sample, daemon=True)
    thread.start()
    try:
        while not samples and thread.is_alive():
            time.sleep(0.001)
        yield samples
    finally:
        over.set()
        thread.join(10)
        switch.close()
    if problems:
        raise problems[0]


def dark_s(samples: Samples, old: Port, new: Port) -> float:
    """Returns the longest time for which neither the old nor the new port had light [s].

    It begins and ends midway between a sample with light and one without, so its error is at most
    the interval between samples.

    >>> lit, dark = -2.0, -60.0
    >>> one, two = Port("B", 1), Port("B", 2)
    >>> seen = [(0.0, {one: lit, two: dark}), (0.1, {one: dark, two: dark})]
    >>> round(dark_s([*seen, (0.3, {one: dark, two: lit})], one, two), 3)
    0.15
    """
    powers = [(at, max(found[old], found[new])) for at, found in samples]
    least = max(power for _, power in powers) - LIT_WITHIN_DB
    longest, began = 0.0, None
    for (before, was), (after, power) in pairwise(powers):
        if was > least >= power:
            began = (before + after) / 2
        elif was <= least < power and began is not None:
            longest = max(longest, (before + after) / 2 - began)
    return longest
