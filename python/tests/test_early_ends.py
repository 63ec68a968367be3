"""Verdicts on few flows: runs that end before their flows finish, flows that all begin at once, and
jobs without random draws. Times are bytes over rates, because fluid trees share links exactly."""

from __future__ import annotations

import json
import math
import re
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pytest
from cli_support import lightloom as run_lightloom
from cli_support import write
from statement_support import ahead, each, kinds, lead, values_of
from test_first import limits, made, plain

import lightloom
from lightloom import report
from lightloom.analysis import cuts, factors, notes, reading, table, winners
from lightloom.analysis.findings import AloneCarries
from lightloom.analysis.model import Workload
from lightloom.analysis.ranking import Score
from lightloom.analysis.verdicts import First, each_flow, verdicts
from lightloom.analysis.verdicts.criteria import LAST, LONG
from lightloom.config import loads
from lightloom.costs import book as books


def first(comparison: lightloom.Comparison) -> First:
    found = next(iter(report.first([comparison]).values()))
    assert found is not None
    return found


def trees(workload: dict[str, Any], **run: Any) -> lightloom.Comparison:
    """A tree 1:1 and a tree 2:1 of 4 racks of 2 servers of 10 Gb/s."""
    return lightloom.compare(
        {
            "cluster": {"racks": 4, "servers_per_rack": 2, "server_rate": "10 Gb/s"},
            "workload": workload,
            "run": run,
            "fabric": [
                {"kind": "tree", "label": "full"},
                {"kind": "tree", "label": "half", "oversubscription": 2},
            ],
        }
    )


def at_once(flows: int = 8, size: str = "10 MB") -> dict[str, Any]:
    return {
        "arrivals": "at-once",
        "pattern": {"kind": "permutation", "of": "racks"},
        "sizes": {"kind": "fixed", "size": size},
        "flows": flows,
    }


def test_a_fabric_that_finished_no_flow_does_not_carry_the_traffic() -> None:
    """Each flow of 10 MB takes 8 ms at 10 Gb/s: after 4 ms, half of 80 MB has arrived."""
    comparison = trees(at_once(), stop="4 ms")
    found = first(comparison)
    assert isinstance(found.finding, AloneCarries)
    assert found.finding.leader == "full"
    left = found.finding.unfinished
    assert left is not None
    assert (left.bytes_delivered, left.bytes_offered) == (pytest.approx(40e6, rel=0.01), 80e6)
    assert (left.flows_completed, left.flows_offered) == (0, 8)
    assert "1 %" not in plain(found.answer)
    (decision,) = report.decide([comparison], [books.load("sirius-2020")])
    assert decision is not None
    assert decision.title.startswith("full delivers the most")
    for label in ("full", "half"):
        assert f"{label} finished 0 of 8" in decision.sentence
    assert "carries" not in decision.title + decision.sentence


def test_level_fabrics_that_finished_no_flow_say_so() -> None:
    cluster = {"racks": 4, "servers_per_rack": 2, "server_rate": "10 Gb/s"}
    fabrics = [{"kind": "tree", "label": x} for x in ("a", "b")]
    made_of = {"cluster": cluster, "workload": at_once(), "fabric": fabrics}
    comparison = lightloom.compare({**made_of, "run": {"stop": "4 ms"}})
    (decision,) = report.decide([comparison], [books.load("sirius-2020")])
    assert decision is not None
    for label in ("a", "b"):
        assert f"{label} finished 0 of 8" in decision.sentence


