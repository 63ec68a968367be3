"""A finding on a run, apart from the sentence that states it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from lightloom.analysis.wording import SENTENCES, sentence


class Note:
    """A finding: its kind, and the values that its sentence states.

    >>> note = Note("few uplinks", uplinks=3, base=4, remedy="raise fabric.uplinks")
    >>> note.kind, note.values["base"]
    ('few uplinks', 4)
    """

    catalogue: ClassVar[Mapping[str, str]] = SENTENCES
    """The templates of the sentences, by kind."""

    def __init__(self, kind: str, **values: Any) -> None:
        """Checks nothing.

        Args:
            kind: a key of the catalogue.
            values: the values that this sentence names.
        """
        self.kind = kind
        self.values = values

    def __str__(self) -> str:
        return sentence(self.catalogue[self.kind], self.values)

    def __repr__(self) -> str:
        return f"Note({self.kind!r}, {self.values})"
