"""Hybrids on the command line: statements about their circuits."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_support import lightloom

import lightloom as ll
from lightloom.analysis.circuits import doubts, soonest_ps, soonest_used_ps
from lightloom.cli import completion, light
from lightloom.results.result import Result

HYBRID = """
[cluster]
racks = 8
servers_per_rack = 4
server_rate = "1 Gb/s"
nic = "1 Gb/s"

[workload]
arrivals = "poisson"
load = 0.2
sizes = { kind = "fixed", size = "1 MB" }
pattern = "uniform"
flows = 1000

[run]
seed = 1

[[fabric]]
kind = "cthrough"
interval = "200 ms"

[[fabric]]
kind = "tree"
oversubscription = 4
"""
SIRIUS = '\n[[fabric]]\nkind = "sirius"\nchannel_rate = "2 Gb/s"\n'


@pytest.fixture
def hybrid(tmp_path: Path) -> Path:
    path = tmp_path / "hybrid.toml"
    path.write_text(HYBRID, encoding="utf-8")
    return path


def rows(stdout: str, *labels: str) -> list[list[str]]:
    """Returns the words of the table's rows of these fabrics, which begin with the labels.

    Sentences above the table may begin with the same words.
    """
    lines = [line.split() for line in stdout.splitlines()]
    lines = [words for words in lines if len(words) > 1 and words[1][0] in "-<>0123456789"]
    return [[words for words in lines if words[0] == label][-1] for label in labels]


def summary(circuit_share: float | None, queue: int | None = None) -> dict[str, Any]:
    """Returns the part of a summary that the table reads."""
    us = {"p50_us": 123.4, "p99_us": 123.4}
    return {
        "goodput_normalized": 0.123,
        "fct": {"short": us, "long": us},
        "queue_peak_bytes": queue,
        "reorder_peak_bytes": queue,
        "hops_mean": 1.23,
        "circuit_share": circuit_share,
    }


def test_compare_says_what_went_by_circuit(hybrid: Path, tmp_path: Path) -> None:
    done = lightloom("compare", "--verbose", hybrid, "-o", "out", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    share = json.loads((tmp_path / "out" / "comparison.json").read_text())["cthrough"][
        "circuit_share"
    ]
    assert 0 < share < 1
    (circuits, tree) = rows(done.stdout, "cthrough", "tree")
    assert circuits[-1] == f"{share:.1%}"
    assert tree[-1] == "-"
    assert "By circuit: share of" in done.stdout
    # No fabric in this comparison has queues, so their columns are omitted.
    assert "queue\n" not in done.stdout
    assert "    queue" not in done.stdout


def test_a_fabric_with_queues_keeps_their_columns_within_80(hybrid: Path, tmp_path: Path) -> None:
    # Sirius is simulated slot by slot, which takes long for the traffic that circuits carry in
    # seconds.
    few = (HYBRID + SIRIUS).replace("flows = 1000", "flows = 100")
    hybrid.write_text(few, encoding="utf-8")
    done = lightloom("compare", "--verbose", hybrid, "-o", "out", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    (circuits,) = rows(done.stdout, "cthrough")
    assert circuits[-1].endswith("%")
    assert "queue\n" in done.stdout or " queue " in done.stdout
    said = ("note: ", "hybrid: ")
    lines = [line for line in done.stdout.splitlines() if not line.startswith(said)]
    assert [line for line in lines if len(line) > 80] == []


def test_without_circuits_the_table_is_as_it_was() -> None:
    headings = [c.header for c in completion.table({"clos": summary(None)}).columns]
    assert headings[-3:] == ["queue\npeak", "reorder\npeak", "hops\nmean"]


def test_all_bytes_by_circuit_and_none_are_told_apart_from_no_circuits() -> None:
    made = completion.table({"a": summary(1.0), "b": summary(0.0), "c": summary(None, 10)})
    assert made.columns[-1].header == "by\ncircuit"
    assert list(made.columns[-1].cells) == ["100.0%", "0.0%", "-"]


TURNS = """
[cluster]
racks = 4
servers_per_rack = 1
server_rate = "10 Gb/s"
nic = "uncapped"

[workload]
arrivals = "at-once"
sizes = { kind = "fixed", size = "10 MB" }
pattern = "all-to-all"
flows = 12

[run]
seed = 1
stop = "3001 us"               # what a day carries counts when it is over

[[fabric]]
kind = "mordia"
label = "turns"
policy = "rotation"
slot = "100 us"
night = "10 us"

[[fabric]]
kind = "mordia"
label = "jitter"
policy = "rotation"
slot = "100 us"
night = "10 us"
sync_jitter = "1 us"