@pytest.mark.parametrize("flows", [8, 4])
def test_flows_that_begin_at_once_are_no_sample(flows: int) -> None:
    """8 ms against 16 ms for each of 8 flows.

    With 4 flows, some racks of the tree 2:1 may have only one, which takes 8 ms on both trees, so
    that no fabric leads.
    """
    comparison = trees(at_once(flows))
    times = {x: r.flows["finish_ps"].to_numpy() for x, r in comparison.results.items()}
    sooner = bool((times["full"] * 1.03 < times["half"]).all())
    assert sooner or flows == 4
    found = first(comparison)
    assert (lead(found) == ahead("full", LAST)) == sooner
    if flows == 8:
        best = values_of(found.said, "best figure")
        assert (best["label"], best["figure"]) == ("full", pytest.approx(8e-3, rel=0.01))
        (behind,) = each(best["behind"], "behind")
        assert (behind["label"], behind["figure"]) == ("half", pytest.approx(16e-3, rel=0.01))
        assert behind["by"].factor.value == pytest.approx(2, rel=0.01)
        beside = values_of(found.said, "each flow sooner")
        assert beside == {"label": "full", "others": ("half",)}


def workload_of(comparison: lightloom.Comparison) -> Workload:
    return reading.workload(comparison, reading.slots([comparison]))


def marks(comparison: lightloom.Comparison) -> dict[str, list[bool]]:
    """Row of times → whether each fabric is marked as the best."""
    rows = [row for name, rows in table.groups(workload_of(comparison)) for row in rows]
    times = [row for row in rows if "flows, " in row.name]
    assert times
    return {row.name: [cell.best for cell in row.cells] for row in times}


def front(comparison: lightloom.Comparison) -> dict[str, list[str]]:
    (decision,) = report.decide([comparison], [books.load("sirius-2020")])
    assert decision is not None
    return dict(decision.front)


def test_every_surface_judges_at_once_flows_as_the_verdict_does() -> None:
    """40 us against 80 us at 10 and 5 Gb/s for each flow of 50 KB, plus 3.6 us."""
    comparison = trees(at_once(size="50 KB"))
    assert lead(first(comparison)) == ahead("full", LAST)
    assert all(found == [True, False] for found in marks(comparison).values())
    card = next(v for v in verdicts(workload_of(comparison)) if "short flows" in v.question)
    soonest = values_of(card.said, "soonest short flows")
    assert soonest == {"label": "full", "p99": pytest.approx(43.6e-6, rel=2e-3)}
    slower = values_of(card.said, "slower")
    assert (slower["label"], slower["figure"]) == ("half", pytest.approx(83.6e-6, rel=2e-3))
    assert slower["factor"].value == pytest.approx(83.6 / 43.6, rel=2e-3)
    beside = values_of(card.said, "each flow sooner")
    assert beside == {"label": "full", "others": ("half",)}
    told = list(winners.changes(comparison, comparison, ("then", "now")))
    assert told[0] == f"{LAST.name}: full best, then and now"
    assert front(comparison) == {"full": [], "half": ["full"]}


def turned(comparison: lightloom.Comparison) -> lightloom.Comparison:
    """Returns the comparison with one flow of `full` that ends after 100 ms, later than all flows
    of `half`."""
    result = comparison.results["full"]
    at = result.flows.column_names.index("finish_ps")
    finish = result.flows["finish_ps"].to_pylist()
    late = pa.array([100 * 10**9, *finish[1:]], result.flows.schema.field(at).type)
    result.flows = result.flows.set_column(at, result.flows.schema.field(at), late)
    return comparison


def test_flows_that_are_sooner_on_either_fabric_mark_no_best() -> None:
    comparison = turned(trees(at_once()))
    assert lead(first(comparison))[0] == "too few flows to lead"
    assert not any(any(found) for found in marks(comparison).values())
    assert front(comparison) == {"full": [], "half": []}
    before = trees(at_once())
    told = list(winners.changes(before, comparison, ("then", "now")))
    measure, said = told[0].split(": ")
    assert measure == LAST.name
    then, now = said.split("; ")
    assert then == "full best then"
    assert now.startswith("now no fabric")


@pytest.mark.parametrize("flows", [8, 4])
def test_repetitions_tell_what_one_draw_of_at_once_flows_does_not(flows: int) -> None:
    assert kinds(first(trees(at_once(flows))).conditions) == ["one draw at once"]
    repeated = first(trees(at_once(flows), repeat=8))
    assert lead(repeated) == ahead("full", LONG)


