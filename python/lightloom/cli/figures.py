"""The meaning of the figures of `summary.json`, for `explain`."""

from __future__ import annotations

import re

#: Key of a summary → its meaning, with its unit.
MEANT = {
    "fabric": "Kind of the fabric.",
    "label": "Label of the fabric in its experiment.",
    "version": "Version of Lightloom.",
    "build": "What simulated: the version, and SHA-256 of the compiled core and of the package's "
    "sources.",
    "inputs": "Key → file that the experiment reads: its name (path), SHA-256 and size [B].",
    "seed": "Seed of every random stream.",
    "simulated_s": "Simulated time [s].",
    "flows_offered": "Flows that the fabric took up before the end.",
    "flows_completed": "Flows delivered whole.",
    "bytes_offered": "Bytes of the flows that were taken up [B].",
    "bytes_delivered": "Bytes delivered, of unfinished flows too [B].",
    "load_offered": "Load as drawn: bits of all flows ÷ (servers × server rate × time of the "
    "last arrival). Null if all arrive at once (no later than the smallest could be delivered), "
    "wait for each other or send until the run stops.",
    "load_delivered": "Of that load what was delivered until the last arrival, in the same unit.",
    "goodput_normalized": "Goodput: bits delivered ÷ (servers × server rate × simulated time). It "
    'leaves out what never leaves a rack where run.goodput = "between-racks".',
    "fct": "Flow completion times [µs], from a flow's arrival to its last byte, of the flows that "
    "completed: of all, the short (under 100 KB) and the long ones, each with p50_us (median), "
    "p99_us (99th percentile) and mean_us.",
    "slowdown": "Completion time ÷ the time that the flow's bytes take at the rate of the server's "
    "link: p50 (median) and p99.",
    "queue_peak_bytes": "Peak of the queue inside the network at the worst node [B].",
    "queue_place": "What that is a peak of, such as a port or what a rack relays.",
    "reorder_peak_bytes": "Peak of the reorder buffer of the worst flow [B].",
    "drops": "How often a cell or packet did not get through, whether it was sent again or given "
    "up.",
    "hops_mean": "Mean hops of a delivered byte.",
    "cell_hops": "Cells moved over a hop.",
    "packet_hops": "Packets moved over a hop.",
    "kernel_s": "Time inside the simulation kernel [s].",
    "wall_s": "Time of the whole run, its workload and set-up included [s].",
    "peak_rss_bytes": "Peak resident memory of the process during the run [B].",
    "mean_flow_bytes_law": "Mean flow size of the law that sizes are drawn from [B]; null for "
    "traces.",
    "mean_flow_bytes_offered": "Mean flow size as drawn [B].",
    "bytes_dropped": "Bytes given up for good [B].",
    "threads": "Threads of the simulation; results do not depend on them.",
    "jobs": "Job → start_s, finish_s and seconds between them [s].",
    "circuit_share": "Bytes delivered that crossed at least one circuit ÷ bytes delivered.",
    "relaxation_s": "Relaxation time of the slowest queue by theory [s]: a run or window of less "
    "than 20 has no interval. null where no theory gives it, or where a link is saturated.",
    "largest_alone_s": "What the largest flow that arrived takes with its server's link to "
    "itself [s]; null where none arrived that has an end.",
    "cycle_s": "In what time the fabric's circuits meet every pair of racks once, or are decided "
    "on again [s]: a shorter window or warm-up denies no load. null where circuits do not change.",
    "load_asked": "The load that the experiment asks for; null where it follows from the flows, "
    "and of a mix.",
    "growing": "Traffic of which more and more is left behind, in the window or as flows arrive: "
    "the widest part (all, from or to a rack, or a pair of racks), or the server whose link is "
    "the cause. left is the increase of the bytes of its overdue flows, chance the standard "
    "deviation of the bytes that it is offered, both relative to these bytes. Omitted if there is "
    "none, or if the run is too short to show it.",
    "excess": "Traffic that the workload offers in the long run at more than the rate of its "
    "links (between racks or pods, from or to one of them, or a server), and how many times that "
    "rate. Omitted if there is none, or if flows do not arrive at a rate.",
    "window": "Latency (mean_us, p50_us, p99_us, half_width_us of the 95 % confidence interval "
    "[µs]) of flows that arrived in the window of run.measure, and throughput, of what all servers "
    "can send: bits offered, accepted as they came, and paced, as they would come to flows alone; "
    "stable says whether the load was carried; short has the times of the short flows among them.",
    "updates": "Job → updates a second, for jobs that count them.",
    "parts": "Part → how many the fabric is made of; bandwidths [b/s] end in _bps.",
    "derived": "What followed from the fabric's table and the cluster, and is in force.",
    "devices": "What followed from the devices that the fabric's table names: guardband and its "
    "parts, slot, ports, reach, lasers, error rates, or the switch; left out without any.",
    "faults_after_end": "Failures and repairs that were due after the end, and had no effect.",
    "duty_cycle": "Time in which circuits were lit ÷ simulated time, on average over the planes.",
    "physics": "Physics that all fabrics share and that is in force; null without [physics].",
    "fct_bound": "Completion times as far as they are known of all flows that were offered [µs]: "
    "a percentile among flows that had not all arrived when the run ended is a bound.",
    "slowdown_bound": "Slowdowns as far as they are known of all flows that were offered.",
    "by_size": "Slowdowns by flow size, of the ranges that run.size_limits asks for: flows, those "
    "unfinished, p50 and p99 as far as they are known; left out where it asks for none.",
    "endless": "Flows of a trace of size 0, which send until the run stops: how many, and "
    "bytes_delivered of them [B]. They are in no load, mean size or completion time.",
    "triggered": "Flows of a trace that wait for a trigger of htsim's connection matrix.",
    "time_scale": "By what the times of a trace were multiplied to bring it to its load.",
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
