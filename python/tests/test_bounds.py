"""Statistics of flows, some of which are unfinished: bounds and their format."""

from __future__ import annotations

import json
import math
import tomllib
from pathlib import Path

import numpy as np
import pytest
from cli_support import CLOS, SMALL, write
from cli_support import lightloom as cli
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from test_report_support import bounds as by_numpy

import lightloom
from lightloom.config import loads
from lightloom.units import bounds
from lightloom.units.bounds import Bound

POSITIVE = st.floats(1e-12, 1e12)


@given(POSITIVE)
def test_a_bound_is_never_rounded_up(value: float) -> None:
    low = bounds.floored(value)
    assert value * (1 - 1.01e-2) <= low <= value * (1 + 1e-9)
    assert float(f"{low:.3g}") == pytest.approx(low, rel=1e-9)


@given(POSITIVE, st.floats(1, 10))
def test_what_reads_alike_is_exact(low: float, factor: float) -> None:
    found = Bound(low, low * factor)
    assert found.exact == (f"{low:.3g}" == f"{low * factor:.3g}")
    assert found.text(lambda v: f"{v:.3g}").startswith("> ") != found.exact


def test_a_bound_without_upper_limit_is_read_as_one() -> None:
    limits = {"low": 12.16, "high": None, "from": 11.0, "until": None}
    found = bounds.bound({"fct_bound": {"short": {"p99_us": limits}}}, "fct.short.p99_us")
    assert found == Bound(12.16, math.inf, 11.0, math.inf)
    assert found.open
    assert found.text(str) == "> 12.1"
    none = {"low": None, "high": None, "from": None, "until": None}
    assert bounds.bound({"slowdown_bound": {"p99": none}}, "slowdown.p99") is None
    # Results of versions without bounds have only the value.
    assert bounds.bound({"fct": {"all": {"p50_us": 3.0}}}, "fct.all.p50_us") == Bound(3.0, 3.0)


def test_a_mean_over_runs_has_no_limit_where_one_run_has_none() -> None:
    assert bounds.mean([Bound(1, 1), Bound(3, 5)]) == Bound(2, 3)
    assert bounds.mean([Bound(1, 1), Bound(3, math.inf)]) == Bound(2, math.inf)
    assert bounds.mean([None, None]) is None


def cut_off(stop: str, seed: int = 3) -> lightloom.Result:
    """Runs a small Clos network under load until a given time."""
    text = SMALL + CLOS
    experiment = lightloom.load(tomllib.loads(text), [f"run.stop={stop}", f"run.seed={seed}"])
    return lightloom.run(experiment)


@pytest.mark.parametrize("share", [0.2, 0.6, 0.95])
def test_what_a_run_is_cut_off_from_lies_within_its_bounds(share: float) -> None:
    """Compares the bounds with the sorted flow table, and with the same flows in a longer run."""
    whole = cut_off("drain")
    arrivals = whole.flows["arrival_ps"].to_numpy()
    end_ps = int(arrivals[int(len(arrivals) * share)]) + 1
    cut = cut_off(f"{end_ps} ps")
    summary = cut.summary
    n = summary["flows_offered"]
    assert 0 < summary["flows_completed"] < n
    finish = cut.flows["finish_ps"].to_numpy(zero_copy_only=False)[:n].astype(float)
    done = np.isfinite(finish)
    end = summary["simulated_s"] * 1e12
    took = (np.where(done, finish, end) - arrivals[:n]) / 1e6
    then = (whole.flows["finish_ps"].to_numpy()[:n] - arrivals[:n]) / 1e6
    sizes = cut.flows["bytes"].to_numpy()[:n]
    for name, of in (("all", sizes > 0), ("short", sizes < 1e5), ("long", sizes >= 1e5)):
        found, expected = summary["fct_bound"][name], by_numpy(took[of], done[of])
        assert found["unfinished"] == expected["unfinished"]
        for figure, truth in (
            ("p50_us", np.quantile(then[of], 0.5, method="inverted_cdf")),
            ("p99_us", np.quantile(then[of], 0.99, method="inverted_cdf")),
            ("mean_us", then[of].mean()),
        ):
            for end_of in ("low", "high"):
                assert found[figure][end_of] == (
                    None
                    if expected[figure][end_of] is None
                    else pytest.approx(expected[figure][end_of])
                ), (name, figure)
            assert found[figure]["low"] <= truth * (1 + 1e-9)
            assert found[figure]["high"] is None or truth <= found[figure]["high"] * (1 + 1e-9)


