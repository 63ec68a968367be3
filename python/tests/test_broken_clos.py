"""Inputs under which the claims of the folded Clos fail."""

from broken_support import Broken, each
from change_support import as_if, given

FABRIC = "clos"
BROKEN = (
    Broken(
        "oracles",
        "links of 40 Gb/s for 50, to a flow alone",
        given('cluster.rack_rate="320 Gb/s"', arrivals="at-once"),
        ("clos-lone-flow",),
    ),
    Broken(
        "oracles",
        "a third of the core where all of it was said",
        as_if({"clos": "clos-3to1"}),
        ("clos-carries-a-permutation",),
    ),
    Broken(
        "oracles",
        "all of the core where a third was said",
        as_if({"clos-3to1": "clos", "clos-3to1-rack": "clos"}),
        ("clos-core-of-a-third", "clos-racks-at-a-third"),
    ),
    Broken(
        "oracles",
        "the third at the other tier",
        as_if({"clos-3to1": "clos-3to1-rack", "clos-3to1-rack": "clos-3to1"}),
        ("clos-core-of-a-third", "clos-racks-at-a-third"),
    ),
)

test_claims_fail = each(FABRIC, BROKEN)
