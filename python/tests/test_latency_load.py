"""Latency against load: windows, saturation, cases."""

from __future__ import annotations

import io
import json
import math
import random
import re
import signal
import subprocess
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_support import command, write
from cli_support import lightloom as cli
from rich.console import Console
from signal_support import busy

import lightloom
from lightloom.analysis.model import Fabric, LoadPoint, Workload
from lightloom.analysis.verdicts import load
from lightloom.cli import latency as table_of
from lightloom.cli import run_text
from lightloom.plotting import latency_load
from lightloom.results.result import Comparison
from lightloom.results.saturation import Window, pooled, search
from lightloom.units import formats

SLOT = "200 ns"
#: Five thousand slots: queues grow slowly near saturation.
LONG = {"warm_up": "200 us", "measure": "1 ms"}

NO_FLOWS = pa.table({"bytes": pa.array([], pa.int64())})


def switch(label: str, architecture: str, k: int) -> dict[str, Any]:
    """A slotted switch in which a packet fills exactly one slot."""
    return {
        "kind": "lions",
        "label": label,
        "architecture": architecture,
        "timing": "slotted",
        "receivers": k,
        "host_link": "receivers",
        "packet": "250 B",
        "header": "0 B",
        "guard": "0 B",
        "tuning": "0 ns",
        "fibre": "0 m",
    }


def slotted(*fabrics: dict[str, Any], **tables: Any) -> dict[str, Any]:
    """An experiment with 16 hosts that send at random in each slot."""
    return {
        "cluster": {"hosts": 16, "server_rate": "10 Gb/s"},
        "workload": {
            "arrivals": {"kind": "bernoulli", "slot": SLOT},
            "load": 0.4,
            "sizes": {"kind": "fixed", "size": "250 B"},
        },
        "run": {"warm_up": "100 us", "measure": "400 us"},
        "fabric": list(fabrics),
        **tables,
    }


# The search


def fluid(most: float, collapse: float = 1.0) -> Any:
    """A network that carries at most `most`, and `collapse` of that at higher loads."""

    def measure(load: float) -> Window:
        accepted = load if load <= most else most * collapse
        return {
            "accepted": accepted,
            "accepted_half_width": 0.001,
            "accepted_busiest": 2 * accepted,
            "stable": load <= most,
        }

    return measure


@pytest.mark.parametrize("most", [0.9, 0.5, 0.123, 0.0123, 0.0007])
@pytest.mark.parametrize("tolerance", [0.2, 0.02, 0.001])
def test_the_search_brackets_what_is_carried(most: float, tolerance: float) -> None:
    found = search(fluid(most), 1.0, tolerance)
    assert found.carried is not None
    assert found.not_carried is not None
    assert found.carried <= most < found.not_carried
    assert found.not_carried - found.carried <= tolerance * found.not_carried
    assert found.throughput == pytest.approx(most, rel=tolerance)
    assert found.busiest == pytest.approx(2 * found.throughput)
    # The accepted load at an excessive load is a good guess.
    assert len(found.tried) <= 7


def test_a_network_that_collapses_is_searched_all_the_same() -> None:
    found = search(fluid(0.6, collapse=0.3), 1.0, 0.01)
    assert found.carried is not None
    assert found.carried <= 0.6 < (found.not_carried or 0.0) <= 0.6 * 1.02
    assert found.throughput == pytest.approx(0.6, rel=0.01)  # not the lower throughput beyond it
    assert found.at == found.carried


def test_what_is_delivered_while_debts_pile_up_does_not_count() -> None:
    """The network behaves like a shared loop-back buffer: half of the load beyond 0.5 is
    delivered."""

    def measure(load: float) -> Window:
        accepted = min(load, 0.5) + max(load - 0.5, 0.0) / 2
        return {
            "accepted": accepted,
            "accepted_half_width": 0.0,
            "accepted_busiest": accepted,
            "stable": load <= 0.5,
        }

    # The load a tenth beyond it counts, with half of that tenth.
    assert 0.5 <= search(measure, 1.0, 0.02).throughput <= 0.5 * 1.02 * 1.05