def test_equal_fabrics_have_no_winner_at_once() -> None:
    cluster = {"racks": 4, "servers_per_rack": 2, "server_rate": "10 Gb/s"}
    fabrics = [{"kind": "tree", "label": x} for x in ("a", "b")]
    found = first(lightloom.compare({"cluster": cluster, "workload": at_once(), "fabric": fabrics}))
    assert lead(found) == ("level in measure", ("a", "b"), LAST.name)
    assert found.leaders == ("a", "b")


def test_twins_share_the_lead_at_once() -> None:
    """A permutation of 8 flows of 10 MB takes 8 ms on both full trees and 16 ms on the half one.

    Of 4 flows, some are within racks and take 8 ms on all trees.
    """
    cluster = {"racks": 4, "servers_per_rack": 2, "server_rate": "10 Gb/s"}
    fabrics = [
        {"kind": "tree", "label": "a"},
        {"kind": "tree", "label": "b"},
        {"kind": "tree", "label": "half", "oversubscription": 2},
    ]
    uniform = {"arrivals": "at-once", "sizes": {"kind": "fixed", "size": "10 MB"}, "flows": 4}
    for workload in (at_once(), uniform):
        made_of = {"cluster": cluster, "workload": workload, "fabric": fabrics}
        found = first(lightloom.compare(made_of))
        assert found.leaders == ("a", "b")
        assert lead(found) == ("ahead together", ("a", "b"), LAST.name)


def test_jobs_that_draw_nothing_are_the_same_with_another_seed() -> None:
    """This holds both for jobs that take the same time on both trees (a ring) and for others."""
    ring = {"kind": "all-reduce", "algorithm": "ring", "bytes": "10 MB", "hosts": 8}
    assert len(first(trees({"jobs": [ring]})).leaders) == 2
    assert not first(trees({"jobs": [ring]})).overturned
    all_to_all = {"kind": "all-to-all-collective", "bytes": "10 MB", "hosts": 8}
    found = first(trees({"jobs": [all_to_all]}))
    assert found.leaders == ("full",)
    assert not any("seed" in line for line in found.overturned)
    drawn = first(trees(at_once()))
    assert any(line.startswith("Another seed") for line in drawn.overturned)


def test_the_limit_that_decides_is_in_the_headline() -> None:
    """12 flows of 10 MB take 24 ms on the full tree, and twice that on the half one, whose racks
    have half of their servers' rate."""
    flows = {**at_once(8), "pattern": {"kind": "permutation", "of": "racks"}}
    short, whole = (trees(flows, limit=limit, stop="drain") for limit in ("10 ms", "1 s"))
    found = first(short).finding
    assert isinstance(found, AloneCarries)
    assert (found.leader, found.limit_s) == ("full", 10e-3)
    assert "run.limit = 10.0 ms" in plain(first(short).title)
    assert "run.limit" not in first(whole).title
    for comparison, named in ((short, True), (whole, False)):
        (decision,) = report.decide([comparison], [books.load("sirius-2020")])
        assert decision is not None
        assert ("run.limit = 10.0 ms" in plain(decision.title)) == named


def test_a_verdict_that_names_nobody_has_a_remedy() -> None:
    """The remedy is in the short form, which has no list of facts that would overturn the
    verdict."""
    few = first(trees({"load": 0.2, "sizes": {"kind": "fixed", "size": "1 MB"}, "flows": 120}))
    assert few.leaders != ("full",)
    assert few.remedy
    bounds = first(made({"a": limits(10.0, open_=True), "b": limits(4.0, open_=True)}))
    assert bounds.leaders == ()
    assert any('run.stop = "drain"' in line for line in bounds.remedy)


