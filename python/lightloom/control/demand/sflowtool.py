"""The output of sflowtool for sFlow: `sflowtool -l` writes one line for each sampled packet.

The line of a packet is `FLOW`, agent, input and output port, source and destination MAC, Ethernet
type, VLANs, source and destination address, protocol, type of service, time to live, ports, TCP
flags, packet size, IP size, sampling rate. The size of a packet is multiplied by its sampling rate.
Lines of counters, `CNTR`, are skipped.
"""

from __future__ import annotations

from collections.abc import Iterator

from lightloom.control.demand.amounts import UnreadableError, amount_of, shown
from lightloom.control.demand.records import Record, Records
from lightloom.control.demand.source import Source
from lightloom.control.demand.tables import Rows
from lightloom.errors import ConfigError
from lightloom.units.counts import counted

TITLE = "sflowtool -l"
KINDS = ("FLOW", "CNTR")
CELLS = 20
SRC, DST, SIZE, RATE = 9, 10, 17, 19
"""Indices of cells in the line of a packet."""
NAMES = {SIZE: "packet size", RATE: "sampling rate"}


def read_sflowtool(source: Source) -> Records:
    """Reads the sampled packets and multiplies each by its sampling rate."""
    return Records(TITLE, source.name, _records(source), timed=False)


def _records(source: Source) -> Iterator[Record]:
    rows = Rows(source)
    for row in rows:
        if row[0] == "CNTR":
            continue
        if row[0] != "FLOW" or len(row) != CELLS:
            found = counted(len(row), "cell that begins", "cells that begin")
            limit = f"{found} with {row[0]}, no line of `sflowtool -l`"
            raise ConfigError(f"{rows.where()}: {limit}; FLOW has {CELLS} cells")
        cell = SIZE
        try:
            size = amount_of(row[cell])
            cell = RATE
            yield Record(rows.where(), row[SRC], row[DST], size * amount_of(row[cell]), None)
        except UnreadableError as problem:
            value = f"{NAMES[cell]} = {shown(row[cell])}"
            where = rows.where()
            raise ConfigError(f"{where}: {value}: {problem.limit}; {problem.remedy}") from None
