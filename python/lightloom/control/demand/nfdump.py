"""The output of nfdump for NetFlow, IPFIX and sFlow: `nfdump -r FILE -o csv`.

Up to version 1.7.3 the first line begins with `ts,te,td,sa,da,sp,dp,…,ibyt,…`, and a line `Summary`
ends the records. Later versions begin with `firstSeen,duration,proto,srcAddr,…`, as does `-o
"csv:%ts,%sa,%da,%byt"`. For flows of both directions (`-b`), `obyt` counts the bytes in the reverse
direction. nfdump has already scaled the bytes by the sampling rate.
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
