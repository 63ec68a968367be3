"""A sweep on a cluster that Slurm manages, by jobs of dask-jobqueue.

    pip install "lightloom[cluster]" dask-jobqueue
    python slurm.py examples/sweep.toml -o out/sweep

The scheduler runs where this script does, as on a login node; each job is a node's worth of
workers. All of them need the same Lightloom: an environment on a file system that nodes share.
"""

import subprocess
import sys

from dask_jobqueue import SLURMCluster

JOBS = 4

cluster = SLURMCluster(
    queue="compute",  # sbatch --partition
    account="project",  # sbatch --account
    walltime="04:00:00",
    cores=32,  # of a job
    processes=32,  # of a job: one processor each, so that one death costs one simulation
    memory="64 GB",  # of a job, shared out among its processes
    # Workers end before Slurm ends them, so that what they run goes on elsewhere.
    worker_extra_args=["--lifetime", "230m", "--lifetime-stagger", "5m"],
    job_script_prologue=["source $HOME/lightloom/bin/activate"],
)
try:
    cluster.scale(jobs=JOBS)
    command = ["lightloom", "sweep", *sys.argv[1:], "--scheduler", cluster.scheduler_address]
    sys.exit(subprocess.run(command, check=False).returncode)
finally:
    cluster.close()
