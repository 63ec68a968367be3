"""Impossible names of results are refused before any simulation."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from cli_support import CLOS, SMALL, command, environment_with, lightloom, write

from lightloom import Comparison, ConfigError
from lightloom.storage.trial import check_folder

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="names of other systems are text")


def test_a_name_that_is_no_text_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"a\xff")
    with pytest.raises(ConfigError, match="is not UTF-8"):
        check_folder(folder)
    assert list(tmp_path.iterdir()) == []
    assert check_folder(tmp_path / "\u00e4") == tmp_path / "\u00e4"


def test_a_working_directory_that_is_gone_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    here.rmdir()
    with pytest.raises(ConfigError, match="-o = out: "):
        check_folder(Path("out"))
    assert check_folder(tmp_path / "out") == tmp_path / "out"


@pytest.mark.parametrize("arguments", [("run", "/e.toml"), ("plan", "d.csv", "-a", "edmonds")])
def test_a_command_in_a_working_directory_that_is_gone_says_so(
    arguments: tuple[str, ...], tmp_path: Path
) -> None:
    experiment = write(tmp_path / "e.toml", SMALL, CLOS)
    (tmp_path / "here").mkdir()
    line = command(*(str(experiment) if a == "/e.toml" else a for a in arguments))
    shell = ["bash", "-c", 'cd here && rmdir ../here && exec "$@"', "bash", *line]
    done = subprocess.run(
        shell, cwd=tmp_path, env=environment_with({}), capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "working directory was deleted" in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="has no such device")
@pytest.mark.parametrize(
    "arguments", ["--version", "fabrics", "schema", "explain clos", "run e.toml -o out"]
)
def test_a_full_standard_output_is_named(arguments: str, tmp_path: Path) -> None:
    write(tmp_path / "e.toml", SMALL, CLOS)
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            command(*arguments.split()), cwd=tmp_path, env=environment_with({}), stdout=full,
            stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 2
    said = "error: standard output: no space left on device; free some, or send it elsewhere"
    assert done.stderr.strip() == said


def test_a_folder_that_is_no_text_is_refused_before_a_run(tmp_path: Path) -> None:
    write(tmp_path / "e.toml", SMALL, CLOS)
    line = [*map(os.fsencode, command("run", "e.toml", "-o")), b"out\xff"]
    done = subprocess.run(
        line, cwd=tmp_path, env=environment_with({}), capture_output=True, check=False
    )
    assert done.returncode == 2
    assert b"is not UTF-8" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["e.toml"]


def test_labels_of_other_scripts_name_results(tmp_path: Path) -> None:
    """The labels are valid in folders, in the report, and in results that are read back."""
    labels = ["Тополь 3", "光学", "שקע"]
    fabrics = [f'[[fabric]]\nkind = "clos"\nlabel = "{label}"\n' for label in labels]
    write(tmp_path / "e.toml", SMALL, *fabrics)
    done = lightloom(
        "compare", "e.toml", "-o", "out", "--set", 'fabric."光学".tiers=2', cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert all(label in done.stdout for label in labels)
    assert all(label in (tmp_path / "out" / "report.html").read_text() for label in labels)
    read = Comparison.load(tmp_path / "out")
    assert [*read.results] == labels
    assert read.results["光学"].experiment["fabric"][0]["tiers"] == 2
    assert lightloom("verify", "out", cwd=tmp_path).returncode == 0
