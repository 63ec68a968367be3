"""The long form: a line for each pair, `src,dst,bytes`, and optional further columns."""

from lightloom.control.demand.columns import Layout

SAMPLING = ("sampling_rate", "SamplingRate")
"""Names of the column with the sampling rate (one in this number of packets is counted), as
collectors of sampled flows write it."""
TIMES = tuple(
    f"{name}{unit}" for name in ("time", "timestamp") for unit in ("", "_s", "_ms", "_us", "_ns")
)
"""Columns of times; the ending states the unit of integers."""
LONG = Layout(
    "long form",
    {
        "src": ("src", "source", "from", "src_rack", "source_rack", "from_rack"),
        "dst": (
            "dst",
            "destination",
            "to",
            "dest",
            "dst_rack",
            "dest_rack",
            "destination_rack",
            "to_rack",
        ),
        "bytes": ("bytes", "octets", "volume", "demand", "traffic"),
        "time": TIMES,
        "sampling": SAMPLING,
    },
)
"""Accepted column names of the long form."""
