"""Tables of the fabrics' pages are accepted as they are written."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import pytest
from cli_support import ROOT

from lightloom.config import experiment

PAGES = sorted((ROOT / "docs" / "fabrics").glob("*.md"))
BLOCK = re.compile(r"```toml\n(.*?)```", re.DOTALL)
WORKLOAD = {"load": 0.1, "sizes": "web-search", "flows": 10}
CLUSTERS: tuple[dict[str, Any], ...] = (
    {"racks": 16, "servers_per_rack": 8, "server_rate": "50 Gb/s"},
    {"hosts": 16, "server_rate": "10 Gb/s"},
    {"racks": 16, "servers_per_rack": 1, "server_rate": "10 Gb/s"},
    {"racks": 128, "servers_per_rack": 24, "rack_rate": "400 Gb/s"},
    {"racks": 108, "servers_per_rack": 6, "server_rate": "10 Gb/s"},
)
"""What blocks without a cluster are tried with: one of them has to do."""


def blocks() -> list[Any]:
    found = [
        (page, at, text)
        for page in PAGES
        for at, text in enumerate(BLOCK.findall(page.read_text()))
    ]
    return [pytest.param(text, id=f"{page.stem}-{at}") for page, at, text in found]


@pytest.mark.parametrize("text", blocks())
def test_a_block_is_accepted(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    table = tomllib.loads(text)
    if "fabric" not in table:
        pytest.skip("no experiment")
    refused = []
    for cluster in CLUSTERS:
        try:
            experiment.load({"cluster": cluster, "workload": WORKLOAD, **table}).resolved()
        except experiment.ConfigError as problem:
            refused.append(str(problem))
        else:
            return
    raise AssertionError("\n".join(refused))
