"""Flows for the published set-up: single packets, web search, and bulk without end."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

import lightloom

RACKS, SERVERS = 108, 6
#: A server's link [b/s].
RATE = 10e9
#: The authors' simulator draws web search from these sizes [B]: that of each flow is the
#: first whose share is above a random number.
WEB_SEARCH = (
    *((5_971, 0.07704918), (8_722, 0.152459016), (18_614, 0.195081967), (27_563, 0.3)),
    *((44_871, 0.427868852), (77_113, 0.532786885), (193_593, 0.601639344)),
    *((620_119, 0.696721311), (1_933_313, 0.801639344), (3_147_330, 0.860655738)),
    *((4_853_634, 0.903278689), (6_901_099, 0.942622951), (9_812_271, 0.972131148)),
    *((15_759_080, 0.985245902), (28_589_215, 1.0)),
)
#: More than the default limit of low-latency flows, and more than circuits carry in these runs.
BULK = 60_000_000
#: Groups of flows.
LOW_LATENCY, REST = "low-latency", "bulk"

Columns = tuple[npt.NDArray[np.int64], ...]


def single_packets(flows: int, gap: int, seed: int) -> Columns:
    """One packet every `gap` ps or up to a packet's time later, so that it finds packets of
    others at any point of theirs."""
    rng = np.random.default_rng(seed)
    src, dst = _pairs(flows, rng)
    arrivals = np.arange(1, flows + 1) * gap + rng.integers(0, 1_200_000, flows)
    return src, dst, np.full(flows, 1_500), arrivals


def web_search(flows: int, load: float, seed: int, most: int = 2**40, header: float = 1) -> Columns:
    """Poisson arrivals at a load, with sizes up to `most`; the sent bytes are `header` times those
    of a flow."""
    rng = np.random.default_rng(seed)
    sizes, shares = (np.array(column) for column in zip(*WEB_SEARCH, strict=True))
    kept = shares[sizes <= most].max()
    drawn = sizes[np.searchsorted(shares, rng.random(flows) * kept)].astype(np.int64)
    gap = drawn.mean() * 8 / (load * RACKS * SERVERS * RATE) * 1e12
    src, dst = _pairs(flows, rng)
    arrivals = np.cumsum(rng.exponential(gap, flows)).astype(np.int64)
    return src, dst, np.rint(drawn * header).astype(np.int64), arrivals


def bulk() -> Columns:
    """From every rack to every other, at once."""
    src, dst = np.nonzero(~np.eye(RACKS, dtype=bool))
    nothing = np.zeros(len(src), dtype=np.int64)
    return src * SERVERS, dst * SERVERS, nothing + BULK, nothing


def run(
    low_latency: Columns, rest: Columns | None, stop: str, fabric: dict[str, Any], **cluster: Any
) -> Any:
    """Runs a fabric with these flows.

    Returns the results of the low-latency flows, in their order.
    """
    parts = [(low_latency, LOW_LATENCY)] + ([(rest, REST)] if rest is not None else [])
    columns = [np.concatenate(column) for column in zip(*(p for p, _ in parts), strict=True)]
    names = ("src", "dst", "bytes", "arrival_ps")
    groups = [group for part, group in parts for _ in part[0]]
    trace = pa.table({**dict(zip(names, columns, strict=True)), "group": groups})
    links = {"server_rate": "10 Gb/s", "nic": "uncapped", **cluster}
    shape = {"racks": RACKS, "servers_per_rack": SERVERS, **links}
    with TemporaryDirectory() as folder:
        path = Path(folder) / "trace.parquet"
        pq.write_table(trace, path)
        result = lightloom.run(
            {
                "cluster": shape,
                "workload": {"trace": str(path)},
                "run": {"seed": 1, "stop": stop, "limit": "10 s"},
                "fabric": [fabric],
            }
        )
    flows = result.flows
    at = np.array(flows["group"].to_pylist()) == LOW_LATENCY
    return {
        name: flows[name].to_numpy()[at] for name in ("bytes", "arrival_ps", "finish_ps", "hops")
    }


def _pairs(flows: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """Any server, and any of another rack."""
    src = rng.integers(0, RACKS * SERVERS, flows)
    rack = (src // SERVERS + rng.integers(1, RACKS, flows)) % RACKS
    return src, rack * SERVERS + rng.integers(0, SERVERS, flows)
