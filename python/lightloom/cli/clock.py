"""`clock`: the deviation of clocks that follow a leader, and its causes."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lightloom.cli import console
from lightloom.cli.options import json_of, set_of
from lightloom.config.overrides import set_one
from lightloom.errors import ConfigError, refusal

if TYPE_CHECKING:
    from lightloom.devices.clock import Synchronisation

FAILURES = "Failures"
Config = Annotated[
    Path | None,
    typer.Argument(
        metavar="CLOCK.toml",
        help="File with keys of `lightloom explain clock` (default: all defaults).",
    ),
]
Nodes = Annotated[int | None, typer.Option(metavar="N", help="Nodes (128).")]
Epoch = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help="Length of an epoch, in which every node receives one cell from the leader (1.6 us).",
    ),
]
Turn = Annotated[
    int | None,
    typer.Option("--leader-epochs", metavar="N", help="Epochs for which a node leads (4)."),
]
Duration = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="Network time that is simulated epoch by epoch (100 ms)."),
]
Seed = Annotated[int | None, typer.Option(metavar="N", help="Seed of all random streams (1).")]
OfDay = Annotated[
    bool,
    typer.Option(
        "--day",
        help="First simulate a day in steps of 1 s, for drift; then the epochs of its worst step.",
    ),
]
Hours = Annotated[
    float | None,
    typer.Option(metavar="H", help="Like --day, for this number of hours."),
]
Die = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NODE[@TIME]",
        help='A node fails, as in "3@1 ms". Repeat for more.',
        rich_help_panel=FAILURES,
    ),
]
Liar = Annotated[
    list[str] | None,
    typer.Option(
        "--byzantine",
        metavar="NODE[@TIME]",
        help="A node sends a false time when it is the leader. Repeat for more.",
        rich_help_panel=FAILURES,
    ),
]
Lie = Annotated[
    str | None,
    typer.Option(
        metavar="split|jump|run",
        help="split: half of the nodes receive a later time, half an earlier one; jump: all "
        "receive the same wrong time; run: its error grows.",
        rich_help_panel=FAILURES,
    ),
]
Set = Annotated[
    list[str] | None,
    set_of('Any key, as in loop.bandwidth="2 kHz" or timestamps.jitter="0.5 ps".'),
]
Out = Annotated[
    list[Path] | None,
    typer.Option(
        "--out",
        "-o",
        metavar="DIR|FILE",
        help="Write all files into a folder, or one: .svg, .png or .pdf (plot), .parquet or .csv "
        "(columns), .json (figures), .toml (configuration). Repeat for more.",
    ),
]
Json = Annotated[bool, json_of("the figures")]
Terms = Annotated[
    bool,
    typer.Option(
        "--contributions/--no-contributions",
        help="Run with each error alone, and without it: two more runs for each.",
    ),
]


def clock(
    config: Config = None,
    nodes: Nodes = None,
    epoch: Epoch = None,
    leader_epochs: Turn = None,
    duration: Duration = None,
    seed: Seed = None,
    day: OfDay = False,
    hours: Hours = None,
    die: Die = None,
    byzantine: Liar = None,
    lie: Lie = None,
    set_: Set = None,
    out: Out = None,
    json: Json = False,
    contributions: Terms = True,
) -> None:
    """Simulate clock synchronisation: the deviation of clocks and its causes.

    Nodes follow a leader that changes every few epochs, as in Sirius (§4.4, A.2).
    """
    with console.guarded():
        flags = {"nodes": nodes, "epoch": epoch, "leader_epochs": leader_epochs}
        flags |= {"duration": duration, "seed": seed}
        given = {key: value for key, value in flags.items() if value is not None}
        table = _table(config) | given
        if day:
            table.setdefault("day", {})
        if hours is not None:
            _check_hours(hours)
            table["day"] = {**table.get("day", {}), "duration": f"{hours * 3600:.9g} s"}
        _add_failures(table, die or [], byzantine or [], lie)
        for override in set_ or []:
            set_one(table, override)
        targets = _targets(out or [], config)
        with _flagged(given):
            found = _simulate(table, contributions, json)
        written = found.save(*targets)
        if json:
            console.print_json(found.summary)
            return
        from lightloom.cli.clock_text import show

        show(found)
        if written:
            console.say("wrote " + " ".join(map(str, written)))


def _check_hours(hours: float) -> None:
    """Raises an error if the time is not positive; the core checks the largest time."""
    if not 0 < hours < math.inf:
        raise refusal("--hours", f"{hours:g}", "not a length of time", "write 24 for a day")


def _table(path: Path | None) -> dict[str, Any]:
    """Reads the keys in a file."""
    from lightloom.cli.options import check_file
    from lightloom.devices.clock import read

    if path is None:
        return {}
    check_file("CLOCK.toml", path)
    return read(path)


def _simulate(table: dict[str, Any], contributions: bool, json: bool) -> Synchronisation:
    """Runs the simulation with a progress bar on terminals."""
    from lightloom.devices.clock import simulate

    with console.progress(not json) as tick:

        def heard(share: float) -> None:
            tick("clocks", 0.0, 0.0, share)

        return simulate(table, contributions=contributions, progress=heard)


def _add_failures(table: dict[str, Any], die: list[str], liars: list[str], lie: str | None) -> None:
    """Adds nodes that fail or lie to the table."""
    if die:
        deaths = [dict(zip(("node", "at"), _who("--die", text), strict=True)) for text in die]
        table["die"] = deaths
    if not liars:
        if lie is not None:
            raise refusal("--lie", lie, "no node lies", "name a node with --byzantine")
        return
    told = [_who("--byzantine", text) for text in liars]
    times = {at for _, at in told}
    if len(times) > 1:
        limit = "all nodes that lie begin at one time"
        raise refusal("--byzantine", ", ".join(liars), limit, "give them the same time")
    table["byzantine"] = {"nodes": [node for node, _ in told], "at": times.pop()}
    if lie is not None:
        table["byzantine"]["lie"] = lie


def _who(option: str, text: str) -> tuple[int, str]:
    """Parses the node and the time of `3@1 ms`."""
    found = re.fullmatch(r"\s*(\d{1,9})\s*(?:@\s*(.+))?", text)
    if found is None:
        remedy = 'write the number of a node, and a time if you like: "3@1 ms"'
        raise refusal(option, f'"{text}"', "is no node", remedy)
    return int(found[1]), found[2] or "0 s"


def _targets(out: list[Path], config: Path | None) -> list[Path]:
    """Returns the folders and files to write; errors are raised before the simulation."""
    from lightloom.devices.clock.results import KINDS

    for path in out:
        kind = path.suffix[1:].lower()
        if kind in KINDS:
            if path.is_dir():
                raise refusal("-o", path, "is a directory", "name a file, or another folder")
            if config is not None and path.exists() and path.samefile(config):
                raise refusal("-o", path, "is the configuration itself", "name another file")
            console.check_output(path.parent)
        elif kind and not path.is_dir():
            remedy = f"use {', '.join(f'.{known}' for known in KINDS)}, or name a folder"
            raise refusal("-o", path, "its extension names no known format", remedy)
        else:
            console.check_output(path)
    return out


@contextmanager
def _flagged(given: dict[str, Any]) -> Iterator[None]:
    """Names keys in errors as on the command line: `leader_epochs` becomes `--leader-epochs`."""
    try:
        yield
    except ConfigError as problem:
        if problem.key not in given:
            raise
        key = "--" + str(problem.key).replace("_", "-")
        parts = (str(problem.value), str(problem.limit), str(problem.remedy))
        raise refusal(key, *parts) from None
