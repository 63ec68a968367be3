"""Figures of a comparison for a paper or a slide: SVG, PNG and PDF, as wide as a column.

They show what the report shows, with the same colours: its curves (`lightloom.report`) are
drawn on the sheets of `styles`. `draw` has the same for axes of your own.
"""

from __future__ import annotations

from .files import write
from .styles import STYLES, find

__all__ = ["STYLES", "find", "write"]
