"""Decisions and notes in a steady state: the price refers to the load accepted in a window, fabrics
that do not carry the load have no price, and arrivals that are too short for a steady state get a
note."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import lightloom
from lightloom import report
from lightloom.analysis import notes, reading
from lightloom.analysis.fair import unfair
from lightloom.analysis.verdicts import criteria
from lightloom.analysis.verdicts.overturned import by_length
from lightloom.config import loads
from lightloom.costs import of_experiment
from lightloom.results import steady_state

EXPERIMENT = """
[cluster]
racks = 16
servers_per_rack = 8
rack_rate = "400 Gb/s"
nic = "uncapped"

[workload]
arrivals = "poisson"
load = 0.6
sizes = "web-search"
pattern = "uniform"

[run]
seed = 1
repeat = 3
warm_up = "8 ms"
measure = "8 ms"

[decision]

[[fabric]]
kind = "clos"
label = "full"

[[fabric]]
kind = "clos"
label = "half"
oversubscription = 3

[compare]
loads = [0.1]
"""


@pytest.fixture(scope="module")
def windowed(tmp_path_factory: pytest.TempPathFactory) -> lightloom.Comparison:
    path = tmp_path_factory.mktemp("steady") / "e.toml"
    path.write_text(EXPERIMENT, encoding="utf-8")
    return lightloom.compare(path)


def test_the_windows_short_flows_are_those_that_arrived_in_it(
    windowed: lightloom.Comparison,
) -> None:
    """The reference counts rows of `flows.parquet`, which the core does not read."""
    for seed in windowed.seeds:
        for result in seed.results.values():
            rows = {
                n: result.flows[n].to_numpy(zero_copy_only=False) for n in ("bytes", "arrival_ps")
            }
            finish = result.flows["finish_ps"].to_numpy(zero_copy_only=False).astype(np.float64)
            window = result.summary["window"]
            inside = (rows["arrival_ps"] >= 8e9) & (rows["arrival_ps"] < 16e9)
            short = inside & (rows["bytes"] < 100_000)
            assert window["bound"]["short"]["flows"] == short.sum()
            took = np.sort((finish - rows["arrival_ps"])[short & np.isfinite(finish)]) * 1e-6
            # By nearest rank.
            assert window["short"]["p99_us"] == pytest.approx(
                took[int(np.ceil(0.99 * took.size)) - 1]
            )


def test_what_the_window_accepts_is_priced_and_who_cannot_carry_it_is_not_ranked(
    windowed: lightloom.Comparison,
) -> None:
    (decision,) = report.decide([windowed])
    assert decision is not None
    assert decision.windowed
    assert decision.carrying == ("full",)
    # A third of 0.75 of the traffic leaves a pod, of which less than 0.6 can be carried.
    half = [s.results["half"].summary["window"] for s in windowed.seeds]
    assert all(not w["stable"] and w["accepted"] < 0.5 for w in half)
    accepted = np.mean([s.results["full"].summary["window"]["accepted"] for s in windowed.seeds])
    assert loads.sustained(windowed.means["full"]) == pytest.approx(accepted)
    full = decision.costs.fabrics["full"]
    assert full.capital is not None
    bandwidth = 16 * 400 * accepted  # Gb/s
    expected = float(full.capital.middle) / bandwidth
    found = decision.of_label("full")["per_delivered_gbps"]
    assert np.mean(found) == pytest.approx(expected, rel=1e-9)
    assert "accepted in the window" in decision.headings
    assert not any("whole run" in heading for heading in decision.headings)


def test_short_flows_of_the_window_decide_where_sizes_differ(
    windowed: lightloom.Comparison,
) -> None:
    workload = reading.workload(windowed, {"full": 0, "half": 1})
    assert criteria.measures(workload)[:2] == [criteria.SHORT, criteria.LATENCY]
    scores = criteria.SHORT.scores(workload.fabrics)
    assert [s.fabric.label for s in scores] == ["full"]
    p99 = [s.results["full"].summary["window"]["short"]["p99_us"] for s in windowed.seeds]
    assert scores[0].value == pytest.approx(np.mean(p99) * 1e-6)
    assert by_length(workload) == ()


def run(tmp_path: Path, flows: int, *keys: str) -> lightloom.Result:
    text = EXPERIMENT.replace('warm_up = "8 ms"\nmeasure = "8 ms"', 'stop = "drain"')
    path = tmp_path / "e.toml"
    path.write_text(text.replace("repeat = 3", "repeat = 1"), encoding="utf-8")
    loaded = lightloom.load(path, [f"workload.flows={flows}", *keys])
    return lightloom.run(loaded, "full")


def test_arrivals_too_short_for_a_steady_state_are_said(tmp_path: Path) -> None:
    """Large flows of the law take milliseconds: 500 flows arrive within one. Of flows of one size
    many come and go in the same time."""
    (note,) = notes.filling(run(tmp_path, 500))
    assert note.kind == "no steady state"
    assert "run.warm_up and run.measure" in note.values["remedy"]
    equal = ('workload.sizes={ kind = "fixed", size = "100 KB" }',)
    assert list(notes.filling(run(tmp_path, 5_000, *equal))) == []


def test_a_network_that_cannot_carry_the_load_is_never_long_enough() -> None:
    """Its times grow with the duration of arrivals, and are a share of it for any duration."""

    def taking(us: float) -> dict[str, object]:
        return {"load_offered": 0.6, "fct": {"long": {"p99_us": us}, "all": {"p99_us": us}}}

    for arrivals in (1e-3, 1e-1, 10.0):
        assert steady_state.is_short(arrivals, taking(0.3 * arrivals * 1e6))
        assert not steady_state.is_short(arrivals, taking(0.05 * arrivals * 1e6))
    jobs = {**taking(1e6), "load_offered": None}
    assert not steady_state.is_short(1e-3, jobs)


def compared(tmp_path: Path, **keys: str) -> lightloom.Comparison:
    """Returns a comparison of both fabrics, with other keys: `load = "0.9"`."""
    text = EXPERIMENT
    for key, value in keys.items():
        text = re.sub(rf"^{key} = .*$", f"{key} = {value}", text, flags=re.MULTILINE)
    path = tmp_path / "e.toml"
    path.write_text(text, encoding="utf-8")
    return lightloom.compare(path)


def test_where_nobody_carries_the_windows_load_nobody_is_to_be_bought(tmp_path: Path) -> None:
    """The load exceeds the capacity of both above the pods: a third, and a sixth, of 0.9 of three
    quarters."""
    text = EXPERIMENT.replace("load = 0.6", "load = 0.9")
    text = text.replace('label = "full"', 'label = "full"\noversubscription = 6')
    (tmp_path / "e.toml").write_text(text, encoding="utf-8")
    made = lightloom.compare(tmp_path / "e.toml")
    (decision,) = report.decide([made])
    assert decision is not None
    assert decision.title.startswith("No fabric carries")
    assert decision.sentence.startswith("No fabric carries")
    assert (decision.leaders, decision.carrying) == ((), ())
    workload = reading.workload(made, {"full": 0, "half": 1})
    assert criteria.SHORT.scores(workload.fabrics) == []
    (said,) = unfair(workload.fabrics)
    assert said.kind == "none ranked"
    assert [one.kind for one in said.values["each"]] == ["load not carried"] * 2


def test_a_window_after_too_short_a_beginning_is_said(tmp_path: Path) -> None:
    """Large flows take as long as the whole warm-up."""
    made = compared(tmp_path, warm_up='"20 us"', measure='"200 us"', load="0.3")
    workload = reading.workload(made, {"full": 0, "half": 1})
    (said,) = by_length(workload)
    assert "longer run.warm_up and run.measure" in said.values["remedy"]


@pytest.mark.parametrize("stop", ["100 us", "1 ms"])
def test_only_arrivals_before_the_end_count(stop: str, tmp_path: Path) -> None:
    (note,) = notes.filling(run(tmp_path, 3_000, f'run.stop="{stop}"'))
    shown = {"100 us": "100 µs", "1 ms": "1.00 ms"}[stop]
    assert note.values["length"] == f"flows arrived for {shown}"


def test_a_broken_network_carries_the_load_as_a_window_has_it() -> None:
    """A fabric that loses 3 % of its delivered bytes is overloaded, for any results of the
    others."""
    from decision_support import bought

    from lightloom.report.decisions import read as decisions

    fabrics = [SimpleNamespace(label=name, through=1.0) for name in ("a", "b")]
    kept = {"a": 0.97, "b": 0.985}
    dead = {
        name: SimpleNamespace(kept=share, least=SimpleNamespace(part="x"), ranked=())
        for name, share in kept.items()
    }
    purchases = (bought("a", switch=1), bought("b", switch=1))

    def found(windowed: bool) -> dict[str, bool]:
        made = SimpleNamespace(
            workload=SimpleNamespace(fabrics=fabrics), purchases=purchases, windowed=windowed
        )
        of = decisions.kept_of(made, SimpleNamespace(fabrics=dead))  # type: ignore[arg-type]
        return {label: one.carries for label, one in of.items()}

    assert found(windowed=True) == {"a": False, "b": True}
    assert found(windowed=False) == {"a": True, "b": True}


@pytest.mark.parametrize("counting", ["whole", "share"])
def test_a_decision_counts_boxes_as_it_is_told(
    counting: str, windowed: lightloom.Comparison
) -> None:
    """The decision names the other way of counting if that would change it, or states that it would
    not."""

    book = of_experiment.book({"decision": {"counting": counting}})
    assert book is not None
    assert book.counting == counting
    (decision,) = report.decide([windowed], [book])
    assert decision is not None
    bill = decision.costs.fabrics["full"].lines
    boxes = [line.count for line in bill if line.part == "switch"]
    assert all(n.denominator == 1 for n in boxes) == (counting == "whole")
    other = "if boxes are bought whole" if counting == "share" else "if boxes came in every size"
    assert any(other in line for line in (*decision.facts, *decision.overturned))


def test_a_way_to_count_that_there_is_not_is_refused() -> None:
    from lightloom.config import decision as options

    with pytest.raises(lightloom.ConfigError, match="counting"):
        options.read({"decision": {"counting": "half"}})


def test_the_interval_of_a_windows_latency_is_that_over_seeds(
    windowed: lightloom.Comparison,
) -> None:
    """For three seeds, the deviation ÷ √3 × t(2) = 4.3, on the page and on the terminal."""
    workload = reading.workload(windowed, {"full": 0, "half": 1})
    (full,) = (f for f in workload.fabrics if f.label == "full")
    means = [s.results["full"].summary["window"]["mean_us"] * 1e-6 for s in windowed.seeds]
    half = 4.302653 * float(np.std(means, ddof=1)) / 3**0.5
    assert full.latency_error == pytest.approx(half, rel=1e-4)
    (scored,) = criteria.LATENCY.scores((full,))
    assert (scored.high - scored.low) / 2 == pytest.approx(half, rel=1e-4)
    # A window of 8 ms is too short for an interval from one seed.
    within = [s.results["full"].summary["window"]["half_width_us"] for s in windowed.seeds]
    assert within == [None, None, None]
    assert workload.fabrics[0].seeds[0].latency_error is None


def test_a_sirius_of_too_few_uplinks_is_said_to_be_smaller() -> None:
    from lightloom.costs.costs import cost
    from lightloom.costs.wording import narrow

    def told(uplinks: int) -> list[str]:
        cluster = {"racks": 16, "servers_per_rack": 8, "rack_rate": "400 Gb/s"}
        fabric = {"kind": "sirius", "uplinks": uplinks, "channel_rate": "50 Gb/s"}
        workload = {"arrivals": "poisson", "load": 0.1, "sizes": "web-search", "flows": 10}
        return list(narrow(cost({"cluster": cluster, "workload": workload, "fabric": [fabric]})))

    assert told(8) == []
    (said,) = told(4)
    assert "uplinks carry 0.5 of" in said


def test_of_fabrics_that_are_level_in_cost_it_is_said_who_is_ahead(
    windowed: lightloom.Comparison,
) -> None:
    from dataclasses import replace

    from decision_support import bought

    from lightloom.analysis.ranking import Score
    from lightloom.report.decisions import performance, sentences

    workload = reading.workload(windowed, {"full": 0, "half": 1})
    times = {"full": 1e-5, "half": 4e-5}
    criterion = replace(
        criteria.SHORT, of_carried=False, read=lambda f: Score.exact(f, times[f.label])
    )
    level = (bought("full", switch=2), bought("half", switch=2))
    made = SimpleNamespace(workload=workload, purchases=level, criterion=criterion)
    found = performance.told_apart(made)  # type: ignore[arg-type]
    assert found is not None
    assert (found.best.fabric.label, [s.fabric.label for s in found.others]) == ("full", ["half"])
    said = sentences.told_apart(found)
    assert f"full {criteria.SHORT.wins[0]}" in said
    assert "of half, 4.0× apart" in said.replace("\u00a0", " ")
    times["half"] = 1.01e-5
    assert performance.told_apart(made) is None  # type: ignore[arg-type]
