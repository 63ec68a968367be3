"""A run on the testbed: the controller decides, applications send, and samples are taken."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lightloom.errors import refusal
from lightloom.testbed import applications, priority
from lightloom.testbed.bed import Testbed
from lightloom.testbed.capture import Capture
from lightloom.testbed.host import Plane
from lightloom.testbed.limits import Fidelity, judge_fidelity
from lightloom.testbed.measure import Samples
from lightloom.testbed.setup import Setup
from lightloom.units.durations import duration_ps

Tick = Callable[[float, str], None]
"""A function that receives the seconds since the start and a description of the progress."""


@dataclass(frozen=True)
class Live:
    """The measurements of a run on the testbed."""

    setup: Setup
    samples: Samples
    began: float
    """Time at which the controller's loop began [s of the monotonic clock]."""
    ended: float
    applications: list[dict[str, Any]]
    """The results of each application (`applications.figures_of`), and `begin_s`, its start."""
    circuits: list[tuple[int, int, int, float, float]]
    """Circuits: racks, plane, and the times at which each was lit and went dark [s from the
    start]."""
    facts: dict[str, Any]
    fidelity: Fidelity
    log: str
    """The log of the controller."""
    directed: bool = False
    """Whether circuits are directed."""
    captured: bytes | None = None
    """Packets of the links, as pcapng; None if they were not requested."""


def measure(setup: Setup, tick: Tick = lambda now, what: None) -> Live:
    """Builds a testbed, runs its applications, and takes it down.

    Raises:
        ConfigError: if the set-up is invalid or the policy fails.
        RuntimeError: if a tool fails.
        OSError: if the kernel refuses.
    """
    if not setup.table.application:
        limit = "nothing would be sent"
        remedy = "add [[testbed.application]], or give a command after --"
        raise refusal("testbed.application", "(missing)", limit, remedy)
    applications.check_programs(setup.table.application)
    with Testbed(setup) as bed, priority.preferred():
        return _measured(bed, tick)


def _measured(bed: Testbed, tick: Tick) -> Live:
    setup, host = bed.setup, bed.host
    running = applications.prepare(setup.table.application, setup.layout, bed.folder)
    samples = Samples()
    every = duration_ps("testbed.sample", setup.table.sample) / 1e12
    capture = Capture(setup, bed.folder) if setup.table.capture is not None else None
    host.begin()
    next_sample = host.began
    try:
        while not all(one.over for one in running):
            host.step(next_sample)
            if time.monotonic() < next_sample:
                continue
            bed.check_up()
            samples.take(bed.plane.read_counters())
            next_sample += every
            now = time.monotonic()
            if now >= samples.next_look:
                samples.look(bed.plane.observe)
            for one in running:
                # Actions that are due wait for one process to start, and for no more.
                while one.poll(time.monotonic(), host.began):
                    host.step(time.monotonic())
                host.step(time.monotonic())
            busy = sum(one.began is not None and not one.over for one in running)
            tick(now - host.began, f"{busy} of {len(running)} applications run")
    finally:
        for one in running:
            one.end()
    bed.check_up()
    samples.take(bed.plane.read_counters())
    samples.look(bed.plane.observe)
    ended = time.monotonic()
    totals = bed.plane.totals()
    captured, cut = capture.end() if capture is not None else (None, [])
    return Live(
        setup=setup,
        samples=samples,
        began=host.began,
        ended=ended,
        applications=[_figures(one, host.began) for one in running],
        circuits=_circuits(bed.plane, host.began, ended),
        facts=totals | ({"capture_cut": cut} if cut else {}),
        fidelity=judge_fidelity(setup, totals, host.late_s, samples.loads),
        log=host.log(),
        directed=bed.plane.directed,
        captured=captured,
    )


def _figures(one: applications.Running, began: float) -> dict[str, Any]:
    begin = None if one.began is None else one.began - began
    return applications.figures_of(one) | {"begin_s": begin}


def _circuits(plane: Plane, began: float, ended: float) -> list[tuple[int, int, int, float, float]]:
    return [
        (a, b, number, since - began, (ended if until is None else until) - began)
        for a, b, number, since, until in plane.history
    ]
