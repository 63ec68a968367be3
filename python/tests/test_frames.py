"""Frames of pandas and polars: the rows of the files, and the values of the tables."""

from __future__ import annotations

import math
import re
import statistics
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from view_support import CUT, one_seed, table, three_seeds

import lightloom
from lightloom import ConfigError, control
from lightloom.frames import figures, to_pandas, to_polars
from lightloom.results.result import Comparison, Result

P99 = "fct.short.p99_us"


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return one_seed()


@pytest.fixture(scope="module")
def repeated() -> Comparison:
    return three_seeds()


def rows(frame: pd.DataFrame) -> list[dict[str, object]]:
    """Returns the rows of a pandas frame, with None for missing values."""
    made = frame.astype(object)
    return made.where(frame.notna(), None).to_dict("records")


@pytest.mark.parametrize("name", ["flows", "timeseries"])
def test_frames_hold_what_the_files_hold(comparison: Comparison, tmp_path: Path, name: str) -> None:
    for label, result in comparison.results.items():
        written = pq.read_table(result.save(tmp_path / label) / f"{name}.parquet")
        assert result.table(name).equals(written)
        assert rows(result.to_pandas(name)) == written.to_pylist()
        assert result.to_polars(name).to_dicts() == written.to_pylist()
        assert list(result.to_pandas(name)) == result.to_polars(name).columns
    assert result.table().equals(result.flows)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.none() | st.integers(-(2**63), 2**63 - 1), max_size=20))
def test_no_integer_is_rounded(values: list[int | None]) -> None:
    arrow = pa.table({"finish_ps": pa.array(values, pa.int64())})
    frame = to_pandas(arrow)
    assert str(frame["finish_ps"].dtype) == "Int64"
    assert [None if v is pd.NA else int(v) for v in frame["finish_ps"]] == values
    assert to_polars(arrow)["finish_ps"].to_list() == values


