"""The paper that a figure is drawn on: its width, its letters, how many panels stand side by
side. The layout follows from it."""

from __future__ import annotations

from dataclasses import dataclass

from .spec import Figure

MULTIPLE = 0.62  # height of a panel with few words, of the usual one
SINGLE = 0.58  # width of one panel alone, of that of two and what lies between


@dataclass(frozen=True)
class Sheet:
    """Where a figure stands. Lengths in inches, letters in points."""

    width: float
    points: float = 8.0
    columns: int = 2  # panels side by side, at most
    panel: float = 2.7  # height of a row of panels

    def across(self, figure: Figure) -> int:
        """Panels side by side. Small multiples are narrow: one more finds room, at two."""
        most = self.columns + 1 if figure.shared else self.columns
        return min(most, figure.across)

    def rows(self, figure: Figure) -> int:
        """Rows of panels."""
        return -(-len(figure.panels) // self.across(figure))

    def wide(self, figure: Figure) -> float:
        """Width of the picture: a panel alone need not be as wide as a page."""
        return self.width * (SINGLE if self.across(figure) < self.columns else 1.0)

    def high(self, figure: Figure) -> float:
        """Height of all panels."""
        return self.rows(figure) * self.panel * (MULTIPLE if figure.shared else 1.0)


#: As the report draws them: panels alone 4.2 in wide, two side by side 7.2 in.
REPORT = Sheet(7.2)
