"""Optical devices: the API and the command."""

import csv
import json
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from cli_support import ROOT
from typer.testing import CliRunner

from lightloom import ConfigError
from lightloom.cli import app
from lightloom.devices import photonics
from lightloom.validation.scripts import load_script


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
    constraints = {switch["constraint"] for switch in photonics.switches()}
    assert constraints == {"multicast", "matching", "rotor"}


def _lines(budget: dict[str, Any]) -> float:
    """Returns the launch power minus the losses and the required power, line by line [dB]."""
    figure = lambda quantity: float(quantity.split()[0])  # noqa: E731
    lost = sum(figure(loss) for _, loss in budget["losses"])
    return figure(budget["launch"]) - lost - figure(budget["sensitivity"])


@pytest.mark.parametrize("preset", [switch["name"] for switch in photonics.switches()])
def test_the_budget_of_every_switch_closes_line_by_line(preset: str) -> None:
    found = photonics.switch(preset=preset)
    assert found.budget is not None
    spare = float(found.budget["spare"].split()[0])
    assert _lines(found.budget) == pytest.approx(spare, abs=1e-6)
    loss = float(found.design["loss"].split()[0])
    just = photonics.switch({"loss": f"{loss + spare} dB"}, preset)
    assert _lines(just.budget or {}) == pytest.approx(0, abs=1e-6)
    with pytest.raises(ConfigError, match="more than the") as refused:
        photonics.switch({"loss": f"{loss + spare + 0.01} dB"}, preset)
    assert refused.value.key == "devices.loss"


def test_a_switch_of_unknown_loss_has_no_budget_and_says_so(tmp_path: Path) -> None:
    table = {"ports": 8, "constraint": "matching", "settle": "1 ms"}
    assert photonics.switch(table).budget is None
    (tmp_path / "s.toml").write_text(
        '[devices]\nports = 8\nconstraint = "matching"\nsettle = "1 ms"\n'
    )
    printed = call(str(tmp_path / "s.toml"))
    assert "devices.loss is not known" in printed
    assert "link budget  " not in printed


def test_the_command_shows_a_switch_and_refuses_one_that_does_not_close(tmp_path: Path) -> None:
    printed = " ".join(call("--preset", "mems-cthrough").split())
    for line in ("launched -8.20", "switch 3.00", "connectors 2.00", "fibre 0.20", "spare 0.50"):
        assert line in printed
    assert "reach 1.75 km" in printed
    assert "0.7 dB that the" in printed
    value = json.loads(call("--preset", "wss-ring", "--json"))
    assert photonics.switch(value["design"]).to_dict() == value
    out = tmp_path / "switch.json"
    arguments = ["devices", "--preset", "mems-hydra", "--set", "loss=7 dB", "-o", str(out)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2
    told = " ".join(result.output.split())
    assert "devices.loss = 7 dB: " in told
    assert "the 3.5 dB that" in told
    assert "left: -8.2 dBm" in told
    assert "loses 3.5 dB less" in told
    assert not out.exists()
    call("--preset", "mems-hydra", "-o", str(out))
    assert json.loads(out.read_text())["budget"]["spare"] == "0.5 dB"


def test_the_reach_says_what_sets_it() -> None:
    """At -30 dB and 10 ports each transceiver has its own laser, and the remaining power of the
    laser is almost equal to the margin."""
    few = photonics.derive({"grating": {"ports": 10, "adjacent": "-30 dB"}}).derived["link"]
    assert "margin of 2 dB" in few["reach_by"]
    assert "the 1.82 dB that" in few["reach_by"]
    assert few["reach_by"].endswith("at 0.2 dB/km")
    for design in ({"grating": {"ports": 10, "adjacent": "-30 dB"}}, {"link": {"share": 4}}, {}):
        link = photonics.derive(design).derived["link"]
        laser, required, split = (
            float(link[key].split()[0]) for key in ("laser", "required", "split")
        )
        reach = float(link["reach"].split()[0])
        assert reach == pytest.approx((2 + laser - required - split) / 0.2, abs=2e-3)
    shared = photonics.derive({"link": {"share": 4}}).derived["link"]["reach_by"]
    assert shared.startswith("the 3.28 dB that")
    assert "shared by 4" in shared
    assert shared.index("shared by 4") < shared.index("margin of 2 dB")


def test_the_schema_accepts_the_presets_and_refuses_a_typo() -> None:
    for preset in photonics.presets().values():
        jsonschema.validate(preset["design"], photonics.schema())
    with pytest.raises(jsonschema.ValidationError, match="gratings"):
        jsonschema.validate({"gratings": {}}, photonics.schema())


def test_an_impossible_design_is_refused_by_the_part_that_breaks_it() -> None:
    with pytest.raises(ConfigError, match="penalty is unbounded") as refused:
        photonics.derive({"grating": {"ports": 100, "adjacent": "-30 dB"}})
    assert refused.value.key == "devices.grating.ports"
    with pytest.raises(ConfigError, match="one of sirius, "):
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
        (["-o", "tuning.txt"], "its extension names no known format"),
        (["--set", "grating.ports"], "has no `=`"),
        (["--set", "gratings.ports=3"], "devices.gratings"),
        (["no-such.toml"], "no such file"),
        (["--preset", "zeus"], "sirius-v1, wss-ring, mems-cthrough, mems-hydra, rotor-rotornet"),
        (["--preset", "mems-hydr"], 'did you mean "mems-hydra"?'),
        (["--preset", "wss-ring", "-o", "tuning.txt"], "has no tuning times to draw; use .json"),
        (["--preset", "wss-ring", "--set", "los=1 dB"], 'did you mean "loss"?'),
    ],
)
def test_bad_input_is_refused_with_exit_code_2(arguments: list[str], told: str) -> None:
    result = CliRunner().invoke(app, ["devices", *arguments])
    assert result.exit_code == 2
    assert told in " ".join(result.output.split())
    assert not Path("tuning.txt").exists()


def test_the_table_of_lasers_in_the_documentation_is_what_comes_out() -> None:
    """The table of docs/devices.md: kind, wavelengths, median, worst, lasers, gate chips."""
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
