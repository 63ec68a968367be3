"""Inputs under which the claims of RotorNet fail."""

from broken_support import Broken, each
from change_support import as_if, both, given, turned

FABRIC = "rotornet"
#: The nights of the claims, and the nights that are simulated instead.
LONGER = {"10 us": "11 us", "20 us": "21 us", "40 us": "41 us"}
BROKEN = (
    Broken(
        "oracles",
        "nights that are a microsecond longer",
        both(*(turned("night", LONGER, of=f"{n} switches") for n in (4, 5))),
        (
            "rotornet-uniform-duty",
            "rotornet-uniform-idle-matching",
            "rotornet-permutation-half",
            "rotornet-permutation-no-idle",
        ),
        quick=True,
    ),
    Broken(
        "oracles",
        "a fifth switch for four",
        as_if({"4 switches": "5 switches"}),
        ("rotornet-uniform-idle-matching",),
        quick=True,
    ),
    Broken(
        "oracles",
        "no relays",
        both(
            as_if({"4 switches": "4 switches direct"}),
            given('fabric."5 switches".indirect=none', of="5 switches"),
        ),
        ("rotornet-permutation-half", "rotornet-permutation-no-idle", "rotornet-relay-queue"),
        quick=True,
    ),
    Broken(
        "oracles",
        "relays where none were said",
        as_if({"4 switches direct": "4 switches"}),
        ("rotornet-permutation-direct",),
        quick=True,
    ),
    Broken(
        "same",
        "slots of Mordia that are longer by a twentieth",
        given("fabric.mordia.slot=210 us", of="mordia"),
        ("rotornet-is-mordia",),
        quick=True,
    ),
    Broken(
        "same",
        "no relays",
        given('fabric."one switch relays".indirect=none', of="one switch relays"),
        ("rotornet-relays-differ",),
        quick=True,
    ),
)

test_claims_fail = each(FABRIC, BROKEN)
