"""Fabrics that name their devices: files, messages and the report."""

import json
import tomllib
from pathlib import Path

import jsonschema
import pytest
from cli_support import ROOT, SIRIUS, SMALL, lightloom, write

import lightloom as loom
from lightloom import ConfigError
from lightloom.analysis import derived_values
from lightloom.cli import describe
from lightloom.config import fabrics
from lightloom.devices import photonics
from lightloom.report.describe import present

NAMED = SIRIUS + 'devices = "sirius"\n'
SWITCHED = '\n[[fabric]]\nkind = "cthrough"\ndevices = "mems-cthrough"\n'


def test_an_impossible_design_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    write(tmp_path / "e.toml", SMALL, NAMED)
    ports, leak = "fabric.devices.grating.ports=100", "fabric.devices.grating.adjacent=-30 dB"
    run = lightloom(
        *("run", "e.toml", "-o", "out"),
        *("--set", "fabric.devices={}", "--set", ports, "--set", leak),
        cwd=tmp_path,
    )
    told = " ".join(run.stderr.split())
    assert run.returncode == 2, run.stderr
    assert "fabric.devices.grating.ports = 100: " in told
    assert "-30 dB adjacent crosstalk" in told
    assert "PAM-4 penalty is unbounded" in told
    assert not (tmp_path / "out").exists()


def test_a_run_prints_what_followed_and_its_file_runs_again_to_the_same_bytes(
    tmp_path: Path,
) -> None:
    write(tmp_path / "e.toml", SMALL, NAMED)
    run = lightloom("run", "e.toml", "-o", "a", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    told = " ".join(run.stdout.split())
    parts = ("guardband 3.84 ns", "laser 912 ps", "recovery 1 ns", "of 38.4 ns", "16 ports")
    assert all(part in told for part in (*parts, "reach 11.363 km", "0.27 dB"))
    said = "note: bit errors are not simulated: on the worst path the bit error rate is 3.1e-09"
    assert said in told
    again = lightloom("run", "a/experiment.toml", "-o", "b", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    first, second = ((tmp_path / name / "flows.parquet").read_bytes() for name in ("a", "b"))
    assert first == second
    table = tomllib.loads((tmp_path / "a" / "experiment.toml").read_text())["fabric"][0]
    assert (table["slot"], table["cell"], table["devices"]["uplinks"]) == ("38.4 ns", "177 B", 2)
    summary = json.loads((tmp_path / "a" / "summary.json").read_text())
    derived = photonics.derive(preset="sirius").derived
    same = ("guardband", "slot", "ports", "wavelengths", "ber", "error_rate", "notes")
    assert {key: summary["devices"][key] for key in same} == {key: derived[key] for key in same}


def test_a_report_says_what_followed_below_each_fabric(tmp_path: Path) -> None:
    write(tmp_path / "e.toml", SMALL, NAMED, SWITCHED)
    run = lightloom("compare", "--verbose", "e.toml", "-o", "out", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Devices: guardband 3.84 ns" in page
    for part in ("switch of 320 ports, ", "dark for 10 ms, ", "loss 3 dB, ", "0.50 dB of"):
        assert part in page


def test_what_contradicts_the_devices_names_both() -> None:
    experiment = loom.load(ROOT / "examples" / "devices.toml", ["fabric.bank.guardband=10 ns"])
    told = r"fabric\.bank\.guardband = 10 ns: fabric\.bank\.devices give 3\.84 ns; leave it out"
    with pytest.raises(ConfigError, match=told):
        experiment.resolved()


def test_a_design_that_was_printed_is_read_in_a_fabric() -> None:
    design = present(photonics.derive({"laser": {"kind": "dsdbr"}, "slot": "300 ns"}).design)
    del design["uplinks"]  # the fabric's
    experiment = loom.load(ROOT / "examples" / "devices.toml")
    experiment.raw["fabric"] = [{"kind": "sirius", "devices": design}]
    table = experiment.resolved()["fabric"][0]
    derived = photonics.derive(design).derived
    assert (table["slot"], table["guardband"]) == ("300 ns", derived["guardband"]["total"])


def test_a_key_above_a_named_preset_is_set_by_hand() -> None:
    """`devices = "mems-cthrough"` is short for a table with this preset."""
    experiment = loom.load(ROOT / "examples" / "devices.toml")
    experiment.raw["fabric"] = [{"kind": "cthrough", "devices": "mems-cthrough"}]
    set_ = experiment.with_overrides(['fabric.cthrough.devices.settle="3 ms"'])
    (table,) = set_.resolved()["fabric"]
    assert table["devices"]["ports"] == 320
    assert table["reconfiguration_delay"] == "3 ms"
    lossy = experiment.with_overrides(['fabric.cthrough.devices.loss="9 dB"'])
    with pytest.raises(ConfigError, match=r"devices\.loss = 9 dB: "):
        lossy.resolved()
    assert experiment.raw["fabric"][0]["devices"] == "mems-cthrough"


def test_the_schema_and_explain_know_the_devices_and_their_keys() -> None:
    registry = fabrics.registry()
    schema = registry["sirius"]["schema"]
    for devices in ("sirius-v1", {"preset": "sirius", "laser": {"kind": "dsdbr"}}):
        jsonschema.validate({"devices": devices}, schema)
    for wrong in ("mems-hydra", {"lasers": {}}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({"devices": wrong}, schema)
    found = describe.find(schema, "devices.laser.output")
    assert found is not None
    assert "dBm" in found.kind
    switch = describe.find(registry["mordia"]["schema"], "devices")
    assert switch is not None
    assert '"wss-ring"' in [choice.name for choice in switch.choices]


def test_a_switch_is_said_with_what_is_known_of_it() -> None:
    found = {"ports": 320, "settle": "20 ms", "deviation": None, "loss": "1.5 dB"}
    shown = derived_values.devices(found).split(", ")
    assert shown == ["a switch of 320 ports", "dark for 20 ms", "loss 1.5 dB"]
    assert not derived_values.devices({})
