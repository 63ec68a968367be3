"""The table of docs/fabrics/clos.md on failures beyond saturation: each figure is measured again
with the experiment of that page."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import pytest
from cli_support import ROOT
from doc_support import blocks_of

import lightloom as ll

PATH = ROOT / "docs" / "fabrics" / "clos.md"
PAGE = PATH.read_text()
SECTION = PAGE.partition("### Failures beyond saturation")[2].partition("\n## ")[0]
ROW = re.compile(r"^\| (20 KB|2 MB) \| (.*) \| ([\d.]+) \| ([\d.]+) \|$", re.MULTILINE)
ARITHMETIC = {"transceiver": 100 * 39 / 40, "aggregation": 100 * 38 / 40}
FLOWS = {"20 KB": 65_000, "2 MB": 650}
MODELS: dict[str, dict[str, Any]] = {
    '`detail = "packets"`': {},
    "the same, `flow_buffer = 1`": {"flow_buffer": 1},
    '`detail = "flows"`': {"detail": "flows"},
    "`tree`": {"kind": "tree", "levels": 3, "aggregation_switches": 4},
}


def kept(size: str, model: str) -> dict[str, float]:
    """Returns the goodput with each failure, in % of that without failures."""
    (text,) = {b.text for b in blocks_of(PATH) if b.language == "toml" and b.text in SECTION}
    table = tomllib.loads(text)
    table["workload"] |= {"flows": FLOWS[size], "sizes": {"kind": "fixed", "size": size}}
    for fabric in table["fabric"]:
        fabric |= MODELS[model]
        if fabric["kind"] == "tree":
            del fabric["detail"]
    goodput = {
        label: result.summary["goodput_normalized"]
        for label, result in ll.compare(ll.load(table)).results.items()
    }
    return {label: 100 * goodput[label] / goodput["sound"] for label in ARITHMETIC}


def test_the_table_has_all_models_of_both_sizes() -> None:
    rows = [(size, model) for size, model, *_ in ROW.findall(SECTION)]
    assert len(set(rows)) == len(rows) == 7
    assert {model for _, model in rows} == set(MODELS)


@pytest.mark.parametrize(
    ("size", "model", "transceiver", "aggregation"), ROW.findall(SECTION), ids=lambda text: text
)
def test_a_figure_of_the_page_is_measured_again(
    size: str, model: str, transceiver: str, aggregation: str
) -> None:
    """Values agree to the digits of the page, because simulations are deterministic."""
    found = kept(size, model)
    assert found["transceiver"] == pytest.approx(float(transceiver), abs=0.05)
    assert found["aggregation"] == pytest.approx(float(aggregation), abs=0.05)


def test_rates_keep_what_the_links_that_are_left_can_carry_and_packets_less() -> None:
    """65,000 flows keep every uplink busy: with rates, the goodput is within 0.2 points of the
    arithmetic. With packets of short flows it is at least 1 point lower, and half of that with the
    shortest buffers."""
    rates, packets, short_buffers = (
        kept("20 KB", model)
        for model in ('`detail = "flows"`', '`detail = "packets"`', "the same, `flow_buffer = 1`")
    )
    for part, links in ARITHMETIC.items():
        assert rates[part] == pytest.approx(links, abs=0.2)
        assert packets[part] < links - 1
        assert links - short_buffers[part] < (links - packets[part]) / 2
