"""Inputs under which the simulated claims of HydRA fail."""

from broken_support import Broken, each
from change_support import given, unchanged

FABRIC = "hydra"
BROKEN = (
    Broken(
        "fig09",
        "ports that are tagged in half the time",
        given("fabric.retag=600 ms"),
        ("fig09-100-rules-hide",),
        quick=True,
    ),
    Broken(
        "fig09",
        "rules that are installed in half the time",
        given("fabric.rule=220 us"),
        ("fig09-5000-rules",),
        quick=True,
    ),
    Broken(
        "fig09b",
        "circuits of 20 Gb/s for 9.21",
        given("fabric.circuit_rate=20 Gb/s"),
        ("fig09b-alone", "fig09b-background"),
        quick=True,
    ),
    Broken(
        "fig09b",
        "a topology that stays as it is beside the background",
        unchanged,
        ("fig09b-helps",),
        sets={"REPAIR": []},
        quick=True,
    ),
)

test_claims_fail = each(FABRIC, BROKEN)
