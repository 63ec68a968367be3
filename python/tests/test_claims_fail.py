"""Claims of devices, clocks and cost: each has its recorded outcome, and an input that gives
another outcome, because a claim that cannot fail tests nothing.
"""

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from lightloom.costs import readings as economics
from lightloom.costs.papers import cthrough, hydra, sirius
from lightloom.devices import clock
from lightloom.validation import Claims, Readings, Status, judge
from lightloom.validation.scripts import beside, find_validation, load_script

FOLDER = find_validation()
SCRIPTS = {
    "sirius": ("fig02a", "fig06", "fig08", "fig14", "lasers", "clock"),
    "hydra": ("table1", "fig05"),
    "cthrough": ("cost",),
}
NAMES = [f"{fabric}/{script}" for fabric, scripts in SCRIPTS.items() for script in scripts]
#: Claims that no input can change: the value is a constant of the core (`basis = "set"`).
READ_BACK = {"lasers-off-the-shelf"}


def measured(name: str, quick: bool = True) -> dict[str, Any]:
    """Returns the values of a script's claims, including those with readings."""
    fabric, _, script = name.partition("/")
    found = load_script(FOLDER, fabric, script).measure(quick, 1)
    readings: Readings | None = found.get("readings")
    return found["claims"] | ({} if readings is None else readings.measured())


def outcomes(name: str, values: dict[str, Any]) -> dict[str, Status]:
    fabric, _, script = name.partition("/")
    claims = Claims.read(FOLDER / fabric / "claims.toml").claim
    mine = [claim for claim in claims if claim.script == script]
    return {c.id: judge(fabric, c, values.get(c.id), quick=True).outcome for c in mine}


def on_record(name: str) -> dict[str, Status]:
    fabric, _, script = name.partition("/")
    claims = Claims.read(FOLDER / fabric / "claims.toml").claim
    return {claim.id: claim.status for claim in claims if claim.script == script}


@pytest.mark.parametrize("name", NAMES)
def test_claims_come_out_as_recorded(name: str) -> None:
    assert outcomes(name, measured(name)) == on_record(name)


def script(monkeypatch: pytest.MonkeyPatch, name: str, **changes: Any) -> dict[str, Status]:
    """Returns the outcomes of a script with other inputs."""
    fabric, _, own = name.partition("/")
    loaded = load_script(FOLDER, fabric, own)
    for key, value in changes.items():
        monkeypatch.setitem(loaded.measure.__globals__, key, value)
    found = loaded.measure(True, 1)
    read = found.get("readings")
    return outcomes(name, found["claims"] | ({} if read is None else read.measured()))


def failed(found: dict[str, Status], *claims: str) -> None:
    assert {claim: found[claim] for claim in claims} == dict.fromkeys(claims, "not reproduced")


def test_fig_14_fails_with_other_fibres(monkeypatch: pytest.MonkeyPatch) -> None:
    found = script(monkeypatch, "sirius/fig14", DELAYS=(2, 4, 1), GRATING=2)
    starts = ("fig14-start-a", "fig14-start-c", "fig14-at-grating", "fig14-delivered-b")
    failed(found, *starts)
    found = script(monkeypatch, "sirius/fig14", GRATING=2)
    failed(found, "fig14-out", "fig14-delivered-a", "fig14-delivered-b", "fig14-delivered-c")


def test_fig_14_fails_where_all_start_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "epoch_starts", lambda delays: [1] * len(delays))
    found = outcomes("sirius/fig14", measured("sirius/fig14"))
    failed(found, "fig14-together", "fig14-start-b")


