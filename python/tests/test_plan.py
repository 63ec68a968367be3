"""`lightloom plan`: what it prints, writes, draws and refuses."""

from __future__ import annotations

import io
import json
import os
import shlex
import signal
import subprocess
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_support import ROOT, command, lightloom
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import lightloom as lightloom_package
from lightloom import control
from lightloom.cli import app

EIGHT = ROOT / "examples" / "demand-8.csv"
THOUSAND = ROOT / "examples" / "demand-1000.npy"
SCHEDULES = ["bvn", "solstice", "eclipse", "round-robin"]
CIRCUITS = ["edmonds", "assignment", "hydra"]
KEYS = ["format", "version", "algorithm", "demand", "options", "figures"]
FIGURES = [
    *("objective", "weight", "carried_bytes", "coverage", "bound", "optimal"),
    *("circuits", "slots", "period_ps", "duty_cycle", "completion_ps"),
]


def names(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir()}


def planned(*arguments: object, cwd: Path) -> dict[str, Any]:
    done = lightloom("plan", *arguments, "--json", cwd=cwd)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


# What is written


@pytest.mark.parametrize("algorithm", CIRCUITS + SCHEDULES)
def test_a_plan_is_printed_written_and_drawn(algorithm: str, tmp_path: Path) -> None:
    done = lightloom(
        *("plan", EIGHT, "--algorithm", algorithm),
        *("-o", "new/plan.json", "--picture", "plan.svg"),
        cwd=tmp_path,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("demand-8.csv: 8 nodes, 36 pairs, 53.3 GB\n")
    assert done.stdout.endswith("wrote new/plan.json plan.svg\n")
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert names(tmp_path) == {"new", "plan.svg"}
    plan = json.loads((tmp_path / "new" / "plan.json").read_text())
    assert list(plan)[:6] == KEYS
    assert list(plan["figures"]) == FIGURES
    assert plan["demand"]["names"][:2] == ["gpu-0", "gpu-1"]
    assert (plan["schedule"] is None) == (algorithm in CIRCUITS)
    check_figures(plan, control.read_demand(EIGHT).matrix)


def check_figures(plan: dict[str, Any], demand: np.ndarray) -> None:
    """The figures from what is in the file, worked out anew."""
    figures = plan["figures"]
    assert figures["coverage"] == figures["carried_bytes"] / demand.sum()
    if plan["schedule"] is not None:
        slots = plan["schedule"]["slots"]
        rate = 10_000_000_000  # the default, as `options` says
        assert plan["options"]["rate"] == "10 Gb/s"
        left, lit = demand.copy(), 0
        for slot in slots:
            assert slot["start_ps"] == lit
            inputs, outputs = np.arange(8), np.array(slot["permutation"])
            sent = np.minimum(left[inputs, outputs], rate * slot["day_ps"] // (8 * 10**12))
            left[inputs, outputs] -= sent
            assert slot["bytes"] == sent.sum()
            lit += plan["schedule"]["night_ps"] + slot["day_ps"]
        assert figures["carried_bytes"] == (demand - left).sum()
        assert (figures["slots"], figures["period_ps"]) == (len(slots), lit)
        days = sum(slot["day_ps"] for slot in slots)
        assert figures["duty_cycle"] == pytest.approx(days / lit, rel=1e-12)
    elif plan["algorithm"] != "hydra":
        ends = [(c["a"], c["b"]) for c in plan["circuits"]]
        if plan["algorithm"] == "edmonds":
            ends += [(b, a) for a, b in ends]
        assert figures["weight"] == figures["carried_bytes"] == sum(demand[e] for e in ends)
    if figures["objective"] == "completion_ps":
        assert figures["bound"] <= figures["completion_ps"]
    else:
        assert figures[figures["objective"]] <= figures["bound"]


def test_the_example_of_1000_racks_proves_its_optimum(tmp_path: Path) -> None:
    done = lightloom("plan", THOUSAND, "--algorithm", "edmonds", "-o", "p.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("demand-1000.npy: 1,000 nodes, 29,269 pairs, 450 GB\n")
    assert "proved: dual bound = weight = " in done.stdout
    plan = json.loads((tmp_path / "p.json").read_text())
    assert plan["figures"]["optimal"] is True
    # The proof in the file, checked by what its documentation says of it.
    demand = np.load(THOUSAND).astype(np.int64)
    proof, both = plan["proof"], demand + demand.T
    # Multiplied, so that circuits that are up could count less than a byte.
    both *= 501
    y = np.array(proof["y"])
    cover, total = y[:, None] + y[None, :], sum(proof["y"])
    assert proof["blossoms"]
    assert min(y) >= 0
    for blossom in proof["blossoms"]:
        members = blossom["members"]
        assert blossom["z"] >= 0
        assert len({*members}) % 2 == 1
        cover[np.ix_(members, members)] += blossom["z"]
        total += blossom["z"] * (len(members) // 2)
    np.fill_diagonal(cover, 2 * both.max())
    assert (cover >= 2 * both).all()
    assert total == 2 * 501 * plan["figures"]["weight"]


def test_the_example_is_what_its_script_makes() -> None:
    scope: dict[str, Any] = {"__name__": "example"}
    exec((ROOT / "examples" / "demand_1000.py").read_text(), scope)
    assert np.array_equal(scope["demand"](), np.load(THOUSAND))


def test_json_alone_writes_nothing(tmp_path: Path) -> None:
    plan = planned(EIGHT, "-a", "assignment", cwd=tmp_path)
    assert plan["proof"]["verified"] is True
    assert names(tmp_path) == set()
    again = lightloom("plan", EIGHT, "-a", "assignment", "-o", "p.json", "--json", cwd=tmp_path)
    assert again.stdout == (tmp_path / "p.json").read_text()


def test_a_plan_is_the_same_every_time(tmp_path: Path) -> None:
    for name in ("a", "b"):
        done = lightloom(
            *("plan", EIGHT, "-a", "eclipse", "-o", f"{name}.json", "--picture", f"{name}.svg"),
            cwd=tmp_path,
        )
        assert done.returncode == 0
    for kind in ("json", "svg"):
        assert (tmp_path / f"a.{kind}").read_bytes() == (tmp_path / f"b.{kind}").read_bytes()


@pytest.mark.parametrize(
    ("kind", "begins"),
    [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF"), ("SVG", b"<?xml")],
)
def test_pictures_of_each_kind(kind: str, begins: bytes, tmp_path: Path) -> None:
    done = lightloom("plan", EIGHT, "-a", "edmonds", "--picture", f"p.{kind}", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / f"p.{kind}").read_bytes().startswith(begins)


@pytest.mark.parametrize("algorithm", ["edmonds", "solstice"])
def test_pictures_hold_what_they_show(algorithm: str, tmp_path: Path) -> None:
    lightloom("plan", EIGHT, "-a", algorithm, "--picture", "p.svg", cwd=tmp_path)
    texts = [text.strip() for text in ElementTree.parse(tmp_path / "p.svg").getroot().itertext()]
    shown = {text for text in texts if text}
    assert {"Demand", "gpu-0", "cache"} <= shown
    assert ("Circuits" if algorithm == "edmonds" else "Schedule") in shown
    assert any(text.startswith(f"{algorithm}: ") for text in shown)


@pytest.mark.parametrize("nodes", [2, 60])
@pytest.mark.parametrize("algorithm", [*CIRCUITS, *SCHEDULES])
def test_small_and_large_plans_have_pictures(algorithm: str, nodes: int, tmp_path: Path) -> None:
    demand = np.random.default_rng(nodes).integers(1, 1_000, (nodes, nodes)) * 10_000
    np.fill_diagonal(demand, 0)
    path = control.plan(demand, algorithm).picture(tmp_path / "p.png")
    assert path.stat().st_size > 10_000


def test_a_schedule_without_slots_has_a_picture(tmp_path: Path) -> None:
    plan = control.plan(
        [[0, 5], [5, 0]], "solstice", rate="10 Gb/s", packet_rate="1 Gb/s", night="1 s"
    )
    assert (plan.figures["slots"], plan.figures["coverage"]) == (0, 0.0)
    assert plan.picture(tmp_path / "p.png").exists()
    assert json.loads(plan.text())["schedule"]["slots"] == []


# What is read


def test_every_format_gives_the_same_plan(tmp_path: Path) -> None:
    demand = control.read_demand(EIGHT)
    np.save(tmp_path / "d.npy", demand.matrix)
    columns = dict(zip(demand.names, demand.matrix.T, strict=True))
    pq.write_table(pa.table(columns), tmp_path / "d.parquet")
    pq.write_table(pa.table({"from": demand.names, **columns}), tmp_path / "named.parquet")
    rows = "\n".join(";".join(map(str, row)) for row in demand.matrix)
    (tmp_path / "d.csv").write_text("﻿" + rows, encoding="utf-8")
    expected = planned(EIGHT, "-a", "edmonds", cwd=tmp_path)
    for name, named in [("d.npy", 0), ("d.csv", 0), ("d.parquet", 1), ("named.parquet", 1)]:
        plan = planned(name, "-a", "edmonds", cwd=tmp_path)
        assert plan["circuits"] == expected["circuits"]
        assert plan["demand"]["names"] == (demand.names if named else None)


def test_units_and_fractions(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("0, 0.5\n1.25, 0\n")
    plan = planned("d.csv", "-a", "assignment", "--unit", "1 KB", cwd=tmp_path)
    assert plan["figures"]["weight"] == 1_750
    np.save(tmp_path / "d.npy", np.array([[0, 3], [4, 0]], np.uint16))
    plan = planned("d.npy", "-a", "assignment", "--unit", "1 MB", cwd=tmp_path)
    assert plan["figures"]["weight"] == 7_000_000


def test_names_and_comments_in_a_csv(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text('# seconds\n\n,"a",b\n"a",0,1\nb, 2,0\n')
    demand = control.read_demand(tmp_path / "d.csv")
    assert (demand.names, demand.matrix.tolist()) == (["a", "b"], [[0, 1], [2, 0]])
    (tmp_path / "d.csv").write_text("a\tb\n0\t1\n2\t0\n")
    demand = control.read_demand(tmp_path / "d.csv")
    assert (demand.names, demand.matrix.tolist()) == (["a", "b"], [[0, 1], [2, 0]])


def test_names_are_shown_as_they_are(tmp_path: Path) -> None:
    """Brackets were taken for colours, and escapes would have reached the terminal."""
    (tmp_path / "d.csv").write_text("[red],\x1b[31m$b$ <&>\n0,1\n2,0\n", encoding="utf-8")
    done = lightloom(
        "plan", "d.csv", "-a", "edmonds", "-o", "p.json", "--picture", "p.svg", cwd=tmp_path
    )
    assert "[red]    �[31m$b$ <&>" in done.stdout
    shown = "".join(ElementTree.parse(tmp_path / "p.svg").getroot().itertext())
    assert "[red]" in shown
    assert "�[31m$b$ <&>" in shown


def valid_files() -> dict[str, bytes]:
    """A matrix in every format."""
    npy, parquet = io.BytesIO(), io.BytesIO()
    np.save(npy, [[0, 1, 2], [3, 0, 1], [1, 2, 0]])
    columns = {"a": [1, 0, 2], "b": [0, 3, 1], "c": [2, 1, 0]}
    pq.write_table(pa.table({"from": ["b", "a", "c"], **columns}), parquet)
    text = b'# x\nf,"a, 1",b\nb, 7 ,0\n"a, 1",0,1.0\n'
    return {".csv": text, ".npy": npy.getvalue(), ".parquet": parquet.getvalue()}


VALID = valid_files()
CHANGES = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 12), st.binary(max_size=4)))


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.sampled_from(sorted(VALID)), CHANGES)
def test_a_damaged_file_is_a_matrix_or_refused(
    suffix: str, changes: list[tuple[float, int, bytes]]
) -> None:
    content = VALID[suffix]
    for place, cut, instead in changes:
        at = int(place * len(content))
        content = content[:at] + instead + content[at + cut :]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"d{suffix}"
        path.write_bytes(content)
        try:
            demand = control.read_demand(path)
        except lightloom_package.ConfigError as problem:
            assert str(problem).startswith(str(path))
            assert "\n" not in str(problem)
        else:
            assert demand.matrix.min() >= 0
            assert demand.matrix.sum() > 0


# Options


def test_circuits_that_are_up_are_kept(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("0,1,1,1\n1,0,1,1\n1,1,0,1\n1,1,1,0\n")
    (tmp_path / "up.json").write_text("[[0, 3], [1, 2]]")
    done = lightloom(
        "plan", "d.csv", "-a", "edmonds", "--hysteresis", "up.json", "-o", "p.json", cwd=tmp_path
    )
    assert "2 of 2 circuits" in done.stdout
    plan = json.loads((tmp_path / "p.json").read_text())
    assert [[c["a"], c["b"]] for c in plan["circuits"]] == [[0, 3], [1, 2]]
    assert plan["figures"]["optimal"] is True
    # A plan is itself such a file; here a difference is worth less than the bonus.
    (tmp_path / "d.csv").write_text("0,9,1,1\n1,0,1,1\n1,1,0,1\n1,1,1,0\n")
    up = ("--hysteresis", "p.json")
    moved = planned("d.csv", "-a", "edmonds", *up, cwd=tmp_path)
    assert moved["circuits"][0] == {"a": 0, "b": 1, "bytes": 10}
    assert moved["kept"] == 0
    stayed = planned("d.csv", "-a", "edmonds", *up, "--bonus", "100 B", cwd=tmp_path)
    assert stayed["kept"] == 2
    assert stayed["figures"]["optimal"] is None


def test_weights_of_undirected_circuits(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("0,5\n5,0\n")
    plan = planned("d.csv", "-a", "edmonds", "--symmetric", cwd=tmp_path)
    assert (plan["figures"]["weight"], plan["figures"]["coverage"]) == (5, 1.0)


def test_a_frame_is_kept(tmp_path: Path) -> None:
    frame = ("--period", "2 s", "--night", "10 ms", "--shortest", "50 ms", "--max-slots", "7")
    for algorithm in ("bvn", "eclipse"):
        plan = planned(EIGHT, "-a", algorithm, *frame, "--rate", "40 Gb/s", cwd=tmp_path)
        slots = plan["schedule"]["slots"]
        assert 0 < len(slots) <= 7
        assert plan["schedule"]["period_ps"] <= 2 * 10**12
        assert min(slot["day_ps"] for slot in slots) >= 40 * 10**9
    round_robin = planned(EIGHT, "-a", "round-robin", "--day", "90 us", cwd=tmp_path)
    assert round_robin["figures"]["duty_cycle"] == 0.9
    assert round_robin["figures"]["period_ps"] == 7 * 100_000_000


def test_a_schedule_without_nights_says_so(tmp_path: Path) -> None:
    options = ("-a", "round-robin", "--day", "1 us", "--night", "0 s")
    done = lightloom("plan", EIGHT, *options, cwd=tmp_path)
    assert "7 slots in 7.00 us, no nights" in done.stdout
    assert "0.00 ns" not in done.stdout


def test_packets_beside_circuits_shorten_solstice(tmp_path: Path) -> None:
    alone = planned(EIGHT, "-a", "solstice", "--night", "20 ms", cwd=tmp_path)
    beside = planned(
        EIGHT, "-a", "solstice", "--night", "20 ms", "--packet-rate", "1 Gb/s", cwd=tmp_path
    )
    assert beside["figures"]["completion_ps"] < alone["figures"]["completion_ps"]
    assert alone["figures"]["coverage"] == 1.0


def test_hydra_s_paths_and_vlans(tmp_path: Path) -> None:
    options = ("-a", "hydra", "--planes", "3", "--hops", "3", "--vlans", "100")
    plan = planned(EIGHT, *options, cwd=tmp_path)
    joined = {(c["a"], c["b"]) for c in plan["circuits"]}
    served = [path for path in plan["paths"] if path["racks"]]
    assert max(len(path["racks"]) for path in served) > 2, "some path has several hops"
    for path in served:
        assert (path["racks"][0], path["racks"][-1]) == (path["a"], path["b"])
        hops = zip(path["racks"], path["racks"][1:], strict=False)
        assert {(min(hop), max(hop)) for hop in hops} <= joined
        assert 0 <= path["vlan"] < plan["vlans"]["count"]
    assert plan["vlans"]["lower_bound"] <= plan["vlans"]["count"]


def test_the_help_says_what_each_algorithm_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    shown = CliRunner().invoke(app, ["plan", "--help"]).stdout
    listed = [line.split()[:2] for line in shown.splitlines()]
    for name in control.ALGORITHMS:
        assert any(name in words or f"({name})" in words for words in listed)
    assert "no more slots (mordia 1,000; eclipse 256)" in shown


# Refusals

BAD = {
    "no file": ("no.csv", "no.csv: no such file or directory; check the path"),
    "directory": (".", "DEMAND = .: its name does not tell the format"),
    "format": ("d.xlsx", "DEMAND = d.xlsx: its name does not tell the format; name a file that"),
    "not a number": ("word.csv", "word.csv:3:4: `x` is not a number; write 0 where there"),
    "hole": ("hole.csv", "hole.csv:2:3: nothing here; write 0"),
    "ragged": ("ragged.csv", "ragged.csv:2:1: 3 numbers, where line 1 has 2; give every row"),
    "only comments": ("none.csv", "none.csv: no numbers; give a line for every source"),
    "half a header": ("header.csv", "header.csv:1:3: `abc` is not a number; write 0 where there"),
    "a label and half a header": ("label.csv", "label.csv:1:5: `x` is not a number"),
    "names": ("names.csv", "names.csv: 3 names for 2 rows; name every node once"),
    "not UTF-8": ("latin.csv", "latin.csv: not UTF-8; save it as UTF-8"),
    "not square": ("wide.csv", "wide.csv: demand = 2 x 3 numbers: a demand matrix is square"),
    "negative": ("negative.csv", "negative.csv:2:1: demand[1][0] = -4: demand is not negative"),
    "NaN": ("nan.csv", "nan.csv:1:3: demand[0][1] = NaN: not a number"),
    "infinite": ("inf.csv", "inf.csv:1:4: demand[0][1] = inf: demand is finite"),
    "diagonal": ("diagonal.csv", "diagonal.csv:3:4: demand[1][1] = 7: a node has no demand for"),
    "all zero": ("zero.csv", "zero.csv: demand = only zeros: there is nothing to plan for"),
    "too large": ("huge.csv", "huge.csv:1:3: demand[0][1] = 99999999999999999999: does not fit"),
    "sums": ("sums.csv", "sums.csv: demand = a total of 16000000000000000000: the sum must"),
    "fractions": ("small.csv", "small.csv:1:3: demand[0][1] = 0.25: too small to be rounded"),
    "a large exponent": ("exponent.csv", "exponent.csv:1:3: demand[0][1] = 1e300: an entry must"),
    "a large exponent with a unit": (
        "exponent.csv --unit '1 TB'",
        "exponent.csv:1:3: demand[0][1] = 1e+300: does not fit 63 bits when multiplied by the unit",
    ),
    "no unit at all": ("d.csv --unit '0 B'", "error: --unit = 0 B: less than a byte; say what"),
    "a pair beyond duals": (
        "pair.csv",
        "pair.csv:1:3: demand[0][1] + demand[1][0] = 9223372036854775803: a circuit weighs at most "
        "144115188075855871, of 57 bits; divide",
    ),
    "a symmetric pair beyond duals": (
        "both.csv --symmetric",
        "both.csv:1:3: demand[0][1] = 2000000000000000000: a circuit weighs at most",
    ),
    "a pair beyond duals when circuits are up": (
        "up.csv --hysteresis up.json",
        "up.csv:2:5: demand[1][2] + demand[2][1] = 100000000000000000: at most 72057594037927935, "
        "so that circuits that are up can count more",
    ),
    "an entry beyond potentials": (
        "pair.csv -a assignment",
        "pair.csv:1:3: demand[0][1] = 9223372036854775802: at most 2305843009213693951, of 61 bits",
    ),
    "unit too large": ("d.csv --unit '9999 TB'", "d.csv:2:1: demand[1][0] = 2000: does not fit"),
    "no NPY": ("word.npy", "word.npy: not a readable NPY file ("),
    "cut NPY": ("cut.npy", "cut.npy: not a readable NPY file ("),
    "objects in NPY": ("object.npy", "object.npy: not a readable NPY file ("),
    "row in NPY": ("row.npy", "row.npy: demand = an array of 1 dimensions: a matrix has 2"),
    "text in NPY": ("text.npy", "text.npy: demand = an array of <U1: not numbers"),
    "NaN in NPY": ("nan.npy", "nan.npy: demand[1][0] = NaN: not a number"),
    "empty NPY": ("empty.npy", "empty.npy: demand = 0 x 0 numbers: the matrix is empty"),
    "no Parquet": ("word.parquet", "word.parquet: not a readable Parquet file ("),
    "null": ("null.parquet", "null.parquet: column `b` is null in row 1; write 0"),
    "text": ("text.parquet", "text.parquet: column `b` holds string; write numbers"),
    "negative in Parquet": ("negative.parquet", "negative.parquet: demand[0][1] = -2: demand is"),
    "asymmetric": (
        "d.csv --symmetric",
        "d.csv:1:3: demand[0][1] = 1000: not symmetric: demand[1][0] is 2000; add both",
    ),
    "unknown unit": ("d.csv --unit 5", '--unit = "5": `5` has no unit'),
    "another's option": (
        "d.csv --night '1 us'",
        "--night = 1 us: edmonds has no such option; leave it out; it is for mordia,",
    ),
    "unknown algorithm": ("d.csv -a edmond", "--algorithm = edmond: no such algorithm; did you"),
    "night": (
        "d.csv -a bvn --night '20 us' --shortest '10 us'",
        "--night = 20 us: not shorter than the shortest slot, 10 us",
    ),
    "no unit": ("d.csv -a bvn --night 20", '--night = "20": `20` has no unit'),
    "period": (
        "d.csv -a eclipse --period '1 us'",
        "--night = 10 us: not shorter than the period, 1 us; raise the period, or lower",
    ),
    "shortest": (
        "d.csv -a eclipse --period '20 us'",
        "--shortest = 50 us: longer than the period, 20 us",
    ),
    "a round of one night": (
        "d.csv -a round-robin --period '10 us' --night '10 us'",
        "--period = 10 us: a night of 10 us leaves no time for a day; raise it",
    ),
    "a round of nights": (
        f"{EIGHT} -a round-robin --period '70 us' --night '10 us'",
        "--period = 70 us: 7 nights of 10 us leave no time for days; raise it, or lower the night",
    ),
    "days without end": (
        "d.csv -a round-robin --day '9223372 s' --night '1 s'",
        "--day = 9223372 s: 1 of them, and nights, last longer than 106 days; shorten it",
    ),
    "a day of no length": (
        "d.csv -a round-robin --day '0 s'",
        "--day = 0 ps: must be above 0 s; say how",
    ),
    "no time for a byte": (
        "d.csv -a hydra --period '0 s'",
        "--period = 0 ps: a circuit of 10 Gb/s carries less than a byte in it; raise it",
    ),
    "no rate": ("d.csv -a hydra --rate '0 b/s'", "--rate = 0 b/s: above 0; give the rate"),
    "rate": ("d.csv -a solstice --rate '0 b/s'", "--rate = 0 b/s: above 0"),
    "packets": ("d.csv -a solstice --packet-rate '1 Tb/s'", "--packet-rate = 1 Tb/s: faster than"),
    "slots": (
        "d.csv -a bvn --max-slots 0",
        "--max-slots = 0: a schedule has at least one slot; give 1 or more",
    ),
    "step": ("d.csv -a eclipse --step 99", "--step = 99: from 0.001 to 10"),
    "a step without end": ("d.csv -a eclipse --step 1e300", "--step = 1e300: from 0.001 to 10"),
    "scaling": (
        "d.csv -a bvn --scaling none",
        '--scaling = "none": must be one of "sinkhorn", "quickstuff"',
    ),
    "day and period": (
        "d.csv -a round-robin --day '1 us' --period '1 s'",
        "--day = 1 us: a period says how long days are, too; give one of them",
    ),
    "too many ports": ("d.csv -a hydra --ports 3 --radix 2", "--ports = 3: 6 ports on each plane"),
    "no hops": ("d.csv -a hydra --hops 0", "--hops = 0: must be from 1 to 12; raise it"),
    "planes": ("d.csv -a hydra --planes 500", "--planes = 500: at most 128"),
    "no current plan": ("d.csv --hysteresis lost.json", "lost.json: no such file"),
    "current plan no JSON": (
        "d.csv --hysteresis d.csv",
        "d.csv:1:2: not JSON (extra data); name what `lightloom plan -o` wrote, or a list like [[",
    ),
    "a bonus for nothing": (
        "d.csv --bonus '1 MB'",
        "--bonus = 1 MB: no --hysteresis says which circuits it would count for; name them, or",
    ),
    "current plan without circuits": ("d.csv --hysteresis empty.json", "no circuits in it"),
    "current plan of words": ("d.csv --hysteresis words.json", 'circuits[0] = "a": not two nodes'),
    "current plan of others": (
        "d.csv --hysteresis others.json",
        "--hysteresis = (0, 5): a circuit joins two of 2 racks",
    ),
    "picture": ("d.csv --picture p.gif", "--picture = p.gif: its name does not tell the format"),
    "its own demand": ("d.csv -o ./d.csv", "-o = d.csv: is the demand itself; name another file"),
    "one file for both": ("d.csv -o p.svg --picture p.svg", "--picture = p.svg: is the file of -o"),
    "output a directory": ("d.csv -o .", "-o = .: is a directory; name a file"),
    "output below a file": ("d.csv -o d.csv/p.json", "d.csv is a file"),
}


@pytest.fixture(scope="module")
def bad(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of files that are no demand."""
    folder = tmp_path_factory.mktemp("bad")
    texts = {
        "d.csv": "0,1000\n2000,0\n",
        "d.xlsx": "",
        "word.csv": "# a comment\n0,1\n2, x\n",
        "hole.csv": "0,1\n2,\n",
        "ragged.csv": "0,1\n1,2,3\n",
        "none.csv": "# nothing\n",
        "header.csv": "0,abc\n1,0\n",
        "label.csv": "a,0,x\nb,1,0\n",
        "exponent.csv": "0,1e300\n1,0\n",
        "pair.csv": "0,9223372036854775802\n1,0\n",
        "both.csv": "0,2000000000000000000\n2000000000000000000,0\n",
        "up.csv": "0,1,1\n1,0,99999999999999999\n1,1,0\n",
        "up.json": "[[0, 1]]",
        "names.csv": "a,b,c\n0,1\n1,0\n",
        "wide.csv": "0,1,2\n1,0,2\n",
        "negative.csv": "0,1\n-4,0\n",
        "nan.csv": "0,nan\n1,0\n",
        "inf.csv": "0, inf\n1,0\n",
        "diagonal.csv": "\n0,1\n1, 7\n",
        "zero.csv": "0,0\n0,0\n",
        "huge.csv": "0,99999999999999999999\n1,0\n",
        "sums.csv": "0,8000000000000000000\n8000000000000000000,0\n",
        "small.csv": "0,0.25\n1,0\n",
        "word.npy": "no",
        "word.parquet": "no",
        "empty.json": "{}",
        "words.json": '["a"]',
        "others.json": '{"circuits": [{"a": 0, "b": 5}]}',
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "latin.csv").write_bytes(b"\xe9,b\n0,1\n")
    np.save(folder / "row.npy", [1, 2])
    np.save(folder / "text.npy", [["a"]])
    np.save(folder / "nan.npy", [[0, 1], [np.nan, 0]])
    np.save(folder / "empty.npy", np.zeros((0, 0)))
    np.save(folder / "object.npy", np.array([[None]]), allow_pickle=True)
    np.save(folder / "cut.npy", np.ones((50, 50)))
    (folder / "cut.npy").write_bytes((folder / "cut.npy").read_bytes()[:-9])
    pq.write_table(pa.table({"a": [0, 1], "b": [2, None]}), folder / "null.parquet")
    pq.write_table(pa.table({"a": [0, 1], "b": ["x", "y"]}), folder / "text.parquet")
    pq.write_table(pa.table({"a": [0, 1], "b": [-2, 0]}), folder / "negative.parquet")
    return folder


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_planned_is_refused_in_one_message(
    case: str, bad: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments, expected = BAD[case]
    words = shlex.split(arguments)
    if "-a" not in words:
        words += ["-a", "edmonds"]
    before = names(bad)
    monkeypatch.chdir(bad)
    done = CliRunner().invoke(app, ["plan", *words])
    assert done.exit_code == 2, done.output
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert expected in done.stderr
    assert names(bad) == before


def test_a_refusal_from_a_shell(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("0,1\n-4,0\n")
    done = lightloom("plan", "d.csv", "-a", "edmonds", "-o", "p.json", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "error: d.csv:2:1: demand[1][0] = -4: demand is not negative; give 0 or more\n"
    )
    assert names(tmp_path) == {"d.csv"}


def test_an_interrupted_plan_leaves_nothing_behind(tmp_path: Path) -> None:
    demand = np.random.default_rng(1).integers(1, 1 << 30, (1_500, 1_500))
    np.fill_diagonal(demand, 0)
    np.save(tmp_path / "d.npy", demand)
    arguments = ("plan", "d.npy", "-a", "bvn", "-o", "p.json", "--period", "1000 s")
    with subprocess.Popen(
        command(*arguments), cwd=tmp_path, stderr=subprocess.PIPE, text=True
    ) as process:
        busy(process, 3.0)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert errors == "interrupted: nothing unfinished was written\n"
    assert names(tmp_path) == {"d.npy"}


def busy(process: subprocess.Popen[str], seconds: float) -> None:
    """Waits until it has computed for so long."""
    while process.poll() is None:
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        if (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") > seconds:
            return
        time.sleep(0.05)
