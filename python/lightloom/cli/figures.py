"""The meaning of the figures of `summary.json`, for `explain`."""

from __future__ import annotations

import re

#: Key of a summary → its meaning, with its unit.
MEANT = {
    "fabric": "Kind of the fabric.",
    "label": "Label of the fabric in its experiment.",
    "version": "Version of Lightloom.",
    "build": "Build that ran the simulation: the version, and SHA-256 of the compiled core and "
    "of the package's sources.",
    "inputs": "Key → file that the experiment reads, with its name (path), SHA-256 and size [B].",
    "seed": "Seed of every random stream.",
    "simulated_s": "Simulated time [s].",
    "flows_offered": "Flows that the fabric accepted before the end.",
    "flows_completed": "Flows delivered completely.",
    "bytes_offered": "Bytes of the flows that the fabric accepted [B].",
    "bytes_delivered": "Bytes delivered, including those of unfinished flows [B].",
    "load_offered": "Actual offered load: bits of all flows ÷ (servers × server rate × time of the "
    "last arrival). Null if all flows arrive at once (before the smallest could be delivered), "
    "wait for each other, or send until the run stops.",
    "load_delivered": "Load delivered until the last arrival, in the same unit.",
    "goodput_normalized": "Goodput: bits delivered ÷ (servers × server rate × simulated time). It "
    'excludes traffic within racks if run.goodput = "between-racks".',
    "fct": "Flow completion times [µs], from a flow's arrival to its last byte, of the flows that "
    "completed: of all, the short (under 100 KB) and the long ones, each with p50_us (median), "
    "p99_us (99th percentile) and mean_us.",
    "slowdown": "Completion time ÷ the time that the flow's bytes take at the rate of the server's "
    "link: p50 (median) and p99.",
    "queue_peak_bytes": "Peak of the queue inside the network at the worst node [B].",
    "queue_place": "The buffer that has this peak, such as a port or the relayed data of a rack.",
    "reorder_peak_bytes": "Peak of the reorder buffer of the worst flow [B].",
    "drops": "Number of losses of cells or packets, whether they were retransmitted or not.",
    "hops_mean": "Mean number of hops of a delivered byte.",
    "cell_hops": "Cells moved over a hop.",
    "packet_hops": "Packets moved over a hop.",
    "kernel_s": "Time inside the simulation kernel [s].",
    "wall_s": "Time of the whole run, including its workload and set-up [s].",
    "peak_rss_bytes": "Peak resident memory of the process during the run [B].",
    "mean_flow_bytes_law": "Mean of the distribution from which flow sizes are drawn [B]; null for "
    "traces.",
    "mean_flow_bytes_offered": "Mean of the drawn flow sizes [B].",
    "bytes_dropped": "Bytes that were lost and not retransmitted [B].",
    "threads": "Threads of the simulation; results do not depend on them.",
    "jobs": "Job → start_s, finish_s and seconds between them [s].",
    "circuit_share": "Delivered bytes that crossed at least one circuit ÷ all delivered bytes.",
    "relaxation_s": "Relaxation time of the slowest queue by theory [s]: a run or window of less "
    "than 20 has no interval. Null if no theory gives it, or if a link is saturated.",
    "largest_alone_s": "Time that the largest flow that arrived takes alone on its server's link "
    "[s]; null if only endless flows arrived.",
    "cycle_s": "Time in which the fabric's circuits connect every pair of racks once, or time "
    "between two decisions on circuits [s]. A shorter window or warm-up cannot show that a load is "
    "not carried. Null if circuits do not change.",
    "load_asked": "The load that the experiment requests; null for a mix, and if the load follows "
    "from the flows.",
    "growing": "The largest part of the traffic that is left behind, in the window or while flows "
    "arrive: all traffic, that from or to a rack, a pair of racks, or the server whose link is the "
    "cause. left is the increase of the bytes of its overdue flows, chance the standard "
    "deviation of the bytes that it is offered, both relative to these bytes. Omitted if there is "
    "none, or if the run is too short to show it.",
    "excess": "Traffic that the workload offers in the long run at more than the rate of its links "
    "(between racks or pods, from or to one of them, or a server), and the offered rate ÷ the rate "
    "of the links. Omitted if there is none, or if flows do not arrive at a rate.",
    "window": "Latency (mean_us, p50_us, p99_us, half_width_us of the 95 % confidence interval "
    "[µs]) of flows that arrived in the window of run.measure, and throughput, as a share of what "
    "all servers can send: offered, accepted, and paced, which is the throughput if each flow were "
    "alone; stable is true if the load was "
    "carried; short has the times of the short flows among them.",
    "updates": "Job → updates per second, for jobs that count them.",
    "parts": "Part → its number in the fabric; names of bandwidths [b/s] end in _bps.",
    "derived": "Name → value of each setting that follows from the fabric's table and the cluster.",
    "devices": "Values that follow from the devices that the fabric's table names: guardband and "
    "its parts, slot, ports, reach, lasers, error rates, or the switch; omitted without devices.",
    "faults_after_end": "Failures and repairs that were due after the end, and had no effect.",
    "duty_cycle": "Time in which circuits were lit ÷ simulated time, on average over the planes.",
    "physics": "The completed [physics], which all fabrics share; null without it.",
    "fct_bound": "Bounds of the completion times of all flows offered [µs]; they are equal if the "
    "figure is exact despite unfinished flows.",
    "slowdown_bound": "Bounds of the slowdowns of all flows offered.",
    "by_size": "Slowdowns by flow size, for the ranges that run.size_limits defines: flows, "
    "unfinished flows, and bounds of p50 and p99; omitted without ranges.",
    "endless": "Flows of a trace of size 0, which send until the run stops: their number, and "
    "their bytes_delivered [B]. They are not included in loads, mean sizes and completion times.",
    "triggered": "Flows of a trace that wait for a trigger of htsim's connection matrix.",
    "time_scale": "Factor by which the times of a trace were multiplied to reach its load.",
}

#: Table of a summary → pattern of the names of its figures.
WITHIN = {
    "fct": r"(all|short|long)(\.(p50|p99|mean)_us)?",
    "slowdown": r"p50|p99",
    "window": r"[\w.]+",
    **dict.fromkeys(
        ("by_size", "jobs", "updates", "parts", "derived", "devices", "physics"), r".+"
    ),
    **dict.fromkeys(("fct_bound", "slowdown_bound"), r"[\w.]+"),
}


def meaning(name: str) -> tuple[str, str] | None:
    """Returns the key of a summary that a name refers to, and its meaning; None for other names.

    >>> meaning("fct.short.p99_us")[0]
    'fct'
    """
    head, _, rest = name.partition(".")
    if head not in MEANT or (rest and not re.fullmatch(WITHIN.get(head, ""), rest)):
        return None
    return head, MEANT[head]