def test_a_clos_without_short_flows_is_judged_by_its_long_ones() -> None:
    """The page and the verdict name the same fabric and figures."""
    comparison = lightloom.compare(
        {
            "cluster": {"racks": 4, "servers_per_rack": 2, "server_rate": "10 Gb/s"},
            "workload": {"load": 0.2, "sizes": {"kind": "fixed", "size": "1 MB"}, "flows": 300},
            "run": {"stop": "drain", "repeat": 3},
            "fabric": [
                {"kind": "clos", "label": "c1"},
                {"kind": "clos", "label": "c3", "oversubscription": 3},
            ],
        }
    )
    assert first(comparison).leaders == ("c1",)
    (workload,) = reading.read([comparison])
    card = next(v for v in verdicts(workload) if v.question.startswith("What does oversub"))
    assert "c3 against c1" in card.answer
    assert "no difference" not in card.answer
    assert all(line.text.endswith("ms") for line in card.evidence)


def test_shares_of_what_was_offered_say_so() -> None:
    workload = {
        "load": 0.5,
        "sizes": {"kind": "fixed", "size": "1 MB"},
        "flows": 300,
    }
    comparison = trees(workload, stop="drain", limit="5 ms")
    (read,) = reading.read([comparison])
    card = next(v for v in verdicts(read) if v.question == "Does everything arrive?")
    cut = comparison.results["full"].summary["cut"]
    assert cut["flows_never_offered"] > 0
    never = f"{cut['flows_never_offered']} of 300 flows were never offered"
    assert any(never in note for note in card.notes)


def test_a_fabric_whose_last_flows_never_move_is_behind(tmp_path: Path) -> None:
    """8 flows of 10 MB cross the core at 10 Gb/s each.

    The core of `a` fails permanently before the last four, which never arrive; on `h`, 4:1, each
    flow takes four times as long, and arrives.
    """
    rows = [f"{i},{8 + i},10000000,{10**12 * (i >= 4)}" for i in range(8)]
    (tmp_path / "t.csv").write_text("src,dst,bytes,arrival_ps\n" + "\n".join(rows) + "\n")
    comparison = lightloom.compare(
        {
            "cluster": {"hosts": 16, "server_rate": "10 Gb/s"},
            "workload": {"trace": str(tmp_path / "t.csv")},
            "run": {"repeat": 2},
            "fabric": [
                {"kind": "tree", "label": "a"},
                {"kind": "tree", "label": "h", "oversubscription": 4},
            ],
            "fault": [
                {
                    "at": "500 ms",
                    "element": "switch",
                    "tier": "core",
                    "switch": 0,
                    "fabric": "a",
                }
            ],
        }
    )
    assert comparison.results["a"].summary["flows_completed"] == 4
    found = first(comparison)
    assert isinstance(found.finding, AloneCarries)
    assert found.finding.leader == "h"
    assert "run.limit" not in found.answer
    (decision,) = report.decide([comparison], [books.load("sirius-2020")])
    assert decision is not None
    assert decision.leaders == ("h",)
    assert decision.title.startswith("Only h carries")


def test_a_bound_over_seeds_that_scatters_is_behind_by_the_bound() -> None:
    """More than 1,000 us against at most 70 us is a factor of 14, however far the bounds of the
    seeds are apart."""
    bound = Score(cast("Any", None), 1000.0, -4000.0, math.inf, open=True, least=True)
    best = Score(cast("Any", None), 67.0, 64.0, 70.0)
    found = factors.between(bound, best)
    assert found is not None
    assert found.low == pytest.approx(1000 / 70)
    assert factors.as_long(found).startswith("more than 14")


def test_a_load_without_a_key_is_no_reason_to_buy_what_is_overloaded() -> None:
    """Arrivals with this mean gap offer 0.3; the tree 4:1 carries at most 0.25."""
    comparison = lightloom.compare(
        {
            "cluster": {"hosts": 16, "server_rate": "10 Gb/s"},
            "workload": {
                "arrivals": {"kind": "poisson", "every": "8.33 us"},
                "sizes": {"kind": "fixed", "size": "50 KB"},
                "flows": 4000,
            },
            "run": {"stop": "drain"},
            "fabric": [
                {"kind": "tree", "label": "a"},
                {"kind": "tree", "label": "h", "oversubscription": 4},
            ],
        }
    )
    (decision,) = report.decide([comparison], [books.load("sirius-2020")])
    assert decision is not None
    assert decision.leaders != ("h",)
    assert decision.leaders == ("a",)
    assert not any(decision.front.values())
    assert "h" not in decision.front


