"""Experiments that repeat: seeds in folders, means with intervals, bands in charts."""

import json
import math
import statistics
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_support import CLOS, SIRIUS, SMALL, lightloom, write
from scipy import stats

import lightloom as ll
from lightloom import ConfigError, report, sweep
from lightloom.analysis import ranking, reading
from lightloom.cli import repeats as printed
from lightloom.plotting import bands, distributions, figures
from lightloom.plotting.spec import Series, axis
from lightloom.results import repeats
from lightloom.results.result import Comparison, Repeated, Result

REPEATED = SMALL.replace("seed = 3", "seed = 3\nrepeat = 4")
LOADS = "\n[compare]\nloads = [0.2, 0.5]\n"
PATH = "fct.short.p99_us"


@pytest.fixture(scope="module")
def repeated() -> Repeated:
    return ll.repeat({**_table(REPEATED + CLOS)})


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return ll.compare(_table(REPEATED + LOADS + SIRIUS + CLOS))


def _table(text: str) -> dict[str, Any]:
    import tomllib

    return tomllib.loads(text)


def _figure(summary: dict[str, Any]) -> float:
    return float(summary["fct"]["short"]["p99_us"])


def test_each_seed_is_the_run_that_it_would_be_alone(repeated: Repeated) -> None:
    assert repeated.seeds == [3, 4, 5, 6]
    for seed, result in zip(repeated.seeds, repeated.results, strict=True):
        alone = ll.run(_table(SMALL.replace("seed = 3", f"seed = {seed}") + CLOS))
        assert result.flows.equals(alone.flows, check_metadata=True)
        assert "repeat" not in result.experiment["run"]


def test_means_and_intervals_are_students(repeated: Repeated) -> None:
    values = [_figure(result.summary) for result in repeated.results]
    half = stats.t.ppf(0.975, 3) * stats.sem(values)
    found = repeated.summary["fct"]["short"]["p99_us"]
    assert found == {
        "mean": pytest.approx(statistics.fmean(values)),
        "half_width": pytest.approx(half),
        "n": 4,
    }
    assert repeated.means["fct"]["short"]["p99_us"] == found["mean"]
    # The means are over all offered flows, not only over those that had arrived at the end of a
    # run.
    offered = [result.summary["fct_bound"]["short"]["p99_us"]["low"] for result in repeated.results]
    interval = repeated.interval(PATH)
    assert interval is not None
    assert (interval.mean, interval.n) == (pytest.approx(statistics.fmean(offered)), 4)
    assert interval.half_width == pytest.approx(stats.t.ppf(0.975, 3) * stats.sem(offered))
    assert offered != values
    hops = repeated.interval("hops_mean")
    assert hops is not None
    assert hops.mean == repeated.means["hops_mean"]
    assert repeated.summary["seeds"] == [3, 4, 5, 6]
    assert repeated.summary["confidence"] == 0.95
    assert (repeated.summary["fabric"], repeated.summary["threads"]) == ("clos", 1)


def test_a_figure_that_some_seeds_lack_counts_the_others() -> None:
    some = [
        {"seed": 1, "x": None, "window": {"stable": True, "correlated": False}},
        {"seed": 2, "x": 3, "window": {"stable": False, "correlated": True}},
    ]
    assert repeats.gathered(some)["x"] == {"mean": 3.0, "half_width": None, "n": 1}
    assert repeats.means(some)["window"] == {"stable": False, "correlated": True}
    assert repeats.interval(some, "nothing.here") is None


def test_a_job_that_some_seed_did_not_end_has_no_mean_time() -> None:
    """Regression: the mean over other seeds favoured fabrics that left jobs unfinished."""

    def seed(number: int, seconds: float | None) -> dict[str, Any]:
        job = {"start_s": 1.0, "finish_s": seconds and 1 + seconds, "seconds": seconds}
        return {"seed": number, "jobs": {"a": job}}

    some = [seed(1, 2.0), seed(2, None)]
    assert repeats.means(some)["jobs"]["a"] == {"start_s": 1.0, "finish_s": None, "seconds": None}
    assert repeats.means([seed(1, 2.0), seed(2, 4.0)])["jobs"]["a"]["seconds"] == 3.0
    ((name, found, _),) = list(printed._rows(some))
    assert (name, found.mean, found.n) == ("job a, where it ended", 2.0, 1)


