"""The output of goflow2 for sFlow, NetFlow and IPFIX: `goflow2 -format json` writes one line for
each sample or flow. Packets of sFlow, and of NetFlow if the exporter states its rate, are sampled;
their bytes are multiplied by `sampling_rate`."""

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
