"""Racks with demand that are in no port map: their demand is left out, and a note reports it."""

from __future__ import annotations

import threading
from collections.abc import Callable

from lightloom.control.files import Demand
from lightloom.controller.racks import Racks
from lightloom.units.counts import counted

SHOWN = 20
"""Largest number of names that are shown."""


class Unmapped:
    """The names in demand that are in no port map."""

    def __init__(self) -> None:
        self.say: Callable[[str], None] = lambda _: None
        """Prints a line; each name is printed once."""
        self._known: set[str] = set()
        self._said: set[str] = set()
        self._lock = threading.Lock()

    def add(self, racks: Racks) -> None:
        """The racks of one more port map."""
        self._known |= {*racks.names}

    def note(self, demand: Demand | None) -> str:
        """A note on the racks of a demand that are omitted; empty if there are none."""
        names = [] if demand is None else [n for n in demand.names if n not in self._known]
        if not names:
            return ""
        shown = ", ".join(names[:SHOWN]) + (", …" if len(names) > SHOWN else "")
        text = f"without {counted(len(names), 'rack')} that no port map has: {shown}"
        with self._lock:
            is_new = not {*names} <= self._said
            self._said |= {*names}
        if is_new:
            self.say(f"demand {text}")
        return text