def test_folders_of_seeds_are_whole_results_and_read_back(
    repeated: Repeated, tmp_path: Path
) -> None:
    repeated.save(tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        *("experiment.toml", "record.json"),
        *(f"seed-{seed}" for seed in repeated.seeds),
        "summary.json",
    ]
    assert json.loads((tmp_path / "summary.json").read_text()) == repeated.summary
    one = Result.load(tmp_path / "seed-5")
    again = ll.run(tmp_path / "seed-5" / "experiment.toml")
    assert one.flows.equals(again.flows, check_metadata=True)
    back = Repeated.load(tmp_path)
    assert back.summary == repeated.summary
    assert ll.repeat(tmp_path / "experiment.toml").interval(PATH) == repeated.interval(PATH)


def test_a_repeated_result_and_a_plain_one_take_each_others_place(
    repeated: Repeated, tmp_path: Path
) -> None:
    plain = repeated.results[0]
    fewer = Repeated("clos", repeated.results[:2])
    for made in (plain, repeated, fewer, plain):
        made.save(tmp_path)
        names = {p.name for p in tmp_path.iterdir()}
        seeds = {f"seed-{s}" for s in made.seeds} if isinstance(made, Repeated) else set()
        assert {n for n in names if n.startswith("seed-")} == seeds
        assert ("flows.parquet" in names) == (made is plain)


def test_a_comparison_that_repeats_is_saved_a_seed_a_folder(
    comparison: Comparison, tmp_path: Path
) -> None:
    assert [c.experiment["run"]["seed"] for c in comparison.seeds] == [3, 4, 5, 6]
    comparison.save(tmp_path)
    summaries = json.loads((tmp_path / "comparison.json").read_text())
    values = [_figure(c.results["sirius"].summary) for c in comparison.seeds]
    found = summaries["sirius"]["fct"]["short"]["p99_us"]
    assert found["mean"] == pytest.approx(statistics.fmean(values))
    loads = json.loads((tmp_path / "loads.json").read_text())["clos"]
    at_02 = [c.loads["clos"][0]["load_offered"] for c in comparison.seeds]
    assert loads[0]["load_offered"]["mean"] == pytest.approx(statistics.fmean(at_02))
    back = Comparison.load(tmp_path)
    assert back.summaries == comparison.summaries
    one = Comparison.load(tmp_path / "seed-4")
    assert one.summaries == comparison.seeds[1].summaries
    comparison.seeds[0].save(tmp_path)
    assert not [p for p in tmp_path.iterdir() if p.name.startswith("seed-")]


def test_what_repeats_is_refused_where_it_cannot() -> None:
    experiment = _table(REPEATED + CLOS)
    with pytest.raises(ConfigError, match=r"run\.repeat = 4: .*lightloom\.repeat"):
        ll.run(experiment)
    experiment["run"]["repeat"] = 0
    with pytest.raises(ConfigError, match=r"run\.repeat = 0: "):
        ll.repeat(experiment)


def test_one_repetition_is_a_plain_run() -> None:
    experiment = _table(SMALL + CLOS)
    plain = ll.run(experiment)
    experiment["run"]["repeat"] = 1
    assert ll.run(experiment).flows.equals(plain.flows, check_metadata=True)
    assert ll.compare(experiment).seeds == []


def test_a_sweep_over_what_repeats_is_refused_with_its_own_key(tmp_path: Path) -> None:
    write(tmp_path / "e.toml", REPEATED, CLOS)
    file = write(tmp_path / "s.toml", 'base = "e.toml"\n[grid]\nworkload.load = [0.2]\n')
    with pytest.raises(ConfigError) as refused:
        sweep.expand(sweep.read(file))
    assert (refused.value.key, refused.value.value) == ("run.repeat", "4")
    assert "repeat = 4 in" in refused.value.remedy


