"""The price books in the package, by name."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parents[1] / "costs" / "books"
DEFAULT = "sirius-2020"


def names() -> list[str]:
    """The names of the price books in the package."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))
