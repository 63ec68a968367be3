"""Notes on the traffic of a sweep's points."""

from __future__ import annotations

from typing import Any

import pytest

from lightloom.analysis import swept_traffic

FIXED = {"load": 0.5, "sizes": {"kind": "fixed", "size": "1 MB"}}
HEAVY = {"load": 0.5, "sizes": {"kind": "pareto", "shape": 1.05, "mean": "1 MB"}}


def run(place: str, drawn: float, workload: dict[str, Any]) -> tuple[str, Any, Any]:
    return place, {"load_offered": drawn}, workload


def test_the_mean_over_seeds_is_compared_with_the_requested_load() -> None:
    """0.4 and 0.6 have a mean of 0.5; the mean of 0.4 and 0.45 is 15 % lower."""
    level = [run("racks = 8", drawn, FIXED) for drawn in (0.4, 0.6)]
    assert swept_traffic.lines(level) == []
    (line,) = swept_traffic.lines([run("racks = 8", drawn, FIXED) for drawn in (0.4, 0.45)])
    assert {"0.425", "0.5,"} <= {*line.split()}


def test_the_farthest_load_is_named_and_others_are_counted() -> None:
    each = [run(f"load = {i}", drawn, FIXED) for i, drawn in enumerate((0.5, 0.4, 0.8, 0.51))]
    (line,) = swept_traffic.lines(each)
    assert line.startswith("at 2 of 4 points")
    assert {"2", "0.8"} <= {*line.split()}


@pytest.mark.parametrize("heavy", [1, 4, 5])
def test_sizes_without_a_variance_are_noted_once(heavy: int) -> None:
    """The note has the points to which it applies, unless these are all."""
    each = [run(f"p = {i}", 0.5, HEAVY if i < heavy else FIXED) for i in range(5)]
    (line,) = swept_traffic.lines(each)
    assert "shape 1.05" in line
    assert ("p = 0" in line) == (heavy < 5)
    assert ("1 more" in line) == (heavy == 4)
