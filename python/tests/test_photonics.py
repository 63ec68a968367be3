"""Optical devices: the API and the command."""

import csv
import json
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from cli_support import ROOT
from typer.testing import CliRunner

from lightloom import ConfigError, photonics
from lightloom.cli import app
from lightloom.reproduce.scripts import load_script


def call(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["devices", *arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_link_budget_is_arithmetic() -> None:
    link = photonics.derive(preset="sirius-100").derived["link"]
    required = -8 + 6 + 7 + 2
    assert float(link["required"].split()[0]) == pytest.approx(required)
    assert link["feeds"] == pytest.approx(10 ** ((16 - required) / 10))
    assert link["share"] == 8


def test_tuning_times_are_a_matrix_whose_figures_are_those_derived() -> None:
    found = photonics.derive({"laser": {"kind": "dsdbr"}, "slot": "300 ns"})
    times = found.tuning()
    assert times.shape == (112, 112)
    assert not times.diagonal().any()
    pairs = times[~np.eye(112, dtype=bool)]
    assert len(pairs) == found.derived["tuning"]["pairs"] == 12_432
    worst = float(found.derived["tuning"]["worst"].removesuffix(" ns")) * 1000
    assert pairs.max() == pytest.approx(worst)
    nearest = np.concatenate([times.diagonal(1), times.diagonal(-1)])
    by_distance = found.tuning_by_distance[0]
    assert by_distance["channels"] == 1
    assert float(by_distance["worst"].removesuffix(" ns")) * 1000 == pytest.approx(nearest.max())


def test_presets_are_derived_and_merged() -> None:
    assert set(photonics.presets()) >= {"sirius", "sirius-100", "sirius-bank", "sirius-v1"}
    for name in photonics.presets():
        assert photonics.derive(preset=name).derived["slot"]
    assert photonics.derive({"grating": {"ports": 8}}, "sirius-100").derived["ports"] == 8
    assert {switch["constraint"] for switch in photonics.switches()} == {"multicast", "matching"}


def test_the_schema_accepts_the_presets_and_refuses_a_typo() -> None:
    for preset in photonics.presets().values():
        jsonschema.validate(preset["design"], photonics.schema())
    with pytest.raises(jsonschema.ValidationError, match="gratings"):
        jsonschema.validate({"gratings": {}}, photonics.schema())


def test_an_impossible_design_is_refused_by_the_part_that_breaks_it() -> None:
    with pytest.raises(ConfigError, match="penalty is unbounded") as refused:
        photonics.derive({"grating": {"ports": 100, "adjacent": "-30 dB"}})
    assert refused.value.key == "devices.grating.ports"
    with pytest.raises(ConfigError, match="must be one of sirius, "):
        photonics.derive(preset="zeus")


def test_the_command_prints_tables_or_json() -> None:
    printed = call("--set", "grating.ports=100")
    for figure in ("3.84 ns", "96 symbols", "feeds 7.94, shared by 8", "912 ps"):
        assert figure in printed
    value = json.loads(call("--preset", "sirius-bank", "--json"))
    assert value["derived"]["lasers"] == 3
    assert photonics.derive(value["design"]).to_dict() == value


def test_a_design_is_read_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "design.toml"
    file.write_text('[devices]\nslot = "100 ns"\n[devices.grating]\nports = 32\n')
    value = json.loads(call(str(file), "--set", "devices.laser.kind=comb", "--json"))
    assert (value["derived"]["slot"], value["derived"]["ports"]) == ("100 ns", 32)
    assert value["design"]["laser"]["kind"] == "comb"


def test_files_by_their_ending(tmp_path: Path) -> None:
    for ending in ("svg", "csv", "json"):
        call("-o", str(tmp_path / f"tuning.{ending}"))
    assert "<svg" in (tmp_path / "tuning.svg").read_text()
    rows = list(csv.reader((tmp_path / "tuning.csv").open()))
    assert rows[0] == ["from", "to", "time_ps"]
    assert len(rows) == 1 + 19 * 18
    assert json.loads((tmp_path / "tuning.json").read_text())["derived"]["slot"] == "38.4 ns"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["-o", "tuning.txt"], "its name does not tell the format"),
        (["--set", "grating.ports"], "has no `=`"),
        (["--set", "gratings.ports=3"], "devices.gratings"),
        (["no-such.toml"], "no such file"),
        (["--preset", "zeus"], "must be one of"),
    ],
)
def test_bad_input_is_refused_with_exit_code_2(arguments: list[str], told: str) -> None:
    result = CliRunner().invoke(app, ["devices", *arguments])
    assert result.exit_code == 2
    assert told in " ".join(result.output.split())
    assert not Path("tuning.txt").exists()


def test_the_table_of_lasers_in_the_documentation_is_what_comes_out() -> None:
    """docs/devices.md: kind, wavelengths, median, worst, lasers, chips of gates."""
    lasers = load_script(ROOT / "validation", "sirius", "lasers").measure.__globals__["LASERS"]
    page = (ROOT / "docs" / "devices.md").read_text(encoding="utf-8")
    below = page.partition("### The lasers of the paper")[2]
    rows = [row.split(" | ") for row in below.splitlines() if row.startswith("| `")]
    assert len(rows) == 5
    for row in rows:
        kind, wavelengths, median, worst, count, chips = (cell.strip(" |") for cell in row)
        name = kind.split("`")[1]
        design = photonics.merged(lasers[name], {"laser": {"kind": name}})
        found = photonics.derive(design).derived
        assert int(wavelengths) == found["wavelengths"], name
        assert (median, worst) == (found["tuning"]["median"], found["tuning"]["worst"]), name
        assert count.startswith((str(found["lasers"]), "one a wavelength")), name
        assert chips == (str(found["gate_chips"]) if found["gate_chips"] else "-"), name
