"""Claims judged on the testbed: the deciding values, inputs under which they fail, and the outcome
on a machine beyond the limits."""

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from cli_support import ROOT

from lightloom.errors import ConfigError
from lightloom.testbed import claims, claims_table
from lightloom.testbed.claims import TestbedVerdict, Trials, judge_claim, papers, repeat
from lightloom.testbed.measure import Samples
from lightloom.validation.scripts import load_module

FOLDER = ROOT / "validation"
STEP = 2e-3
Circuit = tuple[int, int, int, float, float]


def live(
    rate: Callable[[str, float], float],
    names: tuple[str, ...],
    circuits: list[Circuit],
    bps: int,
    racks: int = 4,
) -> Any:
    """A run of 14 s, sampled every 2 ms, whose counters rise at a time-dependent rate [b/s]."""
    samples = Samples()
    sizes = dict.fromkeys(names, 0.0)
    for at in range(7_001):
        samples.times.append(100 + at * STEP)
        for name in names:
            samples.columns.setdefault(name, []).append(round(sizes[name]))
            sizes[name] += rate(name, at * STEP) * STEP / 8
    setup = SimpleNamespace(circuit_bps=bps, layout=SimpleNamespace(racks=racks))
    one = {"begin_s": 0.3, "took_s": 13.0}
    return SimpleNamespace(
        samples=samples, began=100.0, circuits=circuits, setup=setup, applications=[one]
    )


def outcomes(target: str, run: Callable[..., Any]) -> dict[str, str]:
    """Returns the outcomes of claims if each repetition measures the result of `run`."""
    fabric, script = target.split("/")
    folder = FOLDER / fabric / "testbed"
    trials = Trials()
    values = load_module(folder / f"{script}.py").measure(run)
    for claim, value in values.items():
        trials.values[claim] = [value * (1 + i * 1e-6) for i in range(5)]
    found = [judge_claim(fabric, claim, trials) for claim in papers(FOLDER)[fabric].claim]
    return {one.claim.id: one.outcome for one in found}


LIGHTS: list[Circuit] = [(0, 1, 0, at, at + 0.29) for at in (1.0, 2.0, 3.0, 4.0)]


def filling(after: float) -> Callable[..., Any]:
    """Runs in which TCP fills a circuit some seconds after its light, and UDP at once."""

    def run(file: str, *overrides: str) -> Any:
        ramp = 0.0 if overrides else after
        full = 300e6
        return live(lambda _, t: full if t % 1 >= ramp else 30e6, ("o0.0",), LIGHTS, 300_000_000)

    return run


def test_tcp_that_fills_a_circuit_in_4_ms_passes_and_in_10_ms_fails() -> None:
    """In 10 ms: a quarter of the 20 ms at a tenth of the rate gives 0.775 of the rate."""
    assert outcomes("cthrough/fill", filling(0.004)) == {"fill-5ms": "reproduced"}
    assert outcomes("cthrough/fill", filling(0.010)) == {"fill-5ms": "not reproduced"}
    share = load_module(FOLDER / "cthrough/testbed/fill.py").measure(filling(0.010))["fill-5ms"]
    assert share == pytest.approx(0.775, abs=0.01)


def test_a_machine_that_does_not_carry_the_circuits_rate_judges_nothing() -> None:
    script = load_module(FOLDER / "cthrough/testbed/fill.py")
    slow = live(lambda _, t: 240e6, ("o0.0",), LIGHTS, 300_000_000)
    with pytest.raises(claims.UnfitError, match=r"80 % of .*90 %"):
        script.measure(lambda *_: slow)


def days(
    udp: Callable[[float], float], tcp: Callable[[float], float], offered: float = 300e6
) -> Callable[..., Any]:
    """Rates of both protocols by the slot [us], and the rate at which UDP is sent."""

    def run(file: str, override: str) -> Any:
        slot = float(override.removeprefix("fabric.slot=").split()[0])
        rates = {"0>1": udp(slot), "2>3": tcp(slot)}
        found = live(lambda name, _: rates[name], ("0>1", "2>3"), [], 500_000_000)
        (one,) = found.applications
        one["packets"] = round(offered * one["took_s"] / 8 / 1400)
        return found

    return run


