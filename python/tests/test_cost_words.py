"""Texts of `cost`, `compare`, `clock` and `devices` beside their figures: the cheapest fabric, the
year of the prices, the divisor of a price, and the parts that were not run."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import pytest
from cli_support import CLOS, SIRIUS, SMALL, lightloom, write

import lightloom as package
from lightloom import report
from lightloom.cli import cost_text
from lightloom.costs import book as books
from lightloom.errors import ConfigError

OVERLAY = 'schema = 1\nextends = "sirius-2020"\nyear = 2026\n'
SWITCH = '[part.switch]\nprice = 4000\nsource = "me"\nyear = 2026\n'


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    return write(tmp_path / "e.toml", SMALL, SIRIUS, CLOS)


def test_the_cheapest_is_said_with_the_ratio_of_the_others(experiment: Path) -> None:
    costs = package.cost(experiment)
    (said,) = cost_text.cheapest(costs)
    sirius, clos = costs.fabrics["sirius"], costs.fabrics["clos"]
    least, other = (sirius, clos) if sirius.capital.middle < clos.capital.middle else (clos, sirius)
    ratio = other.relative_to(least)
    assert said.startswith(f"{least.label} costs least")
    assert f"{other.label} {float(ratio.low):.3g}–{float(ratio.high):.3g}" in said
    done = lightloom("cost", experiment, cwd=experiment.parent, COLUMNS="200")
    assert " ".join(said.split()) in " ".join(done.stdout.split())


def test_a_bill_of_nobody_names_the_labels(experiment: Path) -> None:
    done = lightloom("cost", experiment, "--bill", cwd=experiment.parent)
    assert done.returncode == 2
    assert "sirius, clos, or all" in done.stderr


def test_both_years_are_named_where_prices_are_inherited(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(OVERLAY + SWITCH + 'ports = 64\nrate = "400 Gb/s"\n')
    book = books.load(path)
    assert book.money.split(", ")[0] == "USD of 2026"
    assert book.money.endswith("prices of 2020")
    assert books.load("sirius-2020").money == "USD of 2020"
    everything = package.cost(write(tmp_path / "e.toml", SMALL, CLOS), path)
    assert book.money in cost_text.heading(everything)


def test_a_part_of_an_own_book_is_whole_and_the_refusal_says_so(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(OVERLAY + SWITCH)
    with pytest.raises(ConfigError, match="nothing of sirius-2020's"):
        books.load(path)
    path.write_text(OVERLAY + SWITCH.replace("switch", "swich"))
    with pytest.raises(ConfigError, match=r"part\.swich = \(a part\): "):
        books.load(path)


def test_what_draws_nothing_known_is_a_dash() -> None:
    """c-Through's book has no power of any part, so the power of omitted parts is not printed as 0
    W."""
    assert books.load("cthrough-2010").power("tree-switch") is None
    assert books.load("sirius-2020").power("cable").high == 0


def test_the_goodput_that_prices_stands_beside_the_price(tmp_path: Path) -> None:
    path = write(tmp_path / "e.toml", SMALL, '\n[decision]\nprices = "sirius-2020"\n', SIRIUS, CLOS)
    compared = package.compare(path)
    (made,) = report.decide([compared])
    at = made.headings.index("goodput, whole run")
    assert made.headings[at + 2] == "$ per Gb/s delivered"
    for row in made.rows:
        goodput = compared.summaries[row.label]["goodput_normalized"]
        shown = float(re.sub(r"[^\d.]", "", row.cells[at])) / 100
        assert shown == pytest.approx(goodput, rel=0.02)
        cost = made.costs.fabrics[row.label]
        assert cost.per_delivered(goodput) == cost.per_gbps / Fraction(goodput)
        assert f"{row.label} {100 * goodput:.3g} %" in " ".join(
            cost_text.legend_of_columns(made.costs, made.carrying)
        )
    assert any("--worst-failure" in fact for fact in made.facts)


def test_help_of_devices_names_its_table(tmp_path: Path) -> None:
    done = lightloom("devices", "--help", cwd=tmp_path)
    assert "a table [devices]." in " ".join(done.stdout.split())


def test_clock_compares_its_deviation_with_the_guardband(tmp_path: Path) -> None:
    args = ("--nodes", "3", "--duration", "200 us", "--no-contributions")
    done = lightloom("clock", *args, cwd=tmp_path, COLUMNS="200")
    assert done.returncode == 0, done.stderr
    (found,) = re.findall(r"largest deviation\s+([\d.]+) ps", done.stdout)
    (times,) = re.findall(r"budget 5 ps .* is ([\d.]+) times that", done.stdout)
    assert float(times) == pytest.approx(float(found) / 5, rel=0.02)


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ("oversubscription = 3", True),
        ('oversubscription = 3\noversubscription_at = "rack"', False),
        ("oversubscription = 3\ntiers = 3", False),
        ("", False),
    ],
)
def test_a_tier_that_oversubscription_alone_takes_is_said(
    keys: str, told: bool, tmp_path: Path
) -> None:
    """Two tiers connect eight racks; an oversubscription of 3:1 between pods and core requires
    three."""
    costs = package.cost(write(tmp_path / "e.toml", SMALL, f"{CLOS}{keys}\n"), "sirius-2020")
    said = [line for line in cost_text.notes(costs) if "between pods and core" in line]
    assert len(said) == told
    assert all("3 tiers of switches" in line for line in said)


@pytest.mark.parametrize(
    ("keys", "told"),
    [("", True), ("tiers = 2", False), ("tiers = 3", False), ("racks_per_pod = 8", False)],
)
def test_a_clos_that_is_billed_with_fewer_tiers_than_simulated_is_named(
    keys: str, told: bool, tmp_path: Path
) -> None:
    costs = package.cost(write(tmp_path / "e.toml", SMALL, f"{CLOS}{keys}\n"), "sirius-2020")
    said = [line for line in cost_text.notes(costs) if "simulated with pods and a core" in line]
    assert [line.partition(":")[0] for line in said] == (["clos"] if told else [])


@pytest.mark.parametrize(("racks", "billed"), [(64, 2), (65, 3), (2048, 3), (2049, 4)])
def test_a_clos_that_needs_more_tiers_than_asked_for_is_named(
    racks: int, billed: int, tmp_path: Path
) -> None:
    """Switches of 64 ports connect 64 racks in one layer, and 64 × 32 in two."""
    cluster = f'[cluster]\nracks = {racks}\nservers_per_rack = 16\nserver_rate = "100 Gb/s"\n'
    flows = '[workload]\nload = 0.1\nflows = 9\nsizes = "web-search"\n'
    clos = '[[fabric]]\nkind = "clos"\ntiers = 2\nlink_rate = "400 Gb/s"\n'
    costs = package.cost(write(tmp_path / "e.toml", cluster + flows + clos), "sirius-2020")
    said = [line for line in cost_text.notes(costs) if "tiers of switches instead of" in line]
    assert [line.split()[3] for line in said] == ([str(billed)] if billed > 2 else [])


@pytest.mark.parametrize(("ratio", "told"), [(1000, True), (999, False), (1, False)])
def test_a_tier_that_is_not_billed_is_named(ratio: int, told: bool, tmp_path: Path) -> None:
    keys = f'oversubscription = {ratio}\noversubscription_at = "rack"'
    costs = package.cost(write(tmp_path / "e.toml", SMALL, f"{CLOS}{keys}\n"), "sirius-2020")
    said = [line for line in cost_text.notes(costs) if "is not billed" in line]
    assert [line.partition(":")[0] for line in said] == (["clos"] if told else [])
    assert not any("simulated with pods" in line for line in cost_text.notes(costs) if told)
