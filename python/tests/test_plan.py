"""`lightloom plan`: its output, files, pictures and errors."""

from __future__ import annotations

import io
import json
import re
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_support import ROOT, lightloom
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import lightloom as lightloom_package
from lightloom import control
from lightloom.cli import app
from lightloom.control.plan_figures import figures_of_plan

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


# Written files


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
    """Recomputes the figures from the contents of the file."""
    figures = plan["figures"]
    assert figures["coverage"] == figures["carried_bytes"] / demand.sum()
    if plan["schedule"] is not None:
        slots = plan["schedule"]["slots"]
        rate = 10_000_000_000  # the default, which `options` states
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
    assert "dual bound = weight" in done.stdout
    plan = json.loads((tmp_path / "p.json").read_text())
    assert plan["figures"]["optimal"] is True
    # Checks the proof in the file by the rules in its documentation.
    demand = np.load(THOUSAND).astype(np.int64)
    proof, both = plan["proof"], demand + demand.T
    # Multiplied, so that the bonus of a lit circuit could be less than a byte.
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


# Read files


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
    """Regression: brackets were read as colours, and escape sequences would have reached the
    terminal."""
    (tmp_path / "d.csv").write_text("[red],\x1b[31m$b$ <&>\n0,1\n2,0\n", encoding="utf-8")
    done = lightloom(
        "plan", "d.csv", "-a", "edmonds", "-o", "p.json", "--picture", "p.svg", cwd=tmp_path
    )
    assert "[red]    �[31m$b$ <&>" in done.stdout
    shown = "".join(ElementTree.parse(tmp_path / "p.svg").getroot().itertext())
    assert "[red]" in shown
    assert "�[31m$b$ <&>" in shown


def valid_files() -> dict[str, bytes]:
    """Returns a matrix in every format."""
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
    # A plan is such a file itself; here the difference is smaller than the bonus.
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
    assert "7 slots in 7.00 µs, no nights" in done.stdout
    assert "0.00 ns" not in done.stdout


def test_packets_beside_circuits_shorten_solstice(tmp_path: Path) -> None:
    alone = planned(EIGHT, "-a", "solstice", "--night", "20 ms", cwd=tmp_path)
    beside = planned(
        EIGHT, "-a", "solstice", "--night", "20 ms", "--packet-rate", "1 Gb/s", cwd=tmp_path
    )
    assert beside["figures"]["completion_ps"] < alone["figures"]["completion_ps"]
    assert alone["figures"]["coverage"] == 1.0


def test_solstice_promises_what_packets_need() -> None:
    """At one byte per nanosecond, 4,000 B are two packets of 1,500 B and one of 1,000 B."""
    demand = np.zeros((3, 3), int)
    demand[0, 1:] = 4_000
    options = {"rate": "8 Gb/s", "night": "1 us"}
    ends = {
        name: control.plan(demand, "solstice", **options, **more).figures["completion_ps"]
        for name, more in {
            "default": {},
            "bytes": {"packet": "1 B"},
            "slots of 7 us": {"shortest": "7 us"},
        }.items()
    }
    assert ends == {"default": 10_000_000, "bytes": 10_000_000, "slots of 7 us": 14_000_000}
    said = figures_of_plan(control.plan(demand, "solstice", **options))["all served"]
    assert "packets of 1.5 KB" in said


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
    listed = [re.findall(r"[\w-]+", line)[:3] for line in shown.splitlines()]
    for name in control.ALGORITHMS:
        assert any(name in words for words in listed)
    shown = CliRunner().invoke(app, ["plan", "-a", "eclipse", "--help"]).stdout
    assert "(mordia 1,000; eclipse 256)" in shown


def test_a_period_is_told_in_three_digits(tmp_path: Path) -> None:
    """The options have the period to the picosecond."""
    options = ("plan", EIGHT, "-a", "hydra", "--period", "259.999999998 ms")
    done = lightloom(*options, cwd=tmp_path)
    assert "demand in 260 ms" in done.stdout
    made = lightloom(*options, "--json", cwd=tmp_path)
    assert json.loads(made.stdout)["options"]["period"] == "259.999999998 ms"
