"""Circuits over time: rows and bars, days and nights, and the initially visible part."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_report_support import Rows, S, circuits, make_hybrids, read, settings_of

from lightloom import report
from lightloom.analysis import model, reading
from lightloom.analysis.nights import days_of
from lightloom.plotting import figures, spec, timelines
from lightloom.plotting.timelines import BARS_KEPT, ROWS_MAX, between_bars
from lightloom.report import page
from lightloom.results.result import Comparison

US = 1_000_000


def test_the_timeline_has_a_row_per_pair_and_a_bar_per_circuit() -> None:
    made = {f.key: f for f in figures.draw_all(read(make_hybrids()))}
    (panel,) = made["circuits"].panels
    assert panel.y.names == ("0–1", "2–3")
    nights, series = panel.series
    assert (nights.drawn, series.drawn) == ("nights", "bars")
    np.testing.assert_array_equal(nights.spans[:2], [[4, 9], [6, 10]])
    np.testing.assert_array_equal(series.x, [0, 2, np.nan, 1, 4, np.nan, 6, 9, np.nan])
    np.testing.assert_array_equal(series.y, [0, 0, np.nan, 1, 1, np.nan, 0, 0, np.nan])


def test_a_long_timeline_is_cut_to_what_can_be_seen() -> None:
    rows = [(0, 1 + i % 40, i * S, (i + 1 + (i % 40 < 5)) * S) for i in range(6_000)]
    made = make_hybrids(rows)
    made.results["c-through"].summary["simulated_s"] = 6_001.0
    (panel,) = panels(made)
    assert len(panel.y.names) == ROWS_MAX
    assert {f"0–{b}" for b in range(1, 6)} <= set(panel.y.names)  # those lit longest
    (bars,) = panel.series  # 16 of every 40 circuits
    assert bars.x.size == 3 * BARS_KEPT
    # The 401st circuit is that of rack 1 in the 26th turn, and the 2,001st in the 126th.
    assert panel.x.limits == (0, 25 * 40)
    assert panel.x.stretch == spec.Stretch(125 * 40, 6_001)


def panels(made: Comparison) -> list[spec.Panel]:
    drawn = figures.draw_all(read(made))
    return [p for f in drawn if f.key.startswith("circuits") for p in f.panels]


def test_a_timeline_that_is_cut_says_how_much_of_all_it_is() -> None:
    made = make_hybrids()
    made.results["c-through"].summary["simulated_s"] = 300.0
    # All ordered pairs of 16 racks in turn, each lit for the same time.
    every = [(a, b) for a in range(16) for b in range(16) if a != b]
    rows = [(*every[i % 240], i * S // 40, (i + 1) * S // 40) for i in range(12_000)]
    made.results["c-through"].circuits = circuits(rows, directed=True)
    (panel,) = panels(made)
    # The rows are all pairs of rack 0, not sixteen pairs in some of which it has no circuit.
    assert panel.y.names == tuple(f"0→{b}" for b in range(1, 16))
    assert panel.y.title == "racks: 15 of 240 pairs, of rack 0"
    # 15 bars in every 6 s; the 401st is in the 27th turn, after 10 bars.
    assert panel.x.limits == (0, pytest.approx(26 * 6 + 10 / 40))
    assert panel.x.title.replace("\u00a0", " ") == "time, 0 to 156 s of 300 s"


def test_whole_racks_are_drawn_as_long_as_they_fit() -> None:
    # 40 racks in fixed pairs: each rack has one pair.
    rows = [(2 * i, 2 * i + 1, 0, 10 * S) for i in range(20)]
    (panel,) = panels(make_hybrids(rows))
    assert panel.y.names == tuple(f"{2 * i}–{2 * i + 1}" for i in range(16))
    assert panel.y.title == "racks: 16 of 20 pairs, of 32 racks"
    # Rack 3 is lit for the longest time.
    rows = [(a, b, 0, (1 + (3 in (a, b))) * S) for a in range(9) for b in range(a + 1, 9)]
    (panel,) = panels(make_hybrids(rows))
    # Its 8 pairs, and 7 more of rack 0; 6 more of rack 1 do not fit.
    assert panel.y.names == (
        *(f"0–{b}" for b in range(1, 9)),
        *("1–3", "2–3"),
        *(f"3–{b}" for b in range(4, 9)),
    )
    assert panel.y.title == "racks: 15 of 36 pairs, of 2 racks"


def test_a_timeline_shows_the_dark_end_of_a_run() -> None:
    (panel,) = panels(make_hybrids([(0, 1, 0, S)]))
    assert panel.x.limits == (0, 10)
    assert (panel.x.title, panel.y.title) == ("time", "racks")


def test_the_caption_knows_who_has_no_electrical_network() -> None:
    made = make_hybrids()
    for label in ("tree", "full"):
        made.results[label].circuits = circuits([(0, 1, 0, S)])

    def captions() -> list[str]:
        drawn = figures.draw_all(read(made))
        return [f.caption for f in drawn if f.key.startswith("circuits")]

    assert all("the electrical network only." in c for c in captions())
    settings_of(made, electrical=False)
    first, second = captions()
    assert "(c-through: not even that)." in first
    assert "electrical network only" in first
    assert "not even" not in second
    del made.results["tree"], made.results["full"]
    (only,) = captions()
    assert "is no electrical network." in only


def test_the_caption_knows_whose_circuits_take_turns() -> None:
    fabrics = {f.label: f for f in read(make_hybrids()).fabrics}
    first, second = list(fabrics.values())[:2]
    turns = replace(first, settings={**first.settings, "kind": "rotornet"})
    assert between_bars([first]).endswith("the electrical network only")
    assert "waits for its circuit" in between_bars([turns])
    both = between_bars([second, turns])
    assert f"electrical network only; in {turns.label}" in both


def test_a_million_circuits_are_read_and_drawn_in_columns() -> None:
    """Schedules of microseconds: compares the values with those of the loops that they replaced."""
    rng = np.random.default_rng(5)
    starts = np.sort(rng.integers(0, 10 * S, 3_000))
    rows = [
        (int(a), int(a + 1 + b), int(t), int(t + d))
        for a, b, t, d in zip(
            rng.integers(0, 9, 3_000),
            rng.integers(0, 5, 3_000),
            starts,
            rng.integers(1, S // 300, 3_000),
            strict=True,
        )
    ]
    found = reading.read_circuits(circuits(rows))
    assert found is not None
    total, until = 0, -1
    for _, _, start, end in rows:
        total += max(0, end - max(start, until))
        until = max(until, end)
    assert found.days.lit == pytest.approx(total * 1e-12)
    pairs = timelines.pairs_of(found)
    lit: dict[tuple[int, int], int] = {}
    for a, b, start, end in rows:
        lit[a, b] = lit.get((a, b), 0) + end - start
    assert list(zip(pairs.a.tolist(), pairs.b.tolist(), strict=True)) == sorted(lit)
    assert pairs.lit == pytest.approx([lit[pair] * 1e-12 for pair in sorted(lit)])


# Days and nights


def test_by_day_something_is_lit() -> None:
    # Overlapping days, then one that follows at once, then a night of 3 s, an instant, and 1 s of
    # dark.
    days = days_of(np.array([5.0, 1, 2, 9, 6]), np.array([6.0, 3, 5, 9, 7]))
    assert (days.start.tolist(), days.end.tolist()) == ([1], [7])
    days = days_of(np.array([8.0, 1, 2]), np.array([9.0, 3, 5]))
    assert (days.start.tolist(), days.end.tolist()) == ([1, 8], [5, 9])
    assert days.between.tolist() == [3]
    assert days.lit == 5
    start, end = days.nights(10.0)
    assert (start.tolist(), end.tolist()) == ([0, 5, 9], [1, 8, 10])
    start, end = days.nights(6.0)  # of the beginning
    assert (start.tolist(), end.tolist()) == ([0, 5], [1, 6])
    start, end = days_of(np.empty(0), np.empty(0)).nights(2.0)
    assert (start.tolist(), end.tolist()) == ([0], [2])


@settings(max_examples=200, deadline=None)
@given(
    lit=st.lists(st.tuples(st.integers(0, 60), st.integers(0, 9)), max_size=30),
    until=st.integers(1, 70),
)
def test_days_and_nights_are_the_whole_stretch(lit: list[tuple[int, int]], until: int) -> None:
    """The reference examines every second by itself."""
    start = np.array([s for s, _ in lit], dtype=np.float64)
    end = start + [length for _, length in lit]
    days = days_of(start, end)
    dusk, dawn = days.nights(float(until))
    seen = np.array([any(s <= t < s + n for s, n in lit) for t in range(until)], dtype=bool)
    by_day = np.zeros(until, dtype=int)
    for s, e in zip(days.start, days.end, strict=True):
        by_day[int(s) : int(e)] += 1
    by_night = np.zeros(until, dtype=int)
    for s, e in zip(dusk, dawn, strict=True):
        by_night[int(s) : int(e)] += 1
    np.testing.assert_array_equal(by_day, seen)
    np.testing.assert_array_equal(by_night, ~seen)
    assert (days.between > 0).all()  # a night separates any two days
    assert days.lit == len({t for s, n in lit for t in range(s, s + n)})


def test_planes_that_take_turns_in_the_dark_have_no_nights() -> None:
    # Two planes with slots of 10 s, of which 2 s are dark; the second plane is 5 s later.
    turns = [(0, 1 + i % 3, 10 * i * S, (10 * i + 8) * S) for i in range(40)]
    turns += [(1, 2 + i % 3, (10 * i + 5) * S, (10 * i + 13) * S) for i in range(40)]
    made = make_hybrids(turns)
    made.results["c-through"].summary["simulated_s"] = 403.0
    (panel,) = panels(made)
    assert [s.drawn for s in panel.series] == ["bars"]
    (figure,) = [f for f in figures.draw_all(read(made)) if f.key == "circuits"]
    assert not figure.nights
    assert "night:" not in figure.caption


# Initially visible part


@dataclass(frozen=True)
class Slots:
    """A schedule: racks in a circle, which are connected one step further in each slot."""

    racks: int
    night: int  # [ps]
    day: int

    def rows(self, count: int, since: int = 0) -> Rows:
        """Returns its first circuits from a time on; the first slot begins with a night."""
        slot = self.night + self.day
        return [
            (a, (a + 1 + i % (self.racks - 1)) % self.racks, begin, begin + self.day)
            for i in range(count)
            for begin in [since + i * slot + self.night]
            for a in range(self.racks)
        ]


def opened(rows: Rows, end: int) -> spec.Panel:
    """Returns the timeline of directed circuits in a run of this length [ps]."""
    made = make_hybrids()
    made.results["c-through"].circuits = circuits(rows, directed=True)
    made.results["c-through"].summary["simulated_s"] = end * model.PS
    (panel,) = panels(made)
    return panel


def test_a_schedule_opens_on_a_round() -> None:
    # Slots of 106 us, seven in a round of eight racks, from 300 us on.
    eight = Slots(8, 11 * US, 95 * US)
    panel = opened(eight.rows(150, 300 * US), 20_000 * US)
    assert panel.x.limits == pytest.approx((300e-6, 300e-6 + 7 * 106e-6 + 11e-6))
    assert panel.x.title.replace("\u00a0", " ") == "time, 300 to 1,053 µs of 20.0 ms"
    assert [t for t, _ in panel.x.ticks] == pytest.approx([400e-6, 600e-6, 800e-6, 1000e-6])
    assert panel.x.ticks[-1][1].replace("\u00a0", " ") == "1,000 µs"
    assert panel.x.stretch == spec.Stretch(0.02, 0.02)
    # Four racks have a round of three slots: two rounds have at least five slots.
    four = Slots(4, 10 * US, 90 * US)
    assert opened(four.rows(150), 15_000 * US).x.limits == pytest.approx((0, 610e-6))
    # A round of 39 slots is not legible.
    forty = Slots(40, 10 * US, 90 * US)
    assert opened(forty.rows(150), 15_000 * US).x.limits == pytest.approx((0, 1_210e-6))


def test_days_of_a_round_need_not_be_equal() -> None:
    # 30, 20 and 10 us in turn, each with other pairs.
    rows, at = [], 0
    for i in range(60):
        day = (30, 20, 10)[i % 3]
        rows.append((i % 3, i % 3 + 1, at + 5 * US, at + (5 + day) * US))
        at += (5 + day) * US
    assert opened(rows, at).x.limits == pytest.approx((0, 2 * 75e-6 + 5e-6))


def test_a_schedule_of_few_slots_is_shown_whole() -> None:
    eight = Slots(8, 10 * US, 90 * US)
    assert opened(eight.rows(24), 2_400 * US).x.limits == (0, pytest.approx(2_400e-6))
    assert opened(eight.rows(25), 2_500 * US).x.limits == pytest.approx((0, 710e-6))


def test_a_schedule_opens_where_slots_follow_each_other() -> None:
    # Two slots, 5 ms without circuits, then the schedule.
    eight = Slots(8, 10 * US, 90 * US)
    rows = eight.rows(2) + eight.rows(100, 5_000 * US)
    assert opened(rows, 15_000 * US).x.limits == pytest.approx((5_000e-6, 5_710e-6))
    # Never more than three in a row: these are visible, not the pause after them.
    rows = [r for i in range(20) for r in eight.rows(3, i * 5_000 * US)]
    assert opened(rows, 100_000 * US).x.limits == pytest.approx((0, 310e-6))


def test_circuits_of_seconds_open_as_far_as_they_can_be_told_apart() -> None:
    # As with c-Through: 990 ms of light after 10 ms of dark.
    four = Slots(4, 10_000 * US, 990_000 * US)
    panel = opened(four.rows(300), 300 * S)
    assert panel.x.limits == (0, pytest.approx(100.01))  # 4 circuits per second
    assert panel.x.title.replace("\u00a0", " ") == "time, 0 to 100 s of 300 s"
    assert panel.series[-1].x.size == 3 * 4 * 300
    # Every other change is a long wait, as with HydRA without demand.
    rows, at = [], 0
    for i in range(60):
        at += (10_000 if i % 2 else 100) * 1_000 * US
        rows.append((0, 1, at, at + 9_900_000 * US))
        at += 9_900_000 * US
    assert opened(rows, at).x.limits == (0, pytest.approx(at * model.PS))


def test_no_more_nights_are_kept_than_circuits() -> None:
    # In a round of 64 racks, each of the 16 drawn pairs is connected in one of the 63 slots.
    panel = opened(Slots(64, 10 * US, 90 * US).rows(3_000), 300_000 * US)
    nights, bars = panel.series
    assert nights.x.size == 3 * BARS_KEPT
    assert panel.x.stretch == spec.Stretch(pytest.approx(0.2), pytest.approx(0.3))
    assert bars.spans[1].max() <= 0.2
    # Among pairs that are lit for equal times, the first ones.
    assert panel.y.names == tuple(f"0→{b}" for b in range(1, 17))


# Page and paper


def page_of(rows: Rows, end: int, tmp_path: Path) -> str:
    made = make_hybrids()
    made.results["c-through"].circuits = circuits(rows, directed=True)
    made.results["c-through"].summary["simulated_s"] = end * model.PS
    return report.build([made], tmp_path).read_text(encoding="utf-8")


def data_of(text: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
    assert found
    return {f["key"]: f for f in json.loads(found.group(1))[0]}


def test_the_page_holds_all_that_is_kept_and_the_file_what_it_opens_on(tmp_path: Path) -> None:
    eight = Slots(8, 11 * US, 95 * US)
    rows = eight.rows(150, 300 * US)
    text = page_of(rows, 20_000 * US, tmp_path)
    nights, bars = data_of(text)["circuits"]["data"]
    start = np.cumsum(bars["bars"]["after"])
    # Racks 0 and 1 are drawn: each of their circuits, to the picosecond.
    mine = [r for r in rows if r[0] < 2]
    assert start.tolist() == [r[2] for r in mine]
    assert set(bars["bars"]["length"]) == {95 * US}
    # Rows are 0→1 to 0→7, 1→0, 1→2 to 1→7.
    assert bars["bars"]["row"][:4] == [0, 8, 1, 9]
    assert np.cumsum(nights["nights"]["after"])[:2].tolist() == [0, 406 * US]
    assert nights["nights"]["length"][:2] == [311 * US, 11 * US]
    assert nights["nights"]["length"][-1] == (20_000 - 300 - 150 * 106) * US
    svg = (tmp_path / "figures" / "circuits.svg").read_text(encoding="utf-8")
    assert "time, 300 to 1,053" in svg
    assert spec.NIGHT in svg
    assert svg.count("<path") < 100  # not 150 nights


def test_a_timeline_has_buttons_that_say_what_they_do(tmp_path: Path) -> None:
    text = page_of(Slots(4, 10 * US, 90 * US).rows(50), 5_000 * US, tmp_path)
    group = re.search(r'<div class="zoom" role="group" aria-label="([^"]*)".*?</div>', text, re.S)
    assert group
    assert group.group(1).endswith("shown of c-through")
    buttons = re.findall(r'<button type="button"[^>]*data-zoom="(\w+)"([^>]*)>([^<]+)<', group[0])
    assert [how for how, _, _ in buttons] == ["in", "out", "earlier", "later", "whole", "opening"]
    for _, attributes, sign in buttons:
        assert sign.isalpha() or "aria-label=" in attributes
    assert 'aria-live="polite"' in group[0]
    assert text.count('class="zoom"') == 1  # no other figure has them
    assert f"</svg> {spec.NIGHT}</span>" in text


def scripted(expression: str) -> Any:
    """Returns the result of an expression in the page's script."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node to run the page's script")
    source = page.asset("timeline.js") + f"console.log(JSON.stringify({expression}))"
    done = subprocess.run([node, "-e", source], capture_output=True, check=True, text=True)
    return json.loads(done.stdout)


