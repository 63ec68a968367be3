"""What nfdump prints of NetFlow, IPFIX and sFlow: `nfdump -r FILE -o csv`.

Up to 1.7.3 its first line begins `ts,te,td,sa,da,sp,dp,…,ibyt,…`, and a line `Summary`
ends its records; newer ones begin `firstSeen,duration,proto,srcAddr,…`, and so does
`-o "csv:%ts,%sa,%da,%byt"`. Flows of both directions (`-b`) count what came back in
`obyt`. Bytes are those that nfdump has worked out from the sampling rate.
"""

from lightloom.control.demand.columns import Layout

NFDUMP = Layout(
    "nfdump CSV",
    {
        "src": ("sa", "srcAddr", "srcNet"),
        "dst": ("da", "dstAddr", "dstNet"),
        "bytes": ("ibyt", "inBytes", "bytes"),
        "back": ("obyt", "outBytes"),
        "time": ("ts", "firstSeen"),
    },
    last="Summary",
)
