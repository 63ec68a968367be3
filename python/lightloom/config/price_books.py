"""The price books of the package, by name: experiments and options choose one."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parents[1] / "costs" / "books"
DEFAULT = "sirius-2020"


def names() -> list[str]:
    """The books of the package."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))
