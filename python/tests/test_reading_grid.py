"""`readings.toml`: its errors, the readings that it defines, and figures that are measured by
them."""

from pathlib import Path
from typing import Any

import pytest
from cli_support import lightloom
from test_cli_reproduce import CLAIM, claim

import lightloom as api
from lightloom.errors import ConfigError
from lightloom.validation import Estimate, Grid, Readings, judge
from lightloom.validation.by_readings import measured_by, of_fabric, picture
from lightloom.validation.scripts import find_validation, load_script, targets

SIRIUS = find_validation() / "sirius"
GRID = """
[factor.stop]
question = "When does it end?"
source = "§7 does not say."
[factor.stop.alternative.last]
what = "with the last arrival"
[factor.stop.alternative.drain]
what = "with the last byte"
set = ["run.stop=drain"]
[factor.nic]
question = "What does a link carry?"
source = "§7 does not say."
[factor.nic.alternative.none]
what = "anything"
[factor.nic.alternative."50 Gb/s"]
what = "50 Gb/s"
set = ["cluster.nic=50 Gb/s"]
[chosen.choice]
stop = "last"
nic = "none"
[chosen.because]
stop = "It is written."
nic = "None is named."
[[combination]]
name = "both"
what = "to see"
choice = { stop = "drain", nic = "50 Gb/s" }
"""


def grid(folder: Path, text: str = GRID) -> Grid:
    path = folder / "readings.toml"
    path.write_text(text, encoding="utf-8")
    return Grid.read(path)


def test_one_factor_at_a_time_and_the_combinations_that_are_named(tmp_path: Path) -> None:
    found = {s.name: s.overrides for s in grid(tmp_path).settings()}
    nic, drain = "cluster.nic=50 Gb/s", "run.stop=drain"
    assert found == {
        "chosen": (),
        "stop = drain": (drain,),
        "nic = 50 Gb/s": (nic,),
        "both": (drain, nic),
    }
    assert [s.name for s in grid(tmp_path).settings(["stop"])] == ["chosen", "stop = drain"]
    assert grid(tmp_path).judged.choice == {"stop": "last", "nic": "none"}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('stop = "last"\n', "", "chosen.choice has nothing of stop; give every factor's"),
        ('stop = "It is written."\n', "", "chosen.because has nothing of stop"),
        ('nic = "none"', 'nic = "1 Gb/s"', "nic has no alternative 1 Gb/s; choose from none, 50"),
        ('nic = "none"', 'nic = "none"\nload = "low"', "no factor is called load; choose from"),
        ('choice = { stop = "drain", nic', 'choice = { stopp = "drain", nic', "combination both: "),
        (', nic = "50 Gb/s" }', " }", "differs from the chosen reading in less than two factors"),
        ('name = "both"', 'name = "stop = drain"', "the name is taken; choose another"),
        ("run.stop=drain", "run.stop", "run.stop: no override; write KEY=VALUE, as for --set"),
        ('what = "to see"', 'why = "to see"', "combination.0.what: Field required"),
        ('question = "When does it end?"', 'question = ""', "factor.stop.question: String should"),
        ('[factor.stop.alternative.drain]\nwhat = "with the last byte"\nset', "#", "one answer"),
        ("[factor.stop]", "[factor.stop", "readings.toml:2"),
    ],
)
def test_readings_that_are_no_such_are_refused(
    old: str, new: str, said: str, tmp_path: Path
) -> None:
    assert old in GRID
    with pytest.raises(ConfigError) as refused:
        grid(tmp_path, GRID.replace(old, new))
    assert said in str(refused.value)
    assert "readings.toml" in str(refused.value)


SCRIPT = """
from lightloom.validation import Estimate
from lightloom.validation.study import draw, panel
FACTORS = ("stop", "nic")
def measure(quick, workers, reading):
    drain, nic = reading.choice["stop"] == "drain", reading.choice["nic"] != "none"
    claims = {"c0": Estimate(3.0 if drain else 2.0, 0.1, 3)}
    if not nic:
        claims["c1"] = Estimate(7.0, 0.1, 3)
    return {"data": [panel("t", ("x", [1, 2]), "y", {"a": [1.0, 2.0]})], "claims": claims}
figure = draw
"""


def toy(folder: Path) -> Path:
    (folder / "toy").mkdir(parents=True)
    (folder / "toy" / "one.py").write_text(SCRIPT)
    (folder / "toy" / "readings.toml").write_text(GRID, encoding="utf-8")
    lines = ['title = "Toy"']
    for name, status in (("c0", "reproduced"), ("c1", "not reproduced")):
        fields = {k: v for k, v in CLAIM.items() if k not in ("expect", "exact")}
        lines += ["[[claim]]", "expect = { value = 2, tolerance = 0.5 }", 'reason = "because"']
        lines += [f'{k} = "{v}"' for k, v in (fields | {"id": name, "status": status}).items()]
    (folder / "toy" / "claims.toml").write_text("\n".join(lines), encoding="utf-8")
    return folder


