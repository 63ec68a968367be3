"""Clocks of nodes that follow a leader, which changes every few epochs (Sirius §4.4, A.2).

>>> from lightloom.devices import clock
>>> found = clock.simulate(nodes=4, duration="5 ms", timestamps={"jitter": "0.5 ps"})
>>> found.summary["epochs"]["samples"]  # one sample every 11 epochs
284
>>> found.summary["dominant"]["deviation"]
'asymmetry'
>>> found.samples.column_names[:2]
['time_ps', 'deviation_ps']
"""

from __future__ import annotations

from .results import Synchronisation
from .running import ANCHORS, read, schema, simulate
from .starts import epoch_starts

__all__ = ["ANCHORS", "Synchronisation", "epoch_starts", "read", "schema", "simulate"]
