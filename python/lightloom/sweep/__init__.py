"""Grids of simulations, in processes of this machine or on workers of a cluster.

A sweep file names a base experiment, the keys to vary, and the number of seeds for each point.
Every point is validated before the first one runs. The folder of a finished point has a record, so
that a sweep can be stopped and resumed. Executors decide where points run (`executors`).
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
