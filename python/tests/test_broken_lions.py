"""Inputs under which the claims of LIONS fail."""

from broken_support import Broken, Size, each
from change_support import as_if, both, given, turned

FABRIC = "lions"
BUTTERFLIES = ("butterfly-basic", "butterfly-fast")
#: Networks of LIONS in place of both butterflies.
NO_BUTTERFLY = as_if(dict.fromkeys(BUTTERFLIES, "dlb"))
LONG_GUARD = given("fabric.dlb.guard=34 B", of="dlb")
BARE = both(
    *(given(f"fabric.{n}.guard=0 B", f"fabric.{n}.header=0 B", of=n) for n in ("dlb", "ao-nack"))
)
#: Few and many hosts, low and high load.
FEW = Size({"HOSTS": (4, 64), "LOADS": (0.3, 0.9)})
#: The loads of the claims, and some between them.
LOADS = Size({"LOADS": (0.1, 0.3, 0.5, 0.7, 1.0)})
#: No aggregation, and the largest.
BATCHES = Size({"UPDATES": {1: 4_096, 16: 32_768}, "BATCHES": (1, 16)})
#: The shortest, the default and the longest tuning time.
TUNING = Size({"TUNING": (4, 10, 109)})
#: Few loads, long enough for intervals.
HOT_SPOT = Size(
    {"OFFERED": (0.75, 1.5, 2.5, 5.0), "OFFERED_TO_BUTTERFLIES": (0.75, 1.5)}, whole=True
)
BROKEN = (
    Broken(
        "oracles",
        "twice the receivers",
        turned("receivers", {1: 2, 2: 4, 4: 8, 8: 16}, of="switch"),
        (
            "slotted-shared-wait",
            "slotted-distributed-wait",
            "unslotted-shared-latency",
            "slotted-losers-lost",
            "slotted-losers-again",
            "slotted-dlb-one-receiver",
        ),
    ),
    Broken(
        "oracles",
        "one receiver where two were said",
        turned("receivers", {2: 1}, of="switch"),
        ("slotted-dlb-carries-all",),
    ),
    Broken(
        "fig04",
        "one receiver where two were said",
        turned("receivers", {2: 1}, of="slb"),
        ("fig04-two-receivers",),
        size=FEW,
    ),
    Broken(
        "fig04",
        "two receivers where one was said",
        turned("receivers", {1: 2}, of="slb"),
        ("fig04-two-receivers", "fig04-theory"),
        size=FEW,
    ),
    Broken(
        "fig06_09",
        "a guard of 34 B for 17",
        LONG_GUARD,
        ("fig06-dlb-full", "fig08-dlb-full"),
        size=LOADS,
    ),
    Broken(
        "fig06_09",
        "eight receivers of AO-NACK for four",
        given("fabric.ao-nack.receivers=8", of="ao-nack"),
        ("fig06-nack-saturation", "fig07-nack-latency"),
        size=LOADS,
    ),
    Broken(
        "fig06_09",
        "fibres of 20 m for 10",
        given("fabric.ao-nack.fibre=20 m", of="ao-nack"),
        ("fig07-nack-latency", "fig09-nack-latency"),
        size=LOADS,
    ),
    Broken(
        "fig06_09",
        "both butterflies are LIONS",
        NO_BUTTERFLY,
        ("fig06-dlb-ahead", "fig07-dlb-sooner", "fig07-nack-sooner"),
        size=LOADS,
    ),
    Broken(
        "fig06_09",
        "plain routers in both butterflies",
        given("fabric.butterfly-fast.preset=basic", of="butterfly-fast"),
        ("fig09-dlb-less-soon", "fig09-nack-less-soon"),
        size=LOADS,
    ),
    Broken(
        "fig10_13",
        "eight receivers of AO-NACK for four",
        given("fabric.ao-nack.receivers=8", of="ao-nack"),
        (
            "fig10-four-receivers-nack",
            "fig12-four-receivers-nack",
            "fig10-nack-as-dlb",
            "fig12-nack-as-dlb",
        ),
    ),
    Broken(
        "fig10_13",
        "eight receivers of DLB for four",
        given("fabric.dlb.receivers=8", of="dlb"),
        ("fig10-four-receivers-dlb", "fig12-four-receivers-dlb"),
    ),
    Broken(
        "fig10_13",
        "both butterflies are LIONS",
        NO_BUTTERFLY,
        ("fig10-four-times-the-butterfly", "fig11-sooner-than-the-butterfly"),
        size=HOT_SPOT,
    ),
    Broken(
        "fig10_13",
        "fibres of 200 m for 10",
        both(*(given(f"fabric.{n}.fibre=200 m", of=n) for n in ("dlb", "ao-nack"))),
        ("fig11-sooner-than-the-butterfly", "fig13-sooner-than-the-butterfly"),
        size=HOT_SPOT,
    ),
    Broken(
        "fig14",
        "neither header nor guard",
        BARE,
        ("fig14-poor-without",),
        size=BATCHES,
    ),
    Broken(
        "fig14",
        "headers of 64 B in both butterflies",
        both(*(given(f"fabric.{n}.header=64 B", of=n) for n in BUTTERFLIES)),
        ("fig14-dlb-behind-without", "fig14-nack-behind-without"),
        size=BATCHES,
    ),
    Broken(
        "fig14",
        "both butterflies are LIONS",
        NO_BUTTERFLY,
        ("fig14-dlb-ahead-with",),
        size=BATCHES,
    ),
    Broken(
        "fig14",
        "a guard of 34 B for 17",
        LONG_GUARD,
        ("fig14-why-not-without", "fig14-dlb-near-the-ceiling"),
        size=BATCHES,
    ),
    Broken(
        "tuning",
        "converters that tune in 4 ns where 109 were said",
        both(*(turned("tuning", {"109 ns": "4 ns"}, of=n) for n in ("dlb", "ao-nack"))),
        ("tuning-critical-without-aggregation", "tuning-latency"),
        size=TUNING,
    ),
    Broken(
        "tuning",
        "converters that tune in 1 us where 109 ns were said",
        both(*(turned("tuning", {"109 ns": "1 us"}, of=n) for n in ("dlb", "ao-nack"))),
        ("tuning-bearable-with-aggregation",),
        size=TUNING,
    ),
    Broken(
        "tuning",
        "a guard of 34 B for 17",
        LONG_GUARD,
        ("tuning-throughput-dlb",),
        size=TUNING,
    ),
    Broken(
        "tuning",
        "two receivers of AO-NACK for four",
        given("fabric.ao-nack.receivers=2", of="ao-nack"),
        ("tuning-throughput-nack",),
        size=TUNING,
    ),
)

test_claims_fail = each(FABRIC, BROKEN)
