"""Jobs and circuits in the report: figures, sentences and the table."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from test_report_support import Profile, make_comparison

from lightloom import report
from lightloom.report import figures, model, spec, table, timelines, verdicts
from lightloom.report.timelines import BARS_MAX, ROWS_MAX
from lightloom.results import Comparison

PROFILES = (Profile("tree"), Profile("c-through", "cthrough"), Profile("full"))
TIMES: dict[str, dict[str, float | None]] = {
    "tree": {"vm-migration": 280.0, "fft": None},
    "c-through": {"vm-migration": 112.0, "fft": 30.0},
    "full": {"vm-migration": 56.0, "fft": 29.9},
}
S = 1_000_000_000_000


def circuits(rows: list[tuple[int, int, int, int]], directed: bool = False) -> pa.Table:
    a, b, start, end = zip(*rows, strict=True)
    return pa.table(
        {
            "a": a,
            "b": b,
            "directed": [directed] * len(rows),
            "plane": [0] * len(rows),
            "from_ps": start,
            "until_ps": end,
        },
        schema=pa.schema(
            [
                ("a", pa.uint32()),
                ("b", pa.uint32()),
                ("directed", pa.bool_()),
                ("plane", pa.uint16()),
                ("from_ps", pa.int64()),
                ("until_ps", pa.int64()),
            ]
        ),
    )


def comparison(rows: list[tuple[int, int, int, int]] | None = None) -> Comparison:
    made = make_comparison(PROFILES, n=300)
    for label, times in TIMES.items():
        summary: dict[str, Any] = made.results[label].summary
        summary["simulated_s"] = 10.0
        summary["circuit_share"] = 0.75 if label == "c-through" else None
        summary["jobs"] = {
            name: {"start_s": 0.0, "finish_s": t, "seconds": t} for name, t in times.items()
        } | {"gridmix/1-small": {"start_s": 0.0, "finish_s": 1.0, "seconds": 1.0}}
    # Lit 0-2 and 1-4 s (racks 0, 1) and 6-9 s: dark for 3 of 10 s.
    default = [(0, 1, 0, 2 * S), (2, 3, S, 4 * S), (0, 1, 6 * S, 9 * S)]
    made.results["c-through"].circuits = circuits(rows or default)
    return made


def read(made: Comparison) -> model.Workload:
    return model.workload(made, model.slots([made]))


def test_dark_time_is_what_the_union_of_circuits_leaves() -> None:
    fabric = read(comparison()).fabrics[1]
    assert fabric.dark == pytest.approx(0.3)
    assert fabric.circuits is not None
    assert fabric.circuits.settings == 3


def test_the_timeline_has_a_row_per_pair_and_a_bar_per_circuit() -> None:
    made = {f.key: f for f in figures.draw_all(read(comparison()))}
    (panel,) = made["circuits"].panels
    assert panel.y.names == ("0–1", "2–3")
    (series,) = panel.series
    assert series.drawn == "bars"
    np.testing.assert_array_equal(series.x, [0, 2, np.nan, 1, 4, np.nan, 6, 9, np.nan])
    np.testing.assert_array_equal(series.y, [0, 0, np.nan, 1, 1, np.nan, 0, 0, np.nan])


def test_a_long_timeline_is_cut_to_what_can_be_seen() -> None:
    rows = [(0, 1 + i % 40, i * S, (i + 1 + (i % 40 < 5)) * S) for i in range(2_000)]
    made = {f.key: f for f in figures.draw_all(read(comparison(rows)))}
    (panel,) = made["circuits"].panels
    assert len(panel.y.names) == ROWS_MAX
    assert {f"0–{b}" for b in range(1, 6)} <= set(panel.y.names)  # those lit longest
    assert panel.series[0].x.size == 3 * BARS_MAX


def panels(made: Comparison) -> list[spec.Panel]:
    drawn = figures.draw_all(read(made))
    return [p for f in drawn if f.key.startswith("circuits") for p in f.panels]


def test_a_timeline_that_is_cut_says_how_much_of_all_it_is() -> None:
    made = comparison()
    made.results["c-through"].summary["simulated_s"] = 300.0
    # All ordered pairs of 16 racks in turn, each lit as long as any other.
    every = [(a, b) for a in range(16) for b in range(16) if a != b]
    rows = [(*every[i % 240], i * S // 40, (i + 1) * S // 40) for i in range(12_000)]
    made.results["c-through"].circuits = circuits(rows, directed=True)
    (panel,) = panels(made)
    # Rack 0 whole, not sixteen pairs in which it now and then has none.
    assert panel.y.names == tuple(f"0→{b}" for b in range(1, 16))
    assert panel.y.title == "racks: 15 of 240 pairs, of rack 0"
    # 15 bars each 6 s; the 401st begins with the 27th turn, 10 bars in.
    assert panel.x.limits == (0, pytest.approx(26 * 6 + 10 / 40))
    assert panel.x.title.replace("\u00a0", " ") == "time, 0 to 156 s of 300 s"


def test_whole_racks_are_drawn_as_long_as_they_fit() -> None:
    # 40 racks in fixed twos: of each rack there is one pair.
    rows = [(2 * i, 2 * i + 1, 0, 10 * S) for i in range(20)]
    (panel,) = panels(comparison(rows))
    assert panel.y.names == tuple(f"{2 * i}–{2 * i + 1}" for i in range(16))
    assert panel.y.title == "racks: 16 of 20 pairs, of 32 racks"
    # Rack 3 is lit longest.
    rows = [(a, b, 0, (1 + (3 in (a, b))) * S) for a in range(9) for b in range(a + 1, 9)]
    (panel,) = panels(comparison(rows))
    # Its 8 pairs, and the 7 more of rack 0; 6 more of rack 1 do not fit.
    assert panel.y.names == (
        *(f"0–{b}" for b in range(1, 9)),
        *("1–3", "2–3"),
        *(f"3–{b}" for b in range(4, 9)),
    )
    assert panel.y.title == "racks: 15 of 36 pairs, of 2 racks"


def test_a_timeline_shows_the_dark_end_of_a_run() -> None:
    (panel,) = panels(comparison([(0, 1, 0, S)]))
    assert panel.x.limits == (0, 10)
    assert (panel.x.title, panel.y.title) == ("time", "racks")


def test_the_caption_knows_who_has_no_electrical_network() -> None:
    made = comparison()
    for label in ("tree", "full"):
        made.results[label].circuits = circuits([(0, 1, 0, S)])

    def captions() -> list[str]:
        drawn = figures.draw_all(read(made))
        return [f.caption for f in drawn if f.key.startswith("circuits")]

    assert all("between bars the pair has the electrical network only." in c for c in captions())
    settings_of(made, electrical=False)
    first, second = captions()
    assert "the pair has the electrical network only (c-through: not even that)." in first
    assert "not even" not in second
    del made.results["tree"], made.results["full"]
    (only,) = captions()
    assert "no circuit joins the pair, and there is no electrical network." in only


def test_a_million_circuits_are_read_and_drawn_in_columns() -> None:
    """Schedules of microseconds: the values by the loops that they replace."""
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
    found = model.read_circuits(circuits(rows))
    assert found is not None
    total, until = 0, -1
    for _, _, start, end in rows:
        total += max(0, end - max(start, until))
        until = max(until, end)
    assert found.lit == pytest.approx(total * 1e-12)
    pairs = timelines.pairs_of(found)
    lit: dict[tuple[int, int], int] = {}
    for a, b, start, end in rows:
        lit[a, b] = lit.get((a, b), 0) + end - start
    assert list(zip(pairs.a.tolist(), pairs.b.tolist(), strict=True)) == sorted(lit)
    assert pairs.lit == pytest.approx([lit[pair] * 1e-12 for pair in sorted(lit)])


def test_jobs_that_did_not_finish_have_no_mark() -> None:
    made = {f.key: f for f in figures.draw_all(read(comparison()))}
    (panel,) = made["jobs"].panels
    assert panel.y.names == ("vm-migration", "fft")
    assert {s.label: list(zip(s.x, s.y, strict=True)) for s in panel.series} == {
        "tree": [(280.0, 0.0)],
        "c-through": [(112.0, 0.0), (30.0, 1.0)],
        "full": [(56.0, 0.0), (29.9, 1.0)],
    }


def test_sentences_name_the_winner_of_each_job_and_the_share_of_circuits() -> None:
    found = {v.question: v for v in verdicts.verdicts(read(comparison()))}
    jobs = found["Which fabric finishes the jobs soonest?"]
    plain = jobs.answer.replace("\u00a0", " ")
    assert plain == (
        "vm-migration: full takes 56.0 s. c-through takes 2.0× as long (112 s); "
        "tree takes 5.0× as long (280 s). "
        "fft: full and c-through are level at 29.9 s. Unfinished on tree."
    )
    assert [e.bar for e in jobs.evidence] == [None, 1.0, pytest.approx(85.9 / 142)]
    share = found["How much goes over circuits?"]
    assert share.answer.replace("\u00a0", " ") == (
        "c-through sends 75.0 % of the delivered bytes over circuits."
    )
    assert share.evidence[0].detail.replace("\u00a0", " ") == (
        "3 settings of circuits, none lit 30.0 % of the run"
    )


def test_the_table_has_a_row_per_job_and_the_circuits() -> None:
    groups = dict(table.groups(read(comparison())))
    assert [[c.text for c in row.cells] for row in groups["Jobs"]] == [
        ["280", "112", "56.0"],
        ["–", "30.0", "29.9"],
    ]
    assert [c.text for c in groups["Circuits"][0].cells] == ["–", "75.0", "–"]


def test_without_jobs_and_circuits_nothing_is_said_of_them() -> None:
    plain = read(make_comparison(PROFILES, n=300))
    assert not {"jobs", "circuits"} & {f.key for f in figures.draw_all(plain)}
    assert not {"Jobs", "Circuits"} & {name for name, _ in table.groups(plain)}
    assert not any("job" in v.question or "circuit" in v.question for v in verdicts.verdicts(plain))


def test_the_page_and_the_files_have_both_figures(tmp_path: Path) -> None:
    page = report.build([comparison()], tmp_path).read_text(encoding="utf-8")
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    assert data
    drawn = {f["key"]: f for f in json.loads(data.group(1))[0]}
    assert drawn["jobs"]["data"][0]["mode"] == "markers"
    (bars,) = drawn["circuits"]["data"]
    assert bars["mode"] == "lines"
    assert bars["text"] == ["0–1", "0–1", None, "2–3", "2–3", None, "0–1", "0–1", None]
    assert drawn["circuits"]["panels"][0]["y"]["ticktext"] == ["0–1", "2–3"]
    for name in ("jobs", "circuits"):
        assert (tmp_path / "figures" / f"{name}.svg").stat().st_size > 2_000
        assert (tmp_path / "figures" / f"{name}.png").stat().st_size > 2_000


def test_jobs_are_not_asked_for_goodput_and_pay_oversubscription_in_time() -> None:
    workload = read(comparison())
    fabrics = [
        replace(f, settings={"kind": "tree", "oversubscription": 40 if f.label == "tree" else 1})
        for f in workload.fabrics
    ]
    asked = verdicts.verdicts(replace(workload, fabrics=fabrics))
    said = {v.question: v for v in asked}
    assert not any("most traffic" in question for question in said)
    cost = said["What does oversubscription cost?"]
    # The tree left a job unfinished.
    assert cost.answer == "tree against c-through: not all jobs finished."
    assert cost.notes == ("Bars: the sum of the jobs' times.",)


def settings_of(made: Comparison, **changed: Any) -> dict[str, Any]:
    """The settings of the fabric with circuits, changed."""
    table = next(f for f in made.experiment["fabric"] if f["label"] == "c-through")
    table.update(changed)
    return table


def circuit_verdict(made: Comparison) -> verdicts.Verdict:
    found = {v.question: v for v in verdicts.verdicts(read(made))}
    return found["How much goes over circuits?"]


def test_a_run_that_ended_before_circuits_has_a_note() -> None:
    made = comparison()
    settings_of(made, interval="10 s", settle="100 ms")
    assert circuit_verdict(made).notes == ()  # circuits were lit
    made.results["c-through"].circuits = circuits([(0, 1, 0, S)]).slice(0, 0)
    (note,) = circuit_verdict(made).notes
    assert note.startswith("c-through: the run ended after 10.0 s, before any circuit could be lit")
    # Nothing delivered, no share: the note is all there is to say.
    made.results["c-through"].summary["circuit_share"] = None
    alone = circuit_verdict(made)
    assert (alone.notes, alone.evidence) == ((note,), ())
    assert alone.answer.startswith("Nothing was delivered")
    settings_of(made, interval="9.8 s")
    assert not any("circuit" in v.question for v in verdicts.verdicts(read(made)))


def test_circuits_no_faster_than_the_tree_have_a_note() -> None:
    made = comparison()
    # 24 servers of 16.7 Gb/s: a tree of 40:1 carries 10 Gb/s of a rack.
    settings_of(made, oversubscription=40, circuit_rate="9.9 Gb/s")
    (note,) = circuit_verdict(made).notes
    assert "carry 9.90 Gb/s, the tree beside them carries 10.0 Gb/s" in note
    settings_of(made, circuit_rate="10.1 Gb/s")
    assert circuit_verdict(made).notes == ()
