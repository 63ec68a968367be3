"""Inputs under which the claims of oversubscribed trees fail."""

from broken_support import Broken, each
from change_support import given

FABRIC = "tree"
BROKEN = (
    Broken(
        "oracles",
        "a rack's uplinks carry a fifth of its servers' rate for a quarter",
        given("fabric.4to1.oversubscription=5", of="4to1"),
        ("tree-lone-flow", "tree-all-to-all"),
        quick=True,
    ),
    Broken(
        "oracles",
        "levels that divide by three for two",
        given("fabric.fat-tree-4to1.oversubscription=9", of="fat-tree-4to1"),
        ("tree-fat-tree",),
        quick=True,
    ),
)

test_claims_fail = each(FABRIC, BROKEN)
