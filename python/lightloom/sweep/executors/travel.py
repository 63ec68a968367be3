"""An experiment with the files that it reads, on its way to another machine and back.

Over there each file lies below a folder by the whole path that it has here. So its name and
its place beside others stay, and what is said over there of a path becomes what is said here
once the folder is left out.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import lightloom
from lightloom.config import inputs


@dataclass(frozen=True)
class Luggage:
    """An experiment, and the files that go with it."""

    experiment: lightloom.Experiment
    """Its digests are in it: with other bytes it does not run."""
    files: Mapping[str, str]
    """The digest of each file that it reads, by its path here; those that are there."""


def packed(experiment: lightloom.Experiment) -> Luggage:
    """An experiment and the files that it reads.

    Raises:
        ConfigError: if one is not of the digest that the experiment has for it.
    """
    pinned = experiment.pinned()
    paths = dict.fromkeys(place.path for place in inputs.places(pinned.raw))
    digests = {str(path): inputs.digest_of(path) for path in paths}
    name = None if experiment.path is None else Path(experiment.path.name)
    found = {path: digest for path, digest in digests.items() if digest is not None}
    return Luggage(replace(pinned, path=name), found)


def unpacked(
    experiment: lightloom.Experiment, files: Mapping[str, bytes], folder: Path
) -> lightloom.Experiment:
    """Writes the files below a folder; returns the experiment that reads them there."""
    for path, content in files.items():
        there = below(folder, path)
        there.parent.mkdir(parents=True, exist_ok=True)
        there.write_bytes(content)
    raw = copy.deepcopy(experiment.raw)
    for place in inputs.places(raw):
        place.move(str(below(folder, str(place.path))))
    return replace(experiment, raw=raw)


def returned(table: dict[str, Any], folder: Path) -> dict[str, Any]:
    """An experiment whose files were below a folder, with their paths here."""
    made = copy.deepcopy(table)
    for place in inputs.places(made):
        place.move(without(str(place.path), folder))
    return made


def without(text: str, folder: Path) -> str:
    """A text about files below a folder, as it would be of them here."""
    return text.replace(str(folder), "")


def below(folder: Path, path: str) -> Path:
    """Where a file is below a folder.

    >>> below(Path("/tmp/x"), "/data/trace.csv").as_posix()
    '/tmp/x/data/trace.csv'
    """
    given = Path(path)
    return folder / given.relative_to(given.anchor)
