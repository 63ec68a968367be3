"""Grids of simulations, over processes of this machine or workers of a cluster.

A sweep file names a base experiment, the keys to vary and how many seeds to
repeat each point with. Every point is validated before the first one runs;
a finished point's directory has a record that says so, so that a sweep can be
stopped and resumed. Where points run is an executor's concern: `executors`.
"""

from lightloom.sweep.executors import Executor, Failed, Job, Local, run_jobs
from lightloom.sweep.grid import Point, SweepFile, chosen_window, expand, read
from lightloom.sweep.points import find_done, say_left, store_point
from lightloom.sweep.run import Found, Outcome, names, run_sweep

__all__ = [
    "Executor",
    "Failed",
    "Found",
    "Job",
    "Local",
    "Outcome",
    "Point",
    "SweepFile",
    "chosen_window",
    "expand",
    "find_done",
    "names",
    "read",
    "run_jobs",
    "run_sweep",
    "say_left",
    "store_point",
]