def test_completion_times_agree_with_the_summary(comparison: Comparison) -> None:
    """The values are those of finished flows, by nearest rank as docs/results.md states."""
    flows = comparison.to_pandas()
    polars = comparison.to_polars()
    for label, result in comparison.results.items():
        of = flows[(flows["fabric"] == label) & (flows["bytes"] < 100_000)].dropna()
        fct = np.sort(((of["finish_ps"] - of["arrival_ps"]) / 1e6).to_numpy(float))
        expected = result.summary["fct"]["short"]["p99_us"]
        assert fct[-(-fct.size * 99 // 100) - 1] == pytest.approx(expected)
        same = polars.filter((pl.col("fabric") == label) & (pl.col("bytes") < 100_000)).select(
            ((pl.col("finish_ps") - pl.col("arrival_ps")) / 1e6).drop_nulls().sort()
        )
        assert same.to_series().to_list() == pytest.approx(fct.tolist())


def test_rows_of_a_comparison_say_whose_they_are(repeated: Comparison) -> None:
    frame = repeated.to_pandas()
    assert list(frame)[:3] == ["fabric", "seed", "flow"]
    expected = [
        (label, result.summary["seed"], result.flows.num_rows)
        for one in repeated.seeds
        for label, result in one.results.items()
    ]
    assert len(expected) == 6
    counted = frame.groupby(["fabric", "seed"], sort=False).size()
    assert [(*key, n) for key, n in counted.items()] == expected
    of = frame[(frame["fabric"] == "clos") & (frame["seed"] == 4)].drop(columns=["fabric", "seed"])
    assert rows(of) == repeated.seeds[1].results["clos"].flows.to_pylist()


def test_figures_of_one_run_have_their_limits(comparison: Comparison) -> None:
    result = comparison.results["sirius"]
    frame = result.to_pandas("summary").set_index("figure")
    assert (frame["seeds"] == 1).all()
    assert frame["half_width"].isna().all()
    assert frame.loc["flows_completed", "value"] == result.summary["flows_completed"]
    assert frame.loc["hops_mean", "upper"] == result.summary["hops_mean"]
    found = result.summary["fct_bound"]["short"]["p99_us"]
    assert frame.loc[P99, "value"] == found["low"]
    assert frame.loc[P99, "upper"] == pytest.approx(found["high"] or math.nan, nan_ok=True)
    assert bool(frame.loc[P99, "bound"]) is (f"{found['low']:.3g}" != f"{found['high'] or 0:.3g}")
    assert frame.loc["fct.all.mean_us", "bound"]  # a flow is unfinished
    assert math.isnan(frame.loc["fct.all.mean_us", "upper"])
    assert not [name for name in frame.index if "bound" in name or name in ("seed", "threads")]


def test_figures_of_seeds_are_means_with_students_interval(repeated: Comparison) -> None:
    frame = repeated.to_polars("summary")
    for path in ("queue_peak_bytes", P99):
        for label in repeated.results:
            row = frame.filter((pl.col("fabric") == label) & (pl.col("figure") == path)).to_dicts()
            assert len(row) == 1
            summaries = repeated.of_label(label)
            values = [
                s["fct_bound"]["short"]["p99_us"]["low"] if path == P99 else s[path]
                for s in summaries
            ]
            assert row[0]["seeds"] == 3
            assert row[0]["value"] == pytest.approx(statistics.fmean(values))
            half = stats.t.ppf(0.975, 2) * stats.sem(values)
            assert row[0]["half_width"] == pytest.approx(half)


def test_figures_of_a_repeated_run_are_those_of_its_seeds() -> None:
    text = CUT.replace("seed = 3", "seed = 3\nrepeat = 2") + '\n[[fabric]]\nkind = "clos"\n'
    found = lightloom.repeat(table(text))
    frame = found.to_pandas("summary").set_index("figure")
    assert frame.loc["hops_mean", "value"] == pytest.approx(found.means["hops_mean"])
    assert list(found.to_pandas())[:2] == ["seed", "flow"]
    assert sorted(set(found.to_pandas()["seed"])) == found.seeds == [3, 4]


@pytest.mark.parametrize("which", ["comparison", "repeated"])
def test_loads_have_a_summary_each(which: str, request: pytest.FixtureRequest) -> None:
    compared: Comparison = request.getfixturevalue(which)
    frame = compared.to_pandas("loads")
    of = frame[(frame["fabric"] == "clos") & (frame["figure"] == "load_offered")]
    assert of["load"].tolist() == [0.2, 0.5]
    each = [one.loads["clos"] for one in compared.seeds or [compared]]
    drawn = [statistics.fmean(s["load_offered"] for s in at) for at in zip(*each, strict=True)]
    assert of["value"].tolist() == pytest.approx(drawn)


def test_a_name_that_no_table_has_is_refused(comparison: Comparison) -> None:
    message = "table = flow: no such table; choose one of flows, timeseries, links, summary"
    with pytest.raises(ConfigError) as caught:
        comparison.results["clos"].to_pandas("flow")
    assert str(caught.value) == message
    with pytest.raises(ConfigError, match=r"links, summary, loads$"):
        comparison.to_polars("circuits")


def test_circuits_are_there_where_a_fabric_has_some() -> None:
    lit = pa.table({"a": [0], "b": [1], "plane": [0], "from_ps": [0], "until_ps": [5]})
    plain = lightloom.run(table(CUT + '\n[[fabric]]\nkind = "clos"\n'))
    with_lit = Result("x", plain.flows, plain.timeseries, plain.summary, plain.experiment, lit)
    both = Comparison("two", plain.experiment, {"clos": plain, "x": with_lit})
    assert both.to_polars("circuits").to_dicts() == [
        {"fabric": "x", "seed": 3, "a": 0, "b": 1, "plane": 0, "from_ps": 0, "until_ps": 5}
    ]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_library_that_is_not_there_is_named(
    comparison: Comparison, monkeypatch: pytest.MonkeyPatch, library: str
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ImportError) as caught:
        getattr(comparison, f"to_{library}")()
    assert str(caught.value).startswith(f"{library} is not installed")
    assert "pip install 'lightloom[notebook]'" in str(caught.value)


def test_plans_have_their_circuits_with_names() -> None:
    demand = np.array([[0, 9, 1, 0], [9, 0, 0, 2], [1, 0, 0, 7], [0, 2, 7, 0]])
    made = lightloom.plan(control.Demand(demand, ["w", "x", "y", "z"]), "edmonds")
    assert made.to_polars().to_dicts() == made.to_polars("circuits").to_dicts()
    whole = {"directed": False, "plane": 0}
    assert rows(made.to_pandas()) == [
        {"a": 0, "b": 1, "a_name": "w", "b_name": "x", **whole, "bytes": 18},
        {"a": 2, "b": 3, "a_name": "y", "b_name": "z", **whole, "bytes": 14},
    ]
    back = np.zeros_like(demand)
    for row in made.to_polars("demand").to_dicts():
        back["wxyz".index(row["src_name"]), row["dst"]] = row["bytes"]
    assert np.array_equal(back, demand)


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2**32 - 1))
def test_slots_carry_what_the_plan_says(seed: int) -> None:
    demand = np.random.default_rng(seed).integers(0, 10**9, (5, 5))
    np.fill_diagonal(demand, 0)
    made = lightloom.plan(demand, "solstice")
    frame = made.to_pandas("slots")
    assert made.schedule is not None
    assert int(frame["bytes"].sum()) == made.figures["carried_bytes"]
    for row in frame.itertuples():
        assert made.schedule.permutations[row.slot, row.src] == row.dst != row.src
        assert made.schedule.starts_ps[row.slot] == row.start_ps
        assert (row.src_name, row.dst_name) == (str(row.src), str(row.dst))
    lit = (made.schedule.permutations != np.arange(5)).sum()
    assert len(frame) == lit


