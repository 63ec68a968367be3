"""Where simulations of a sweep run: processes of this machine, or a cluster of Dask.

Both are an `Executor` and give the same results. What a cluster needs is in `joining`, which
loads Dask when a cluster is joined.
"""

from lightloom.sweep.executors.jobs import Executor, Failed, Job
from lightloom.sweep.executors.local import Local, run_jobs

__all__ = ["Executor", "Failed", "Job", "Local", "run_jobs"]
