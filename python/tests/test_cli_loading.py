"""A command imports only the modules that it needs."""

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from cli_support import ROOT, command, lightloom
from typer.core import TyperCommand
from typer.testing import CliRunner

from lightloom.cli import app, flags, loading
from lightloom.cli.loading import HOMES, SUMMARIES, OnUse

SLOW = {"numpy", "pyarrow", "pandas", "polars", "matplotlib", "plotly"}
DEMO = ROOT / "examples" / "demo-web-search.toml"


def loaded(*arguments: object) -> set[str]:
    """Returns the packages that a command imports, from Python's own report."""
    asked = command(*arguments)
    asked[1:1] = ["-X", "importtime"]
    done = subprocess.run(asked, capture_output=True, text=True, timeout=120, check=True)
    rows = (row.rpartition("|")[2] for row in done.stderr.splitlines() if "import time:" in row)
    return {row.strip().partition(".")[0] for row in rows}


@pytest.mark.parametrize(
    "arguments",
    [
        ("cost", DEMO),
        ("cost", DEMO, "--prices", "hydra-2013", "--bill", "clos"),
        ("cost", DEMO, "--json"),
        ("devices",),
        ("--version",),
        ("run", ROOT / "examples" / "clos.toml", "--fabric", "clos", "--dry-run"),
    ],
    ids=lambda words: " ".join(map(str, words[:1])),
)
def test_a_command_of_arithmetic_loads_neither_numpy_nor_arrow(
    arguments: tuple[object, ...],
) -> None:
    packages = loaded(*arguments)
    assert "lightloom" in packages  # the report was read
    assert not packages & SLOW


def test_numpy_and_arrow_are_loaded_after_a_simulation_has_begun() -> None:
    """`run` imports them while it simulates, so that no earlier code may import them."""
    code = "import sys, lightloom.api, lightloom.cli.run; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    names = set(done.stdout.split())
    assert "lightloom.cli.run" in names
    assert not names & SLOW


def test_a_module_is_imported_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "lightloom.cli.clock_text", raising=False)
    with loading.ahead("cli.clock_text") as thread:
        thread.join()
    assert "lightloom.cli.clock_text" in sys.modules


def test_an_error_of_a_module_that_is_imported_ahead_is_raised_where_it_is_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    raised: list[object] = []
    monkeypatch.setattr(threading, "excepthook", raised.append)
    with loading.ahead("no_such_module") as thread:
        thread.join()
    assert raised == []
    with pytest.raises(ModuleNotFoundError):
        loading.import_module("lightloom.no_such_module")


def test_what_simulates_loads_them(tmp_path: Path) -> None:
    """Checks the test above: it detects imported packages."""
    assert {"numpy", "pyarrow"} <= loaded("run", DEMO, "--dry-run", "-o", tmp_path / "out")


def test_a_comparison_of_circuits_with_its_report_does_not_load_pandas(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    hybrid = ROOT / "examples" / "hybrid.toml"
    packages = loaded("compare", hybrid, "--set", 'workload.jobs=["sort"]', "-o", tmp_path / "out")
    assert (tmp_path / "out" / "report.html").exists()
    assert "matplotlib" in packages  # figures are drawn, which reads all columns
    assert "pandas" not in packages


@pytest.mark.parametrize("name", HOMES)
def test_every_command_is_where_it_is_said_to_be(name: str) -> None:
    found = OnUse({})[name]
    assert found.name == name
    assert found.callback.__name__ == name.replace("-", "_")
    assert found.help.partition("\n\n")[0].replace("\n", " ") == SUMMARIES[name]


def test_the_help_loads_no_command() -> None:
    assert not loaded("--help") & SLOW


def test_the_help_lists_every_command_in_order() -> None:
    text = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "200"}).output
    below = text.partition("Commands")[2].splitlines()[1:]
    listed = [row.split()[1] for row in below if row.startswith("│")]
    assert listed == list(HOMES)


def test_a_command_that_there_is_not_is_refused_with_the_nearest(tmp_path: Path) -> None:
    done = lightloom("costs", cwd=tmp_path)
    assert done.returncode == 2
    assert "did you mean cost?" in done.stderr


def test_ctrl_c_while_a_command_is_loaded_ends_it_quietly(monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(name: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(loading, "import_module", stopped)
    done = CliRunner().invoke(app, ["cost", str(DEMO)])
    assert done.exit_code == 130
    assert "nothing unfinished was written" in done.stderr


class Backwards(TyperCommand):
    """A command whose arguments are parsed from the last to the first."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, args[::-1])


def test_a_command_may_read_its_arguments_in_a_way_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(loading.OWN, "cost", ("flags", "Backwards"))
    monkeypatch.setattr(flags, "Backwards", Backwards, raising=False)
    done = CliRunner().invoke(app, ["cost", "sirius-2020", "--prices", str(DEMO)])
    assert done.exit_code == 0, done.output
    assert "sirius-2020" in done.output.splitlines()[0]