STRETCHES = [
    (0.0, 203.0, 256.0),
    (0.0, 256.0, 256.0),
    (100e-6, 853.5e-6, 20.6e-3),
    (20.4635e-3, 20.5695e-3, 20.6e-3),
    (203.01, 203.02, 256.0),
]


def test_page_and_paper_say_the_same_of_a_stretch() -> None:
    said = scripted(
        f"{[list(s) for s in STRETCHES]}.map(([a, b, end]) => Timeline.part([a, b], end))"
    )
    assert said == [spec.Stretch(end, end).part(a, b) for a, b, end in STRETCHES]
    ticks = scripted(f"{[list(s) for s in STRETCHES]}.map(([a, b]) => Timeline.ticks([a, b], 640))")
    for made, (low, high, _) in zip(ticks, STRETCHES, strict=True):
        texts = [label for _, label in spec.stretch_ticks(low, high)]
        # A page of this width has room for this number of labels; for more digits, for fewer.
        if max(map(len, texts)) <= spec.LABEL:
            assert made["ticktext"] == texts
        assert len(made["ticktext"]) >= len(texts)
    narrow = scripted(
        f"{[list(s) for s in STRETCHES]}.map(([a, b]) => Timeline.ticks([a, b], 250))"
    )
    for made, (low, high, _) in zip(narrow, STRETCHES, strict=True):
        apart = (made["tickvals"][1] - made["tickvals"][0]) / (high - low) * 250
        assert 6 * max(map(len, made["ticktext"])) < apart


