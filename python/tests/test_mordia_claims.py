"""Inputs under which claims of Mordia that hold by construction fail."""

from pathlib import Path
from types import ModuleType

import pytest

from lightloom.validation import scripts
from lightloom.validation.claims import Claims
from lightloom.validation.scripts import find_validation

FOLDER = find_validation() / "mordia"


def script(name: str) -> ModuleType:
    return scripts._load(FOLDER / f"{name}.py")


def holds(claim: str, measured: float) -> bool:
    claims = {c.id: c for c in Claims.read(FOLDER / "claims.toml").claim}
    expect = claims[claim].expect
    assert expect is not None
    return expect.holds(measured)


def test_throughput_need_not_rise_with_the_slot(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slots of 65 us are lit for 53.45 us, and slots of 68 us for 56.45 us: both carry seven
    packets of 9,000 B, which take 7.2 us each."""
    fig10 = script("fig10")
    monkeypatch.setattr(fig10, "QUICK", (65, 68))
    measured = fig10.measure(True, 1)["claims"]["fig10-rises"]
    assert measured.value <= 65 / 68 + 1e-3
    assert not holds("fig10-rises", measured.value + measured.half_width)


def test_ports_need_not_be_the_wavelengths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two rings have twice the number of ports."""
    scale = script("scale")
    setup = (FOLDER / "prototype.toml").read_text(encoding="utf-8")
    stacked = setup.replace('label = "exact"', 'label = "exact"\nrings = 2')
    path = tmp_path / "stacked.toml"
    path.write_text(stacked, encoding="utf-8")
    monkeypatch.setattr(scale, "SETUP", path)
    for claim, ports in scale.measure(True, 1)["claims"].items():
        assert ports == 2 * int(claim.removeprefix("scale-"))
        assert not holds(claim, ports)


def test_a_fabric_that_refuses_nothing_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    scale = script("scale")
    monkeypatch.setattr(scale, "MOST", 30)
    with pytest.raises(AssertionError, match="racks are not refused"):
        scale._ports(44)
