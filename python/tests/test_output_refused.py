"""Outputs that cannot be: refused before anything is simulated, by their path."""

from __future__ import annotations

import os
import resource
import subprocess
import time
from pathlib import Path

import pytest
from cli_support import CLOS, SIRIUS, SMALL, command, lightloom, write

from lightloom import ConfigError, load, result_files
from lightloom.writing import unfinished

#: More flows than are simulated in a minute, so what ends sooner was refused before.
LONG = SMALL.replace("flows = ", "flows = 100_000_000 # ")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "long.toml", LONG, SIRIUS, CLOS)
    write(tmp_path / "e.toml", SMALL, SIRIUS, CLOS)
    write(tmp_path / "s.toml", 'base = "long.toml"\n[grid]\n"run.seed" = [1, 2]\n')
    write(tmp_path / "file", "mine")
    return tmp_path


COMMANDS = [("run", "long.toml", "--fabric", "clos"), ("compare", "long.toml"), ("sweep", "s.toml")]


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
@pytest.mark.parametrize("out", ["file", "file/below", "/proc/nowhere", "/dev/null/x"])
def test_o_is_tried_before_anything_is_simulated(
    words: tuple[str, ...], out: str, folder: Path
) -> None:
    before = {p.name for p in folder.iterdir()}
    done = lightloom(*words, "-o", out, cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert out.split("/below")[0] in done.stderr
    assert "Traceback" not in done.stderr
    assert {p.name for p in folder.iterdir()} == before
    assert (folder / "file").read_text() == "mine"


def test_a_second_command_is_refused_by_who_is_first(folder: Path) -> None:
    with subprocess.Popen(
        command("compare", "long.toml", "-o", "out"),
        cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as first:  # fmt: skip
        try:
            until = time.monotonic() + 60
            while not (folder / "out" / unfinished.LOCK).is_file():
                assert time.monotonic() < until
                time.sleep(0.05)
            time.sleep(0.2)
            done = lightloom("run", "e.toml", "--fabric", "clos", "-o", "out", cwd=folder)
            read = lightloom("cost", "e.toml", "--prices", "sirius-2020", cwd=folder)
        finally:
            first.kill()
    assert (done.returncode, done.stdout) == (2, "")
    assert f"-o = out: process {first.pid} (" in done.stderr
    assert "compare long.toml -o out" in done.stderr
    assert "wait until it ends, or name another folder" in done.stderr
    assert read.returncode == 0  # which writes nothing
    # It was killed, so the next one need not be asked twice.
    done = lightloom("run", "e.toml", "--fabric", "clos", "-o", "out", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert not (folder / "out" / unfinished.FOLDER).exists()


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_FSIZE"), reason="needs limits of a process")
def test_what_the_system_refuses_late_names_its_path_and_changes_nothing(folder: Path) -> None:
    """A limit on the size of files, which refuses like a full disk: at any write."""
    assert lightloom("compare", "e.toml", "-o", "out", cwd=folder).returncode == 0
    before = {p: p.read_bytes() for p in (folder / "out").rglob("*") if p.is_file()}
    largest = max(len(content) for content in before.values())
    for limit in (4000, largest * 9 // 10):
        done = subprocess.run(
            command("compare", "e.toml", "-o", "out", "--set", "run.seed=9"),
            cwd=folder, capture_output=True, text=True, timeout=120, check=False,
            preexec_fn=lambda most=limit: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)),
        )  # fmt: skip
        assert done.returncode == 2, done.stderr
        assert "file too large: nothing was changed; raise the limit" in done.stderr
        assert str(folder / "out") in done.stderr
        assert {p: p.read_bytes() for p in (folder / "out").rglob("*") if p.is_file()} == before


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder_is_refused(folder: Path) -> None:
    (folder / "out").mkdir(mode=0o555)
    done = lightloom("compare", "long.toml", "-o", "out", cwd=folder)
    assert done.returncode == 2
    assert "out cannot be written: nothing was changed" in done.stderr


def test_labels_that_results_use_are_refused_before_anything_runs() -> None:
    names = {*result_files.RESULT_FILES, *result_files.COMPARISON_FILES, *result_files.COST_FILES}
    for label in sorted({*names, *result_files.PAGE_FILES, "inputs", "seed-3", "Saturation.json"}):
        raw = {
            "cluster": {"hosts": 8, "server_rate": "50 Gb/s"},
            "workload": {"load": 0.3, "flows": 5, "sizes": {"kind": "fixed", "size": "5 KB"}},
            "fabric": [{"kind": "clos"}, {"kind": "clos", "label": label}],
        }
        with pytest.raises(ConfigError, match="results have a file of this name"):
            load(raw).resolved()
