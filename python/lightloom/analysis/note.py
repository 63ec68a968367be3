"""A finding on a run, apart from the sentence that states it."""

from __future__ import annotations

from typing import Any

from lightloom.analysis.wording import sentence


class Note:
    """A finding: its kind, and the values that its sentence states.

    >>> note = Note("few uplinks", uplinks=3, base=4, remedy="raise fabric.uplinks")
    >>> note.kind, note.values["base"]
    ('few uplinks', 4)
    """

    def __init__(self, kind: str, **values: Any) -> None:
        """Checks nothing.

        Args:
            kind: a key of `wording.SENTENCES`.
            values: the values that this sentence names.
        """
        self.kind = kind
        self.values = values

    def __str__(self) -> str:
        return sentence(self.kind, self.values)

    def __repr__(self) -> str:
        return f"Note({self.kind!r}, {self.values})"
