"""The sheet that a figure is drawn on: its width, the size of its text, the number of panels side
by side. The layout follows from these."""

from __future__ import annotations

from dataclasses import dataclass

from .spec import Figure

MULTIPLE = 0.62  # height of a small multiple ÷ that of other panels
SINGLE = 0.58  # width of a single panel ÷ that of two with the space between them


@dataclass(frozen=True)
class Sheet:
    """The size of a figure. Lengths are in inches, text sizes in points."""

    width: float
    points: float = 8.0
    columns: int = 2  # largest number of panels side by side
    panel: float = 2.7  # height of a row of panels

    def across(self, figure: Figure) -> int:
        """The number of panels side by side. Small multiples are narrow, so that one more fits
        beside two."""
        most = self.columns + 1 if figure.shared else self.columns
        return min(most, figure.across)

    def rows(self, figure: Figure) -> int:
        """The number of rows of panels."""
        return -(-len(figure.panels) // self.across(figure))

    def wide(self, figure: Figure) -> float:
        """The width of the picture; that of a single panel is smaller than a page."""
        return self.width * (SINGLE if self.across(figure) < self.columns else 1.0)

    def high(self, figure: Figure) -> float:
        """The height of all panels."""
        return self.rows(figure) * self.panel * (MULTIPLE if figure.shared else 1.0)


#: The sheet of the report: a single panel is 4.2 in wide, two panels 7.2 in.
REPORT = Sheet(7.2)