def test_a_plan_reads_its_demand_from_a_file() -> None:
    path = Path(__file__).resolve().parents[2] / "examples" / "demand-8.csv"
    there = control.plan(control.read_demand(path), "edmonds")
    assert lightloom.plan(path, "edmonds").text() == there.text()
    assert lightloom.plan(str(path), "edmonds").text() == there.text()
    assert (lightloom.plan, lightloom.Plan) == (control.plan, control.Plan)


def test_the_listing_of_the_documentation_runs(comparison: Comparison) -> None:
    text = (Path(__file__).resolve().parents[2] / "docs" / "api.md").read_text(encoding="utf-8")
    (listing,) = re.findall(r"```python\n(flows = .*?)```", text, re.DOTALL)
    *lines, last = listing.strip().splitlines()
    known: dict[str, object] = {"comparison": comparison}
    exec("\n".join(lines), known)
    found = eval(last, known)
    for label, result in comparison.results.items():
        assert found[label] == result.summary["fct_bound"]["short"]["p99_us"]["low"]


def limits(low: float | None, high: float | None) -> dict[str, float | None]:
    return {"low": low, "high": high, "from": None, "until": None}


@pytest.mark.parametrize(
    ("found", "row"),
    [
        (limits(1.0, 2.0), (1.0, 2.0, True)),
        (limits(1.0001, 1.0002), (1.0001, 1.0002, False)),  # equal in three digits
        (limits(3.0, None), (3.0, None, True)),
        (limits(None, None), None),
    ],
)
def test_a_bound_is_what_tables_show_as_one(
    found: dict[str, float | None], row: tuple[float, float | None, bool] | None
) -> None:
    summary = {"fct": {"all": {"p50_us": None}}, "fct_bound": {"all": {"p50_us": found}}}
    made = figures.table([summary]).to_pylist()
    assert [(r["value"], r["upper"], r["bound"]) for r in made] == ([] if row is None else [row])


def test_only_numbers_are_figures_and_keys_may_hold_dots() -> None:
    one = {"seed": 1, "fabric": "clos", "jobs": {"a.b": {"seconds": 2.0}}, "ok": True, "x": None}
    other = {**one, "seed": 2, "x": 7, "jobs": {"a.b": {"seconds": 4.0}}}
    made = {row.pop("figure"): row for row in figures.table([one, other]).to_pylist()}
    assert set(made) == {"jobs.a.b.seconds", "x"}
    assert (made["jobs.a.b.seconds"]["value"], made["jobs.a.b.seconds"]["seeds"]) == (3.0, 2)
    assert (made["x"]["value"], made["x"]["seeds"], made["x"]["half_width"]) == (7.0, 1, None)