def test_the_throughput_is_that_of_one_window_not_of_the_luckiest() -> None:
    """Windows scatter by 2 % about the carried load of 0.5: the largest of several would be above
    it on average."""
    means = []
    for seed in range(200):
        chance = random.Random(seed)

        def measure(load: float, chance: random.Random = chance) -> Window:
            accepted = min(load, 0.5) + chance.gauss(0, 0.01)
            return {
                "accepted": accepted,
                "accepted_half_width": 0.02,
                "accepted_busiest": accepted,
                "stable": load <= 0.5,
            }

        found = search(measure, 1.0, 0.02)
        assert found.not_carried is not None
        assert found.at == pytest.approx(1.1 * found.not_carried)
        counted = next(accepted for load, accepted, _ in found.tried if load == found.at)
        below = counted - next(a for load, a, _ in found.tried if load == found.carried)
        half = max(0.02, below, found.not_carried - counted)
        assert (found.throughput, found.half_width) == (counted, pytest.approx(half))
        means.append(found.throughput)
    assert sum(means) / len(means) == pytest.approx(0.5, abs=0.002)


def test_an_interval_holds_a_saturation_that_windows_beyond_it_miss() -> None:
    """A tree 4:1 carries 0.25.

    Windows beyond it accept half a percent less, because some links are idle by chance, and scatter
    by 0.0003: their own interval, 0.0006, never contains 0.25.
    """
    held, own = 0, 0
    for seed in range(200):
        chance = random.Random(seed)

        def measure(load: float, chance: random.Random = chance) -> Window:
            accepted = (load if load <= 0.25 else 0.2488) + chance.gauss(0, 0.0003)
            return {
                "accepted": accepted,
                "accepted_half_width": 0.0006,
                "accepted_busiest": accepted,
                "stable": load <= 0.25,
            }

        found = search(measure, 1.0, 0.02)
        held += found.low <= 0.25 <= found.high
        own += abs(found.throughput - 0.25) <= 0.0006
        assert found.half_width is not None
        assert found.half_width <= 0.02 * 0.25 + 0.0012 + 4 * 0.0003
    assert held == 200
    assert own < 20


def test_a_window_that_is_too_short_for_an_interval_gives_the_saturation_none() -> None:
    found = search(lambda load: {**fluid(0.5)(load), "accepted_half_width": None}, 1.0, 0.02)
    assert (found.half_width, found.low, found.high) == (None, 0.0, math.inf)
    assert table_of.saturation(found) == "0.500"
    assert pooled([found]) == found
    both = pooled(
        [replace(found, throughput=0.4, half_width=0.05), replace(found, half_width=0.01)]
    )
    assert both is not None
    # Student's interval of two values, 12.706 × 0.0707 ÷ √2, is wider than 0.03, the mean of their
    # own intervals.
    assert both.half_width == pytest.approx(12.7062 * 0.05, rel=1e-4)


def test_saturation_is_shown_with_its_interval() -> None:
    # 0.4975 is carried and 0.505 is not, so that 0.5 has an uncertainty of 0.005.
    found = search(fluid(0.5), 1.0, 0.02)
    assert (found.carried, found.not_carried) == (0.4975, 0.505)
    assert table_of.saturation(found) == "0.500 ± 0.005"
    assert table_of.saturation(search(fluid(2.0), 1.0, 0.02)) == "≥1.000 ± 0.001"
    narrow = replace(found, throughput=0.0576, half_width=3e-5)
    assert table_of.saturation(narrow) == "0.058 ± 0.0001"
    assert table_of.saturation(None) == "-"


