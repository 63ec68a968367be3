"""The text output of `plan`: names of columns, units, names of nodes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_support import ROOT
from typer.testing import CliRunner

from lightloom.cli import app
from lightloom.cli.loading import HOMES
from lightloom.units import formats

EIGHT = ROOT / "examples" / "demand-8.csv"


def call(*arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["plan", *map(str, arguments)])
    return done.exit_code, done.output


@pytest.mark.parametrize(
    ("algorithm", "column"),
    [("edmonds", "carries both ways"), ("assignment", "carries"), ("hydra", "reserved each way")],
)
def test_the_column_of_circuits_says_what_it_adds_up(algorithm: str, column: str) -> None:
    code, text = call(EIGHT, "-a", algorithm)
    assert code == 0
    head = next(line for line in text.splitlines() if line.startswith(("circuit ", "from ")))
    assert head.rstrip().endswith(f"  {column}")


def test_rows_of_a_matching_add_up_to_its_weight() -> None:
    """6.30 + 0.40, 6.25 + 0.41, 4.70 + 1.50, 2.40 + 1.90 GB are both directions of each pair."""
    _, text = call(EIGHT, "-a", "edmonds")
    assert [line.split()[2] for line in text.splitlines()[-4:]] == ["6.70", "6.66", "6.20", "4.30"]
    assert "weight   23.9 GB" in text


def test_a_duty_cycle_below_one_is_not_printed_as_one() -> None:
    _, text = call(EIGHT, "-a", "rotation", "--day", "1 s", "--night", "10 us")
    assert "nights of 10.0 µs" in text
    # 1 s ÷ 1.00001 s, or the remaining part of 1 s.
    assert "duty cycle  0.99999" in text
    _, text = call(EIGHT, "-a", "rotation", "--day", "1 s", "--night", "0 s")
    assert "duty cycle  1 " in text


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.99999, "1.00 s"),
        (0.9994, "999 ms"),
        (999.6e-6, "1.00 ms"),
        (999.6e-9, "1.00 µs"),
        (1000.0, "1000 s"),
    ],
)
def test_times_take_the_unit_that_they_are_rounded_up_to(value: float, shown: str) -> None:
    assert formats.seconds(value) == shown


def test_amounts_and_rates_do_so_too() -> None:
    assert formats.size(999_990_000) == "1.00 GB"
    assert formats.size(999_400_000) == "999 MB"
    assert formats.rate(999_990_000) == "1.00 Gb/s"
    assert formats.per_second(999_990) == "1.00 M/s"


@pytest.mark.parametrize(
    ("listed", "said"),
    [
        (
            [["web", "cache"], ["gpu-0", "gpu-1"], ["gpu-1", "store-1"]],
            "--circuits[2] = (gpu-1, store-1) on plane 0: gpu-1 has no port left that is free",
        ),
        ([[2, 2]], "--circuits[0] = (gpu-2, gpu-2) on plane 0: joins a rack with itself"),
        ([[0, 1], [2, 9]], "--circuits[1] = (gpu-2, 9) on plane 0: racks are 0 to 7"),
    ],
)
def test_a_circuit_that_cannot_be_is_told_by_names_and_place(
    tmp_path: Path, listed: list[object], said: str
) -> None:
    path = tmp_path / "list.json"
    path.write_text(json.dumps(listed), encoding="utf-8")
    code, text = call(EIGHT, "-a", "fixed", "--circuits", path)
    assert code == 2
    assert said in " ".join(text.split())


def test_no_emoji_is_in_the_help_of_any_command() -> None:
    assert "plan" in HOMES
    for words in ([], *([name] for name in HOMES)):
        found = CliRunner().invoke(app, [*words, "--help"], env={"COLUMNS": "200"})
        assert found.exit_code == 0, words
        strange = {c for c in found.output if ord(c) >= 0x1F000}
        assert not strange, (words, strange)


def test_errors_show_colons_as_they_are_written() -> None:
    code, output = call(EIGHT, "-a", "edmonds", "--pin", "web")
    assert code == 2
    assert "a:b, or a:b:plane, by" in output
