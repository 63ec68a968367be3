"""Options of `run` and `compare` for making and writing results."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lightloom.cli import console
from lightloom.config import inputs
from lightloom.errors import refusal

if TYPE_CHECKING:
    import lightloom
    from lightloom.failures.search import Search
    from lightloom.sweep.executors.cluster import Cluster

RESULTS = Path("results")


@dataclass(frozen=True)
class How:
    """Options for making and writing results."""

    out: Path | None
    threads: int
    json: bool
    copy_inputs: bool
    pdf: str | None = None
    search: Search | None = None
    """Options of the search for single failures; None: those of each experiment."""
    verbose: bool = False
    """Whether all tables and notes are printed."""
    place: Cluster | None = None
    """The cluster on which simulations run; None for this process."""

    def target(self, default: Path) -> Path | None:
        """Returns the folder to write; None with only `--json`."""
        if self.out is not None or not self.json:
            return console.check_output(self.out if self.out is not None else default)
        if self.copy_inputs:
            remedy = "add -o DIR, or remove it"
            raise refusal("--copy-inputs", "(set)", "--json alone writes nothing", remedy)
        return None

    def target_of(self, loaded: lightloom.Experiment, label: str) -> Path | None:
        """Returns the folder of one fabric."""
        return self.target(RESULTS / folder(loaded.name) / label)


def folder(name: str) -> str:
    """Converts an experiment's name, which may be any text, to the name of a folder."""
    return re.sub(r"[^\w.+-]+", "-", name).lstrip(".") or "experiment"


def say_left(how: How, experiments: Iterable[Mapping[str, Any]]) -> None:
    """States which input files were not copied because they have changed since the run."""
    if how.copy_inputs:
        for key in dict.fromkeys(key for one in experiments for key in inputs.changed(dict(one))):
            console.say(f"note: the file of {key} has changed since the run began: not copied")
