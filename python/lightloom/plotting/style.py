"""The style of a fabric: a colour, a dash pattern and a marker, the same in every figure.

The colours were chosen for a distance of at least 16 (CIE 1976) between any two of them in normal
vision and in simulated deuteranopia, protanopia and tritanopia, and for a contrast of at least
3.4:1 with the page, in each theme. Dash and marker also distinguish fabrics in print without
colour.
"""

from __future__ import annotations

from dataclasses import dataclass

LIGHT = (
    *("#1d4ea3", "#c96a00", "#0f8a62", "#9b5aa0", "#6e4200", "#1590e6", "#6412c8", "#444444"),
    *("#849048", "#840c6c", "#9c54fc", "#300cf0"),
)
DARK = (
    *("#79a8ff", "#ff7038", "#45e0a0", "#cf86b4", "#ffd94a", "#a3defa", "#8f68f5", "#eeeeee"),
    *("#b4cc6c", "#b4486c", "#9c60a8", "#e43048"),
)

# Lengths of stroke and gap [px]; empty for a solid line.
DASHES: tuple[tuple[float, ...], ...] = (
    (),
    (7, 3),
    (2, 2),
    (9, 3, 2, 3),
    (14, 4),
    (4, 2),
    (9, 3, 2, 3, 2, 3),
    (5, 5),
)
# Names in Plotly and in matplotlib, and the path of a symbol of 8 px around (0, 0).
MARKERS = (
    ("circle", "o", "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0Z"),
    ("square", "s", "M-3.5-3.5h7v7h-7Z"),
    ("triangle-up", "^", "M0-4.5L4.5 3.5H-4.5Z"),
    ("diamond", "D", "M0-5L5 0L0 5L-5 0Z"),
    ("cross", "P", "M-1.5-4.5h3v3h3v3h-3v3h-3v-3h-3v-3h3Z"),
    ("triangle-down", "v", "M0 4.5L4.5-3.5H-4.5Z"),
    (
        "x",
        "X",
        "M-4.5-2.5L-2.5-4.5L0-2L2.5-4.5L4.5-2.5L2 0L4.5 2.5L2.5 4.5L0 2L-2.5 4.5L-4.5 2.5L-2 0Z",
    ),
    ("star", "*", "M0-5.5L1.6-1.7L5.5-1.5L2.5 1L3.5 5L0 2.8L-3.5 5L-2.5 1L-5.5-1.5L-1.6-1.7Z"),
)
LINE_WIDTH = 2.0
BAR_WIDTH = 9.0
NIGHT = "#cdd2d9"  # on white; the page has a colour for each theme
REFERENCE_DASH = (2.0, 3.0)


@dataclass(frozen=True)
class Look:
    """The style in which one fabric is drawn."""

    slot: int
    colour: int
    dash: tuple[float, ...]
    marker: tuple[str, str, str]

    @property
    def css_dash(self) -> str:
        """The dash pattern in the form of SVG's `stroke-dasharray` and Plotly's `line.dash`."""
        return ",".join(f"{d:g}" for d in self.dash)


def look(slot: int) -> Look:
    """Returns the style of the `slot`-th fabric. Twelve fabrics have different colours; beyond
    eight, markers are combined with other dash patterns."""
    number = len(DASHES)
    marker = MARKERS[(slot + slot // number) % number]
    return Look(slot, slot % len(LIGHT), DASHES[slot % number], marker)
