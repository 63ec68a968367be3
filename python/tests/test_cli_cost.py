"""`lightloom cost`, and prices in `compare`, from a user's view."""

import csv
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from cli_support import CLOS, ROOT, SIRIUS, SMALL, lightloom, write

HYBRID = '\n[[fabric]]\nkind = "hybrid"\n'


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    return write(tmp_path / "e.toml", SMALL, SIRIUS, CLOS)


def test_a_table_with_ranges_and_what_they_rest_on(experiment: Path, tmp_path: Path) -> None:
    done = lightloom("cost", experiment, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "sirius-2020, USD of 2020" in done.stdout
    assert "out: server-transceiver, server-cable (§5" in done.stdout
    row = next(line for line in done.stdout.splitlines() if line.startswith("sirius"))
    assert row.count("–") == 4


def test_json_alone_and_files(experiment: Path, tmp_path: Path) -> None:
    done = lightloom("cost", experiment, "--json", "-o", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    assert printed == json.loads((tmp_path / "out/costs.json").read_text())
    low, high = printed["fabrics"]["sirius"]["capital"]
    assert 0 < low < high
    with (tmp_path / "out/bill.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["fabric"] for row in rows} == {"sirius", "clos"}
    total = sum(float(row["cost_high"]) for row in rows if row["fabric"] == "sirius")
    assert total == pytest.approx(high)


def test_a_bill_says_how_each_number_comes_about(experiment: Path, tmp_path: Path) -> None:
    done = lightloom("cost", experiment, "--bill", "sirius", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "8 racks × 2 uplinks ÷ 4 ports" in done.stdout


def test_a_break_even_in_the_unit_of_the_book(tmp_path: Path) -> None:
    path = write(tmp_path / "e.toml", SMALL, CLOS, HYBRID + 'preset = "mesh"\nplanes = 2\n')
    asked = ("--prices", "ai-cluster-2026", "--break-even", "circuit-switch")
    done = lightloom("cost", path, *asked, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "cheaper than clos below" in done.stdout
    assert "a port (circuit-switch)" in done.stdout


@pytest.mark.parametrize("pod", [8, 4])
def test_a_key_without_effect_has_no_equal_cost(pod: int, tmp_path: Path) -> None:
    """With all 8 racks in one pod no traffic passes the core; with two pods the ratio has an
    effect."""
    path = write(tmp_path / "e.toml", SMALL, SIRIUS, CLOS + f"racks_per_pod = {pod}\n")
    asked = "clos.oversubscription=sirius"
    done = lightloom("cost", path, "--equal-cost", asked, cwd=tmp_path)
    if pod == 4:
        assert done.returncode == 0, done.stderr
        return
    assert done.returncode == 2
    assert f"--equal-cost = {asked}: clos.oversubscription cannot be varied" in done.stderr
    assert "all 8 racks are" in " ".join(done.stderr.split())
    assert "999" not in done.stderr


def test_equal_cost_and_readings(experiment: Path, tmp_path: Path) -> None:
    done = lightloom("cost", experiment, "--equal-cost", "sirius.uplinks=clos", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "sirius.uplinks" in done.stdout
    hydra = ("cost", ROOT / "examples/hydra-cost.toml", "--equal-cost", "hydra.planes=tree")
    done = lightloom(*hydra, cwd=tmp_path)
    note = "note: hydra.planes above 32: a rack needs 2 switches, not 1, which that cost holds"
    assert done.stdout.splitlines()[-1] == note
    (found,) = json.loads(lightloom(*hydra, "--json", cwd=tmp_path).stdout)["equal_cost"]
    assert found["rack_switches"] == {"until": 32, "now": 1, "then": 2}
    done = lightloom("cost", experiment, "--reading", "G", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "54.8*" in done.stdout
    assert "(fitted)" in done.stdout


def test_the_tornado_is_svg_and_the_same_each_time(experiment: Path, tmp_path: Path) -> None:
    for name in ("a.svg", "b.svg"):
        done = lightloom("cost", experiment, "--tornado", name, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    one, two = ((tmp_path / name).read_text() for name in ("a.svg", "b.svg"))
    assert one == two
    assert ElementTree.fromstring(one).tag.endswith("svg")
    assert "tunable-transceiver" in one


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--prices", "hydra"), "neither a price book nor a file"),
        (("--price", "swich=5"), 'did you mean "switch"'),
        (("--price", "plutonium=5"), "no such part; choose one of 27, as "),
        (("--price", "switch=-5"), "below 0"),
        (("--price", "switch=1e999999999"), "more than 10^15"),
        (("--price", "switch=1e-999999999"), "more than 30 digits"),
        (("--price", "switch=nan"), "not a number"),
        (
            (
                "--price",
                "switch=0",
                "--price",
                "transceiver=0",
                "--equal-cost",
                "sirius.uplinks=clos",
            ),
            "may cost nothing",
        ),
        (("--price", "switch=1/0"), "not a number"),
        (("--price", "switch"), "PART=AMOUNT"),
        (("--price", "switch=9..5"), "ends before it begins"),
        (("--break-even", "circuit-switch"), "none of these fabrics has it"),
        (("--bill", "tree"), "choose one of sirius, clos"),
        (("--reading", "Z"), "choose one of A, F, G, H"),
        (("--reading", "A", "--equal-cost", "sirius.uplinks=clos"), "remove it"),
        (("--equal-cost", "sirius=clos"), "LABEL.KEY=OTHER"),
        (("--equal-cost", "sirius.mode=clos"), "not a number of its table"),
        (("--tornado", "x.png"), "ends in .svg"),
    ],
)
def test_what_cannot_be_answered_is_refused(
    experiment: Path, tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    done = lightloom("cost", experiment, *arguments, "-o", "out", cwd=tmp_path)
    assert done.returncode == 2
    assert words in done.stderr
    assert not (tmp_path / "out").exists()


def test_compare_adds_the_cost_of_what_arrived(experiment: Path, tmp_path: Path) -> None:
    asked = ("compare", "--verbose", experiment, "-o", "out", "--prices", "sirius-2020")
    done = lightloom(*asked, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "delivered" in done.stdout
    found = json.loads((tmp_path / "out/costs.json").read_text())["fabrics"]["clos"]
    summary = json.loads((tmp_path / "out/comparison.json").read_text())["clos"]
    expected = found["per_gbps"][0] / summary["goodput_normalized"]
    assert found["per_delivered_gbps"][0] == pytest.approx(expected)
    again = lightloom("cost", tmp_path / "out/experiment.toml", "--json", cwd=tmp_path)
    assert json.loads(again.stdout)["fabrics"]["clos"] == found
    lightloom("compare", experiment, "-o", "out", cwd=tmp_path)
    assert not (tmp_path / "out/costs.json").exists()


def test_compare_refuses_prices_before_it_simulates(experiment: Path, tmp_path: Path) -> None:
    done = lightloom("compare", experiment, "-o", "out", "--prices", "nobody", cwd=tmp_path)
    assert done.returncode == 2
    assert not (tmp_path / "out").exists()


def test_what_is_asked_twice_is_answered_twice(experiment: Path, tmp_path: Path) -> None:
    asked = ("--equal-cost", "sirius.uplinks=clos", "--equal-cost", "clos.oversubscription=sirius")
    done = lightloom("cost", experiment, *asked, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    keys = [found["key"] for found in json.loads(done.stdout)["equal_cost"]]
    assert keys == ["sirius.uplinks", "clos.oversubscription"]


def test_several_ways_of_counting_are_summed_up_first(tmp_path: Path) -> None:
    """Ratios by readings are those of Fig 6, with lasers at the price of 3 to 5 fixed ones: reading
    A gives 41.4 to 44.9 %."""
    root = Path(__file__).parents[2]
    done = lightloom("cost", root / "examples/datacenter-4000-racks.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    first, _, details = done.stdout.partition("Each way in full:")
    rows = {line.split("  ")[0]: line for line in first.splitlines()}
    assert list(rows)[3:8] == ["bills", "A, assumed", "F, fitted", "G, fitted", "H, fitted"]
    assert "41.4–44.9" in rows["A, assumed"]
    assert rows["A, assumed"].endswith("0 of 5")
    assert rows["H, fitted"].endswith("5 of 5")
    assert max(len(rows[name]) for name in list(rows)[3:8]) <= 80
    said = " ".join(first.split())
    assert "By bills is derived" in said
    assert "meets 0 of 5" in said
    assert "meet 4 of 5, 4 of 5 and 5 of 5" in said
    assert details.count("and clos by reading") == 4
    low, high = rows["bills"].split("$")[1].split(" M")[0], "377.2"
    assert f"{100 * float(low) / float(high):.1f}–" in rows["bills"]


def test_one_way_of_counting_needs_no_summary(experiment: Path, tmp_path: Path) -> None:
    for more in ((), ("--reading", "G")):
        done = lightloom("cost", experiment, *more, cwd=tmp_path)
        assert "Each way in full" not in done.stdout


@pytest.mark.parametrize("seeds", [1, 2])
def test_the_cost_of_a_fabric_that_is_overloaded_is_in_parentheses(
    seeds: int, tmp_path: Path
) -> None:
    """If each rack sends to one other, a tree 4:1 carries 0.25, half of the load of 0.5."""
    write(
        tmp_path / "e.toml",
        '[cluster]\nracks = 4\nservers_per_rack = 4\nserver_rate = "10 Gb/s"\n',
        '[workload]\nload = 0.5\nsizes = { kind = "fixed", size = "20 KB" }\n',
        'pattern = { kind = "permutation", of = "racks" }\n',
        f'[run]\nrepeat = {seeds}\nwarm_up = "2 ms"\nmeasure = "20 ms"\n',
        '[[fabric]]\nkind = "tree"\nlabel = "whole"\n',
        '[[fabric]]\nkind = "tree"\nlabel = "quarter"\noversubscription = 4\n',
    )
    lightloom("compare", "e.toml", "-o", "out", cwd=tmp_path)
    shown = lightloom("cost", "out/experiment.toml", cwd=tmp_path).stdout
    cells = [line.split() for line in shown.splitlines() if "$" in line and "W" in line]
    marked = {row[0]: row[-1].startswith("(") for row in cells if row[0] in ("whole", "quarter")}
    assert marked == {"whole": False, "quarter": True}
