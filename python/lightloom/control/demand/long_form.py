"""The long form: a line for each pair, `src,dst,bytes`, with further columns or not."""

from lightloom.control.demand.columns import Layout

LONG = Layout(
    "long form",
    {
        "src": ("src", "source", "from"),
        "dst": ("dst", "destination", "to"),
        "bytes": ("bytes", "octets"),
        "time": ("time", "timestamp"),
    },
)
"""As people write it."""