def test_tables_fit_eighty_columns() -> None:
    """The table has the longest label of an example, with a mark, in microseconds."""
    window = {"mean_us": 1.284, "half_width_us": 0.0291, "p99_us": 3.47}
    window |= {"stable": True, "correlated": True}
    result = SimpleNamespace(summary={"window": window}, flows=NO_FLOWS)
    made: Any = SimpleNamespace(
        results={"butterfly-basic": result},
        saturation={"butterfly-basic": replace(search(fluid(2.0), 1.0, 0.02), half_width=2e-4)},
        experiment={"compare": {"loads": [0.1]}},
        loads={"butterfly-basic": [{"window": window}]},
        seeds=[],
    )
    text = io.StringIO()
    columns = table_of.known([made])
    assert columns == [c for c in table_of.COLUMNS if c != "short"]
    Console(file=text, width=80).print(table_of.table(made, columns, header=True))
    lines = text.getvalue().splitlines()
    assert len(lines) == 3  # two of headings
    assert "butterfly-basic  1.28 µs+  1.284 ± 0.029 µs+" in lines[2]
    assert "≥1.000 ± 0.0002" in lines[2]


def with_limits(mean: float, high: float | None) -> dict[str, Any]:
    """Returns a window of a carried load; `high` is None if some flows did not arrive."""
    limits = {"low": mean, "high": high, "from": 0.9 * mean, "until": high}
    window = {"mean_us": 0.8 * mean, "half_width_us": 0.05, "p99_us": 0.9 * mean}
    window |= {"stable": True, "correlated": False, "accepted": 0.3}
    return {**window, "bound": {"mean_us": limits, "p99_us": limits, "p50_us": limits}}


def test_a_mean_of_what_arrived_is_not_shown_as_the_mean_of_the_window() -> None:
    """It is a lower bound, because unfinished flows take longer."""
    assert formats.mean_latency([with_limits(2.5, 2.5)], 0.1) == "2.50 ± 0.10 µs"
    assert formats.mean_latency([with_limits(2.5, None)], 0.1) == "> 2.50 µs"
    assert formats.mean_latency([with_limits(2.5, None), with_limits(4.5, 4.5)], 0.1) == "> 3.50 µs"
    result = SimpleNamespace(summary={"window": with_limits(2.5, None)}, flows=NO_FLOWS)
    made: Any = SimpleNamespace(
        results={"slow": result}, saturation={}, experiment={}, loads={}, seeds=[]
    )
    text = io.StringIO()
    Console(file=text, width=80).print(table_of.table(made, table_of.known([made]), header=False))
    assert text.getvalue().split() == ["slow", ">", "2.50", "µs", ">", "2.50", "µs"]
    assert any(line.startswith(">: lower bound") for line in table_of.notes(made))


def test_a_latency_that_is_a_bound_is_an_arrow_and_leads_nobody() -> None:
    known = LoadPoint(0.3, 0.3, None, None, None, None, with_limits(2.0, 2.0))
    bound = replace(known, window=with_limits(1.0, None))
    fabrics = [
        Fabric(label, i, {}, {"window": p.window}, np.empty(0), np.empty(0), pa.table({}), (p,))
        for i, (label, p) in enumerate((("clos", known), ("late", bound)))
    ]
    drawn = latency_load.latency(Workload("w", {}, tuple(fabrics)), ())
    assert [(series.drawn, series.arrow) for series in drawn.series] == [
        ("line", ""),
        ("dots", "up"),
    ]
    assert [series.y.tolist() for series in drawn.series] == [[2e-6], [1e-6]]
    said = load.latency_at_load(Workload("w", {}, tuple(fabrics)))
    plain = said.answer.replace("\u00a0", " ")
    assert plain.startswith("clos has the lowest")
    assert ": 2.000 ± 0.050 µs." in plain
    assert plain.endswith(": late (> 1.00 µs).")
    assert said.evidence[1].text.replace("\u00a0", " ") == "> 1.00 µs"
    alone = load.latency_at_load(Workload("w", {}, tuple(fabrics[1:])))
    assert alone.said[0].kind == "mean latency"
    assert "more than 1.00 µs." in alone.answer.replace("\u00a0", " ")