def test_a_load_at_which_one_of_the_level_fabrics_is_ahead_overturns_the_verdict() -> None:
    """At load 0.05 with flows of 20 KB both trees are level; at 0.6 the uplinks of one tree are
    full."""
    comparison = lightloom.compare(
        {
            "cluster": {"racks": 4, "servers_per_rack": 4, "server_rate": "10 Gb/s"},
            "workload": {"load": 0.02, "sizes": {"kind": "fixed", "size": "20 KB"}},
            "run": {"warm_up": "5 ms", "measure": "40 ms"},
            "compare": {"loads": [0.02, 0.9]},
            "fabric": [
                {"kind": "tree", "label": "a"},
                {"kind": "tree", "label": "h", "oversubscription": 2},
            ],
        }
    )
    found = first(comparison)
    there = [line for line in found.overturned if line.startswith("Another load")]
    if len(found.leaders) == 2:
        assert there
        assert "at 90 % a " in plain(there[0])
    else:
        assert found.leaders == ("a",)
    assert not any(line.startswith("Not the load") for line in found.overturned) or not there


def test_a_mix_is_called_by_its_whole_load() -> None:
    part = {"sizes": {"kind": "fixed", "size": "10 KB"}}
    mix = {"workload": {"load": 0.1, "mix": [part, part]}}
    assert loads.named(mix, swept=False) == pytest.approx(0.2)
    assert loads.named(mix, swept=True) == pytest.approx(0.2)  # both parts change with it


@pytest.mark.parametrize(("cut", "remedy"), [(True, "a higher run.limit"), (False, 'run.stop = "')])
def test_the_remedy_is_what_ended_the_run(*, cut: bool, remedy: str) -> None:
    times = {"a": limits(10.0), "b": limits(4.0, open_=True), "c": limits(20.0)}
    comparison = made(times)
    if cut:
        left = {"limit_s": 1.0, "flows": 9, "flows_never_offered": 1, "flows_unfinished": 2}
        comparison.results["b"].summary["cut"] = left
    (line,) = (x for x in first(comparison).overturned if x.startswith("What did not arrive"))
    assert remedy in line


def test_sizes_without_a_variance_weaken_the_interval_of_a_window() -> None:
    def kinds(shape: float, summary: dict[str, Any]) -> list[str]:
        sizes = {"kind": "pareto", "shape": shape, "mean": "100 KB"}
        return [note.kind for note in notes.of_workload(summary, {"sizes": sizes})]

    assert kinds(1.05, {"window": {"mean_us": 1.0}}) == ["no variance"]
    assert kinds(2.5, {"window": {"mean_us": 1.0}}) == kinds(1.05, {}) == []


def times(us: list[float]) -> Any:
    """Returns a fabric with one seed on which flows of 1 MB take these times."""
    seed = SimpleNamespace(fct=np.array(us), sizes=np.full(len(us), 1e6))
    return SimpleNamespace(each=[seed])


def test_flows_that_tie_within_a_rack_keep_nobody_from_being_ahead() -> None:
    """Two of 20 flows stay in their rack, so nine tenths are faster.

    With 19 flows the share is lower, and a flow that is slower by more than 3 % contradicts the
    lead.
    """
    slow, ahead = times([16.0] * 18 + [8.0] * 2), times([8.0] * 20)
    assert each_flow.share_sooner(ahead, slow) == 0.9
    assert each_flow.is_sooner_in_each(ahead, slow)
    assert not each_flow.is_sooner_in_each(slow, ahead)
    assert not each_flow.is_sooner_in_each(times([8.0] * 19), times([16.0] * 17 + [8.0] * 2))
    assert each_flow.share_sooner(times([8.0] * 19 + [8.3]), slow) is None


