"""Sends an experiment with the files that it reads to another machine, and returns its results.

On the other machine each file is below a temporary folder, with its full path on this machine. So
its name and its position relative to other files are kept, and paths in results and messages become
those of this machine when the folder is removed from them.
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
    """An experiment, and the files that are sent with it."""

    experiment: lightloom.Experiment
    """The experiment with digests, so that it does not run with other files."""
    files: Mapping[str, str]
    """Path on this machine → digest, for each existing file that the experiment reads."""


def packed(experiment: lightloom.Experiment) -> Luggage:
    """Collects an experiment and the files that it reads.

    Raises:
        ConfigError: if a file does not match its digest in the experiment.
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
    """Returns an experiment with paths below a folder changed to those of the original machine."""
    made = copy.deepcopy(table)
    for place in inputs.places(made):
        place.move(without(str(place.path), folder))
    return made


def without(text: str, folder: Path) -> str:
    """Removes the folder from paths in a text."""
    return text.replace(str(folder), "")


def below(folder: Path, path: str) -> Path:
    """Returns the path of a file below a folder.

    >>> below(Path("/tmp/x"), "/data/trace.csv").as_posix()
    '/tmp/x/data/trace.csv'
    """
    given = Path(path)
    return folder / given.relative_to(given.anchor)
