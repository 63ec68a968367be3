"""Arguments that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import lightloom
from lightloom.errors import refusal

Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Override a key, as in workload.load=0.9, fabric.uplinks=16 or "
        "fabric.LABEL.queue=8. Repeat for more.",
    ),
]
OutDir = Annotated[
    Path | None,
    typer.Option("--out", "-o", metavar="DIR", help="Where to write (default: results/NAME)."),
]
Json = Annotated[
    bool,
    typer.Option("--json", help="Print the summary as JSON and nothing else; write with -o only."),
]
Threads = Annotated[
    int, typer.Option(min=1, help="Threads of one simulation; results do not depend on it.")
]


def read_experiment(path: Path, overrides: list[str] | None) -> lightloom.Experiment:
    """The experiment in a file; a path that holds none is refused by name."""
    check_file("EXPERIMENT", path)
    return lightloom.load(path, overrides or [])


def check_file(argument: str, path: Path) -> None:
    """Refuses what is no file."""
    if path.is_dir():
        raise refusal(argument, path, "is a directory", "name a TOML file")
    if not path.exists():
        near = sorted(p.name for p in path.parent.glob("*.toml")) if path.parent.is_dir() else []
        known = f"; there are {', '.join(near[:8])}" if near else ""
        raise refusal(argument, path, "no such file", f"check the path{known}")
