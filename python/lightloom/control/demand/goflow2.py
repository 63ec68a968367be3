"""What goflow2 writes of sFlow, NetFlow and IPFIX: `goflow2 -format json`, a line for each
sample or flow. Packets of sFlow, and of NetFlow where the exporter gives its rate, are
sampled: bytes are those of the sample, so that they are multiplied by `sampling_rate`."""

from lightloom.control.demand.columns import Layout
from lightloom.control.demand.long_form import SAMPLING

GOFLOW2 = Layout(
    "goflow2 JSON",
    {
        "src": ("src_addr", "SrcAddr"),
        "dst": ("dst_addr", "DstAddr"),
        "bytes": ("bytes",),
        "time": (
            *("time_flow_start_ns", "time_received_ns"),
            *("TimeFlowStart", "TimeReceived", "time_flow_start", "time_received"),
        ),
        "sampling": SAMPLING,
    },
)
