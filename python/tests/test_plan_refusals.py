"""`lightloom plan`: its errors, and the state after an interruption."""

from __future__ import annotations

import shlex
import signal
import subprocess
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_support import ROOT, command, lightloom
from signal_support import busy
from typer.testing import CliRunner

from lightloom import ConfigError, control
from lightloom.cli import app

EIGHT = ROOT / "examples" / "demand-8.csv"


def names(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir()}


BAD = {
    "no file": ("no.csv", "no.csv: no such file or directory; check the path"),
    "directory": (".", "DEMAND = .: its extension names no known format"),
    "format": ("d.xlsx", "DEMAND = d.xlsx: its extension names no known format; name a file that"),
    "not a number": ("word.csv", "word.csv:3:4: `x` is not a number; write 0 where there"),
    "hole": ("hole.csv", "hole.csv:2:3: nothing here; write 0"),
    "ragged": ("ragged.csv", "ragged.csv:2:1: 3 numbers, where line 1 has 2; give every row"),
    "only comments": ("none.csv", "none.csv: no numbers; give a line for every source"),
    "half a header": ("header.csv", "header.csv:1:3: `abc` is not a number; write 0 where there"),
    "a label and half a header": ("label.csv", "label.csv:1:5: `x` is not a number"),
    "names": ("names.csv", "names.csv: 3 names for 2 rows; name every node once"),
    "not UTF-8": ("latin.csv", "latin.csv: not UTF-8; save it as UTF-8"),
    "not square": ("wide.csv", "wide.csv: 2 lines of 3 numbers are no matrix (as many"),
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
    "no unit at all": ("d.csv --unit '0 B'", "error: --unit = 0 B: less than a byte; write the"),
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
        "so that lit circuits can have a higher weight",
    ),
    "an entry beyond potentials": (
        "pair.csv -a assignment",
        "pair.csv:1:3: demand[0][1] = 9223372036854775802: at most 2305843009213693951, of 61 bits",
    ),
    "unit too large": ("d.csv --unit '9999 TB'", "d.csv:2:1: demand[1][0] = 2000: does not fit"),
    "no NPY": ("word.npy", "word.npy: not a readable NPY file ("),
    "cut NPY": ("cut.npy", "cut.npy: not a readable NPY file ("),
    "objects in NPY": (
        "object.npy",
        "object.npy: an NPY file of Python objects, which is not read; save numbers: numpy.save(",
    ),
    "row in NPY": ("row.npy", "row.npy: demand = an array of 1 dimension: a matrix has 2"),
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
    "a flag that is retired": (
        "d.csv -a hydra --without-ports",
        "--without-ports = (given): retired: hydra also uses circuits with spare capacity by "
        "default; leave it out, or give --stop-at-ports for the opposite",
    ),
    "another's flag": (
        "d.csv -a mordia --no-split",
        "--no-split = (given): mordia has no such option; leave it out; it is for hydra",
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
        "--day = 0 ps: must be above 0 s; write the lit",
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
        "--day = 1 us: a period also sets the length of days; give one of them",
    ),
    "too many ports": ("d.csv -a hydra --ports 3 --radix 2", "--ports = 3: 6 ports on each plane"),
    "no hops": ("d.csv -a hydra --hops 0", "--hops = 0: must be from 1 to 12; raise it"),
    "planes": ("d.csv -a hydra --planes 500", "--planes = 500: at most 128"),
    "no current plan": ("d.csv --hysteresis lost.json", "lost.json: no such file"),
    "current plan no JSON": (
        "d.csv --hysteresis d.csv",
        "d.csv: no circuits in it that can be read; name a file that `lightloom plan -o`",
    ),
    "a bonus for nothing": (
        "d.csv --bonus '1 MB'",
        "--bonus = 1 MB: has no effect without --hysteresis, which names the lit circuits; name",
    ),
    "current plan without circuits": ("d.csv --hysteresis empty.json", "no circuits in it"),
    "current plan of words": ("d.csv --hysteresis words.json", 'circuits[0] = "a": not two nodes'),
    "current plan of others": (
        "d.csv --hysteresis others.json",
        "--hysteresis = (0, 5): a circuit joins two of the 2 racks",
    ),
    "picture": ("d.csv --picture p.gif", "--picture = p.gif: its extension names no known format"),
    "its own demand": ("d.csv -o ./d.csv", "-o = d.csv: is the demand itself; name another file"),
    "one file for both": ("d.csv -o p.svg --picture p.svg", "--picture = p.svg: is also the file"),
    "output a directory": ("d.csv -o .", "-o = .: is a directory; name a file"),
    "output below a file": ("d.csv -o d.csv/p.json", "d.csv is a file"),
}


@pytest.fixture(scope="module")
def bad(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of files that are not demand."""
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
    assert done.stderr.startswith("error: d.csv:2:1: demand[1][0] = -4: ")
    assert len(done.stderr.splitlines()) == 1
    assert names(tmp_path) == {"d.csv"}


def test_an_interrupted_plan_leaves_nothing_behind(tmp_path: Path) -> None:
    demand = np.random.default_rng(1).integers(1, 1 << 30, (1_500, 1_500))
    np.fill_diagonal(demand, 0)
    np.save(tmp_path / "d.npy", demand)
    arguments = ("plan", "d.npy", "-a", "bvn", "-o", "p.json", "--period", "1000 s")
    with subprocess.Popen(
        command(*arguments), cwd=tmp_path, stderr=subprocess.PIPE, text=True
    ) as process:
        busy(process, 1.0)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert errors.startswith("interrupted: ")
    assert len(errors.splitlines()) == 1
    assert names(tmp_path) == {"d.npy"}


def test_a_demand_that_is_not_there_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "nosuch.csv"
    with pytest.raises(ConfigError) as problem:
        control.plan(path, "edmonds")
    said = f'demand = "{path}": no such file or directory; check the path and its permissions'
    assert str(problem.value) == said
