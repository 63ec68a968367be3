"""The output of pmacct's print plugin: `print_output: csv` (or json) of nfacctd, sfacctd and
pmacctd, with `src_host` and `dst_host`, or `src_net` and `dst_net`, in `aggregate`."""

from lightloom.control.demand.columns import Layout

PMACCT = Layout(
    "pmacct CSV",
    {
        "src": ("SRC_IP", "SRC_NET", "ip_src", "net_src"),
        "dst": ("DST_IP", "DST_NET", "ip_dst", "net_dst"),
        "bytes": ("BYTES",),
        "time": ("TIMESTAMP_START", "STAMP_INSERTED"),
    },
)
