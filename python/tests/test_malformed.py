"""Any malformed input is rejected with a short error, and nothing is written."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from cli_support import CLOS, SMALL, command, environment_with, lightloom, write
from malformed_support import Row, claims, npy, rows
from signal_support import files
from typer.testing import CliRunner

from lightloom.cli import app
from lightloom.storage import reading

ROWS = list(rows())
#: Largest length of a message [characters], because longer ones are not read; the longest one lists
#: the names that a command accepts.
LONGEST = 2_500


def test_the_table_has_hundreds_of_rows_and_each_once() -> None:
    assert len(ROWS) > 500
    twice = [name for name, times in Counter(row.id for row in ROWS).items() if times > 1]
    assert not twice


@pytest.mark.parametrize("row", ROWS, ids=[row.id for row in ROWS])
def test_every_malformed_input_is_refused(
    row: Row, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "500")
    for name, content in row.files:
        Path(name).write_bytes(content)
    before = files(tmp_path)
    done = CliRunner().invoke(app, list(row.command))
    said = done.stderr
    assert done.exit_code == 2, (done.exception, done.exc_info, said[-1500:])
    assert row.says in said, said[:1500]
    assert len(said) < LONGEST, len(said)
    assert isinstance(done.exception, SystemExit)
    assert done.stdout == ""
    left = {name for name in files(tmp_path) - before if "__pycache__" not in name}
    assert not left


def refused(
    folder: Path, *arguments: object, limit_kb: int = 0, **environment: str
) -> subprocess.CompletedProcess[bytes]:
    """Runs the command in a separate process, optionally with limited memory."""
    line = command(*arguments)
    if limit_kb:
        line = ["bash", "-c", f'ulimit -v {limit_kb}; exec "$@"', "bash", *line]
    return subprocess.run(
        line, cwd=folder, env=environment_with(environment), capture_output=True, timeout=60,
        check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="has no such devices")
@pytest.mark.parametrize("device", ["/dev/zero", "/dev/full", "/dev/null"])
def test_standard_input_that_is_a_device_is_refused(tmp_path: Path, device: str) -> None:
    with Path(device).open("rb") as endless:
        done = subprocess.run(
            command("plan", "-", "-a", "edmonds", "--format", "matrix"),
            cwd=tmp_path, stdin=endless, capture_output=True, timeout=60, check=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert b"a device, not a file" in done.stderr


def test_pages_state_the_limits_of_what_is_read() -> None:
    docs = Path(__file__).parents[2] / "docs"
    for page, said in (
        ("experiments.md", f"is read up to {reading.SETTINGS >> 20} MiB"),
        ("workloads.md", f"up to {reading.DATA >> 30} GiB"),
        ("workloads.md", "A text file of a workload is read up to 8 GiB"),
    ):
        assert said in " ".join((docs / page).read_text(encoding="utf-8").split())
    core = docs.parent / "crates" / "workload" / "src" / "text.rs"
    assert "const FILE_LIMIT: u64 = 8 << 30;" in core.read_text(encoding="utf-8")


@pytest.mark.skipif(sys.platform == "win32", reason="makes a pipe")
def test_pipes_are_read_to_their_end(tmp_path: Path) -> None:
    """Process substitution names such pipes."""
    write(tmp_path / "e.toml", SMALL, CLOS)
    for line, ends in (
        ("run <(cat e.toml) -o out", 0),
        ("plan <(printf '0,1\\n1,0\\n') -a edmonds --format matrix", 0),
        ("plan - -a edmonds --format matrix < <(printf '0,1\\n1,0\\n')", 0),
        ("run <(printf '[') -o other", 2),
    ):
        python = " ".join(command())
        done = subprocess.run(
            ["bash", "-c", f"{python} {line}"], cwd=tmp_path, capture_output=True, timeout=60,
            check=False,
        )  # fmt: skip
        assert done.returncode == ends, (line, done.stderr)


@pytest.mark.skipif(sys.platform != "linux", reason="limits memory as bash does on Linux")
@pytest.mark.parametrize("claimed", [10**6, 10**9, 10**12])
def test_a_parquet_without_columns_is_refused_within_little_memory(
    tmp_path: Path, claimed: int
) -> None:
    """Regression: the command was aborted if memory was limited."""
    write(tmp_path / "e.toml", SMALL, CLOS)
    (tmp_path / "t.parquet").write_bytes(claims(claimed))
    (tmp_path / "d.parquet").write_bytes(claims(claimed))
    for arguments in (
        ("run", "e.toml", "-o", "out", "--set", "workload={ trace = 't.parquet' }"),
        ("plan", "d.parquet", "-a", "edmonds", "-o", "p.json"),
    ):
        done = refused(tmp_path, *arguments, limit_kb=4_000_000)
        assert done.returncode == 2, done
        assert b"column" in done.stderr
        assert b"Traceback" not in done.stderr
    assert files(tmp_path) == {"e.toml", "t.parquet", "d.parquet"}


def test_outputs_of_few_characters_are_written(tmp_path: Path) -> None:
    """Regression: the command ended in a UnicodeEncodeError."""
    write(tmp_path / "e.toml", SMALL, CLOS)
    write(tmp_path / "d.csv", "0,1\n1,0\n")
    for arguments in (
        ("run", "e.toml", "-o", "out"),
        ("compare", "e.toml", "-o", "all", "--set", "run.repeat=2"),
        ("plan", "d.csv", "-a", "edmonds"),
        ("explain", "sirius"),
        ("cost", "e.toml"),
        ("--help",),
    ):
        for encoding in ("ascii", "latin-1", "cp437"):
            done = lightloom(*arguments, cwd=tmp_path, PYTHONIOENCODING=encoding)
            assert done.returncode == 0, (arguments, encoding, done.stderr)
    begun = refused(tmp_path, "explain", "sirius", PYTHONIOENCODING="ascii")
    assert (begun.returncode, begun.stderr) == (0, b"")
    done = refused(tmp_path, "run", "é.toml", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr.count(b"Traceback")) == (2, 0)


def test_a_matrix_that_claims_more_than_there_is_takes_no_memory(tmp_path: Path) -> None:
    import numpy as np

    content = npy(np.ones((2, 2))).replace(b"(2, 2), }", b"(9999999, 9999999), }")
    (tmp_path / "d.npy").write_bytes(content)
    done = refused(tmp_path, "plan", "d.npy", "-a", "edmonds", limit_kb=4_000_000)
    assert done.returncode == 2, done
    assert b"Traceback" not in done.stderr


def test_names_that_are_no_text_are_refused(tmp_path: Path) -> None:
    """Arguments are bytes, and need not be UTF-8."""
    if os.name != "posix":
        pytest.skip("arguments are text here")
    line = [*map(os.fsencode, command("run")), b"\xff\xfe.toml"]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr.count(b"Traceback")) == (2, 0)
