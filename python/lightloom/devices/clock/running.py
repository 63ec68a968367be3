"""Runs clock simulations from a table or from keys."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from lightloom import _core
from lightloom.config.experiment import read_toml
from lightloom.config.overrides import plain
from lightloom.devices.clock.results import Synchronisation
from lightloom.storage import reading

Table = dict[str, Any]
Source = Mapping[str, Any] | str | Path

#: Deviations reported for other systems [ps]. "Sub-nanosecond" means below 1 ns.
ANCHORS = {
    "Sirius, two nodes over 24 hours (SIGCOMM 2020, §6)": 5.0,
    "what nanosecond switching needs (Sirius, SIGCOMM 2020, §4.4)": 100.0,
    "White Rabbit: sub-nanosecond (Moreira et al., ISPCS 2009)": 1_000.0,
    "DTP, a hop (Lee et al., SIGCOMM 2016)": 25_600.0,
    "Sundial (Li et al., OSDI 2020)": 100_000.0,
}


def schema() -> Table:
    """Returns the JSON Schema of the clock table: keys, defaults and their sources."""
    found: Table = json.loads(_core.clock_schema())
    return found


def read(source: Source) -> Table:
    """Reads the table from a TOML file; returns a table unchanged."""
    if not isinstance(source, Mapping):
        source = read_toml(Path(source))
    reading.check_depth(source)
    return dict(plain(source, ""))


def simulate(
    source: Source | None = None,
    *,
    contributions: bool = True,
    progress: Callable[[float], object] | None = None,
    **keys: Any,
) -> Synchronisation:
    """Simulates clocks epoch by epoch; with `day={}`, after a day in steps of one second.

    Args:
        source: a TOML file, or a table with keys of `schema()`. Default: all defaults.
        contributions: whether each term is also run alone and left out, which takes two more runs
            for each term.
        progress: called with the completed fraction, at most 20 times a second.
        **keys: keys that override those of `source`: `nodes=4`, `loop={"damping": 1.0}`.

    Raises:
        ConfigError: before the simulation, for an invalid key or value, with limit and remedy.
        KeyboardInterrupt: soon after Ctrl-C.

    The same configuration gives the same bytes.
    """
    table = ({} if source is None else read(source)) | plain(keys, "")
    config = json.loads(_core.clock_resolve(json.dumps(table)))
    figures, columns = _core.clock_run(json.dumps(config), contributions, progress)
    return Synchronisation.of(config, json.loads(figures), columns)
