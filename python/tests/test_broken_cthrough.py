"""Inputs under which the claims of c-Through that are simulated fail."""

from broken_support import Broken, as_if, both, each, given, turned, unchanged

FABRIC = "cthrough"
#: Ratios by which claims are measured, the wrong way round.
RATIOS = {40: 4, 4: 40}
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
        "servers that report nothing below 80 MB",
        given("fabric.cthrough.report_queue=80 MB", of="cthrough"),
        ("fig07-buffers-above-50",),
    ),
    Broken(
        "fig07",
        "c-Through is a network of full bisection",
        as_if({"cthrough": "full-bisection"}),
        ("fig07-frequent-helps",),
    ),
    Broken(
        "fig07",
        "c-Through is the electrical network",
        as_if({"cthrough": "electrical"}),
        ("fig07-near-full-bisection",),
    ),
    Broken(
        "fig10",
        "c-Through is a network of full bisection",
        as_if({"cthrough": "full-bisection"}),
        ("fig10-slow-interval",),
        quick=True,
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
        given("fabric.interval=500 ms", of="cthrough"),
        ("scale-visit-delay",),
        quick=True,
    ),
    Broken("scale", "6,000 racks", unchanged, ("scale-matching",), sets={"RACKS": 6_000}),
)

test_claims_fail = each(FABRIC, BROKEN)
