"""The output of `run`: figures, notes, and the written files.

`run` imports this module, and with it NumPy and Arrow, while it simulates.
"""

from __future__ import annotations

from pathlib import Path

import lightloom
from lightloom.analysis import circuits, notes
from lightloom.cli import console, physics, repeats, run_text
from lightloom.cli.how import How, say_left
from lightloom.config import inputs
from lightloom.results.files import CIRCUITS, CONTROLLER, LINKS
from lightloom.results.result import Repeated, Result
from lightloom.storage.records import RECORD


def write(
    made: Result | Repeated, loaded: lightloom.Experiment, how: How, target: Path | None
) -> None:
    """Prints a result, or those of all seeds, and names the files in `target`."""
    if isinstance(made, Result):
        _write_result(made, loaded, how, target)
    else:
        _write_repeated(made, loaded, how, target)


def _write_result(
    result: Result, loaded: lightloom.Experiment, how: How, target: Path | None
) -> None:
    for note in circuits.leading_notes(result):
        console.say(f"note: {note}")
    run_text.print_run(result)
    for line in physics.in_force(result.experiment):
        console.say(line)
    servers = notes.of_cluster(loaded.raw.get("cluster", {}))
    for note in (
        *servers,
        *notes.of_traffic(result),
        *notes.notes_of_run(result),
        *notes.filling(result),
    ):
        console.say(f"note: {note}")
    more = [] if result.circuits is None else [CIRCUITS]
    more += [] if result.links is None else [LINKS]
    more += [] if result.controller_log is None else [CONTROLLER]
    if how.copy_inputs and target is not None and (target / inputs.INPUTS).is_dir():
        more.append(inputs.INPUTS)
    say_left(how, [result.experiment])
    files = ["experiment.toml", "flows.parquet", "timeseries.parquet", *more]
    if target is not None:
        names = [*files, "summary.json", RECORD]
        console.say("wrote " + " ".join(str(target / name) for name in names))


def _write_repeated(
    repeated: Repeated, loaded: lightloom.Experiment, how: How, target: Path | None
) -> None:
    first = repeated.results[0]
    for note in circuits.leading_notes(first):
        console.say(f"note: seed {repeated.seeds[0]}: {note}")
    repeats.print_repeated(repeated)
    for line in physics.in_force(first.experiment):
        console.say(line)
    for note in notes.of_cluster(loaded.raw.get("cluster", {})):
        console.say(f"note: {note}")
    for note in (*notes.of_traffic(first), *notes.notes_of_run(first), *notes.filling(first)):
        console.say(f"note: seed {repeated.seeds[0]}: {note}")
    say_left(how, [repeated.experiment])
    if target is not None:
        folders = f"{target / 'seed-'}{repeated.seeds[0]}/ to {repeated.seeds[-1]}/"
        console.say(f"wrote {target / 'summary.json'} {target / 'experiment.toml'} {folders}")
