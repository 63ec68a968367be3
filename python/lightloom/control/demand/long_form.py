"""The long form: a line for each pair, `src,dst,bytes`, with further columns or not."""

from lightloom.control.demand.columns import Layout

SAMPLING = ("sampling_rate", "SamplingRate")
"""Of how many packets one is counted, as collectors of sampled flows write it."""
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
        "time": ("time", "timestamp"),
        "sampling": SAMPLING,
    },
)
"""As people write it."""
