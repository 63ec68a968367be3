"""`--figures`: the figures of a comparison in the styles of papers and slides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

import lightloom
from lightloom.cli import bars
from lightloom.errors import refusal
from lightloom.storage.staging import Staging


def wanted(named: str | None, *, writes: bool) -> tuple[str, ...]:
    """Returns the requested styles; raises an error before the simulation if a style does not
    exist, or nothing is written."""
    if named is None:
        return ()
    from lightloom.plotting.styles import find  # matplotlib is slow to import and rarely needed

    styles = tuple(dict.fromkeys(name.strip() for name in named.split(",")))
    for style in styles:
        find(style)
    if not writes:
        raise refusal("--figures", named, "--json alone writes nothing", "add -o DIR")
    return styles


def draw(
    comparisons: Sequence[lightloom.Comparison],
    target: Path,
    styles: Sequence[str],
    staging: Staging,
) -> list[Path]:
    """Draws all figures in each style below the directory of the report; returns the folders."""
    if not styles:
        return []
    from lightloom import plotting

    made = []
    with bars.counting() as count:
        for style in styles:
            title = f"figures, {style}"
            told = partial(count, title)
            plotting.write(comparisons, target / "figures", style, told, staging)
            made.append(target / "figures" / style)
    return made


def lacking(labels: Iterable[str]) -> Iterator[str]:
    """Returns a note if figures show boxes instead of characters; call it after drawing."""
    from lightloom.plotting.backend_matplotlib import FONT, with_lacking_letters

    found = with_lacking_letters(dict.fromkeys(labels))
    if found:
        named = ", ".join(found[:3]) + (f" and {len(found) - 3} more" if len(found) > 3 else "")
        yield (
            f"note: PNG and PDF figures have boxes in place of letters of {named}: {FONT} lacks "
            "them; the page and SVG have the letters"
        )