def test_zooming_stays_within_what_is_kept() -> None:
    panel = {
        "x": {"stretch": [1.0, 2.0], "range": [0.2, 0.4]},
        "y": {"ticktext": ["0→1"], "range": [0.6, -0.6]},
    }
    bars = {"after": [S // 5], "length": [S // 10], "row": [0]}
    trace = {"xaxis": "x", "yaxis": "y", "name": "c", "meta": {"slot": 0}, "bars": bars}
    start = f"Timeline.of({json.dumps({'data': [trace]})}, {json.dumps(panel)}, 'x')"
    steps = ["in", "later", "out", "out", "out", "out", "earlier", "opening", "earlier", "whole"]
    ranges = scripted(
        f"(t => {json.dumps(steps)}.map(how => {{ t.move(how); return t.range; }}))({start})"
    )
    expected = [(0.25, 0.35), (0.3, 0.4), (0.25, 0.45), (0.15, 0.55), (0, 0.8), (0, 1), (0, 1)]
    expected += [(0.2, 0.4), (0.1, 0.3), (0, 1)]
    assert ranges == [pytest.approx(r) for r in expected]
    # The distance is at least half of the shortest bar, 0.1 s.
    closest = scripted(
        f"(t => {{ for (let i = 0; i < 9; i++) t.move('in'); return t.range; }})({start})"
    )
    assert closest == pytest.approx([0.275, 0.325])
    beyond = scripted(f"(t => {{ t.show([0.9, 1.5]); return t.range; }})({start})")
    assert beyond == pytest.approx([0.4, 1.0])
    # Plotly would omit bars that are narrower than a pixel.
    drawn = scripted(f"{start}.traces('red', 'grey').filter(trace => trace.mode === 'lines')")
    assert [t["line"]["simplify"] for t in drawn] == [False]
    assert drawn[0]["x"] == [pytest.approx(0.2), pytest.approx(0.3), None]


def test_pointing_at_a_bar_tells_its_day_and_the_night_before(tmp_path: Path) -> None:
    eight = Slots(8, 11 * US, 95 * US)
    rows = [
        *eight.rows(30, 300 * US),
        (0, 1, 3_480 * US, 3_490 * US),
        (1, 2, 3_485 * US, 3_500 * US),
    ]
    figure = data_of(page_of(rows, 4_000 * US, tmp_path))["circuits"]
    made = f"Timeline.of({json.dumps(figure)}, {json.dumps(figure['panels'][0])}, 'x')"
    told = scripted(f"{made}.traces('red', 'grey').pop().hovertext")
    said = [text.replace("\u00a0", " ") for text in told]
    # The initially visible round: two bars in each of seven slots, and nights at both ends.
    assert len(said) == 14 + 8
    assert said[0] == "<b>0→1</b> 311 to 406 µs<br>day of 95 µs, after a night of 311 µs"
    assert said[2] == "<b>0→2</b> 417 to 512 µs<br>day of 95 µs, after a night of 11 µs"
    assert said[15] == "<b>night</b> 406 to 417 µs<br>all circuits dark for 11 µs"
    whole = scripted(
        f"(t => {{ t.move('whole'); return t.traces('red', 'grey').pop().hovertext; }})({made})"
    )
    last = whole[61].replace("\u00a0", " ")  # when 0→1 was lit
    assert last == "<b>1→2</b> 3.485 to 3.5 ms<br>day of 15 µs, without a night before it"
