"""The golden files of texts: one for each surface."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

SNAPSHOTS = Path(__file__).parent / "snapshots"


def golden(name: str, lines: Iterable[str]) -> None:
    """Compares lines with a file of `snapshots/`. To bless a change: LIGHTLOOM_BLESS=1, and look at
    the difference."""
    text = "\n".join(lines) + "\n"
    path = SNAPSHOTS / name
    if os.environ.get("LIGHTLOOM_BLESS"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")
