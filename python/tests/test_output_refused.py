"""Impossible output paths are refused before any simulation; the error names the path."""

from __future__ import annotations

import ctypes
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli_support import CLOS, SIRIUS, SMALL, command, lightloom, write
from typer.testing import CliRunner

from lightloom import ConfigError, load
from lightloom.cli import app
from lightloom.results import files
from lightloom.storage import changes

#: More flows than can be simulated in a minute, so a command that ends sooner was refused before
#: the simulation.
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


PRICED = ("compare", "long.toml", "--prices", "sirius-2020")
ALONE = ("run", "long.toml", "--fabric", "clos")
#: A command, the existing path (a folder ends with /), and the messages about it.
IN_THE_WAY = [
    (ALONE, "flows.parquet/", "out/flows.parquet is a folder"),
    (ALONE, "record.json/", "out/record.json is a folder"),
    ((*ALONE, "--copy-inputs"), "inputs", "out/inputs is a file"),
    ((*ALONE, "--set", "run.repeat=2"), "seed-4", "out/seed-4 is a file"),
    (("compare", "long.toml"), "sirius", "out/sirius is a file"),
    (("compare", "long.toml"), "clos/summary.json/", "out/clos/summary.json is a folder"),
    (("compare", "long.toml"), "comparison.json/", "out/comparison.json is a folder"),
    (("compare", "long.toml"), "report.html/", "out/report.html is a folder"),
    (("compare", "long.toml"), "figures", "out/figures is a file"),
    (PRICED, "costs.json/", "out/costs.json is a folder"),
    (("compare", "long.toml", "--physics", "ideal,realistic"), "comparison.json/", "a folder"),
    (("compare", "long.toml", "--set", "run.repeat=2"), "seed-3/clos", "seed-3/clos is a file"),
    (("sweep", "s.toml"), "points", "out/points is a file"),
    (("sweep", "s.toml"), "rows", "out/rows is a file"),
    (("sweep", "s.toml"), "sweep.json/", "out/sweep.json is a folder"),
    (("sweep", "s.toml"), "report.html/", "out/report.html is a folder"),
    (("sweep", "s.toml"), "figures", "out/figures is a file"),
    (("reproduce", "sirius"), "claims.json/", "out/claims.json is a folder"),
    (("reproduce", "sirius"), "sirius", "out/sirius is a file"),
    (("reproduce", "sirius"), "sirius/fig09.json/", "out/sirius/fig09.json is a folder"),
]


@pytest.mark.parametrize(("words", "there", "said"), IN_THE_WAY)
def test_every_name_is_tried_before_anything_is_simulated(
    words: tuple[str, ...],
    there: str,
    said: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "500")
    monkeypatch.setattr("lightloom.simulation.forecasts.of_runs", never)
    monkeypatch.setattr("lightloom.simulation.forecasts.of_points", never)
    monkeypatch.setattr("lightloom.cli.resilience.foretold", never)
    monkeypatch.setattr("lightloom.validation.runner.load_script", never)
    path = folder / "out" / there
    path.parent.mkdir(parents=True, exist_ok=True)
    if there.endswith("/"):
        path.mkdir()
        (path / "mine").write_text("mine")
    else:
        path.write_text("mine")
    before = set(folder.rglob("*"))
    done = CliRunner().invoke(app, [*words, "-o", "out"])
    assert done.exit_code == 2, (done.exception, done.stderr)
    assert said in done.stderr
    assert "-o = out: " in done.stderr
    assert set(folder.rglob("*")) == before


def never(*arguments: object, **options: object) -> None:
    raise AssertionError("it goes on to simulate")


#: Constants of Linux's prctl: it drops the capabilities to override permissions of files, for
#: writing and for reading, which then holds for the programs that the process executes.
PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 24, 1, 2
HEEDED = pytest.mark.skipif(
    os.name != "posix" or (os.geteuid() == 0 and sys.platform != "linux"),
    reason="permissions are not heeded",
)


def heeding_permissions() -> None:
    """Makes permissions of files apply to root in the program that is started next."""
    if os.geteuid() != 0:
        return
    system = ctypes.CDLL(None, use_errno=True)
    for what in (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH):
        if system.prctl(PR_CAPBSET_DROP, what, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "prctl")


@HEEDED
@pytest.mark.parametrize("sealed", ["out", "out/clos"])
def test_a_read_only_folder_is_refused(sealed: str, folder: Path) -> None:
    (folder / sealed).mkdir(parents=True)
    (folder / sealed).chmod(0o555)
    done = subprocess.run(
        command("compare", "long.toml", "-o", "out"),
        cwd=folder, capture_output=True, text=True, timeout=120, check=False,
        preexec_fn=heeding_permissions,
    )  # fmt: skip
    assert done.returncode == 2
    assert f"{sealed} cannot be written" in done.stderr


def test_a_second_command_is_refused_by_who_is_first(folder: Path) -> None:
    with subprocess.Popen(
        command("compare", "long.toml", "-o", "out"),
        cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as first:  # fmt: skip
        try:
            until = time.monotonic() + 60
            while not (folder / "out" / changes.LOCK).is_file():
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
    assert "name another folder" in done.stderr
    assert read.returncode == 0  # which writes nothing
    # That run was killed, so the next one starts without a further option.
    done = lightloom("run", "e.toml", "--fabric", "clos", "-o", "out", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert not (folder / "out" / changes.FOLDER).exists()


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_FSIZE"), reason="needs limits of a process")
def test_what_the_system_refuses_late_names_its_path_and_changes_nothing(folder: Path) -> None:
    """A limit on the size of files acts like a full disk: it refuses any write."""
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
        assert "file too large" in done.stderr
        assert str(folder / "out") in done.stderr
        assert {p: p.read_bytes() for p in (folder / "out").rglob("*") if p.is_file()} == before


def test_labels_that_results_use_are_refused_before_anything_runs() -> None:
    names = {*files.RESULT_FILES, *files.COMPARISON_FILES, *files.COST_FILES}
    for label in sorted({*names, *files.PAGE_FILES, "inputs", "seed-3", "Saturation.json"}):
        raw = {
            "cluster": {"hosts": 8, "server_rate": "50 Gb/s"},
            "workload": {"load": 0.3, "flows": 5, "sizes": {"kind": "fixed", "size": "5 KB"}},
            "fabric": [{"kind": "clos"}, {"kind": "clos", "label": label}],
        }
        with pytest.raises(ConfigError, match="a file of this"):
            load(raw).resolved()
