"""Places for figures: their width and the size of their text.

The widths are those of the publishers' templates, so that a figure is included at its own size and
its text has the stated size."""

from __future__ import annotations

import difflib
from collections.abc import Mapping

from lightloom.errors import refusal
from lightloom.plotting.sheet import Sheet

#: acmart (`sigconf`): a column of 241.1 pt, a text width of 506.3 pt. IEEEtran: 252 pt and 516 pt.
#: A slide of 16:9 is 13.33 in wide; the figure leaves a margin.
STYLES: Mapping[str, Sheet] = {
    "acm-column": Sheet(3.33, points=8.0, columns=1, panel=1.75),
    "acm-text": Sheet(7.0, points=8.0, columns=2, panel=2.1),
    "ieee-column": Sheet(3.48, points=8.0, columns=1, panel=1.8),
    "ieee-text": Sheet(7.13, points=8.0, columns=2, panel=2.1),
    "slide": Sheet(12.0, points=16.0, columns=2, panel=4.4),
}


def find(name: str, key: str = "--figures") -> Sheet:
    """Returns the sheet of a style; `key` is the key that requested it.

    Raises:
        ValueError: There is no style of that name; the message lists the existing ones.
    """
    if name in STYLES:
        return STYLES[name]
    begun = [style for style in STYLES if name and style.startswith(name)]
    near = begun or difflib.get_close_matches(name, STYLES, 1, 0.5)
    meant = f"did you mean {near[0]}? " if near else ""
    raise refusal(key, name, "no such style", f"{meant}choose one of {', '.join(STYLES)}")
