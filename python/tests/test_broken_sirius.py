"""Inputs under which the simulated claims of Sirius fail.

The claims of its devices, clocks and cost are in test_claims_fail.py.
"""

from broken_support import Broken, Size, each
from change_support import as_if, both, given, turned

FABRIC = "sirius"
#: The sizes of relay queues, in reverse order.
QUEUES = {2: 16, 4: 8, 8: 4, 16: 2}
#: The guardbands of Fig 11 in reverse order, with their slots.
GUARDBANDS = {"1 ns": "40 ns", "40 ns": "1 ns"}
SLOTS = {"10 ns": "400 ns", "400 ns": "10 ns"}
#: Three guardbands, and so many flows that few bytes are in flight at the last arrival.
LONGER = Size({"GUARDBANDS_NS": (1, 10, 40)}, given("workload.flows=50_000", of="sirius"))
#: The parameters that the claims on rates need, and a collective.
COLLECTIVES = Size(
    {"QUICK": ("uniform, L = 0.1", "uniform, L = 0.5", "incast of 16", "ring all-reduce")}
)
BROKEN = (
    Broken(
        "fig09",
        "Sirius is a Clos of 3:1",
        as_if({"sirius": "esn-osub-rack"}),
        ("fig09-goodput-close-to-esn",),
    ),
    Broken(
        "fig09",
        "Sirius and its ideal are exchanged",
        as_if({"sirius": "sirius-ideal", "sirius-ideal": "sirius"}),
        ("fig09-ideal-gap-closes", "fig09-lone-flow-rotor"),
    ),
    Broken(
        "fig09",
        "epochs of 24 slots",
        given("fabric.sirius.epoch_slots=24", of="sirius"),
        (
            "fig09-lone-flow-rotor",
            "fig09-lone-flow-mean-rotor",
            "fig09-lone-flow-mean-wide",
            "fig09-lone-flow-mean-mixed",
        ),
    ),
    Broken(
        "fig10",
        "queues of 4 cells where 2 were said",
        turned("queue", {2: 4}, of="sirius"),
        ("fig10-q2-goodput",),
    ),
    Broken(
        "fig10",
        "queues the wrong way round",
        turned("queue", QUEUES, of="sirius"),
        ("fig10-q2-goodput", "fig10-larger-q-memory", "fig10-larger-q-reordering"),
    ),
    Broken(
        "fig11",
        "guardbands the wrong way round",
        both(
            *(turned("guardband", GUARDBANDS, of=n) for n in ("sirius", "sirius-ideal")),
            *(turned("slot", SLOTS, of=n) for n in ("sirius", "sirius-ideal")),
        ),
        ("fig11-fct-short-guardband", "fig11-gap-grows"),
    ),
    Broken(
        "fig11",
        "slots of 100 ns, however long the guardband",
        turned("slot", {"10 ns": "100 ns", "400 ns": "100 ns"}, of="sirius"),
        ("fig11-goodput-steady",),
        size=LONGER,
    ),
    Broken(
        "fig12",
        "Sirius is ESN",
        as_if({"sirius": "esn"}),
        ("fig12-1x-falls-behind",),
    ),
    Broken(
        "fig12",
        "a fourth of the base uplinks",
        turned("uplinks", {8: 2}, of="sirius"),
        ("fig12-low-load-needs-none",),
    ),
    Broken(
        "fig12",
        "base uplinks where half as many more were said",
        turned("uplinks", {12: 8}, of="sirius"),
        ("fig12-one-and-a-half-matches",),
    ),
    Broken(
        "fig13",
        "Sirius and ESN are exchanged",
        as_if({"sirius": "esn", "esn": "sirius"}),
        ("fig13-fct-suffers", "fig13-goodput-suffers"),
    ),
    Broken(
        "fig13",
        "sizes with the mean that is said, not a law that has it",
        given("workload.mean_rule=rescaled"),
        ("fig13-median-at-512", "fig13-median-at-16k"),
    ),
    Broken(
        "capacity",
        "a guardband of 20 ns for 10",
        given("fabric.sirius.guardband=20 ns"),
        ("capacity-1x", "capacity-1-5x", "capacity-2x"),
    ),
    Broken(
        "flows",
        "rates of half the uplinks that cells have",
        given("fabric.flows.uplinks=4", of="flows"),
        ("flows-goodput", "flows-collectives", "flows-idle", "flows-incast"),
        size=COLLECTIVES,
    ),
    Broken(
        "flows",
        "rates that know no guardband",
        given("fabric.flows.guardband=0 ns", of="flows"),
        ("flows-goodput",),
        quick=True,
    ),
)

test_claims_fail = each(FABRIC, BROKEN)
