"""Policies in Python: a class with `decide(demand, switch)` in a file of the user decides which
racks are connected, in `run`, `compare` and `sweep`.

>>> import numpy as np
>>> from lightloom.policies import Circuits, Switch
>>> class Heaviest:
...     \"\"\"Joins the two racks that have most for each other.\"\"\"
...
...     def decide(self, demand, switch):
...         both = demand + demand.T
...         return [np.unravel_index(both.argmax(), both.shape)]
>>> policy = Heaviest()
>>> switch = Switch(racks=3)
>>> policy.decide(np.array([[0, 5, 0], [0, 0, 9], [0, 0, 0]]), switch)
[(np.int64(1), np.int64(2))]

An experiment selects it by `policy = "my_policy.py:Heaviest"`, in a fabric of kind "hybrid".
"""

from __future__ import annotations

from importlib import import_module

from lightloom import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lightloom.policies.answers import Circuits, Path
    from lightloom.policies.switch import Switch

__all__ = ["Circuits", "Path", "Switch", "bits_per_second", "bytes_of", "picoseconds"]


def bytes_of(amount: str) -> int:
    """Converts a number of bytes with its unit, as in options, to bytes.

    >>> bytes_of("1.5 GB")
    1500000000
    """
    return int(_core.control_bytes("amount", amount))


def picoseconds(time: str) -> int:
    """Converts a time with its unit to picoseconds.

    >>> picoseconds("10 us")
    10000000
    """
    return int(_core.control_time("time", time))


def bits_per_second(rate: str) -> int:
    """Converts a rate with its unit to bits per second.

    >>> bits_per_second("10 Gb/s")
    10000000000
    """
    return int(_core.control_rate("rate", rate))


_HOME = {"Circuits": "answers", "Path": "answers", "Switch": "switch"}


def __getattr__(name: str) -> object:
    """Imports a name's module when it is first used, because an experiment that only names the file
    of a policy does not need NumPy."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value
