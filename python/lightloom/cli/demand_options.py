"""Options of commands that read demand, and notes on what was read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

PANEL = "Demand"

Unit = Annotated[
    str | None,
    typer.Option(
        metavar="UNIT",
        help='Unit of the numbers, like GB or "1 MB" (B). Samples of Prometheus need one: '
        "B/s for rate(…), B for increase(…).",
        rich_help_panel=PANEL,
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="NAME",
        help="matrix, long, nfdump, pmacct, sflowtool, json, prometheus, npy or parquet "
        "(detected from the name and the first line).",
        rich_help_panel=PANEL,
    ),
]
Hosts = Annotated[
    Path | None,
    typer.Option(
        "--map",
        metavar="HOSTS.csv",
        help="The rack of each host, address or prefix, a line each: host,rack. Demand is summed "
        "by rack; demand within a rack is left out.",
        rich_help_panel=PANEL,
    ),
]
Columns = Annotated[
    str | None,
    typer.Option(
        metavar="ROLE=NAME,…",
        help="Names of the columns, or of labels of Prometheus: src=NAME,dst=NAME,bytes=NAME "
        "and time=NAME (src, dst, bytes, time).",
        rich_help_panel=PANEL,
    ),
]
Estimate = Annotated[
    str | None,
    typer.Option(
        metavar="gravity",
        help="Estimate the demand of pairs from counters of interfaces (series of Prometheus): in "
        "proportion to what each node sends and receives. --columns node=LABEL names nodes.",
        rich_help_panel=PANEL,
    ),
]
Strict = Annotated[
    bool,
    typer.Option(
        "--strict",
        help="Refuse hosts that --map does not name, instead of leaving their bytes out.",
        rich_help_panel=PANEL,
    ),
]
