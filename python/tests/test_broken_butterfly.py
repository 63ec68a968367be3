"""Inputs under which the claims of the flattened butterfly fail."""

from broken_support import Broken, Size, each
from change_support import as_if, given

FABRIC = "flattened-butterfly"
HOT = {"kind": "hotspot", "fraction": 1.0, "targets": [21]}
#: Hot spots with three seeds, and a quick run otherwise: a single drain has no interval.
SEEDS = Size(
    {
        "LOADS": {"uniform": (0.002, 0.5, 1.0), "complement": (0.002, 0.4, 0.6)},
        "DECIDING": (),
        "WINDOW_US": 100,
        "SETTLED_US": 250,
    },
    whole=True,
)
BROKEN = (
    Broken(
        "oracles",
        "detours where packets were said to go the shortest way",
        as_if(
            {
                "dimension-order-basic": "valiant-basic",
                "dimension-order-aggressive": "valiant-aggressive",
            }
        ),
        ("zero-load", "routers-visited", "adversarial-dimension-order", "uniform-wires"),
    ),
    Broken(
        "oracles",
        "the shortest way where detours were said",
        as_if({"valiant-aggressive": "dimension-order-aggressive"}),
        ("adversarial-detours",),
    ),
    Broken(
        "oracles",
        "detours where UGAL chooses",
        as_if({"ugal-aggressive": "valiant-aggressive"}),
        ("uniform-ugal",),
    ),
    Broken(
        "oracles",
        "a second hot host",
        given("workload.pattern.targets=[21, 42]", pattern=HOT),
        ("hot-spot",),
        size=SEEDS,
    ),
)

test_claims_fail = each(FABRIC, BROKEN)