def test_load_delivered_is_that_of_the_time_in_which_flows_arrive() -> None:
    """The load is the same with and without draining, and never exceeds the drawn load."""
    until_last, drained = cut_off("last-arrival").summary, cut_off("drain").summary
    assert drained["load_offered"] == until_last["load_offered"]
    assert drained["load_delivered"] == pytest.approx(until_last["load_delivered"])
    assert until_last["load_delivered"] == pytest.approx(until_last["goodput_normalized"])
    assert drained["goodput_normalized"] < drained["load_delivered"] <= drained["load_offered"]
    assert drained["fct_bound"]["all"]["unfinished"] == 0
    for group in ("all", "short", "long"):
        for figure, value in drained["fct"][group].items():
            limits = drained["fct_bound"][group][figure]
            if value is None:
                assert limits["low"] is None
            else:
                assert limits["low"] == limits["high"] == pytest.approx(value)


def test_loads_are_told_in_the_same_words() -> None:
    summary = {"load_offered": 0.28312, "load_delivered": 0.19601}
    assert loads.workload(summary, 0.5).startswith("load 0.283 drawn (0.5 ")
    assert loads.run(summary).split(" delivered")[0] == "0.283 drawn, 0.196"
    assert loads.run({"load_offered": None, "load_delivered": None}) is None
    assert loads.asked({"workload": {"load": 1}}) == 1.0
    assert loads.asked({"workload": {"load": [0.1, 0.2]}}) is None


def test_bounds_are_printed_as_bounds(tmp_path: Path) -> None:
    """`run` and `compare` print bounds for a run with unfinished flows, and none for a drained
    run."""
    write(tmp_path / "e.toml", SMALL, CLOS)
    done = cli("run", "e.toml", "--set", "run.stop=20 us", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "p99 > " in done.stdout
    assert "> marks a lower" in done.stdout
    both = cli(
        "compare", "--verbose", "e.toml", "--set", "run.stop=20 us", "-o", "out", cwd=tmp_path
    )
    assert "> " in next(x for x in both.stdout.splitlines() if x.startswith("clos "))
    assert ">: lower bound" in both.stdout
    assert "with &gt; is a" in (tmp_path / "out/report.html").read_text()
    summary = json.loads((tmp_path / "out/comparison.json").read_text())["clos"]
    assert summary["fct_bound"]["all"]["p99_us"]["high"] is None
    whole = cli(
        "compare", "--verbose", "e.toml", "--set", "run.stop=drain", "-o", "out", cwd=tmp_path
    )
    assert ">" not in whole.stdout.replace("->", "")


def kaplan_meier(took: np.ndarray, done: np.ndarray, share: float) -> float:
    """Returns the quantile of partly censored times, by scipy; infinite beyond the last known
    time."""
    censored = stats.CensoredData(uncensored=took[done], right=took[~done])
    found = stats.ecdf(censored).cdf
    reached = found.quantiles[found.probabilities >= share - 1e-12]
    return float(reached.min()) if reached.size else math.inf


@pytest.mark.parametrize("seed", [1, 2])
def test_the_estimate_of_kaplan_and_meier_lies_within_the_limits(seed: int) -> None:
    """The estimate equals the value if that is exact.

    Percentiles over completed flows are below the bounds, because they exclude slow flows.
    """
    whole = cut_off("drain", seed)
    arrivals = whole.flows["arrival_ps"].to_numpy()
    told: list[bool] = []
    too_quick = 0
    stops = [f"{int(arrivals[int(len(arrivals) * s)]) + 1} ps" for s in (0.1, 0.3, 0.7, 0.95)]
    for stop in (*stops, "drain"):
        cut = cut_off(stop, seed)
        n = cut.summary["flows_offered"]
        finish = cut.flows["finish_ps"].to_numpy(zero_copy_only=False)[:n].astype(float)
        done = np.isfinite(finish)
        end = cut.summary["simulated_s"] * 1e12
        took = (np.where(done, finish, end) - arrivals[:n]) / 1e6
        sizes = cut.flows["bytes"].to_numpy()[:n]
        of = {"all": sizes > 0, "short": sizes < 100_000, "long": sizes >= 100_000}
        for name, rows in of.items():
            for p in (50, 99):
                found = bounds.bound(cut.summary, f"fct.{name}.p{p}_us")
                if found is None:
                    continue
                estimate = kaplan_meier(took[rows], done[rows], p / 100)
                assert found.low * (1 - 1e-9) <= estimate <= found.high * (1 + 1e-9)
                told.append(found.low == found.high)
                if told[-1]:
                    assert estimate == pytest.approx(found.low)
                plain = cut.summary["fct"][name][f"p{p}_us"]
                too_quick += plain is not None and plain < found.low * (1 - 1e-9)
    assert {True, False} <= set(told)
    assert too_quick
