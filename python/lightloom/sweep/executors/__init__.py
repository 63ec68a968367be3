"""Where simulations of a sweep run: in processes of this machine, or on a Dask cluster.

Both are an `Executor` and give the same results. `joining` contains the code for clusters; it
imports Dask when a cluster is joined.
"""

from lightloom.sweep.executors.jobs import Executor, Failed, Job
from lightloom.sweep.executors.local import Local, run_jobs

__all__ = ["Executor", "Failed", "Job", "Local", "run_jobs"]
