"""Measures how long a change keeps cross-connects dark.

They are dark from the command of a change until all new cross-connects are connected, or until
they are lit again. Time in which no controller ran is not measured.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from lightloom.switches.ports import Pair


class DarkClock:
    """Measures how long some cross-connects are dark."""

    def __init__(self, pairs: Collection[Pair], now: Callable[[], float]) -> None:
        """Does not run yet.

        Args:
            pairs: the cross-connects.
            now: seconds, which never go back.
        """
        self._pairs = {*pairs}
        self._now = now
        self._since: float | None = None
        self._is_dark = False
        """Whether a reading since then lacked one of them."""
        self._total_s = 0.0

    def begin(self) -> None:
        """A command is about to remove them, or has done so before this controller began."""
        if self._pairs and self._since is None:
            self._since = self._now()

    def see(self, there: Callable[[], Collection[Pair]]) -> None:
        """The cross-connects of a reading. If no reading lacked one of them, none went dark."""
        if self._since is None:
            return
        if not self._pairs <= {*there()}:
            self._is_dark = True
            return
        if self._is_dark:
            self._total_s += self._now() - self._since
        self._since, self._is_dark = None, False

    def end(self) -> None:
        """All new cross-connects are connected."""
        if self._since is not None:
            self._total_s += self._now() - self._since
        self._since, self._is_dark = None, False

    def take_s(self) -> float:
        """The dark time that was not taken yet [s]. If the switch does not answer, they may be
        dark."""
        if self._since is not None:
            now = self._now()
            self._total_s += now - self._since
            self._since = now
        taken, self._total_s = self._total_s, 0.0
        return taken