def test_a_search_without_an_end_is_told() -> None:
    all_carried = search(fluid(2.0), 1.0, 0.02)
    assert (all_carried.carried, all_carried.not_carried) == (1.0, None)
    assert len(all_carried.tried) == 1
    nothing = search(fluid(0.0), 1.0, 0.02)
    assert nothing.carried is None
    assert nothing.not_carried is not None
    assert nothing.not_carried < 1e-4


# Against theory


def test_saturation_is_what_theory_says() -> None:
    """Slotted, with retransmission of rejected packets, 16 hosts: k + 1 - sqrt(k^2 + 1) for many
    hosts, and slightly more for few. Loop-back buffers carry the full load; a hot spot receives as
    many packets per slot as it has receivers."""
    fabrics = [
        switch("again-1", "ao-nack", 1),
        switch("again-2", "ao-nack", 2),
        switch("slb", "slb", 1),
        switch("dlb", "dlb", 2),
    ]
    hot = {"kind": "hotspot", "fraction": 1.0, "targets": [3]}
    cases = [
        {"label": "uniform"},
        {"label": "hot", "set": {"workload.pattern": hot, "workload.load": 0.05}},
    ]
    table = slotted(*fabrics, compare={"saturation": True, "case": cases})
    table["run"] = LONG
    made = lightloom.compare_cases(table)
    uniform, hot_spot = (c.saturation for c in made)
    for k in (1, 2):
        most = k + 1 - (k * k + 1) ** 0.5
        assert most * 0.99 < uniform[f"again-{k}"].throughput < most * 1.06
    for label in ("slb", "dlb"):
        assert uniform[label].throughput > 0.97
    for label, k in (("again-1", 1), ("again-2", 2), ("dlb", 2)):
        assert hot_spot[label].busiest == pytest.approx(k, rel=0.02)
        assert hot_spot[label].throughput == pytest.approx(k / 16, rel=0.02)
    assert [c.name for c in made] == ["uniform", "hot"]


def test_unslotted_nacks_saturate_at_k_over_k_plus_1() -> None:
    """K = k·n/(n - 1), because a host sends to all hosts except itself."""
    nack = {"kind": "lions", "label": "nack", "preset": "ao-nack", "packet": "256 B"}
    table = slotted(nack)
    table["cluster"]["hosts"] = 64
    table["workload"] = {"load": 0.4, "sizes": {"kind": "fixed", "size": "256 B"}}
    table["compare"] = {"saturation": True}
    table["run"] = LONG
    found = lightloom.compare(table).saturation["nack"]
    rivals = 63**2 / (15 * 62)
    assert found.throughput == pytest.approx(rivals / (rivals + 1) * 256 / 278, rel=0.02)


# Comparisons


def small(**compare: Any) -> dict[str, Any]:
    table = slotted(switch("slb", "slb", 1), switch("nack", "ao-nack", 1), compare=compare)
    table["run"] = {"warm_up": "10 us", "measure": "50 us"}
    return table


def test_a_comparison_has_a_window_at_each_load_and_reads_back(tmp_path: Path) -> None:
    made = lightloom.compare(small(loads=[0.2, 0.4, 0.9], saturation=True, tolerance=0.1))
    for label in ("slb", "nack"):
        windows = [s["window"] for s in made.loads[label]]
        assert made.loads[label][1] is made.results[label].summary
        assert [w["stable"] for w in windows] == [True, True, label == "slb"]
        latencies = [w["mean_us"] for w in windows]
        assert latencies == sorted(latencies)
        assert all(
            w["offered"] == pytest.approx(p, rel=0.1)
            for w, p in zip(windows, (0.2, 0.4, 0.9), strict=True)
        )
    made.save(tmp_path)
    again = Comparison.load(tmp_path)
    assert (again.loads, again.saturation) == (made.loads, made.saturation)
    made.saturation = {}
    made.save(tmp_path)
    assert not (tmp_path / "saturation.json").exists()


