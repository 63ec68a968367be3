"""Each line of each example's bill of parts: its formula gives its count."""

from __future__ import annotations

import math
import re
from fractions import Fraction

import pytest
from cli_support import ROOT
from economics_support import counts, network

import lightloom
from lightloom.config import price_books
from lightloom.costs import book as books
from lightloom.costs import pricing

EXAMPLES = (
    *("devices", "decision", "datacenter-4000-racks", "hydra-cost", "ai-cluster", "circuits"),
    *("lions", "hybrid", "clos", "sirius"),
)


def value(text: str) -> float:
    """Returns the value of a formula without its words."""
    text = re.split("[;,]|plan rotor", text)[0].replace("k = ", "")
    text = re.sub(r"\b(of|for) [\d.]+( ports| [GT]b/s)?", "", text)
    text = re.sub(r"× [\d.]+ [GT]b/s$", "", text.strip().rstrip("("))  # the rate of each link
    text = text.replace("²", "**2").translate(str.maketrans("×÷−", "*/-"))
    text = re.sub(r"\b[A-Za-z][A-Za-z'/]*", "", text)
    return float(eval(text.replace("⌈", "ceil(").replace("⌉", ")"), {"ceil": math.ceil}))


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("prices", price_books.names())
def test_every_formula_gives_its_count(name: str, prices: str) -> None:
    costs = lightloom.cost(ROOT / f"examples/{name}.toml", prices)
    for label, cost in costs.fabrics.items():
        for line in cost.lines:
            told = value(line.worked or line.formula)
            assert told == pytest.approx(float(line.count), rel=1e-4), (label, line.part, line.how)


def test_mirrors_of_links_with_many_transceivers_say_so() -> None:
    """320 Gb/s with transceivers of 10 Gb/s are 32 ports per rack and 1,024 per plane; this takes
    7 + 4 boxes of 320 ports, each at the price of four boxes of 80 ports in the book."""
    cluster = {"racks": 32, "servers_per_rack": 8, "server_rate": "40 Gb/s"}
    made = network("cthrough", cluster, devices="mems-cthrough", circuit_rate="320 Gb/s")
    cost = pricing.of_network("c", made, books.load("cthrough-2010"))
    (line,) = (one for one in cost.lines if one.part == "circuit-switch")
    assert line.how.startswith("1 plane × 32 racks; from devices: of 320 ports = 1 × (7 + 4)")
    assert line.how.endswith("× 320 ÷ 80 for 1024 ports")
    assert counts(cost)["circuit-switch"] == Fraction(11 * 320, 80)
