"""Shows the doctests of docstrings as examples in the API reference.

A Griffe extension (`extensions` of mkdocstrings in mkdocs.yml): the parser of docstrings recognises
examples only below a heading, which doctests do not have.
"""

from __future__ import annotations

import re
import textwrap
from typing import Any

import griffe

DOCTEST = re.compile(r"^>>> .*(?:\n(?!\n).*)*", re.MULTILINE)


class Examples(griffe.Extension):
    """Inserts a heading above each group of doctest lines."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Called for every module, class, function and attribute."""
        if obj.docstring is not None:
            obj.docstring.value = DOCTEST.sub(under_heading, obj.docstring.value)


def under_heading(doctest: re.Match[str]) -> str:
    """Returns the lines, indented below `Examples:`."""
    return "Examples:\n" + textwrap.indent(doctest.group(), "    ")