def test_a_band_joins_no_load_whose_latency_is_a_bound() -> None:
    """The third of four loads is a bound: there are bands on both sides of it, and none across
    it."""

    def at(place: int, low: float) -> LoadPoint:
        window = with_limits(low, None if place == 2 else low)
        return LoadPoint(0.1 * (place + 1), 0.3, None, None, None, None, window)

    points = tuple(
        replace(at(i, 2.0), seeds=(at(i, 1.9), at(i, 2.0), at(i, 2.1))) for i in range(4)
    )
    nothing = np.empty(0)
    fabric = Fabric("clos", 0, {}, {}, nothing, nothing, pa.table({}), points)
    drawn = latency_load.latency(Workload("w", {}, (fabric,)), ())
    bands = [s.x.tolist() for s in drawn.series if s.drawn == "band"]
    assert bands == [pytest.approx([0.1, 0.2, 0.2, 0.1]), pytest.approx([0.4, 0.4])]


def test_a_band_lies_between_routers_not_between_routings() -> None:
    """Regression: the area between dimension order and Valiant was shaded, as if their paper had
    left the routing open."""
    fabrics: list[Any] = [
        SimpleNamespace(label=label, kind=kind, settings={"routing": routing, "vcs": vcs})
        for label, kind, routing, vcs in [
            ("basic", "flattened-butterfly", "dimension-order", 2),
            ("valiant", "flattened-butterfly", "valiant", 2),
            ("fast", "flattened-butterfly", "dimension-order", 8),
            ("dlb", "lions", None, None),
            ("slb", "lions", None, None),
        ]
    ]
    assert [(a.label, b.label) for a, b in latency_load.pairs(fabrics)] == [("basic", "fast")]


def test_without_a_window_nothing_changes() -> None:
    table = small(loads=[0.2])
    del table["run"]
    table["workload"]["flows"] = 500
    made = lightloom.compare(table)
    assert made.saturation == {}
    assert made.results["slb"].summary["window"] is None


CASES = [
    {
        "label": "b, 64 B",
        "set": {
            "workload.sizes.size": "64 B",
            "fabric.packet": "64 B",
            "workload.arrivals.slot": "51200 ps",
        },
    },
    {"label": "one", "set": {"fabric.slb.receivers": 2, "run.measure": "90 us"}},
]


def test_cases_set_what_they_say() -> None:
    base = lightloom.load(small(case=CASES))
    first, second = base.cases()
    assert (first.name, second.name) == ("b, 64 B", "one")
    assert [f["packet"] for f in first.resolved()["fabric"]] == ["64 B", "64 B"]
    assert [f["receivers"] for f in second.resolved()["fabric"]] == [2, 1]
    assert first.resolved()["workload"]["sizes"]["size"] == "64 B"
    assert base.resolved()["workload"]["sizes"]["size"] == "250 B"
    assert first.cases() == [first]  # a case has no cases itself
    with pytest.raises(lightloom.ConfigError, match="2 cases: "):
        lightloom.compare(base)


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ({"label": "x", "set": {"workload.lod": 1}}, 'case "x": workload.lod = 1: no such key'),
        ({"label": "x", "set": {"workload.load": -1}}, 'case "x": workload.load = -1: must be'),
        ({"label": "x", "set": {"fabric.dlb.k": 1}}, 'case "x": set."fabric.dlb.k" = 1: no fabric'),
        ({"label": "x", "set": {"a b": 1}}, "is not a key"),
        ({"label": "x", "keys": {}}, "compare.case[0].keys = {}: no such key"),
        ({"set": {}}, "compare.case[0].label"),
    ],
)
def test_a_bad_case_is_refused_by_name(case: dict[str, Any], message: str) -> None:
    with pytest.raises(lightloom.ConfigError) as refused:
        lightloom.compare_cases(small(case=[case]))
    assert message in str(refused.value)


# The command

