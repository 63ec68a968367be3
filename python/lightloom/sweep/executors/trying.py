"""Trials of points in a process of their own: one that ends it costs its estimate, and no more."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from functools import partial
from typing import Any

from lightloom.config.experiment import Experiment
from lightloom.simulation import interrupts
from lightloom.simulation.trials import Lost, Trial, Try, tried
from lightloom.sweep.executors.crew import Crew, Died, Line


@contextmanager
def apart() -> Iterator[Try]:
    """What tries fabrics in a worker, one after another; where one ended it, the next has a new
    one. None is tried again: it ran alone."""
    with interrupts.noted() as ctrl_c, Crew() as crew:

        def tried_there(experiment: Experiment, label: str, *, seconds: float) -> Trial:
            crew.give(0, partial(_tried, experiment, label, seconds))
            came = _answer(crew, ctrl_c)
            if isinstance(came, Died):
                raise Lost(str(came))
            if isinstance(came, Exception):
                raise came
            assert isinstance(came, Trial)
            return came

        yield tried_there


def _answer(crew: Crew, ctrl_c: interrupts.Noted) -> Any:
    """What has come of the only job of a crew, as soon as it has."""
    while True:
        for _, came in crew.answers(ctrl_c):
            return came


def _tried(experiment: Experiment, label: str, seconds: float, line: Line) -> Trial:
    """A trial in a worker. What policies print in it, they print again when they run."""
    with redirect_stdout(io.StringIO()):
        return tried(experiment, label, seconds=seconds)
