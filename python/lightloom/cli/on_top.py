"""The time of `compare` after all simulations, for pages and pictures, from measured times."""

from __future__ import annotations

from lightloom.cli.forecast import span

#: Time of a comparison's part of the report with its pictures, of these pictures in a style for
#: papers, and of the PDF of decisions [s]. Measured with the examples, on two processors with other
#: load.
REPORT_S, STYLE_S, PDF_S = 1.5, 4.0, 3.0


def line(comparisons: int, *, report: bool, styles: int, sheet: bool) -> str:
    """Returns the text of the forecast; empty if nothing is drawn.

    >>> line(1, report=True, styles=0, sheet=True)
    '; report and PDF come on top, about 4 s'
    >>> line(6, report=True, styles=2, sheet=False)
    '; report and figures come on top, about 57 s'
    >>> line(1, report=False, styles=0, sheet=False)
    ''
    """
    parts = {
        "report": report * comparisons * REPORT_S,
        "figures": styles * comparisons * STYLE_S,
        "PDF": sheet * PDF_S,
    }
    there = [name for name, seconds in parts.items() if seconds]
    if not there:
        return ""
    *before, last = there
    named = f"{', '.join(before)} and {last}" if before else last
    verb = "comes" if there in (["report"], ["PDF"]) else "come"
    return f"; {named} {verb} on top, about {span(sum(parts.values()))}"
