"""Trials of points in a separate process; if a trial ends it, only its forecast is lost."""

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
    """Returns a function that tries fabrics in a worker, one after another. If a trial ends the
    worker, a new one is started; that trial is not repeated, because it ran alone."""
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
    """Returns the result of the only job of a crew when it is finished."""
    while True:
        for _, came in crew.answers(ctrl_c):
            return came


def _tried(experiment: Experiment, label: str, seconds: float, line: Line) -> Trial:
    """Runs a trial in a worker. The output of policies is discarded, because the simulation repeats
    it."""
    with redirect_stdout(io.StringIO()):
        return tried(experiment, label, seconds=seconds)
