"""Arguments that several commands have."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Annotated, Any

import typer

import lightloom
from lightloom.cli import console
from lightloom.errors import refusal
from lightloom.simulation.machine import processors


def set_of(about: str) -> Any:
    """The option `--set KEY=VALUE`; `about` describes its keys."""
    return typer.Option("--set", metavar="KEY=VALUE", help=f"{about} Repeat for more.")


def json_of(what: str) -> Any:
    """The option `--json`; `what` is printed instead of text."""
    return typer.Option("--json", help=f"Print {what} as JSON and nothing else.")


Overrides = Annotated[
    list[str] | None,
    set_of(
        "Override a key, as in workload.load=0.9, fabric.uplinks=16 or fabric.LABEL.queue=8.",
    ),
]
FromResult = Annotated[
    Path | None,
    typer.Option(
        "--from",
        metavar="RESULT",
        help="Replay the flows of a result (of `testbed run` or of a simulation) in place of the "
        "file's workload.",
    ),
]
OutDir = Annotated[
    Path | None,
    typer.Option("--out", "-o", metavar="DIR", help="Where to write (default: results/NAME)."),
]
CopyInputs = Annotated[
    bool,
    typer.Option(
        "--copy-inputs",
        help="Copy the files that the experiment reads (traces, sizes, matrices, schedules, "
        "policies) into DIR/inputs, so that DIR runs again on any machine.",
    ),
]
Json = Annotated[
    bool,
    typer.Option("--json", help="Print the summary as JSON and nothing else; write with -o only."),
]
Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose",
        "-v",
        help="Print all tables and notes of a comparison, as in the report.",
    ),
]
Threads = Annotated[
    int,
    typer.Option(
        help="Threads of one simulation, from 1; results do not depend on it. With Sirius they "
        "help from about 500 racks on, and slow smaller runs down."
    ),
]
DryRun = Annotated[
    bool,
    typer.Option("--dry-run", help="Print the forecast of time and memory, and stop."),
]
Figures = Annotated[
    str | None,
    typer.Option(
        metavar="STYLE,…",
        help="Also draw the figures for a paper or a slide, as SVG, PNG and PDF in "
        "figures/STYLE: acm-column, acm-text, ieee-column, ieee-text or slide.",
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(help="Processes at a time, from 1 (default: one per processor)."),
]


def doubt_threads(threads: int) -> None:
    """Prints a note if there are more threads than processors."""
    there = processors()
    if threads > there:
        console.err().print(
            f"note: --threads {threads} is more than the {there} processors of this machine: the "
            "run may become slower",
            markup=False,
        )


def read_experiment(path: Path, overrides: list[str] | None) -> lightloom.Experiment:
    """Reads the experiment in a file; errors name the path."""
    check_file("EXPERIMENT", path)
    return lightloom.load(path, overrides or [])


def replaying(experiment: lightloom.Experiment, result: Path | None) -> lightloom.Experiment:
    """Returns the experiment with the flows of a result as its workload, run until all are
    delivered."""
    if result is None:
        return experiment
    files = [result / name for name in ("flows.csv", "flows.parquet")]
    found = next((file for file in files if file.is_file()), None)
    if found is None:
        limit = "the folder has no flows.csv or flows.parquet"
        raise refusal("--from", result, limit, "name the folder of a result")
    run = experiment.raw.get("run", {})
    kept = {key: run[key] for key in ("seed", "goodput", "controller_log") if key in run}
    raw = {
        **experiment.raw,
        "workload": {"trace": str(found.resolve())},
        "run": {**kept, "stop": "drain"},
    }
    return type(experiment)(raw, experiment.path)


def check_file(argument: str, path: Path) -> None:
    """Raises an error if a path is not a file."""
    if path.is_dir():
        raise refusal(argument, path, "is a directory", "name a TOML file")
    if not path.exists():
        raise refusal(argument, path, "no such file", f"check the path{_others(path)}")


FILES_SHOWN = 40


def _others(path: Path) -> str:
    """Suggests other files: those with the most similar names, or all of a folder if it is
    small."""
    if not path.parent.is_dir():
        return f"; there is no folder {path.parent}"
    there = {p.stem: p.name for p in sorted(path.parent.glob("*.toml"))}
    near = difflib.get_close_matches(path.stem, there, 2)
    if near:
        return f"; did you mean {' or '.join(there[stem] for stem in near)}?"
    names = list(there.values())
    more = f" and {len(names) - FILES_SHOWN} more" if len(names) > FILES_SHOWN else ""
    return f"; there are {', '.join(names[:FILES_SHOWN])}{more}" if names else ""
