"""Claims based on completion times of which only bounds are known."""

from __future__ import annotations

import json
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_cli_verdicts import claim

from lightloom.cli import verdicts
from lightloom.validation import Verdict
from lightloom.validation.of_bounds import OfBounds, figure
from lightloom.validation.study import Runs
from lightloom.validation.verdicts import judge

PATH = "fct.short.p99_us"


def summary(low: float, high: float | None, completed: float) -> dict[str, object]:
    limits = {"low": low, "high": high, "from": None, "until": None}
    return {
        "fct": {"short": {"p99_us": completed}},
        "fct_bound": {"short": {"p99_us": limits}},
        "goodput_normalized": 0.5,
    }


#: All flows of the first fabric arrived, and 39 % of the second, which are the fast ones.
WHOLE, CUT = summary(12.0, 12.0, 12.0), summary(80.0, None, 9.0)


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6))
def test_arithmetic_keeps_the_value_and_the_mark(a: float, b: float) -> None:
    x = OfBounds(a)
    results = [x + b, b + x, x - b, b - x, x * b, b * x, x / b, -x, +x, abs(x), OfBounds(b) ** 2]
    plain = [a + b, b + a, a - b, b - a, a * b, b * a, a / b, -a, +a, abs(a), b**2]
    assert results == plain
    assert all(isinstance(found, OfBounds) for found in results)
    assert isinstance(b / OfBounds(b), OfBounds)
    assert json.dumps(x) == json.dumps(a)


def test_figures_are_of_all_flows_and_marked_where_they_are_bounds() -> None:
    assert (figure(WHOLE, PATH), type(figure(WHOLE, PATH))) == (12.0, float)
    assert (figure(CUT, PATH), type(figure(CUT, PATH))) == (80.0, OfBounds)
    assert figure(CUT, "goodput_normalized") == 0.5
    assert figure({"fct": {"short": {"p99_us": None}}}, PATH) is None
    with pytest.raises(TypeError):
        OfBounds(1.0) + "1"


def verdict(runs: Runs[str]) -> Verdict:
    saved = 100 * (1 - runs.ratio("cut", "whole", PATH))
    return judge("toy", claim("saved", "toy/fig01"), saved, quick=False)


def test_a_claim_that_compares_with_a_bound_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    """Over completed flows only, the fabric that left 61 % unfinished was faster by a quarter."""
    runs = Runs({"whole": [WHOLE, WHOLE], "cut": [CUT, WHOLE], "both": [WHOLE, WHOLE]})
    assert runs.value("cut", PATH) == statistics.median([80.0, 12.0])
    assert runs.ratio("cut", "whole", PATH) == (80 / 12 + 1) / 2
    found = verdict(runs)
    assert found.of_bounds
    assert found.to_dict()["of_bounds"] is True
    verdicts.print_verdicts([found])
    text = capsys.readouterr().out
    assert "of bounds" in text
    assert "of bounds: compares with" in text
    plain = verdict(Runs({"whole": [WHOLE], "cut": [WHOLE]}))
    assert not plain.of_bounds
    assert "of_bounds" not in plain.to_dict()
