"""Inputs under which the simulated claims of c-Through fail."""

import time
from types import SimpleNamespace

from broken_support import Broken, Size, each
from change_support import as_if, both, given, turned, unchanged

FABRIC = "cthrough"
#: The ratios of the claims, exchanged.
RATIOS = {40: 4, 4: 40}
#: Only the electrical network at 40:1.
FORTY = Size({"RATIOS": (40,)})
BROKEN = (
    Broken(
        "fig05",
        "TCP that takes 20 ms to fill a circuit",
        given("fabric.ramp=20 ms"),
        ("fig05-fills",),
        quick=True,
    ),
    Broken(
        "fig05",
        "TCP that takes 100 ms to recover from one",
        given("fabric.dip=100 ms"),
        ("fig05-recovers",),
        quick=True,
    ),
    Broken(
        "fig06",
        "c-Through and full bisection are the electrical network",
        as_if({"cthrough": "electrical", "full-bisection": "electrical"}),
        ("fig06-full-bisection", "fig06-default-buffers", "fig06-large-buffers"),
        quick=True,
    ),
    Broken(
        "fig06",
        "the electrical network is one of full bisection",
        as_if({"electrical": "full-bisection"}),
        ("fig06-electrical",),
        quick=True,
    ),
    Broken(
        "fig06",
        "ratios the wrong way round",
        both(*(turned("oversubscription", RATIOS, of=n) for n in ("electrical", "cthrough"))),
        ("fig06-gap-shrinks",),
        quick=True,
    ),
    Broken(
        "fig07",
        "buffers of 128 KB for 50 MB, and no circuits for what is not reported",
        both(
            turned("socket_buffer", {"50 MB": "0.128 MB"}, of="cthrough"),
            given("fabric.cthrough.unrequested=keep", of="cthrough"),
        ),
        ("fig07-buffers-above-50",),
        size=FORTY,
    ),
    Broken(
        "fig07",
        "c-Through is a network of full bisection",
        as_if({"cthrough": "full-bisection"}),
        ("fig07-frequent-helps",),
        size=FORTY,
    ),
    Broken(
        "fig07",
        "c-Through is the electrical network",
        as_if({"cthrough": "electrical"}),
        ("fig07-near-full-bisection",),
        size=FORTY,
    ),
    Broken(
        "fig10",
        "c-Through is a network of full bisection",
        as_if({"cthrough": "full-bisection"}),
        ("fig10-slow-interval",),
    ),
    Broken(
        "fig10",
        "a matrix of sixteen times as many elements, in blocks of 320 MB",
        given("workload.jobs.0.elements=4294967296"),
        ("fig10-buffers",),
    ),
    Broken(
        "scale",
        "a decision each half second",
        given("fabric.cthrough.interval=500 ms", of="cthrough"),
        ("scale-visit-delay",),
        quick=True,
    ),
    Broken(
        "scale",
        "a processor that is a thousand times as slow",
        unchanged,
        ("scale-matching",),
        sets={"time": SimpleNamespace(process_time=lambda: 1_000 * time.process_time())},
        quick=True,
    ),
)

test_claims_fail = each(FABRIC, BROKEN)
