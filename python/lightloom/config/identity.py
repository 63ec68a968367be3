"""The identity of a result: the build of Lightloom, the configuration, the input files."""

from __future__ import annotations

import functools
import hashlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lightloom import _core
from lightloom.config.own_tables import of_core

if TYPE_CHECKING:
    from lightloom.config.experiment import Experiment

Table = dict[str, Any]
_SHA = "sha256:"
#: Subpackages that display, price or write results, and do not simulate.
SHOWING = frozenset(
    {"analysis", "cli", "costs", "frames", "notebook", "plotting", "report", "storage"}
)
#: Endings of the package's files that determine results: code, and the tables that it reads.
ENDINGS = (".py", ".toml")


@functools.cache
def build() -> Table:
    """Returns the version, and the digests of the compiled core and of the Python sources that
    simulate. Computed once in a process, at the first call."""
    sources = hashlib.sha256()
    for name in _sources():
        sources.update(f"{name}\0".encode())
        sources.update(hashlib.sha256((_PACKAGE / name).read_bytes()).digest())
    with Path(str(_core.__file__)).open("rb") as core:
        digest = hashlib.file_digest(core, "sha256").hexdigest()
    return {
        "version": _core.__version__,
        "core": _SHA + digest,
        "sources": _SHA + sources.hexdigest(),
    }


_PACKAGE = Path(__file__).parents[1]


def _sources() -> list[str]:
    """The paths of the files that determine results, below the package and in a fixed order."""
    found: list[str] = []
    for folder, inner, files in os.walk(_PACKAGE):
        below = Path(folder).relative_to(_PACKAGE).as_posix()
        skipped = SHOWING if below == "." else {"__pycache__"}
        inner[:] = [name for name in inner if name not in skipped]
        prefix = "" if below == "." else f"{below}/"
        found += [prefix + name for name in files if name.endswith(ENDINGS)]
    return sorted(found, key=lambda name: name.split("/"))


def digest(experiment: Experiment) -> str:
    """Returns the identity of a simulation, `sha256:…`: a digest of its resolved configuration, of
    the contents of every file that it reads (not their paths), and of the build.

    Raises:
        ConfigError: if the experiment is invalid.
    """
    from lightloom.config import inputs

    resolved = of_core(experiment.resolved())
    told = {key: value for key, value in inputs.named(resolved).items() if key != inputs.INPUTS}
    text = json.dumps([build(), told, inputs.digests(resolved)], sort_keys=True, default=str)
    return _SHA + hashlib.sha256(text.encode()).hexdigest()