[[fabric]]
kind = "tree"
"""


def test_circuits_that_take_turns_have_a_table_of_their_own(tmp_path: Path) -> None:
    """All servers send continuously: links are busy while they are lit, 90 us of 100 us."""
    path = tmp_path / "turns.toml"
    path.write_text(TURNS, encoding="utf-8")
    done = lightloom("compare", "--verbose", path, "-o", "out", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    second = done.stdout.split("By circuit")[1]
    turns, jitter, tree = rows(second, "turns", "jitter", "tree")
    assert turns == ["turns", "90.0%", "90.0%", "0"]
    assert jitter[1] == "90.0%"
    assert float(jitter[2][:-1]) < 90
    lost = json.loads((tmp_path / "out" / "jitter" / "summary.json").read_text())["drops"]
    assert lost > 0
    assert jitter[3] == f"{lost:,}"
    assert (tree[1], tree[3]) == ("-", "0")
    assert "Duty cycle: share" in done.stdout
    lines = [line for line in done.stdout.splitlines() if not line.startswith("note: ")]
    assert max(len(line) for line in lines) <= 80
    alone = lightloom("run", path, "--fabric", "turns", "-o", "one", cwd=tmp_path).stdout
    assert "circuits lit 90.0%" in alone
    assert "busy to 90.0%" in alone
    assert "packets lost" not in alone
    alone = lightloom("run", path, "--fabric", "jitter", "-o", "two", cwd=tmp_path).stdout
    assert f"{lost:,} packets lost" in alone


def test_where_nothing_takes_turns_or_is_lost_no_table_is_added(
    hybrid: Path, tmp_path: Path
) -> None:
    done = lightloom("compare", "--verbose", hybrid, "-o", "out", cwd=tmp_path)
    assert "busy" not in done.stdout
    alone = lightloom("run", hybrid, "--fabric", "tree", "-o", "one", cwd=tmp_path).stdout
    assert "duty" not in alone


def lost_on(drops: dict[str, int]) -> Any:
    """Returns results that contain only lost cells or packets."""
    nothing = pa.table({"time_ps": pa.array([], pa.int64())})
    return {
        label: Result(label, nothing, nothing, {"drops": n, "duty_cycle": None}, {})
        for label, n in drops.items()
    }


def test_losses_alone_are_told_too() -> None:
    assert light.table(lost_on({"sirius": 0, "clos": 0})) is None
    made = light.table(lost_on({"sirius": 1234, "clos": 0}))
    assert made is not None
    assert [c.header for c in made.columns] == ["fabric", light.BUSY, light.LOST]
    assert [list(c.cells) for c in made.columns[1:]] == [["-", "-"], ["1,234", "0"]]
    assert list(light.legend(lost_on({"sirius": 1}))) == []


SHORT = "before any circuit could be lit"
SLOW = "circuits are no faster"


def said(*arguments: object, cwd: Path) -> list[str]:
    """Returns the notes on standard output."""
    done = lightloom(*arguments, "-o", "out", cwd=cwd)
    assert (done.returncode, done.stderr) == (0, "")
    return [line for line in done.stdout.splitlines() if line.startswith("note: ")]


@pytest.mark.parametrize(
    ("end", "remedy"),
    [
        ('run.stop="100 ms"', "lengthen run.stop, or shorten fabric.interval"),
        ('run.limit="100 ms"', "lengthen run.limit, or shorten fabric.interval"),
        ("workload.flows=10", "set run.stop to a longer time, or shorten"),
    ],
)
def test_a_run_too_short_for_circuits_says_so(
    end: str, remedy: str, hybrid: Path, tmp_path: Path
) -> None:
    notes = said("run", hybrid, "--fabric", "cthrough", "--set", end, cwd=tmp_path)
    (note,) = [n for n in notes if SHORT in n]
    assert "comes after 200 ms" in note
    assert remedy in note
    # There is no warning about traffic that only the tree carries.
    assert not any(SHORT in n for n in said("run", hybrid, "--fabric", "tree", cwd=tmp_path))


def test_too_short_ends_where_circuits_begin(hybrid: Path, tmp_path: Path) -> None:
    """The decision is made after 200 ms, and circuits are lit 10 ms later."""

    def notes(stop: str) -> list[str]:
        made = said("compare", "--verbose", hybrid, "--set", f"run.stop={stop}", cwd=tmp_path)
        return [n for n in made if SHORT in n]

    assert [n.split(": ")[1] for n in notes("210 ms")] == ["cthrough"]
    assert notes("210.001 ms") == []
    lit = pq.read_table(tmp_path / "out" / "cthrough" / "circuits.parquet")
    assert set(lit["from_ps"].to_pylist()) == {210_000_000_000}
    # By default, HydRA decides after 10 s, when runs end by default.
    hydra = '\n[[fabric]]\nkind = "hydra"\n'
    hybrid.write_text(HYBRID + hydra, encoding="utf-8")
    assert [n.split(": ")[1] for n in notes("300 ms")] == ["hydra"]


@pytest.mark.parametrize(
    ("circuit_rate", "oversubscription", "slow"),
    # Racks have four servers of 1 Gb/s: the tree carries 4 Gb/s ÷ β of each rack.
    [("1 Gb/s", 4, True), ("1.001 Gb/s", 4, False), ("1 Gb/s", 5, False), ("4 Gb/s", 1, True)],
)
def test_circuits_that_are_no_faster_than_the_tree_are_told(
    circuit_rate: str, oversubscription: float, slow: bool, hybrid: Path, tmp_path: Path
) -> None:
    settings = [
        f"fabric.circuit_rate={circuit_rate}",
        f"fabric.oversubscription={oversubscription}",
    ]
    flags = [word for setting in settings for word in ("--set", setting)]
    hybrid.write_text(HYBRID.split('[[fabric]]\nkind = "tree"')[0], encoding="utf-8")
    notes = [n for n in said("run", hybrid, *flags, cwd=tmp_path) if SLOW in n]
    assert bool(notes) == slow
    if slow:
        assert "raise fabric.circuit_rate or fabric.oversubscription" in notes[0]


def test_all_circuits_of_a_rack_count_together(hybrid: Path, tmp_path: Path) -> None:
    fabric = '[[fabric]]\nkind = "hydra"\noversubscription = 2\ncircuit_rate = "1 Gb/s"\n'
    hybrid.write_text(HYBRID.split("[[fabric]]")[0] + fabric, encoding="utf-8")
    for planes, slow in ((1, True), (2, True), (3, False)):  # beside 2 Gb/s
        notes = said("run", hybrid, "--set", f"fabric.planes={planes}", cwd=tmp_path)
        assert any(SLOW in n for n in notes) == slow


@pytest.mark.parametrize(
    ("took", "ms"),
    [("3 ms", 1013), ("measured", 1010), (["2 ms", "9 ms"], 1012), ([], 1010)],
)
def test_the_soonest_light_takes_what_is_known_of_the_decision(took: Any, ms: int) -> None:
    """Regression: a run with measured computation times ended without its files."""
    fabric = {"interval": "1 s", "computation_delay": took, "settle": "10 ms"}
    assert soonest_ps(fabric) == ms * 10**9


def test_a_schedule_is_lit_after_its_night(hybrid: Path, tmp_path: Path) -> None:
    fabric = {"interval": "1 s", "settle": "10 ms", "policy": {"kind": "rotation"}}
    assert soonest_ps(fabric) == 1_010 * 10**9
    fabric["policy"] = {"kind": "rotation", "day": "9 ms", "night": "1 ms"}
    assert soonest_ps(fabric) == 1_001 * 10**9


def test_one_circuit_that_is_slower_than_the_tree_is_told(hybrid: Path, tmp_path: Path) -> None:
    """Racks have four servers of 1 Gb/s: a tree 4:1 carries 1 Gb/s, and all circuits together 4
    Gb/s."""
    fabric = '[[fabric]]\nkind = "hydra"\noversubscription = 4\n'
    for cluster in ('server_rate = "1 Gb/s"', 'rack_rate = "4 Gb/s"'):
        text = HYBRID.split("[[fabric]]")[0].replace('server_rate = "1 Gb/s"', cluster)
        hybrid.write_text(text + fabric, encoding="utf-8")
        for planes, told in ((3, False), (4, False), (5, True)):
            notes = said("run", hybrid, "--set", f"fabric.planes={planes}", cwd=tmp_path)
            found = [n for n in notes if "slower over one circuit than over the tree" in n]
            assert bool(found) == told
            assert not any(SLOW in n for n in notes)
        assert "circuit carries 800 Mb/s" in found[0]
        assert "up to 1.00 Gb/s" in found[0]


@pytest.mark.parametrize(
    ("own", "ms"),
    [
        # The decision is made after 100 ms; mirrors take 10 ms and transceivers 5 ms, with tags and
        # rules in parallel.
        ({"retag": "40 ms"}, 140),
        ({"retag": "1 ms"}, 115),
        # Two servers in each of the two racks, with one rule each.
        ({"retag": "0 s", "rule": "5 ms"}, 120),
        ({"retag": "0 s", "rule": "30 ms", "pushing": "parallel"}, 130),
        ({"retag": "0 s", "rule": "1 ms", "rules": 50}, 150),
        ({"retag": "40 ms", "computation_delay": "7 ms"}, 147),
    ],
)
def test_traffic_enters_when_it_is_said_to(own: dict[str, Any], ms: int, tmp_path: Path) -> None:
    """One flow between two racks: a run that ends at this time has sent no byte over its circuit,
    and one that ends a microsecond later has."""
    cluster = {"racks": 2, "servers_per_rack": 2, "server_rate": "1 Gb/s"}
    fabric = {
        "kind": "hydra", "planes": 1, "interval": "100 ms", "settle": "10 ms", "link_up": "5 ms",
        "rule": "0 s", "transport_recovery": "0 s", **own,
    }  # fmt: skip
    trace = tmp_path / "one.csv"
    trace.write_text("src,dst,bytes,arrival_ps\n0,2,1000000000,0\n", encoding="utf-8")
    table = {"cluster": cluster, "workload": {"trace": str(trace)}, "fabric": [fabric]}

    def ended(at_us: int) -> tuple[bool, list[str]]:
        result = ll.run({**table, "run": {"stop": f"{at_us} us"}})
        made = doubts(
            result.experiment,
            result.experiment["fabric"][0],
            result.summary["simulated_s"],
            result.circuits.num_rows > 0,
            result.summary["circuit_share"] > 0,
        )
        return result.summary["circuit_share"] > 0, [n.kind for n in made if n.kind != "interval"]

    used, notes = ended(ms * 1_000)
    # The circuit is lit after 115 ms, unless the run has ended.
    assert (used, notes) == (False, ["no circuit lit" if ms == 115 else "no circuit used"])
    assert ended(ms * 1_000 + 1) == (True, [])
    assert soonest_used_ps(cluster, {"order": "all-dark", **fabric}) == soonest_ps(fabric)


def test_an_electrical_network_by_default_beside_another_is_told(
    hybrid: Path, tmp_path: Path
) -> None:
    def told(*overrides: str) -> list[str]:
        options = [x for override in overrides for x in ("--set", override)]
        made = said(
            "compare", "--verbose", hybrid, "--set", "workload.flows=20", *options, cwd=tmp_path
        )
        return [n for n in made if "networks differ" in n]

    (line,) = told()
    assert "cthrough 40:1 by default" in line
    assert "tree 4:1; cluster.oversubscription" in line
    assert told("fabric.cthrough.oversubscription=40") == []
    assert told("fabric.cthrough.preset=testbed-40to1") == []
    assert told("fabric.tree.oversubscription=40") == []
    assert told("cluster.oversubscription=8") == []


def test_what_is_in_force_is_said_and_recorded(hybrid: Path, tmp_path: Path) -> None:
    settings = ["--set", "cluster.oversubscription=8", "--set", "workload.flows=20"]
    done = lightloom("compare", "--verbose", hybrid, *settings, "-o", "out", cwd=tmp_path)
    said = " ".join(done.stdout.split())
    networks = "electrical networks: cthrough 8:1 beside a circuit of 4.00 Gb/s a rack, tree 4:1"
    assert networks in said
    assert "overrides cluster.oversubscription" in said
    assert "tree: its own oversubscription" in said
    text = (tmp_path / "out" / "experiment.toml").read_text(encoding="utf-8")
    assert text.count("oversubscription = 8") == 2  # in the cluster, and in c-Through
    assert text.count("oversubscription = 4") == 1
    assert text.count('circuit_rate = "4 Gb/s"') == 1
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert networks.split(": ", 1)[1] in page
    # The place of the key does not change the flows.
    key = ["--set", "fabric.cthrough.oversubscription=8", *settings[2:]]
    lightloom("compare", hybrid, *key, "-o", "own", cwd=tmp_path)
    flows = [pq.read_table(tmp_path / o / "cthrough" / "flows.parquet") for o in ("out", "own")]
    assert flows[0].equals(flows[1])


@pytest.mark.parametrize("ratio", ["0", "-1", '"x"', "nan", "[3]", "2000"])
def test_an_oversubscription_that_cannot_be_is_refused(
    ratio: str, hybrid: Path, tmp_path: Path
) -> None:
    override = f"cluster.oversubscription={ratio}"
    done = lightloom("run", hybrid, "--set", override, "-o", "out", cwd=tmp_path)
    assert done.returncode == 2
    shown = ratio.replace("nan", '"nan"')  # which --set reads as text
    assert done.stderr.startswith(f"error: cluster.oversubscription = {shown}: ")
    assert " to 1,000; " in done.stderr
    assert not (tmp_path / "out").exists()
