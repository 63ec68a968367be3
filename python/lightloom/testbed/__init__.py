"""The Linux testbed: unmodified applications on hosts in network namespaces, over an emulated
optical fabric that the simulated fabric's own controller drives.

>>> from lightloom.testbed import Testbed, measure, setup_of  # doctest: +SKIP
>>> setup = setup_of(lightloom.load("examples/testbed-cthrough.toml"))  # doctest: +SKIP
>>> live = measure(setup)  # doctest: +SKIP
"""

from lightloom.testbed.bed import Testbed
from lightloom.testbed.live import Live, measure
from lightloom.testbed.setup import Setup, setup_of

__all__ = ["Live", "Setup", "Testbed", "measure", "setup_of"]
