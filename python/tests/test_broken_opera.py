"""Inputs under which the claims of Opera fail."""

from dataclasses import replace

from broken_support import Broken, Size, each
from change_support import as_if, both, given, instead, turned

FABRIC = "opera"
#: The nights of the claims, and the nights that are simulated instead.
LONGER = {"10 us": "15 us", "20 us": "25 us", "40 us": "45 us"}
#: A quarter of the counted cycles.
FEWER = Size({"UNTIL": 60})
#: 24 racks, whose distances are computed quickly.
RACKS_24 = Size({"RACKS": 24, "CYCLE": 24 * 100_000_000}, given("cluster.racks=24"))
#: Two wirings, compared with fewer random graphs.
WIRINGS = Size({"SEEDS": (1, 2), "GRAPHS": 50})
#: Fewer flows of web search.
FLOWS = Size({"FLOWS": {0.01: 1_500}})
BROKEN = (
    Broken(
        "oracles",
        "nights that are 5 us longer",
        both(*(turned("night", LONGER, of=f"{n} switches") for n in (4, 5))),
        (
            "opera-uniform-duty",
            "opera-uniform-idle-matching",
            "opera-permutation-half",
            "opera-permutation-no-idle",
        ),
        size=FEWER,
    ),
    Broken(
        "oracles",
        "no relays",
        both(
            as_if({"4 switches": "4 switches direct"}),
            given('fabric."5 switches".indirect=none', of="5 switches"),
        ),
        ("opera-permutation-half", "opera-permutation-no-idle", "opera-relay-queue"),
        size=FEWER,
    ),
    Broken(
        "oracles",
        "relays where none were said",
        as_if({"4 switches direct": "4 switches"}),
        ("opera-permutation-direct",),
        size=FEWER,
    ),
    Broken(
        "expander",
        "seven switches for six, of which five have nothing left for the last turn",
        given("fabric.opera.switches=7"),
        ("opera-cycle", "opera-duty", "opera-connected", "opera-expander-mean"),
        sets={"SWITCHES": 7},
        size=WIRINGS,
    ),
    Broken(
        "expander",
        "four switches for six, by which some racks have no path",
        given("fabric.opera.switches=4"),
        ("opera-connected", "opera-expander-longest"),
        sets={"SWITCHES": 4},
        size=WIRINGS,
    ),
    Broken(
        "expander",
        "six switches for four",
        given("fabric.opera.switches=6"),
        ("opera-cut-off",),
        size=RACKS_24,
        quick=True,
    ),
    Broken(
        "expander",
        "packets that wait for their circuit",
        given("fabric.opera.low_latency=0 B"),
        ("opera-shortest-paths", "opera-mean-hops", "opera-lone-packet"),
        size=RACKS_24,
        quick=True,
    ),
    Broken(
        "expander",
        "slices of a millisecond for 100 us",
        given("fabric.opera.slice=1 ms"),
        ("opera-stale-paths",),
        size=replace(RACKS_24, sets={**RACKS_24.sets, "SEEDS": range(1, 7)}),
    ),
    Broken(
        "low_latency",
        "packets of bulk of 60 KB",
        given("fabric.packet=60 KB", of="opera"),
        (
            "opera-bulk-at-most-a-packet",
            "opera-bulk-half-a-packet",
            "opera-web-search-p50",
            "opera-web-search-p99",
        ),
    ),
    Broken(
        "low_latency",
        "RotorNet is Opera",
        instead("rotornet", kind="opera", propagation="0.5 us"),
        ("opera-beside-rotornet", "opera-rotornet-starves"),
    ),
    Broken(
        "shuffle",
        "uplinks of 2 Gb/s for 10",
        both(
            given("fabric.direct.link_rate=2 Gb/s", of="direct"),
            given("fabric.relays.link_rate=2 Gb/s", of="relays"),
        ),
        ("opera-shuffle-cycles", "opera-shuffle-relays", "opera-shuffle-clos"),
        quick=True,
    ),
    Broken(
        "shuffle",
        "circuits that are direct where several were said",
        as_if({"low-latency": "direct"}),
        ("opera-shuffle-tax",),
        quick=True,
    ),
    Broken(
        "simulator",
        "links of 5 Gb/s for 10",
        given("fabric.opera.link_rate=5 Gb/s", "cluster.nic=5 Gb/s"),
        ("opera-sim-light", "opera-sim-bulk", "opera-sim-bulk-by-racks"),
        size=FLOWS,
    ),
)

test_claims_fail = each(FABRIC, BROKEN)
