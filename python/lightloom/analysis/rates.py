"""Notes on a run of Sirius with rates (`detail = "flows"`): the kinds of traffic for which rates
are inaccurate.

The notes follow from the resolved table, the derived values and the flows. `lightloom reproduce
sirius/flows` measures the differences.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lightloom.results.columns import numbers

if TYPE_CHECKING:
    from lightloom.results.result import Result

#: Padding above this share of the bytes gets a note.
PADDED = 0.03
#: A rack with less than this share of the busiest rack's demand is nearly silent.
SILENT = 0.1
#: The share of racks that may be nearly silent.
SILENT_RACKS = 0.25
#: Flows below this are short [B], as in the summary.
SHORT = 100_000
#: Share of the bytes in long flows above which short flows wait behind their cells.
LONG_BYTES = 0.5
#: Share of the racks' total capacity above which queues determine the durations of flows.
BUSY = 0.25


def notes(result: Result) -> Iterator[str]:
    """Yields doubts about the figures of one run; none for other fabrics."""
    fabric = result.experiment["fabric"][0]
    derived = result.summary.get("derived") or {}
    if fabric.get("kind") != "sirius" or fabric.get("detail") != "flows" or not derived:
        return
    flows = result.flows
    cluster = result.experiment["cluster"]
    size = numbers(flows["bytes"])
    servers = int(cluster.get("servers_per_rack", 1))
    ends = [numbers(flows[name]) // servers for name in ("src", "dst")]
    apart = ends[0] != ends[1]
    if not apart.any():
        return
    yield from padded(size[apart], int(derived["cell_bytes"]))
    yield from mixed(size[apart])
    yield from uneven([rack[apart] for rack in ends], size[apart], int(cluster["racks"]))
    yield from busy(result, derived["uplinks"] / derived["base_uplinks"])


def padded(size: NDArray[np.uint64], cell: int) -> Iterator[str]:
    """Notes that a large part of the cells would be padding.

    `size` is the size of each flow [B].
    """
    padding = float(((size + cell - 1) // cell * cell).sum() / size.sum()) - 1
    if padding > PADDED:
        yield (
            f'with rates (detail = "flows") cells have no padding, which would be {padding:.0%} of '
            'the bytes: the fabric carries more than with cells; use detail = "cells"'
        )


def mixed(size: NDArray[np.uint64]) -> Iterator[str]:
    """Notes that short flows would wait behind cells of long ones.

    `size` is the size of each flow [B].
    """
    short = size < SHORT
    if short.any() and size[~short].sum() > LONG_BYTES * size.sum():
        yield (
            'with rates (detail = "flows") short flows do not wait behind the cells of long ones, '
            'so the 99th percentile is not that of cells; use detail = "cells"'
        )


def uneven(ends: list[NDArray[np.int64]], size: NDArray[np.int64], racks: int) -> Iterator[str]:
    """Notes that many racks are nearly silent.

    `ends` are the source and destination racks of the flows, `size` their bytes.
    """
    has = np.zeros(racks)
    for rack in ends:
        np.maximum(has, np.bincount(rack, weights=size, minlength=racks), out=has)
    few = int((has < SILENT * has.max()).sum())
    if few > SILENT_RACKS * racks:
        yield (
            f'{few} of {racks} racks are nearly silent: with rates (detail = "flows") they relay '
            'no more than the others, but with cells they do; compare with detail = "cells"'
        )


def busy(result: Result, speedup: float) -> Iterator[str]:
    """Notes that flows would wait in queues.

    `speedup` is the number of uplinks ÷ that of the base.
    """
    goodput = result.summary.get("goodput_normalized")
    if goodput is not None and result.summary.get("load_offered") and goodput > BUSY * speedup:
        yield (
            'with rates (detail = "flows") there are no queues; at this goodput flows wait in '
            'queues and take longer with cells (detail = "cells")'
        )
