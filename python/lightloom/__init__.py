"""Lightloom: simulate optical data-centre networks on the same traffic.

>>> import lightloom
>>> experiment = lightloom.load("examples/sirius.toml", ["workload.load=0.9"])
>>> result = lightloom.run(experiment)
>>> result.summary["goodput_normalized"]  # doctest: +SKIP
0.83
>>> result.flows.num_rows  # an Arrow table, a row per flow  # doctest: +SKIP
200000
>>> result.save("out")  # doctest: +SKIP

`compare` runs every fabric of an experiment. What cannot run is refused with
a `ConfigError` that names the key, the value, the limit and the remedy.
"""

from lightloom._core import __version__
from lightloom.api import Progress, compare, run
from lightloom.config import Experiment, load
from lightloom.errors import ConfigError
from lightloom.results import Comparison, Result

__all__ = [
    "Comparison",
    "ConfigError",
    "Experiment",
    "Progress",
    "Result",
    "__version__",
    "compare",
    "load",
    "run",
]
