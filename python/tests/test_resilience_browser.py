"""The page's section on single failures, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser_support import PHONE, WIDE, chromium, visiting

import lightloom
from lightloom import report
from lightloom.failures.search import Search


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as made:
        yield made


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with two small fabrics, one of which has no parts that can fail."""
    made = lightloom.compare(
        {
            "cluster": {"racks": 8, "servers_per_rack": 2, "rack_rate": "100 Gb/s"},
            "workload": {
                "arrivals": "poisson",
                "load": 0.5,
                "flows": 200,
                "sizes": {"kind": "fixed", "size": "20 KB"},
            },
            "run": {"seed": 1},
            "fabric": [{"kind": "clos"}, {"kind": "sirius", "label": "ideal", "mode": "ideal"}],
        },
        worst_failure=Search(2),
    )
    return report.build([made], tmp_path_factory.mktemp("page"))


@pytest.mark.parametrize("width", [WIDE, PHONE])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_and_the_link_lands(
    browser: Any, page: Path, width: int, theme: str
) -> None:
    with visiting(browser, width, theme) as visit:
        visit.go(page, "#section=failures")
        assert visit.at_top("#failures-1")
        assert visit.violations() == []
        assert visit.errors == []
        # The paragraph above the table is not the bar of columns, which is hidden if the table
        # fits.
        assert visit.page.locator(".failing-text").is_visible()
