"""Jobs and circuits in the report: figures, sentences and the table."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from statement_support import each, kinds, values_of
from test_report_support import (
    HYBRIDS,
    S,
    circuits,
    make_comparison,
    make_hybrids,
    read,
    settings_of,
)

from lightloom import report
from lightloom.analysis import table, verdicts
from lightloom.plotting import figures
from lightloom.results.result import Comparison


def test_dark_time_is_what_the_union_of_circuits_leaves() -> None:
    fabric = read(make_hybrids()).fabrics[1]
    assert fabric.dark == pytest.approx(0.3)
    assert fabric.circuits is not None
    assert fabric.circuits.settings == 3


def test_jobs_that_did_not_finish_have_no_mark() -> None:
    made = {f.key: f for f in figures.draw_all(read(make_hybrids()))}
    (panel,) = made["jobs"].panels
    assert panel.y.names == ("vm-migration", "fft")
    assert {s.label: list(zip(s.x, s.y, strict=True)) for s in panel.series} == {
        "tree": [(280.0, 0.0)],
        "c-through": [(112.0, 0.0), (30.0, 1.0)],
        "full": [(56.0, 0.0), (29.9, 1.0)],
    }


def test_sentences_name_the_winner_of_each_job_and_the_share_of_circuits() -> None:
    found = {v.question: v for v in verdicts.verdicts(read(make_hybrids()))}
    jobs = found["Which fabric finishes the jobs soonest?"]
    assert kinds(jobs.said) == [
        *("job", "job: soonest", "each slower"),
        *("job", "job: level", "unfinished jobs"),
    ]
    assert [x["name"] for x in each(jobs.said, "job")] == ["vm-migration", "fft"]
    assert values_of(jobs.said, "job: soonest") == {"leaders": ("full",), "time": 56.0}
    slower = [(x["label"], x["figure"], x["factor"].value) for x in each(jobs.said, "slower")]
    assert slower == [("c-through", 112.0, 2.0), ("tree", 280.0, 5.0)]
    assert values_of(jobs.said, "job: level") == {"leaders": ("full", "c-through"), "time": 29.9}
    assert values_of(jobs.said, "unfinished jobs") == {"labels": ("tree",)}
    assert [e.bar for e in jobs.evidence] == [None, 1.0, pytest.approx(56 / 112)]
    share = found["How much goes over circuits?"]
    most = values_of(share.said, "most over circuits")
    assert most == {"leaders": ("c-through",), "share": 0.75}
    settings, dark = share.evidence[0].detail.replace("\u00a0", " ").split(", ")
    assert (settings[:2], dark[:15]) == ("3 ", "none lit 30.0 %")


def test_the_table_has_a_row_per_job_and_the_circuits() -> None:
    groups = dict(table.groups(read(make_hybrids())))
    assert [[c.text for c in row.cells] for row in groups["Jobs"]] == [
        ["280", "112", "56.0"],
        ["–", "30.0", "29.9"],
    ]
    assert [c.text for c in groups["Circuits"][0].cells] == ["–", "75.0", "–"]


def test_without_jobs_and_circuits_nothing_is_said_of_them() -> None:
    plain = read(make_comparison(HYBRIDS, n=300))
    assert not {"jobs", "circuits"} & {f.key for f in figures.draw_all(plain)}
    assert not {"Jobs", "Circuits"} & {name for name, _ in table.groups(plain)}
    assert not any("job" in v.question or "circuit" in v.question for v in verdicts.verdicts(plain))


def test_the_page_and_the_files_have_both_figures(tmp_path: Path) -> None:
    page = report.build([make_hybrids()], tmp_path).read_text(encoding="utf-8")
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    assert data
    drawn = {f["key"]: f for f in json.loads(data.group(1))[0]}
    assert drawn["jobs"]["data"][0]["mode"] == "markers"
    nights, bars = drawn["circuits"]["data"]
    # In whole picoseconds: lit from 0-2, 1-4 and 6-9 s, dark from 4-6 and 9-10 s.
    assert bars["bars"] == {
        "after": [0, S, 5 * S],
        "length": [2 * S, 3 * S, 3 * S],
        "row": [0, 1, 0],
    }
    assert nights["nights"] == {"after": [4 * S, 5 * S], "length": [2 * S, S]}
    assert drawn["circuits"]["panels"][0]["y"]["ticktext"] == ["0–1", "2–3"]
    for name in ("jobs", "circuits"):
        assert (tmp_path / "figures" / f"{name}.svg").stat().st_size > 2_000
        assert (tmp_path / "figures" / f"{name}.png").stat().st_size > 2_000


def test_jobs_are_not_asked_for_goodput_and_pay_oversubscription_in_time() -> None:
    workload = read(make_hybrids())
    fabrics = [
        replace(f, settings={"kind": "tree", "oversubscription": 40 if f.label == "tree" else 1})
        for f in workload.fabrics
    ]
    asked = verdicts.verdicts(replace(workload, fabrics=fabrics))
    said = {v.question: v for v in asked}
    assert not any("most traffic" in question for question in said)
    cost = said["What does oversubscription cost?"]
    # The tree left a job unfinished.
    (one,) = each(cost.said, "cost")
    assert (one["worse"], one["base"]) == ("tree", "c-through")
    assert kinds(one["costs"]) == ["jobs unfinished"]
    assert kinds(cost.remarks) == ["bars of jobs"]


def circuit_verdict(made: Comparison) -> verdicts.Verdict:
    found = {v.question: v for v in verdicts.verdicts(read(made))}
    return found["How much goes over circuits?"]


def test_a_run_that_ended_before_circuits_has_a_note() -> None:
    made = make_hybrids()
    settings_of(made, interval="10 s", reconfiguration_delay="100 ms")
    # Circuits were lit, but not by a decision.
    rare = values_of(circuit_verdict(made).remarks, "interval")
    assert (rare["parameter"], rare["value"]) == ("interval", "10 s")
    made.results["c-through"].circuits = circuits([(0, 1, 0, S)]).slice(0, 0)
    assert values_of(circuit_verdict(made).remarks, "no circuit lit")["ended_s"] == 10.0
    (note,) = circuit_verdict(made).notes
    # Without delivered bytes there is no share, and only the note.
    made.results["c-through"].summary["circuit_share"] = None
    alone = circuit_verdict(made)
    assert (alone.notes, alone.evidence) == ((note,), ())
    assert kinds(alone.said) == ["nothing delivered"]
    settings_of(made, interval="3 s")
    assert not any("circuit" in v.question for v in verdicts.verdicts(read(made)))


def test_circuits_that_take_turns_show_how_long_they_are_lit() -> None:
    made = make_hybrids()

    def told() -> tuple[list[str], verdicts.Verdict]:
        workload = read(made)
        rows = [row.name for _, rows in table.groups(workload) for row in rows]
        asked = {v.question: v for v in verdicts.verdicts(workload)}
        return rows, asked["How busy are the links?"]

    rows, busy = told()
    assert "Duty cycle" not in rows
    assert not any("lit" in e.detail for e in busy.evidence)
    made.results["c-through"].summary["duty_cycle"] = 0.875
    rows, busy = told()
    assert "Duty cycle" in rows
    (bar,) = [e for e in busy.evidence if e.label == "c-through"]
    assert "lit 87.5\u00a0% of" in bar.detail


def test_circuits_no_faster_than_the_tree_have_a_note() -> None:
    made = make_hybrids()
    # 24 servers of 16.7 Gb/s: a tree 40:1 carries 10 Gb/s of a rack.
    settings_of(made, oversubscription=40, circuit_rate="9.9 Gb/s")
    slow = values_of(circuit_verdict(made).remarks, "slow circuits")
    assert slow == {"circuits_bps": 9.9e9, "tree_bps": pytest.approx(10e9)}
    settings_of(made, circuit_rate="10.1 Gb/s")
    assert circuit_verdict(made).notes == ()
