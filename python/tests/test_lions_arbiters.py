"""The table of arbiters on LIONS' page, measured again with the set-up that the page states."""

import re

import pytest
from cli_support import ROOT

import lightloom

PAGE = (ROOT / "docs/fabrics/lions.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `([a-z-]+)` \| (0\.\d{3}) \| (0\.\d{3}) \|$", re.MULTILINE)
ROWS = ROW.findall(PAGE)


@pytest.mark.long
@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_saturated_buffers_carry_what_the_page_says(row: tuple[str, str, str]) -> None:
    arbiter, *shares = row
    for transmitters, share in zip((1, 4), shares, strict=True):
        keys = {
            "fabric.architecture": "dlb",
            "fabric.receivers": 1,
            "fabric.transmitters": transmitters,
            "fabric.arbiter": arbiter,
            "workload.load": 1.0,
            "run.warm_up": "1 ms",
            "run.measure": "5 ms",
        }
        overrides = [f"{key}={value}" for key, value in keys.items()]
        experiment = lightloom.load(ROOT / "validation/lions/slotted.toml", overrides)
        carried = lightloom.run(experiment).summary["window"]["accepted"]
        assert carried == pytest.approx(float(share), abs=0.002)


def test_the_page_has_a_row_for_each_arbiter() -> None:
    assert {row[0] for row in ROWS} == {
        "loop-back-first",
        "hosts-first",
        "round-robin",
        "oldest-first",
    }
