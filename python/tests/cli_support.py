"""A small experiment, and the command as a user starts it."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

SMALL = """
[cluster]
racks = 8
servers_per_rack = 2
rack_rate = "100 Gb/s"

[workload]
arrivals = "poisson"
load = 0.5
sizes = { kind = "exponential", mean = "20 KB" }
pattern = "uniform"
flows = 400

[run]
seed = 3
"""
SIRIUS = '\n[[fabric]]\nkind = "sirius"\nuplinks = 2\n'
CLOS = '\n[[fabric]]\nkind = "clos"\n'


def write(path: Path, *parts: str) -> Path:
    """An experiment of these parts."""
    path.write_text("".join(parts), encoding="utf-8")
    return path


def lightloom(
    *arguments: object, cwd: Path, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Runs the command without a terminal."""
    return subprocess.run(
        command(*arguments),
        cwd=cwd,
        env=environment_with(environment),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "lightloom", *map(str, arguments)]


def environment_with(changes: dict[str, str]) -> dict[str, str]:
    import os

    kept = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LIGHTLOOM_VALIDATION")}
    return kept | changes
