"""Grids of simulations over a local process pool.

A sweep file names a base experiment, the keys to vary and how many seeds to
repeat each point with. Every point is validated before the first one runs;
a finished point's directory is complete or absent, so that a sweep can be
stopped and resumed. Distributing a sweep over machines is not modelled.
"""

from lightloom.sweep.grid import Point, SweepFile, expand, read
from lightloom.sweep.pool import Job, run_jobs
from lightloom.sweep.run import Outcome, is_there, run_sweep

__all__ = [
    "Job",
    "Outcome",
    "Point",
    "SweepFile",
    "expand",
    "is_there",
    "read",
    "run_jobs",
    "run_sweep",
]