#: 300 flows of 10 MB, 80 ms each: at load 0.1 one flow arrives every 50 ms on average.
CUT = """
[cluster]
hosts = 16
server_rate = "1 Gb/s"
[workload]
load = 0.1
flows = 300
sizes = { kind = "fixed", size = "10 MB" }
[run]
stop = "drain"
limit = "70 ms"
[[fabric]]
kind = "tree"
"""


def left_of(summaries: list[dict[str, Any]]) -> tuple[int, int]:
    """Returns the number of flows that were never offered, and of unfinished ones, in all runs."""
    offered = sum(s["flows_offered"] for s in summaries)
    return 300 * len(summaries) - offered, offered - sum(s["flows_completed"] for s in summaries)


def said_of(line: str) -> list[tuple[int, int, int]]:
    """Returns the flows, those never offered, and the unfinished ones, for each part of a note."""
    each = re.findall(r"of ([\d,]+) flows(?: over \d seeds)? ([\d,]+) were never.*? (\d+) un", line)
    return [tuple(int(n.replace(",", "")) for n in one) for one in each]  # type: ignore[misc]


def test_a_sweep_names_the_points_that_a_limit_ended(tmp_path: Path) -> None:
    """At any load, no flow of 80 ms ends within 70 ms; a limit of 100 s leaves out no flow."""
    write(tmp_path / "e.toml", CUT)
    grid = '"workload.load" = [0.1, 0.2]\n"run.limit" = ["70 ms", "100 s"]\n'
    write(tmp_path / "s.toml", f'base = "e.toml"\nrepeat = 2\n[grid]\n{grid}')
    done = run_lightloom("sweep", "s.toml", "-o", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "means of 2 seeds" in done.stdout
    (note,) = (line for line in done.stdout.splitlines() if line.startswith("note: at"))
    assert note.startswith("note: at 2 of 4 ")
    assert ": load = 0.1, limit = 70 ms" in note
    points = json.loads((tmp_path / "out/sweep.json").read_text())["points"]
    runs = [
        [p["summary"] for p in points if list(p["grid"].values()) == [load, "70 ms"]]
        for load in (0.1, 0.2)
    ]
    found = [(600, *left_of(each)) for each in runs]
    assert said_of(note) == found
    page = (tmp_path / "out/report.html").read_text()
    (above,) = re.findall(r'<p class="note cut">(.*?)</p>', page)
    assert said_of(above) == found
    assert [said_of(row) for row in re.findall(r"<td>2<span[^>]*>(.*?)</span>", page)] == [
        [one] for one in found
    ]


@pytest.mark.parametrize("seeds", [1, 2])
def test_the_page_of_one_fabric_and_its_loads_name_what_a_limit_left_out(
    seeds: int, tmp_path: Path
) -> None:
    table = tomllib.loads(CUT)
    table["run"]["repeat"] = seeds
    table["compare"] = {"loads": [0.2, 0.3]}
    comparison = lightloom.compare(table)
    page = report.build([comparison], tmp_path).read_text()
    notes_of = re.findall(r'<p class="note cut">(.*?)</p>', page)
    assert [line.partition(" ")[0] for line in notes_of] == ["tree:", "At"]
    each = comparison.seeds or [comparison]
    runs = [
        [one.results["tree"].summary for one in each],
        *([one.loads["tree"][place] for one in each] for place in (0, 1)),
    ]
    found = [(300 * seeds, *left_of(summaries)) for summaries in runs]
    assert [said for line in notes_of for said in said_of(line)] == found
    assert ("over 2 seeds" in page) == (seeds == 2)
    (loads,) = cuts.of_loads(comparison)
    assert str(loads) == notes_of[1][:1].lower() + notes_of[1][1:-1]