def duty(slot: float, night: float = 11.5) -> float:
    return 500e6 / 3 * (slot - night) / slot


SLOTS = ("slots-udp-rises", "slots-tcp-rises", "slots-duty-limits", "slots-tcp-below-udp")


def test_throughput_by_the_duty_cycle_passes() -> None:
    found = outcomes("mordia/slots", days(lambda s: 0.99 * duty(s), lambda s: 0.9 * duty(s)))
    assert found == dict.fromkeys(SLOTS, "reproduced")


def test_a_machine_that_does_not_send_udp_faster_than_it_passes_judges_tcp_alone() -> None:
    slow = days(lambda s: 0.8 * duty(s), lambda s: 0.9 * duty(s), offered=0.9 * duty(300))
    script = load_module(FOLDER / "mordia/testbed/slots.py")
    with pytest.raises(claims.UnfitError, match=r"sent at 0\.90 times") as unfit:
        script.measure(slow)
    assert set(unfit.value.values) == {"slots-tcp-rises"}

    def measured(_: Any) -> dict[str, float]:
        raise unfit.value

    trials = claims.repeat(measured, FOLDER, 5, lambda line: None)
    assert (trials.counted, len(trials.beyond), trials.set_aside) == (5, 5, {})
    found = [judge_claim("mordia", claim, trials) for claim in papers(FOLDER)["mordia"].claim]
    assert {one.claim.id: one.outcome for one in found} == (
        dict.fromkeys(SLOTS, "not judged") | {"slots-tcp-rises": "reproduced"}
    )


@pytest.mark.parametrize(
    ("run", "failed"),
    [
        (
            days(lambda s: 1e8 - 1e5 * s, lambda s: 9e7 - 1e5 * s),
            {"slots-udp-rises", "slots-tcp-rises"},
        ),
        (days(lambda s: duty(s, 5.0), lambda s: 0.9 * duty(s)), {"slots-duty-limits"}),
        (days(lambda s: 0.5 * duty(s), lambda s: 0.9 * duty(s)), {"slots-tcp-below-udp"}),
    ],
    ids=["rates that fall with the slot", "shorter nights", "UDP below TCP"],
)
def test_broken_days_fail(run: Callable[..., Any], failed: set[str]) -> None:
    found = outcomes("mordia/slots", run)
    assert {claim for claim, outcome in found.items() if outcome == "not reproduced"} == failed


def transform(background: float, moved: float) -> Callable[..., Any]:
    """FFTW at 50 Mb/s alone, less with background traffic, and `moved` after the second
    topology."""
    lights: list[Circuit] = [(0, 2, 0, 1.0, 7.0), (0, 1, 0, 7.02, 13.0)]

    def run(file: str, *overrides: str) -> Any:
        before = 50e6 if overrides else background
        return live(lambda _, t: before if t < 7.02 else moved, ("host 0",), lights, 100_000_000, 3)

    return run


def test_fftw_that_is_slowed_and_recovers_passes() -> None:
    found = outcomes("hydra/fftw", transform(7e6, 50e6))
    assert found == {"fftw-background": "reproduced", "fftw-reconfigured": "reproduced"}


def test_broken_fftw_fails() -> None:
    """Background traffic without an effect, and a second topology without a gain."""
    kept = outcomes("hydra/fftw", transform(50e6, 50e6))
    assert set(kept.values()) == {"not reproduced"}
    assert outcomes("hydra/fftw", transform(7e6, 7e6))["fftw-reconfigured"] == "not reproduced"


