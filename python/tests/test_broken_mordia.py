"""Inputs under which the claims of Mordia fail."""

from broken_support import FOLDER, Broken, Size, each
from change_support import both, given, turned, unchanged

import lightloom

FABRIC = "mordia"
SLOTS = "fabric.mordia.policy.schedule.slots"
#: The prototype with a second ring of wavelengths.
STACKED = lightloom.load(FOLDER / "mordia/prototype.toml", ["fabric.exact.rings=2"]).raw
#: The nights of the closed forms, and the nights that are simulated instead.
LONGER = {"10 us": "11 us", "20 us": "21 us", "40 us": "41 us"}
#: One night, and traffic of which half or all has one destination.
NIGHT = Size({"QUICK": ((20_000,), (0.5, 1.0))})
BROKEN = (
    Broken(
        "duty",
        "mirrors that take 15 us for 11.5",
        given("fabric.exact.night=15 us", of="exact"),
        ("duty-lit", "duty-carried"),
        quick=True,
    ),
    Broken(
        "fig07",
        "days that are all as long",
        given(f"{SLOTS}.1.day_ps=80_000_000", f"{SLOTS}.2.day_ps=80_000_000"),
        ("fig07-twice", "fig07-three-times"),
        quick=True,
    ),
    Broken(
        "fig08",
        "nights of another law",
        given("fabric.prototype.night=13 us", "fabric.prototype.night_deviation=1.5 us"),
        ("fig08-mean", "fig08-deviation"),
        quick=True,
    ),
    Broken(
        "fig09",
        "interfaces that send at once",
        given("fabric.nic_delay=0 s", of="mordia"),
        ("fig09-first-packet",),
    ),
    Broken(
        "fig09",
        "all frames of synchronisation on time",
        given(
            "fabric.prototype.late_sync_fraction=0",
            "fabric.prototype.sync_jitter=0 s",
            of="prototype",
        ),
        ("jitter-loss-small",),
    ),
    Broken(
        "fig10",
        "hosts whose stacks send 4 Gb/s",
        given("fabric.prototype.stack_rate=4 Gb/s", of="prototype"),
        ("fig10-udp-one-flow", "fig10-tcp"),
    ),
    Broken(
        "fig10",
        "links of 6 Gb/s over the packet switch",
        given("cluster.nic=6 Gb/s", of="eps"),
        ("fig10-eps-udp", "fig10-eps-tcp"),
    ),
    Broken(
        "fig10",
        "slots of 65 and 68 us, between which no whole packet fits",
        unchanged,
        ("fig10-rises",),
        sets={"QUICK": (65, 68)},
    ),
    Broken(
        "scale",
        "two rings",
        unchanged,
        ("scale-24", "scale-44", "scale-88"),
        sets={"SETUP": STACKED},
        quick=True,
    ),
    Broken(
        "oracles",
        "nights that are a microsecond longer",
        both(*(turned("night", LONGER, of=label) for label in ("rotation", "tms"))),
        ("permutation-rotation", "permutation-tms"),
        quick=True,
    ),
    Broken(
        "oracles",
        "everybody to everybody",
        given("workload.pattern=all-to-all", "workload.flows=132"),
        ("permutation-rotation", "permutation-tms"),
        quick=True,
    ),
    Broken(
        "study",
        "an Eclipse that is a round robin",
        given("fabric.Eclipse.policy=rotation", of="Eclipse"),
        ("study-demand-decides", "study-eclipse-near-best"),
        size=NIGHT,
    ),
    Broken(
        "computation",
        "an Eclipse that is a TMS",
        given("fabric.Eclipse.policy=tms", of="Eclipse"),
        ("computation-order",),
    ),
    Broken(
        "computation",
        "an Eclipse that takes no time to decide",
        given("fabric.Eclipse.computation_delay=0 s", of="Eclipse"),
        ("computation-late-loses",),
    ),
)

test_claims_fail = each(FABRIC, BROKEN)