TOML = """
[cluster]
hosts = 16
server_rate = "10 Gb/s"

[workload]
load = 0.3
sizes = { kind = "fixed", size = "256 B" }

[run]
warm_up = "5 us"
measure = "40 us"

[compare]
loads = [0.1, 0.3]
saturation = true
tolerance = 0.2

[[compare.case]]
label = "uniform, 256 B"

[[compare.case]]
label = "hot spot"
set = { "workload.load" = 0.03, "workload.pattern" = { kind = "hotspot", fraction = 1.0 } }

[[fabric]]
kind = "lions"
label = "dlb"
preset = "dlb"

[[fabric]]
kind = "lions"
label = "ao-nack"
preset = "ao-nack"
"""


def test_compare_prints_and_writes_every_case(tmp_path: Path) -> None:
    write(tmp_path / "e.toml", TOML)
    done = cli("compare", "--verbose", "e.toml", "-o", "out", cwd=tmp_path, COLUMNS="80")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert "e: uniform, 256 B, load 0.3, low load 0.1" in lines
    assert "e: hot spot, load 0.03, low load 0.1" in lines
    assert sum(re.match(r"dlb {5,}\d", line) is not None for line in lines) == 2
    out = tmp_path / "out"
    names = {path.name for path in out.iterdir()}
    kept = {"comparison.json", "record.json", "report.html", "figures"}
    assert names == {"uniform-256-B", "hot-spot", *kept}
    table = json.loads((out / "comparison.json").read_text())
    assert list(table) == ["uniform, 256 B", "hot spot"]
    assert table["hot spot"]["dlb"]["window"]["flows"] > 0
    saved = Comparison.load(out / "hot-spot")
    assert set(saved.saturation) == {"dlb", "ao-nack"}
    page = (out / "report.html").read_text()
    assert "How much is carried before the network saturates?" in page
    assert (out / "figures" / "hot-spot-2-latency-load.svg").exists() or any(
        "latency-load" in path.name for path in (out / "figures").iterdir()
    )


def test_one_run_says_what_it_measured(tmp_path: Path) -> None:
    write(tmp_path / "e.toml", TOML)
    carried = cli("run", "e.toml", "--fabric", "dlb", "--json", cwd=tmp_path)
    assert json.loads(carried.stdout)["window"]["stable"] is True
    too_much = ("--set", "workload.load=1", "--set", "run.warm_up=40 us")
    too_much += ("--set", "run.measure=80 us")  # twenty busy periods are 41 us
    shown = cli("run", "e.toml", "--fabric", "ao-nack", *too_much, cwd=tmp_path)
    assert "  accepted  " in shown.stdout
    assert "±" in shown.stdout
    assert "load was not carried" in shown.stdout


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("run.measure=-1 us", "run.measure"),
        ("compare.up_to=0", "compare.up_to = 0: must be a number above 0"),
        ("compare.loads=[2, 20]", "compare.loads[1] = 20: must be at most 10"),
        ("workload.flows=9", "run.measure = 40 us: ends at 45 us, but the last flow"),
    ],
)
def test_what_cannot_be_measured_is_refused(change: str, message: str, tmp_path: Path) -> None:
    write(tmp_path / "e.toml", TOML)
    done = cli("compare", "e.toml", "--set", change, "-o", "out", cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert not (tmp_path / "out").exists()


def test_ctrl_c_leaves_nothing_half_written(tmp_path: Path) -> None:
    write(tmp_path / "e.toml", TOML.replace('"40 us"', '"40 ms"'))
    done = subprocess.Popen(
        command("compare", "e.toml", "-o", "out"),
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    busy(done, 1.5)
    done.send_signal(signal.SIGINT)
    _, stderr = done.communicate(timeout=60)
    assert done.returncode == 130
    assert "nothing unfinished was written" in stderr
    assert not (tmp_path / "out").exists()


#: A window of a thousand times the time of a single largest flow, which accepted half of the load.
OVERLOADED = {"accepted": 0.25, "offered": 0.5, "load": 0.5, "largest_alone_s": 40e-9}


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ({"mean_us": None}, "make run.limit longer than the time of a flow"),
        ({"mean_us": 60.0}, "lengthen run.warm_up"),
        ({"mean_us": 40.0, **OVERLOADED}, "the load was not carried: 0.25 of 0.5"),
    ],
)
def test_an_empty_or_filling_window_is_told_from_an_overload(
    found: dict[str, float | None], said: str
) -> None:
    """Regression: for a run that was shorter than its propagation delay, the message blamed the
    load."""
    window = {"flows": 900, "from_s": 50e-6, "until_s": 90e-6, "stable": False, **found}
    window |= {"correlated": None, "offered": 0.5}
    fibres = {} if "accepted" in found else {"physics": {"propagation": "60 us"}}
    (doubt,) = run_text.doubts({"window": {"accepted": 0.25} | window, **fibres})
    assert said in doubt


