"""Inputs under which the claims of hybrid networks fail."""

from broken_support import Broken, each
from change_support import as_if, given, instead

FABRIC = "hybrid"
MATCHING = 'fabric."one matching"'
BROKEN = (
    Broken(
        "oracles",
        "a night of 2 ms for one of 1 ms",
        as_if({"night of 1 ms": "night of 2 ms"}),
        ("hybrid-rotation-duty", "hybrid-rotation-completes"),
        quick=True,
    ),
    Broken(
        "oracles",
        "mirrors that take 12.5 us for 11.5",
        given("fabric.mordia.policy.night=12500 ns", of="mordia"),
        ("hybrid-mordia-duty",),
        quick=True,
    ),
    Broken(
        "oracles",
        "two racks without a circuit",
        given(f"{MATCHING}.policy.circuits=[[0, 1], [2, 3], [4, 5]]", of="one matching"),
        ("hybrid-matching-rate", "hybrid-matching-share"),
        quick=True,
    ),
    Broken(
        "same",
        "circuits that are worth less to the policy than to c-Through",
        given('fabric."policy cthrough".optical_weight=0.5', of="policy cthrough"),
        ("hybrid-is-cthrough",),
        quick=True,
    ),
    Broken(
        "same",
        "flows that go slower after a change of the policy than of HydRA",
        given('fabric."policy hydra".dip=10 ms', of="policy hydra"),
        ("hybrid-is-hydra",),
        quick=True,
    ),
    Broken(
        "same",
        "both papers' fabrics are c-Through",
        instead("hydra", kind="cthrough", oversubscription=10, circuit_rate="4 Gb/s"),
        ("hybrid-policies-differ",),
        quick=True,
    ),
)

test_claims_fail = each(FABRIC, BROKEN)