def test_repetitions_beyond_the_limits_decide_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """There are at most ten repetitions; the loop ends when five valid ones can no longer be
    reached."""
    late = "actions were 31.0 ms late"
    fidelity = SimpleNamespace(load=8.0, beyond=(late,))
    monkeypatch.setattr(
        claims, "measure_live", lambda setup: SimpleNamespace(applications=[], fidelity=fidelity)
    )
    monkeypatch.setattr(claims, "setup_of", lambda *_: None)
    monkeypatch.setattr(claims.lightloom, "load", lambda *_: None)
    calls: list[str] = []

    def measure(run: Any) -> dict[str, float]:
        run("fill.toml")
        return {"fill-5ms": 1.0}

    trials = repeat(measure, FOLDER, 5, calls.append)
    assert len(calls) == 6
    assert trials.values == {}
    assert trials.set_aside == {"fill-5ms": [1.0] * 6}
    (claim,) = papers(FOLDER)["cthrough"].claim
    found = judge_claim("cthrough", claim, trials)
    assert (found.outcome, found.measured) == ("not judged", None)
    assert found.reason.startswith("0 of 5 repetitions ")
    assert found.reason.endswith(f": {late}")
    assert found.record["load"] == 8.0
    assert found.as_recorded


def test_an_outcome_that_contradicts_the_record_is_named() -> None:
    (claim,) = papers(FOLDER)["cthrough"].claim
    recorded = claim.model_copy(update={"status": "reproduced"})
    trials = Trials({claim.id: [0.5, 0.51, 0.5, 0.49, 0.5]})
    found = judge_claim("cthrough", recorded, trials)
    assert (found.outcome, found.as_recorded) == ("not reproduced", False)
    assert found.measured is not None
    assert found.measured.value == pytest.approx(0.5)


def test_records_are_kept_by_claim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "cthrough" / "testbed"
    own.mkdir(parents=True)
    (own / "claims.toml").write_text((FOLDER / "cthrough/testbed/claims.toml").read_text())
    monkeypatch.setattr(claims, "find_validation", lambda: tmp_path)
    (claim,) = papers(tmp_path)["cthrough"].claim
    verdict: TestbedVerdict = judge_claim("cthrough", claim, Trials({claim.id: [0.95] * 4 + [1.0]}))
    (path,) = claims.record([verdict])
    found = json.loads(path.read_text())[claim.id]
    assert (found["outcome"], found["values"]) == ("reproduced", [0.95] * 4 + [1.0])
    assert found["value"] == pytest.approx(0.96)
    assert {"machine", "processors", "load", "when"} <= set(found)
    path.write_text("{")
    with pytest.raises(ConfigError, match="write it anew"):
        claims.read_record(own)


@pytest.mark.parametrize(
    ("target", "said"),
    [("sirius", "all, cthrough, hydra, mordia"), ("mordia/fig10", "choose one of mordia/slots")],
)
def test_a_target_without_claims_is_refused(
    target: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims.shell, "check_rights", lambda: None)
    with pytest.raises(ConfigError, match=said):
        claims.judge_claims(target)


def test_the_table_has_every_claim_with_its_outcome_on_record() -> None:
    rows = [line.split(" | ") for line in claims_table.section(FOLDER).splitlines()]
    shown = {row[0].split("`")[1]: row for row in rows if row[0].startswith("| `")}
    known = {f"{of}/{c.id}": c for of, found in papers(FOLDER).items() for c in found.claim}
    assert shown.keys() == known.keys()
    for name, claim in known.items():
        assert shown[name][3] == claim.status_text(claim.status)
        assert (shown[name][2] == "–") == (claim.status == "not judged")
    assert claims_table.contradictions(FOLDER) == []


def test_a_status_other_than_the_record_is_found(tmp_path: Path) -> None:
    own = tmp_path / "cthrough" / "testbed"
    own.mkdir(parents=True)
    (own / "claims.toml").write_text((FOLDER / "cthrough/testbed/claims.toml").read_text())
    (on_record,) = papers(FOLDER)["cthrough"].claim
    (own / "measured.json").write_text('{"fill-5ms": {"outcome": "reproduced"}}')
    said = f"cthrough/fill-5ms: {on_record.status}, but reproduced on record"
    assert claims_table.contradictions(tmp_path) == [said]