WARMING = """
[cluster]
racks = 4
servers_per_rack = 4
server_rate = "10 Gb/s"

[workload]
sizes = "web-search"
load = 0.5

[run]
warm_up = "5 ms"
measure = "100 ms"

[[fabric]]
kind = "clos"
"""


def test_a_warm_up_shorter_than_the_largest_flow_is_no_overload(tmp_path: Path) -> None:
    """A Clos without oversubscription carries load 0.5; its largest flow, of about 29 MB, takes 23
    ms at 10 Gb/s, and the warm-up is 5 ms."""
    write(tmp_path / "e.toml", WARMING)
    shown = cli("run", "e.toml", "-o", "out", cwd=tmp_path)
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["window"]["stable"] is False
    flows = pq.read_table(tmp_path / "out" / "flows.parquet")
    alone_ms = max(flows["bytes"].to_pylist()) * 8 / 10e9 * 1e3
    assert 5 < alone_ms < 30
    (line,) = (x for x in shown.stdout.splitlines() if "whether the load is carried" in x)
    assert line.startswith("note: the window does")
    assert f"takes {alone_ms:.1f} ms alone" in line
    assert "run.warm_up is 5.00 ms" in line
    assert "run.repeat" not in line
    assert "was not carried" not in shown.stdout
    longer = float(line.partition("warm_up to at least ")[2].partition(" ms")[0])
    assert longer >= alone_ms


def test_a_run_judges_its_window_as_a_comparison_does() -> None:
    """0.44 of 0.5 accepted after a warm-up of 5 ms: overload if the largest flow takes 4 ms."""
    window = {"flows": 900, "mean_us": 40.0, "from_s": 5e-3, "until_s": 1.0, "correlated": None}
    window |= {"accepted": 0.44, "accepted_half_width": 1e-3, "paced": 0.5, "stable": False}
    (carried,) = run_text.doubts({"window": window, "largest_alone_s": 4e-3})
    assert "load was not carried" in carried
    (filling,) = run_text.doubts({"window": window, "largest_alone_s": 6e-3})
    assert "takes 6.00 ms alone" in filling
    assert "run.warm_up is 5.00 ms" in filling
    assert "at least 6.00 ms" in filling


def test_seeds_of_an_overload_say_what_they_accepted_on_average(tmp_path: Path) -> None:
    """If each rack sends to one other, a tree 4:1 carries a quarter."""
    write(tmp_path / "e.toml", OVERLOAD)
    shown = cli("run", "e.toml", "-o", "out", cwd=tmp_path).stdout.splitlines()
    assert "carried: 0.25 of 0.499" in shown[1]


OVERLOAD = """
[cluster]
racks = 4
servers_per_rack = 4
server_rate = "10 Gb/s"
[workload]
load = 0.5
sizes = { kind = "fixed", size = "20 KB" }
pattern = { kind = "permutation", of = "racks" }
[run]
repeat = 2
warm_up = "2 ms"
measure = "20 ms"
[[fabric]]
kind = "tree"
oversubscription = 4
"""
