"""The commands that simulate: their output, files and errors."""

import json
import re
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from cli_support import CLOS, SIRIUS, SMALL, command, lightloom, write
from signal_support import busy

from lightloom.analysis import notes
from lightloom.analysis.note import Note
from lightloom.simulation.machine import processors

FILES = {
    *("experiment.toml", "flows.parquet", "timeseries.parquet", "links.parquet"),
    *("summary.json", "record.json"),
}


def names(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir()}


def test_run_writes_what_it_says_it_writes(tmp_path: Path) -> None:
    write(tmp_path / "e.toml", SMALL, CLOS)
    done = lightloom("run", "e.toml", "-o", "out", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert names(tmp_path / "out") == FILES
    assert all(f"out/{name}" in done.stdout for name in FILES)
    assert pq.read_table(tmp_path / "out" / "flows.parquet").num_rows == 400


@pytest.mark.parametrize(
    ("stop", "noted"), [("1 ns", True), ("last-arrival", False), ("drain", False)]
)
def test_a_run_that_finished_little_says_how_to_finish(
    stop: str, noted: bool, tmp_path: Path
) -> None:
    write(tmp_path / "e.toml", SMALL, f'stop = "{stop}"\n', CLOS)
    done = lightloom("run", "e.toml", "--set", "workload.load=0.1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert ('run.stop = "drain"' in done.stdout) == noted
    assert "drops" not in done.stdout  # an ideal transport loses no packets


def test_results_go_below_the_names_of_experiment_and_label(tmp_path: Path) -> None:
    write(tmp_path / "e.toml", SMALL, CLOS)
    assert lightloom("run", "e.toml", cwd=tmp_path).returncode == 0
    assert names(tmp_path / "results" / "e" / "clos") == FILES


def test_a_name_cannot_lead_out_of_the_results(tmp_path: Path) -> None:
    write(tmp_path / "e.toml", 'name = "../../up & away"\n', SMALL, CLOS)
    assert lightloom("run", "e.toml", cwd=tmp_path).returncode == 0
    assert names(tmp_path / "results") == {"-..-up-away"}


def test_json_is_the_summary_and_nothing_else(tmp_path: Path) -> None:
    write(tmp_path / "e.toml", SMALL, CLOS)
    done = lightloom("run", "e.toml", "--json", cwd=tmp_path)
    assert done.stderr == ""
    assert json.loads(done.stdout)["flows_offered"] > 0
    assert names(tmp_path) == {"e.toml"}
    done = lightloom("run", "e.toml", "--json", "-o", "out", cwd=tmp_path)
    assert json.loads(done.stdout) == json.loads((tmp_path / "out" / "summary.json").read_text())


def test_a_result_runs_again_to_the_same_flows(tmp_path: Path) -> None:
    write(tmp_path / "e.toml", SMALL, SIRIUS)
    lightloom("run", "e.toml", "-o", "a", "--set", "workload.load=0.8", cwd=tmp_path)
    lightloom("run", "a/experiment.toml", "-o", "b", cwd=tmp_path)
    first, again = (pq.read_table(tmp_path / d / "flows.parquet") for d in "ab")
    assert first.equals(again)


def test_a_label_chooses_among_several_fabrics(tmp_path: Path) -> None:
    write(tmp_path / "e.toml", SMALL, SIRIUS, CLOS)
    done = lightloom("run", "e.toml", "--fabric", "clos", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["fabric"] == "clos"


def test_compare_writes_a_directory_for_each_label_and_a_report(tmp_path: Path) -> None:
    write(tmp_path / "e.toml", SMALL, SIRIUS, CLOS)
    done = lightloom("compare", "--verbose", "e.toml", "-o", "out", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.rstrip().endswith("report: out/report.html")
    assert names(tmp_path / "out" / "clos") == FILES
    assert names(tmp_path / "out" / "sirius") == FILES - {"links.parquet"}
    summaries = json.loads((tmp_path / "out" / "comparison.json").read_text())
    assert list(summaries) == ["sirius", "clos"]
    assert summaries["sirius"]["bytes_offered"] == summaries["clos"]["bytes_offered"]


def test_a_piped_table_fits_80_columns(tmp_path: Path) -> None:
    long = CLOS + 'label = "clos-as-it-was-built"\n'
    write(tmp_path / "e.toml", SMALL, SIRIUS, long)
    done = lightloom("compare", "--verbose", "e.toml", "-o", "out", cwd=tmp_path)
    lines = [line for line in done.stdout.splitlines() if not line.startswith("note: ")]
    assert len(lines) > 4
    assert max(map(len, lines)) <= 80


def test_the_first_table_is_explained_and_no_other(tmp_path: Path) -> None:
    write(tmp_path / "a.toml", SMALL, CLOS)
    write(tmp_path / "b.toml", SMALL, CLOS)
    done = lightloom("compare", "--verbose", "a.toml", "b.toml", "-o", "out", cwd=tmp_path)
    lines = done.stdout.splitlines()
    at = [i for i, line in enumerate(lines) if line.startswith("Load delivered: until the last")]
    assert len(at) == 1
    assert lines[at[0]].endswith("of R, what all servers can send.")
    assert lines[at[0] + 1].startswith("FCT: flow completion time")
    assert "By circuit" not in done.stdout  # there are none
    tables = [i for i, line in enumerate(lines) if line.startswith("clos ")]
    assert tables[0] + 1 == at[0] < tables[1]
    assert all(len(line) <= 80 for line in lines if not line.startswith("note: "))


def test_what_a_lone_server_may_take_is_said_where_the_file_leaves_it_open(tmp_path: Path) -> None:
    said = (
        "note: cluster.rack_rate does not limit a single server: one server may use all uplinks of "
        "its rack, 100 Gb/s or more; set cluster.nic to limit it (a server's share is 50.0 Gb/s)"
    )
    rack = 'rack_rate = "100 Gb/s"'
    given = {
        rack: 1,
        f'{rack}\nnic = "uncapped"': 0,
        f'{rack}\nnic = "50 Gb/s"': 0,
        'server_rate = "50 Gb/s"': 0,
    }
    for number, (keys, times) in enumerate(given.items()):
        write(tmp_path / "e.toml", SMALL.replace(rack, keys), SIRIUS, CLOS)
        compared = [("compare", "--verbose")] * (number < 2)  # with the note, and without it
        for words in (("run", "--fabric", "clos"), *compared):
            done = lightloom(*words, "e.toml", "-o", f"{words[0]}{number}", cwd=tmp_path)
            assert (done.returncode, done.stdout.count(said)) == (0, times), done.stdout


def test_several_experiments_share_a_report(tmp_path: Path) -> None:
    write(tmp_path / "a.toml", SMALL, CLOS)
    write(tmp_path / "b.toml", SMALL, CLOS, "\n[compare]\nloads = [0.2, 0.5]\n")
    done = lightloom("compare", "a.toml", "b.toml", "-o", "out", "--json", cwd=tmp_path)
    assert list(json.loads(done.stdout)) == ["a", "b"]
    assert names(tmp_path / "out") >= {"a", "b", "report.html"}
    loads = json.loads((tmp_path / "out" / "b" / "loads.json").read_text())
    offered = [summary["load_offered"] for summary in loads["clos"]]
    assert offered == pytest.approx([0.2, 0.5], rel=0.15)


def test_run_compares_where_there_are_several_fabrics(tmp_path: Path) -> None:
    """`run` has the output and the files of `compare`."""
    write(tmp_path / "e.toml", SMALL, SIRIUS, CLOS)
    made = {}
    for name in ("run", "compare"):
        (tmp_path / name).mkdir()
        done = lightloom(name, "../e.toml", cwd=tmp_path / name)
        assert (done.returncode, done.stderr) == (0, "")
        made[name] = done.stdout.splitlines(), files(tmp_path / name)
        both = lightloom(name, "../e.toml", "--json", cwd=tmp_path / name)
        assert list(json.loads(both.stdout)) == ["sirius", "clos"]
        assert files(tmp_path / name) == made[name][1]
    assert made["run"] == made["compare"]
    assert "results/e/sirius/flows.parquet" in made["run"][1]
    assert "results/e/report.html" in made["run"][1]
    one = lightloom("run", "e.toml", "--fabric", "clos", "--json", cwd=tmp_path)
    assert json.loads(one.stdout)["fabric"] == "clos"


def files(folder: Path) -> set[str]:
    return {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()}


BAD = {
    "no file": ("run no.toml", "EXPERIMENT = no.toml: no such file; check the path"),
    "directory": ("run .", "EXPERIMENT = .: is a directory; name a TOML file"),
    "syntax": ("run syntax.toml", "syntax.toml:2:8: "),
    "unknown label": (
        "run e.toml --fabric close",
        "--fabric = close: no such label; choose one of sirius, clos",
    ),
    "trace": ("run trace.toml", "line 3, column 5: bytes is `x`"),
    "no trace": ("run lost.toml", "lost.csv"),
    "output": ("run e.toml --fabric clos -o e.toml", "-o = e.toml: e.toml is a file"),
    "override": ("compare e.toml --set workload.load", "has no `=`; write KEY=VALUE"),
    "unknown key": ("compare e.toml --set fabric.clos.mtuu=9", 'did you mean "mtu"?'),
    "unknown table": ("compare e.toml --set fabrc.mtu=1", 'did you mean "fabric"?'),
    "swapped letters": ("compare e.toml --set rnu.seed=1", 'did you mean "run"?'),
    "run nothing": ("run empty.toml", "there is no [[fabric]] table; add [[fabric]]"),
    "compare nothing": ("compare empty.toml", "there is no [[fabric]] table; add [[fabric]]"),
    "run a sweep": ("run sweep.toml", "looks like a sweep file; use `lightloom sweep`"),
    "compare a sweep": ("compare sweep.toml", "looks like a sweep file; use `lightloom sweep`"),
    "sweep an experiment": ("sweep e.toml", "looks like an experiment; use `lightloom run`"),
    "lost label": (
        "compare e.toml --set fabric.close.mtu=9",
        "no fabric is labelled close; choose one of sirius, clos",
    ),
    "unknown kind": ("compare e.toml --set fabric.clos.kind=close", 'did you mean "clos"?'),
    "no unit": ("compare e.toml --set fabric.clos.mtu=1500", "has no unit"),
    "wrong unit": ("compare e.toml --set fabric.clos.mtu=1500ns", "is not a unit of"),
    "slot": (
        "compare e.toml --set fabric.sirius.slot=5ns",
        "leaves no time to send beside a guardband of 10 ns",
    ),
    "gratings": (
        "compare e.toml --set fabric.sirius.grating_ports=3",
        "8 nodes do not divide into groups of 3",
    ),
    "queue": ("compare e.toml --set fabric.sirius.queue=1", "queue = 1: must be from 2 to 64"),
    "no load": ("compare e.toml --set workload.load=0", "workload.load = 0"),
    "too many flows": ("compare e.toml --set workload.flows=1_000_000_000", "GiB"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_run_is_refused_in_one_message(case: str, tmp_path: Path) -> None:
    arguments, expected = BAD[case]
    head = SMALL.partition("[workload]")[0]
    write(tmp_path / "e.toml", SMALL, SIRIUS, CLOS)
    write(tmp_path / "empty.toml")
    write(tmp_path / "sweep.toml", 'base = "e.toml"\n[grid]\n"run.seed" = [1, 2]\n')
    write(tmp_path / "syntax.toml", "[run]\nseed = ,\n")
    write(tmp_path / "trace.csv", "src,dst,bytes,arrival_ps\n0,1,100,0\n0,1,x,0\n")
    write(tmp_path / "trace.toml", head, '[workload]\ntrace = "trace.csv"\n', CLOS)
    write(tmp_path / "lost.toml", head, '[workload]\ntrace = "lost.csv"\n', CLOS)
    before = names(tmp_path)
    done = lightloom(*arguments.split(), cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert expected in done.stderr
    assert names(tmp_path) == before


def test_compare_refuses_before_it_runs_anything(tmp_path: Path) -> None:
    write(tmp_path / "e.toml", SMALL, CLOS, SIRIUS.replace("uplinks = 2", "uplinks = 99"))
    done = lightloom("compare", "e.toml", "-o", "out", cwd=tmp_path)
    assert done.returncode == 2
    assert ".uplinks = 99" in done.stderr
    assert names(tmp_path) == {"e.toml"}
    twice = lightloom("compare", "e.toml", "e.toml", cwd=tmp_path)
    assert "have this name" in twice.stderr


INTERRUPTED_IMPORT = """
import sys

class CtrlC:
    def find_spec(self, name, path=None, target=None):
        if name == "typer":
            raise KeyboardInterrupt

sys.meta_path.insert(0, CtrlC())
from lightloom.__main__ import main
main()
"""


def test_ctrl_c_while_the_command_still_loads_prints_no_traceback() -> None:
    """Regression: in the first half second of any command, Ctrl-C printed the traceback of an
    import."""
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_IMPORT, "run", "e.toml"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 130
    assert re.fullmatch("interrupted: .*\n", done.stderr)


def test_an_interrupted_run_leaves_nothing_behind(tmp_path: Path) -> None:
    huge = SMALL.replace("racks = 8", "racks = 128").replace("flows = 400", "flows = 3_000_000")
    write(tmp_path / "e.toml", huge, CLOS)
    with subprocess.Popen(
        command("run", "e.toml", "-o", "out"), cwd=tmp_path, stderr=subprocess.PIPE, text=True
    ) as process:
        busy(process, 2.0)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert re.fullmatch("interrupted: .*\n", errors)
    assert names(tmp_path) == {"e.toml"}


def interrupted_by(code: str, folder: Path) -> None:
    """Runs `compare` in Python with `code`, which ends it by a signal; its message must be about
    the signal."""
    write(folder / "e.toml", SMALL, SIRIUS, CLOS)
    done = subprocess.run(
        [sys.executable, "-c", code, "compare", "e.toml", "-o", "out"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 130
    assert re.fullmatch("interrupted: .*\n", done.stderr)


INTERRUPTED_REPORT = """
import signal
from lightloom import report
from lightloom.__main__ import main

def stage(*given, whole=report.stage):
    signal.raise_signal(signal.SIGINT)
    return whole(*given)

report.stage = stage
main()
"""


def test_ctrl_c_while_the_report_is_drawn_leaves_all_or_nothing(tmp_path: Path) -> None:
    """Regression: results of one run remained beside figures and a page of another."""
    interrupted_by(INTERRUPTED_REPORT, tmp_path)
    out = tmp_path / "out"
    assert not out.exists() or {"comparison.json", "figures", "report.html"} <= names(out)


FAILING_AFTER_A_SIGNAL = """
import signal
from lightloom import report
from lightloom.__main__ import main

def stage(*given):
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt:
        raise FileNotFoundError(2, "No such file", "out/.unfinished") from None

report.stage = stage
main()
"""


def test_a_failure_after_a_signal_is_told_as_the_signal(tmp_path: Path) -> None:
    """Regression: the core removes unfinished files while a slow command still writes them, and the
    command reported a failure to write."""
    interrupted_by(FAILING_AFTER_A_SIGNAL, tmp_path)


def test_the_version_is_that_of_the_summary(tmp_path: Path) -> None:
    write(tmp_path / "e.toml", SMALL, CLOS)
    version = json.loads(lightloom("run", "e.toml", "--json", cwd=tmp_path).stdout)["version"]
    assert lightloom("--version", cwd=tmp_path).stdout == f"lightloom {version}\n"


@pytest.mark.parametrize(
    ("fabric", "stop", "least", "most"),
    [
        # The last flow arrives at the end of the run.
        (CLOS, "last-arrival", 1, 1),
        # Slots are 100 ns: one has just begun, and one has not ended.
        (SIRIUS, "last-arrival", 1, 20),
        (CLOS, "drain", 0, 0),
        (CLOS, "20 us", 300, 390),
    ],
)
def test_flows_that_were_not_offered_are_counted(
    tmp_path: Path, fabric: str, stop: str, least: int, most: int
) -> None:
    write(tmp_path / "e.toml", SMALL, f'stop = "{stop}"\n', fabric)
    done = lightloom("run", "e.toml", "-o", "out", cwd=tmp_path)
    rows = pq.read_table(tmp_path / "out" / "flows.parquet")
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    left = rows.num_rows - summary["flows_offered"]
    assert least <= left <= most
    mean = sum(rows["bytes"].to_pylist()) / 400
    drawn = f": 400 flows of {mean / 1e3:.1f} KB on average, load {summary['load_offered']:.3f}"
    assert drawn in done.stdout
    assert (f" ({left} more not offered by then)\n" in unpadded(done.stdout)) == (left > 0)
    compared = lightloom("compare", "--verbose", "e.toml", "-o", "all", cwd=tmp_path).stdout
    assert compared.startswith(f"e{drawn}")


def unpadded(table: str) -> str:
    return "".join(f"{line.rstrip()}\n" for line in table.splitlines())


def test_run_says_what_is_in_force(tmp_path: Path) -> None:
    """8 racks meet every 4 slots with 2 uplinks, and every 8/3 slots with 3 uplinks."""
    write(tmp_path / "e.toml", SMALL, SIRIUS)
    done = lightloom("run", "e.toml", "-o", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    force = ("in force 2 base uplinks", "2 uplinks", "cells of 562 B", "epochs of 4 ")
    assert all(part in said for part in force)
    done = lightloom("run", "e.toml", "--set", "fabric.uplinks=3", "-o", "out", cwd=tmp_path)
    assert "epochs of 2.667 slots\n" in unpadded(done.stdout)
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["derived"]["epoch_slots"] == 8 / 3
    done = lightloom(
        *("run", "e.toml", "-o", "out", "--set", "cluster.racks=2", "--set", "fabric.uplinks=2"),
        cwd=tmp_path,
    )
    # Two nodes meet in every slot. The text is one line, because lines are wrapped only for a
    # terminal.
    said = "  in force          2 base uplinks, 2 uplinks, cells of 562 B, epochs of 1 slot\n"
    assert said in unpadded(done.stdout)
    write(tmp_path / "e.toml", SMALL, CLOS)
    done = lightloom("run", "e.toml", "-o", "out", cwd=tmp_path)
    assert "in force" not in done.stdout


def test_faults_after_the_end_are_noted(tmp_path: Path) -> None:
    late = '\n[[fault]]\nat = "1 s"\nelement = "node"\nnode = 2\n'
    soon = late.replace("1 s", "1 us").replace("node = 2", "node = 1")
    both = late + 'repair_at = "2 s"\n' + soon
    for verb, name in (("run", "note: "), ("compare", "note: sirius: ")):
        for faults, said, which in (
            (late, "a failure or repair was due after", "node 2 fails at 1 s; let it come"),
            (
                both,
                "2 failures or repairs were due after",
                "node 2 fails at 1 s, node 2 is repaired at 2 s; let them come",
            ),
            (soon, None, ""),
        ):
            write(tmp_path / "e.toml", SMALL, SIRIUS, faults)
            done = lightloom(verb, "e.toml", "--verbose", "-o", "out", cwd=tmp_path)
            assert done.returncode == 0, done.stderr
            in_time = f"{name}during the run node 1 fails at 1 us\n"
            assert (in_time in done.stdout) == (soon in faults)
            assert ("due after" in done.stdout) == (said is not None)
            assert said is None or f"{name}{said} the run ended at" in done.stdout
            assert f", without effect: {which}" in done.stdout or said is None


def test_a_load_that_is_not_the_one_asked_for_is_noted_once() -> None:
    def noted(drawn: float | None, **workload: object) -> list[Note]:
        return list(notes.of_workload({"load_offered": drawn}, workload))

    assert noted(0.46, load=0.5) == noted(None, load=0.5) == noted(1.9) == []
    (short,) = noted(0.28, load=0.5)
    assert short.kind == "other load: large flows, not rescaled"
    assert (short.values["load"], short.values["asked"]) == (0.28, 0.5)
    (rescaled,) = noted(0.28, load=0.5, mean_rule="rescaled")
    assert rescaled.kind == "other load: large flows"
    (equal,) = noted(0.28, load=0.5, sizes={"kind": "fixed"})
    assert equal.kind == "other load: few flows"
    (long,) = noted(40.4, trace="trace.csv")
    assert (long.kind, long.values) == ("load above servers", {"load": 40.4})


def test_samples_that_are_thinned_are_noted(tmp_path: Path) -> None:
    """20 us with a sample every 10 ns: 1,000 samples at 10 us are thinned to 500, and 1,000 samples
    at 20 us again to 500."""

    def noted(sample: str) -> list[str]:
        sets = ("--set", f"run.sample={sample}", "--set", "run.stop=20.01 us")
        done = lightloom("run", "e.toml", *sets, "-o", "out", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return [line for line in done.stdout.splitlines() if "run.sample" in line]

    write(tmp_path / "e.toml", SMALL, SIRIUS)
    (line,) = noted("10 ns")
    assert "run.sample = 10 ns" in line
    assert " 40 ns apart" in line
    assert noted("100 ns") == []


def test_late_events_are_told_apart_by_their_parts() -> None:
    port = {"at": "2 s", "element": "optical-port", "node": 3, "repair_at": "9 s"}
    faults: list[dict[str, object]] = [
        {"at": "1 s", "element": "transceiver", "node": 1, "uplink": 2, "repair_at": "1001 ms"},
        {"at": "500 ms", "element": "grating", "grating": 0},
        {"at": "2 s", "element": "controller"},
        port,
        {**port, "plane": 1, "repair_at": None},
    ]
    assert list(notes.events_after(faults, 10**12)) == [
        "uplink 2 of node 1 is repaired at 1001 ms",  # an event at the end of the run has an effect
        "the controller fails at 2 s",
        "the optical port of node 3 fails at 2 s",
        "the optical port of node 3 is repaired at 9 s",
        "the optical port of node 3 on plane 1 fails at 2 s",
    ]


def test_fewer_uplinks_than_the_rack_rate_needs_are_noted(tmp_path: Path) -> None:
    """100 Gb/s are two channels; two racks have at most two uplinks."""
    write(tmp_path / "e.toml", SMALL, SIRIUS)
    for sets, said in (
        (["fabric.uplinks=2"], None),
        (["fabric.uplinks=1"], "uplinks = 1 is less than the 2 base uplinks"),
        (
            ["cluster.racks=2", "cluster.rack_rate=200 Gb/s"],
            "add racks (each allows one more uplink)",
        ),
    ):
        overrides = [word for set_ in sets for word in ("--set", set_)]
        for verb, name in (("run", "note: "), ("compare", "note: sirius: ")):
            done = lightloom(verb, "e.toml", "--verbose", *overrides, "-o", "out", cwd=tmp_path)
            assert done.returncode == 0, done.stderr
            notes = " ".join(done.stdout.split())
            assert (name + "uplinks = " in notes) == (said is not None)
            assert said is None or said in notes


def test_links_that_carry_less_than_was_offered_are_noted(tmp_path: Path) -> None:
    """Servers of 50 Gb/s with links of 20 Gb/s carry 0.4 of their rate."""
    for table in (CLOS, SIRIUS):
        write(tmp_path / "e.toml", SMALL, table)
        for load, over in ((0.3, False), (0.6, True)):
            sets = ("--set", "cluster.nic=20 Gb/s", "--set", f"workload.load={load}")
            done = lightloom("run", "e.toml", *sets, "-o", "out", cwd=tmp_path)
            assert done.returncode == 0, done.stderr
            said = " ".join(done.stdout.split())
            assert ("a load of 0.4," in said) == over


def test_one_fabric_runs_whatever_happens_in_the_others(tmp_path: Path) -> None:
    fault = '\n[[fault]]\nat = "1 us"\nelement = "node"\nnode = 3\n'
    write(tmp_path / "e.toml", SMALL, SIRIUS, CLOS, fault + 'fabric = "sirius"\n')
    for label in ("sirius", "clos"):
        done = lightloom("run", "e.toml", "--fabric", label, "-o", label, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        kept = tomllib.loads((tmp_path / label / "experiment.toml").read_text())
        assert len(kept.get("fault", [])) == (label == "sirius")
    write(tmp_path / "e.toml", SMALL, SIRIUS, CLOS, fault)
    done = lightloom("run", "e.toml", "--fabric", "clos", "-o", "none", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("error: fault[0] = node 3: ")
    assert done.stderr.strip().endswith('fabric = "sirius"')
    assert not (tmp_path / "none").exists()


def test_all_files_or_the_nearest_are_named_for_one_that_is_missing(tmp_path: Path) -> None:
    names = [f"{letter}.toml" for letter in "abcdefghijkl"]
    for name in (*names, "waves.toml"):
        write(tmp_path / name, SMALL, CLOS)
    said = {
        "zzz.toml": f"no such file; check the path; there are {', '.join(names)}, waves.toml",
        "wave.toml": "no such file; check the path; did you mean waves.toml?",
        "there/a.toml": "no such file; check the path; there is no folder there",
    }
    for name, expected in said.items():
        done = lightloom("run", name, cwd=tmp_path)
        assert done.returncode == 2
        assert done.stderr.strip() == f"error: EXPERIMENT = {name}: {expected}"


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        ("run e.toml", "--threads"),
        ("compare e.toml", "--threads"),
        ("sweep s.toml", "--workers"),
        ("reproduce clos", "--workers"),
    ],
)
def test_work_is_shared_among_one_or_more(tmp_path: Path, arguments: str, option: str) -> None:
    write(tmp_path / "e.toml", SMALL, CLOS)
    for count in (0, -2):
        done = lightloom(*arguments.split(), option, count, cwd=tmp_path)
        assert done.returncode == 2
        assert done.stderr.startswith(f"error: {option} = {count}: ")
        assert "at least 1" in done.stderr
    done = lightloom(*arguments.split(), option, 10**23, "-o", "out", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: {option} = {10**23}: ")
    assert "at most 65,536" in done.stderr
    assert not (tmp_path / "out").exists()


def test_more_threads_than_processors_are_noted_once(tmp_path: Path) -> None:
    write(tmp_path / "e.toml", SMALL, SIRIUS, CLOS)
    there = processors()
    for verb, more in (("run", ["--fabric", "sirius"]), ("compare", [])):
        for threads, noted in ((1, 0), (there, 0), (there + 1, 1)):
            options = [*more, "--threads", threads, "--json"]
            done = lightloom(verb, "e.toml", *options, cwd=tmp_path)
            assert done.returncode == 0, done.stderr
            assert done.stderr.count(f"note: --threads {threads} is more than") == noted
            json.loads(done.stdout)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("run e.toml --threads x", "--threads = x: must be a whole number; see `run"),
        ("sweep s.toml --workers=1.5", "--workers = 1.5: must be a whole number; see `sweep"),
        ("plan d.csv -a eclipse --step y", "--step = y: must be a number; see `plan"),
        ("run e.toml --thred 2", "--thred: no such option; did you mean --threads?"),
        ("run e.toml --zzz", "--zzz: no such option; see `run"),
        ("run --set", "--set: requires an argument; see `run"),
        ("run e.toml --json=yes", "--json: does not take a value; see `run"),
        ("run", "EXPERIMENT.toml = (missing): must be given; see `run"),
        ("plan d.csv", "--algorithm = (missing): must be given; see `plan"),
        ("runn e.toml", "COMMAND = runn: no such command; did you mean run?"),
        ("zzz", "COMMAND = zzz: no such command; see `"),
        ("--zzz", "--zzz: no such option; see `"),
        ("switch change x --wait x", "--wait = x: must be a number; see `switch change"),
        ("switch change x --wait", "--wait: requires an argument; see `switch change"),
        ("switch test x --zzz", "--zzz: no such option; see `switch test"),
        ("switch zzz", "COMMAND = zzz: no such command; see `switch"),
        ("testbed zzz", "COMMAND = zzz: no such command; see `testbed"),
        ("circuits --zzz", "--zzz: no such option; see `circuits"),
        ("controller serve", "CONTROLLER.toml = (missing): must be given; see `controller serve"),
        ("controller token revoke x --zzz", "--zzz: no such option; see `controller token revoke"),
    ],
)
def test_arguments_are_refused_as_values_are(tmp_path: Path, arguments: str, message: str) -> None:
    done = lightloom(*arguments.split(), cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    message, look, command = message.partition("`")
    expected = f"error: {message}{look}"
    if look:
        expected += " ".join(filter(None, ["lightloom", command, "--help`"]))
    assert done.stderr == f"{expected}\n"


def test_without_a_command_there_is_help(tmp_path: Path) -> None:
    done = lightloom(cwd=tmp_path)
    assert "Usage:" in done.stdout + done.stderr
    assert "error" not in done.stderr


@pytest.mark.parametrize("name", ["fabrics", "workloads", "policies", "schema"])
def test_lists_end_quietly_when_their_reader_goes_away(name: str, tmp_path: Path) -> None:
    with subprocess.Popen(
        command(name), cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait(timeout=60) == 141


@pytest.mark.parametrize(
    "arguments",
    [("compare",), ("compare", "--json"), ("run", "--fabric", "clos")],
)
def test_a_reader_that_goes_away_takes_no_results_with_it(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    """The reader closes the pipe like `head`, here before the first line; the exit code in a Unix
    shell is then 141."""
    path = write(tmp_path / "both.toml", SMALL, SIRIUS, CLOS)
    name, *options = arguments
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    done = lightloom(name, path, *options, "-o", whole, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    process = subprocess.Popen(
        command(name, path, *options, "-o", cut),
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.wait(timeout=120) == 141
    there = {file.relative_to(whole) for file in whole.rglob("*.*")}
    assert there == {file.relative_to(cut) for file in cut.rglob("*.*")}
    assert Path("summary.json") in there or Path("report.html") in there