def test_verdicts_are_from_the_chosen_reading_and_all_are_measured_if_asked(
    tmp_path: Path,
) -> None:
    script = load_script(toy(tmp_path), "toy", "one")
    found = of_fabric(tmp_path / "toy")
    alone = measured_by(script, found, False, 1)
    assert "readings" not in alone
    read: Readings = measured_by(script, found, False, 1, every=True)["readings"]
    assert read.measured() == alone["claims"]
    by = {name: {r.name: e.value for r, e in read.of(name)} for name in ("c0", "c1")}
    assert by["c0"] == {"chosen": 2.0, "stop = drain": 3.0, "nic = 50 Gb/s": 2.0, "both": 3.0}
    assert by["c1"] == {"chosen": 7.0, "stop = drain": 7.0}
    verdict = judge("toy", claim(id="c0"), alone["claims"]["c0"], False, readings=read)
    assert [b.outcome for b in verdict.readings] == [
        *("reproduced", "not reproduced", "reproduced", "not reproduced")
    ]


def test_readings_are_printed_with_values_and_drawn(tmp_path: Path) -> None:
    where = str(toy(tmp_path / "v"))
    plain = lightloom("reproduce", "toy", cwd=tmp_path, LIGHTLOOM_VALIDATION=where)
    assert plain.returncode == 0, plain.stderr
    assert "by reading" not in plain.stdout
    drawn = tmp_path / "results" / "reproduce" / "toy" / "readings.svg"
    assert not drawn.exists()
    read = lightloom("reproduce", "toy", "--readings", cwd=tmp_path, LIGHTLOOM_VALIDATION=where)
    assert read.returncode == 0, read.stderr
    rows = [line.split() for line in read.stdout.splitlines()]
    assert ["c0", "2", "±", "0.5", "2", "✓", "3", "2", "✓", "3"] in rows
    assert ["c1", "2", "±", "0.5", "7", "7", "-", "-"] in rows
    assert "no reading meets: c1" in read.stdout
    assert "<svg" in drawn.read_text(encoding="utf-8")


def test_a_factor_that_the_file_has_not_is_refused(tmp_path: Path) -> None:
    folder = toy(tmp_path)
    script = folder / "toy" / "one.py"
    script.write_text(SCRIPT.replace('("stop", "nic")', '("stop", "load")'))
    with pytest.raises(ConfigError, match=r"one.py: FACTORS = load"):
        measured_by(load_script(folder, "toy", "one"), of_fabric(folder / "toy"), False, 1)


def test_the_picture_has_a_cell_for_every_value(tmp_path: Path) -> None:
    script = load_script(toy(tmp_path), "toy", "one")
    read = measured_by(script, of_fabric(tmp_path / "toy"), False, 1, every=True)["readings"]
    values = read.measured()
    found = [judge("toy", claim(id=c), values[c], False, readings=read) for c in ("c0", "c1")]
    (axes,) = picture("toy", found).axes
    assert len(axes.texts) == 6
    assert [t.get_text() for t in axes.get_xticklabels()][1] == "stop\ndrain"


def test_sirius_is_measured_by_every_reading_of_its_figures() -> None:
    """The set-up accepts every override, and the factors of every figure exist."""
    found = of_fabric(SIRIUS)
    assert found is not None
    for setting in found.settings():
        experiment = api.load(SIRIUS / "paper.toml", [*setting.overrides])
        assert "sirius" in experiment.labels
    used: set[str] = set()
    for name in targets(SIRIUS.parent, "sirius")["sirius"]:
        factors = load_script(SIRIUS.parent, "sirius", name).factors
        assert set(factors) <= set(found.factor)
        used |= set(factors)
    assert used == set(found.factor)


def test_both_goodputs_are_of_one_run() -> None:
    """A run that ends at the last arrival has the goodput of a drained run up to that time."""
    small: list[str] = ["workload.flows=2000", "workload.load=0.5"]

    def run(stop: str) -> dict[str, Any]:
        experiment = api.load(SIRIUS / "paper.toml", [*small, f"run.stop={stop}"])
        return api.run(experiment, "sirius").summary

    drained, short = run("drain"), run("last-arrival")
    assert drained["load_delivered"] == pytest.approx(short["goodput_normalized"], rel=1e-9)
    assert drained["goodput_normalized"] < 0.9 * drained["load_delivered"]
    setup = load_script(SIRIUS.parent, "sirius", "fig09").measure.__globals__["setup"]
    assert setup.GOODPUT == {"last-arrival": "load_delivered", "drain": "goodput_normalized"}


def test_more_runs_are_as_many_as_it_takes() -> None:
    from lightloom.units.intervals import student

    found = Estimate(1.0, 0.4, 4)
    more = found.more_runs(0.2)
    assert more is not None
    scatter = 0.4 * 2 / student(3)

    def width(n: int) -> float:
        return float(student(n - 1) * scatter / n**0.5)

    assert width(4 + more) <= 0.2 < width(4 + more - 1)
    assert Estimate(1.0, 0.4).more_runs(0.2) is None
