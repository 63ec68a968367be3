"""Executors of a sweep's simulations: processes of this machine, or a Dask cluster.

Both are an `Executor` and give the same results. `joining` contains the code for clusters; it
imports Dask when a cluster is joined.
"""

from lightloom.sweep.executors.jobs import Executor, Failed, Job
from lightloom.sweep.executors.local import Local, run_jobs

__all__ = ["Executor", "Failed", "Job", "Local", "run_jobs"]