def test_fig_8_fails_with_slower_gates(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = {"laser": {"kind": "fixed-bank", "gates": {"on": "950 ps", "off": "2 ns"}}}
    found = script(monkeypatch, "sirius/fig08", CHIP=slow)
    failed(found, "fig08a-on", "fig08a-off", "fig08a-slower", "fig08c-guardband", "fig08c-slot")


def test_fig_8_fails_with_a_laser_that_rings(monkeypatch: pytest.MonkeyPatch) -> None:
    rings = {"laser": {"kind": "dsdbr"}, "slot": "1 us", "cdr": {"kind": "burst-mode"}}
    module = load_script(FOLDER, "sirius", "fig08").measure.__globals__
    two = module["photonics"].derive(rings | {"grating": {"ports": 32}})
    near, far = (two.tuning_by_distance[n - 1]["median"] for n in (module["NEAR"], module["FAR"]))
    differ = abs(module["_ns"](far) / module["_ns"](near) - 1) * 100
    values = measured("sirius/fig08") | {"fig08b-distance": differ}
    failed(outcomes("sirius/fig08", values), "fig08b-distance")


def test_fig_8_fails_without_enough_light(monkeypatch: pytest.MonkeyPatch) -> None:
    dim = {"receiver": {"threshold": 1e-3}, "error_rate": 0.1}
    found = script(monkeypatch, "sirius/fig08", CHIP=dim | {"laser": {"kind": "fixed-bank"}})
    failed(found, "fig08d-error-free")


LASERS: dict[str, tuple[str, dict[str, Any], tuple[str, ...]]] = {
    "a drive that rings longer": (
        "dsdbr",
        {"laser": {"drive": {"decay": "60 ns", "mismatch": 0.02}}},
        ("lasers-dsdbr-median", "lasers-dsdbr-worst", "lasers-dsdbr-damped"),
    ),
    "fewer wavelengths": ("dsdbr", {"laser": {"wavelengths": 19}}, ("lasers-dsdbr-pairs",)),
    "no ringing that distance could lengthen": (
        "dsdbr",
        {"laser": {"drive": {"mismatch": 0.0}}},
        ("lasers-dsdbr-farther",),
    ),
    "gates of 20 ns": (
        "fixed-bank",
        {"laser": {"gates": {"off": "20 ns"}}, "slot": "1 us", "cdr": {"kind": "burst-mode"}},
        ("lasers-below-10-ns",),
    ),
    "shorter slots": ("tunable-bank", {"slot": "50 ns"}, ("lasers-bank",)),
    "slower gates of the bank": (
        "tunable-bank",
        {"laser": {"gates": {"off": "1 ns"}}},
        ("lasers-bank-hides",),
    ),
}


@pytest.mark.parametrize("case", LASERS)
def test_the_lasers_fail_with(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kind, change, claims = LASERS[case]
    module = load_script(FOLDER, "sirius", "lasers").measure.__globals__
    merged = module["photonics"].merged
    lasers = module["LASERS"] | {kind: merged(module["LASERS"][kind], change)}
    failed(script(monkeypatch, "sirius/lasers", LASERS=lasers), *claims)


def test_the_budget_fails_with_gratings_of_16_ports(monkeypatch: pytest.MonkeyPatch) -> None:
    found = script(monkeypatch, "sirius/lasers", BUDGET="sirius")
    failed(found, "lasers-required", "lasers-share")
    found = script(monkeypatch, "sirius/lasers", BUDGET="sirius-v1")
    failed(found, "lasers-chips")


def test_clocks_fail_if_nobody_notices_that_the_leader_is_dead(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    long = {"nodes": 16, "duration": "60 ms", "leader_epochs": 3000}
    dies = {"die": [{"node": 1, "at": "5 ms", "missed": 3000}]}
    found = script(monkeypatch, "sirius/clock", CLUSTER=long, DIES=dies)
    failed(found, "clock-leader-dies")


def test_clocks_fail_before_they_have_found_their_frequency(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    early = {"nodes": 16, "duration": "5 ms", "loop": {"start": "cold"}, "settle": "0 s"}
    found = script(monkeypatch, "sirius/clock", CLUSTER=early, DIES={})
    failed(found, "clock-drift-common")


def test_a_symbol_is_another_in_two_levels(monkeypatch: pytest.MonkeyPatch) -> None:
    module = load_script(FOLDER, "sirius", "clock").measure.__globals__
    nrz = module["photonics"].derive({"modulation": "nrz", "cdr": {"kind": "burst-mode"}})
    values = {"clock-symbol": float(module["picoseconds"](nrz.derived["guardband"]["symbol"]))}
    failed(outcomes("sirius/clock", values), "clock-symbol")


def test_the_scale_tax_fails_with_other_components(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sirius, "_transceiver", lambda: (1, 20))
    monkeypatch.setattr(sirius, "reach", lambda layers, ports=32: ports * (ports // 2) ** 2)
    found = outcomes("sirius/fig02a", measured("sirius/fig02a"))
    failed(found, "fig02a-direct-link", "fig02a-four-layers", "fig02a-100-pbps")
    failed(found, "fig02a-three-layers-end")


def test_fig_6_comes_out_by_the_counts_of_a_fitted_reading(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The counts are decisive: with the counts of reading H in place of those of A, the values are
    met that A does not meet."""
    counts = economics.load("H")
    load = economics.load
    monkeypatch.setattr(economics, "load", lambda name: counts if name == "A" else load(name))
    module = load_script(FOLDER, "sirius", "fig06").measure.__globals__
    values = {
        claim: float(economics.figures(counts, *_parts())[key])
        for claim, key in module["CLAIMS"].items()
    }
    found = outcomes("sirius/fig06", values)
    assert {found[claim] for claim in values} == {"reproduced"}


def _parts() -> Any:
    from lightloom.costs import book

    return economics.components(book.load("sirius-2020"))


def shared() -> ModuleType:
    return beside(str(FOLDER / "hydra" / "table1.py"), "table")


def test_table_1_fails_with_another_network(monkeypatch: pytest.MonkeyPatch) -> None:
    found = script(monkeypatch, "hydra/table1", PLANES=16)
    assert found["table1-hydra-items"] == "reproduced"  # K is part of the table
    fewer = shared()
    fewer.CLUSTER = fewer.CLUSTER | {"servers_per_rack": 16}
    failed(script(monkeypatch, "hydra/table1", shared=fewer), "table1-hydra-items")
    full = hydra.fat_tree
    monkeypatch.setattr(hydra, "fat_tree", lambda beta: full(2 * beta))
    failed(script(monkeypatch, "hydra/table1"), "table1-switches", "table1-switches-4")


def test_fig_5_fails_where_mirrors_are_dear(monkeypatch: pytest.MonkeyPatch) -> None:
    from lightloom.costs import book
    from lightloom.costs.amounts import Range

    dear = book.load("hydra-2013").with_price("circuit-switch", Range.of(10_000_000))
    load = book.load
    monkeypatch.setattr(book, "load", lambda name: dear if name == "hydra-2013" else load(name))
    failed(outcomes("hydra/fig05", measured("hydra/fig05")), "fig05-full-bisection-cheaper")


def test_the_cost_paragraph_fails_with_more_racks_or_smaller_switches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cluster = {"racks": 60, "servers_per_rack": 40, "server_rate": "1 Gb/s"}
    monkeypatch.setattr(cthrough, "BOX", 160)
    found = script(monkeypatch, "cthrough/cost", CLUSTER=cluster)
    failed(found, "cost-52-racks", "cost-eleven-switches")
    monkeypatch.setattr(cthrough, "large_switches", lambda: (4, 0))
    failed(script(monkeypatch, "cthrough/cost"), "cost-of-joining-zones")


@pytest.mark.parametrize("name", NAMES)
def test_every_claim_that_is_reproduced_has_an_input_under_which_it_fails(name: str) -> None:
    tried = Path(__file__).read_text(encoding="utf-8")
    reproduced = {claim for claim, status in on_record(name).items() if status == "reproduced"}
    assert {claim for claim in reproduced if f'"{claim}"' not in tried} == set()
    assert all(claim in tried for claim in READ_BACK)
