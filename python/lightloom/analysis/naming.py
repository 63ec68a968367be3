"""Names of fabrics in sentences, in the papers' spelling if a label is the fabric's kind."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, TypeVar

from lightloom.config import fabrics

Said = TypeVar("Said")


class Prose:
    """Replaces the labels of an experiment's fabrics in sentences.

    >>> fabrics = [{"kind": "clos"}, {"kind": "clos", "label": "clos 3-1"}, {"kind": "sirius"}]
    >>> prose = Prose({"fabric": fabrics})
    >>> prose("clos and sirius lead clos 3-1; fabric.sirius.queue, sirius-2020 and clos's stay")
    "Clos and Sirius lead clos 3-1; fabric.sirius.queue, sirius-2020 and Clos's stay"
    """

    def __init__(self, experiment: Mapping[str, Any]) -> None:
        tables = experiment.get("fabric") or []
        kinds = {f.get("label", f.get("kind")): f.get("kind") for f in tables}
        self._names = {
            str(label): name
            for label, kind in kinds.items()
            if label == kind and (name := fabrics.of(kind).get("name", kind)) != kind
        }
        # Longer labels first, so that `clos 3-1` is not read as `clos`.
        labels = sorted(map(str, kinds), key=len, reverse=True)
        each = "|".join(map(re.escape, labels))
        self._found = re.compile(rf"(?<![\w./=-])(?:{each})(?![\w/=-]|\.\w)") if labels else None

    def __call__(self, text: str) -> str:
        """The sentence with the papers' names; it begins with a capital letter only if a name has
        one."""
        if not self._names or self._found is None:
            return text
        return self._found.sub(lambda found: self._names.get(found[0], found[0]), text)

    def all(self, texts: tuple[str, ...]) -> tuple[str, ...]:
        """Applies the names to several sentences."""
        return tuple(map(self, texts))


SENTENCES = {
    *("lead", "title", "main", "answer", "sentence", "facts", "overturned", "caveats", "remedy")
}
"""Fields of a verdict or decision that hold sentences."""


def in_prose(said: Said, experiment: Mapping[str, Any]) -> Said:
    """A verdict or decision whose sentences name fabrics as the papers do."""
    prose, found = Prose(experiment), dict[str, Any]()
    for field in fields(said):  # type: ignore[arg-type]
        if field.name in SENTENCES:
            value = getattr(said, field.name)
            found[field.name] = prose(value) if isinstance(value, str) else prose.all(value)
    return replace(said, **found)  # type: ignore[type-var]