def test_run_prints_means_with_intervals(tmp_path: Path) -> None:
    file = write(tmp_path / "e.toml", REPEATED, CLOS)
    done = lightloom("run", file, "-o", "out", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "seeds 3 to 6" in done.stdout
    assert "Means of 4 seeds" in done.stdout
    row = next(line for line in done.stdout.splitlines() if "FCT short, p99" in line)
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert row.split()[-1] == str(summary["fct"]["short"]["p99_us"]["n"])
    assert (tmp_path / "out" / "seed-6" / "flows.parquet").is_file()


def test_compare_prints_half_widths_and_draws_bands(tmp_path: Path) -> None:
    file = write(tmp_path / "e.toml", REPEATED, LOADS, SIRIUS, CLOS)
    done = lightloom("compare", "--verbose", file, "-o", "out", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("± ") >= 8
    page = (tmp_path / "out" / "report.html").read_text()
    assert "4 seeds from 3" in page
    assert "95 % confidence intervals" in page
    plain = lightloom("compare", file, "--json", cwd=tmp_path)
    assert json.loads(plain.stdout)["clos"]["hops_mean"]["n"] == 4


def test_a_repeated_trace_is_no_surer_than_its_flows(tmp_path: Path) -> None:
    """Regression: intervals over seeds with the same flows were read as those of the traffic, so
    that a Clos network, which has no random values, led with ± 0."""
    trace = tmp_path / "trace.csv"
    sizes = np.random.default_rng(5).integers(1, 90_000, 300)
    rows = (f"{k % 8},{(k * 5 + 3) % 8},{size},{k * 40_000}" for k, size in enumerate(sizes))
    trace.write_text("\n".join(["src,dst,bytes,arrival_ps", *rows]), encoding="utf-8")
    table = _table(REPEATED + SIRIUS + CLOS)
    table["cluster"] = {"racks": 8, "servers_per_rack": 1, "rack_rate": "100 Gb/s"}
    table["workload"] = {"trace": str(trace)}
    made = ll.compare(table)
    (of_seeds,) = [
        f for f in reading.workload(made, reading.slots([made])).fabrics if f.label == "clos"
    ]
    (alone,) = [
        f
        for f in reading.workload(made.seeds[0], reading.slots([made])).fabrics
        if f.label == "clos"
    ]
    scores = [ranking.score(f, lambda g: g.limits(PATH)) for f in (of_seeds, alone)]
    assert scores[0] is not None
    assert scores[1] is not None
    assert (scores[0].low, scores[0].high) == (scores[1].low, scores[1].high)
    assert scores[0].low < scores[0].high
    legend = (
        "A trace gives every seed the same flows: ± shows only the random choices of the fabric."
    )
    assert legend in printed.legend(4, made.experiment)
    assert legend not in printed.legend(4, _table(REPEATED + CLOS))


def test_every_chart_has_a_band_for_each_fabric(comparison: Comparison) -> None:
    workload = reading.workload(comparison, reading.slots([comparison]))
    drawn = figures.draw_all(workload)
    assert {f.key for f in drawn} >= {"fct-distribution", "fct-by-size", "by-load", "traffic"}
    for figure in drawn:
        for panel in figure.panels:
            kinds = [s.drawn for s in panel.series]
            assert kinds.count("band") == 2, (figure.key, panel.title)
        assert "Of 4 seeds" in figure.caption


def test_a_band_is_the_interval_of_the_curves_of_all_seeds(comparison: Comparison) -> None:
    workload = reading.workload(comparison, reading.slots([comparison]))
    for fabric in workload.fabrics:
        line, band = bands.spread(fabric, lambda f: distributions.cdf(f.fct, 200), "share")
        place = len(line.x) // 2
        at = line.x[place]
        shares = [np.interp(at, *distributions.cdf(f.fct, 200), left=0.0) for f in fabric.seeds]
        half = stats.t.ppf(0.975, 3) * stats.sem(shares)
        assert line.y[place] == pytest.approx(np.mean(shares))
        edge = band.y[: len(line.x)][place] - line.y[place]
        assert edge == pytest.approx(half)
        # The mean of a share over the seeds is that of all their flows together.
        pooled = np.concatenate([f.fct for f in fabric.seeds])
        assert line.y[place] == pytest.approx(np.mean(pooled <= at), abs=0.02)


def test_columns_of_unequal_rows_have_the_intervals_of_those_that_are_there() -> None:
    rows = np.array([[1.0, 5.0, 2.0], [2.0, np.nan, 4.0], [3.0, np.nan, np.nan]])
    mean, half = bands.over_rows(rows)
    assert list(mean) == [2.0, 5.0, 3.0]
    assert half[0] == pytest.approx(stats.t.ppf(0.975, 2) / math.sqrt(3))
    assert math.isnan(half[1])
    assert half[2] == pytest.approx(stats.t.ppf(0.975, 1))


def test_the_table_of_the_report_has_intervals(comparison: Comparison, tmp_path: Path) -> None:
    page = report.build([comparison], tmp_path).read_text()
    assert " ± " in page


def test_on_a_logarithmic_axis_a_band_ends_at_a_tenth_of_its_mean() -> None:
    x, mean = np.array([1.0, 2.0, 3.0, 4.0]), np.array([4.0, 10.0, 0.0, 6.0])
    half = np.array([1.0, 30.0, 0.0, 5.9])
    whole = bands.band(distributions.Flows("a", 0, x, x), x, mean - half, mean + half)
    line = Series("a", x, np.where(mean > 0, mean, np.nan), 0)
    y = bands.around("time", "time", "log", [line], [whole])
    first, last = bands.within([whole], axis("x", "number", "linear", [line], "x"), y)
    # If the mean is 0 there is a gap.
    assert list(first.x) == [1, 2, 2, 1]
    assert list(first.y) == pytest.approx([5, 40, 1, 3])
    assert list(last.y) == pytest.approx([11.9, 0.6])
    assert y.limits[0] < 0.6
    assert y.limits[1] > 40
    linear = bands.around("time", "time", "linear", [line], [whole])
    assert linear.limits[0] == 0
    assert linear.limits[1] > 40


def test_an_axis_holds_whiskers() -> None:
    line = Series(
        "a", np.arange(3.0), np.array([1.0, 2.0, 5.0]), error=np.array([0.5, 9.0, np.nan])
    )
    low, high = bands.around("time", "time", "log", [line], []).limits
    assert high > 11
    assert 0 < low < 0.2


@pytest.mark.parametrize(
    ("workload", "shape"),
    [
        ({"sizes": {"kind": "pareto", "shape": 1.05, "mean": "1 KB"}}, 1.05),
        ({"sizes": {"kind": "pareto", "shape": 2.5, "mean": "1 KB"}}, None),
        ({"sizes": {"kind": "published", "name": "web-search"}}, None),
        (
            {
                "sizes": {"kind": "pareto", "shape": 1.05, "mean": "1 KB", "max": "1 MB"},
                "mean_rule": "truncated",
            },
            None,
        ),
        ({"mix": [{"sizes": "rpc"}, {"sizes": {"kind": "pareto", "shape": 1.5}}]}, 1.5),
        ({"jobs": [{"kind": "sort"}]}, None),
    ],
)
def test_intervals_of_sizes_without_a_variance_are_said_to_hold_less_often(
    workload: dict[str, Any], shape: float | None
) -> None:
    """A Pareto distribution has a finite variance if its shape is above 2, or if its tail is cut
    off."""
    assert repeats.unbounded_shape({"workload": workload}) == shape
    said = "no finite variance" in printed.legend(3, {"workload": workload})
    assert said == (shape is not None)
