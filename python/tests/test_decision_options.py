"""`[decision]` of an experiment: prices that `compare` and `cost` read, and the core ignores."""

from pathlib import Path

import jsonschema
import pytest
from cli_support import CLOS, SIRIUS, SMALL, lightloom, write

from lightloom import ConfigError
from lightloom.config import experiment as config
from lightloom.config import own_tables
from lightloom.config import schema as experiment_schema
from lightloom.costs import of_experiment

OWN = """
[decision]
prices = "own.toml"
price = ["switch=100..200"]
"""
BOOK = 'schema = 1\nextends = "sirius-2020"\nname = "own"\n'


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    (tmp_path / "own.toml").write_text(BOOK)
    return write(tmp_path / "e.toml", SMALL, OWN, SIRIUS, CLOS)


def test_the_core_never_sees_it(experiment: Path) -> None:
    with_prices = config.load(experiment)
    without = config.load({k: v for k, v in with_prices.raw.items() if k != "decision"})
    assert own_tables.of_core(with_prices.resolved()) | {"inputs": 0} == (
        without.resolved() | {"inputs": 0}
    )
    assert with_prices.resolved()["decision"] == {
        "prices": str(experiment.parent / "own.toml"),
        "price": ["switch=100..200"],
        "worst_failure": False,
        "worst_of": 8,
        "readings": [],
    }


def test_the_schema_has_it(experiment: Path) -> None:
    validator = jsonschema.Draft202012Validator(experiment_schema.schema())
    raw = config.load(experiment).raw
    validator.validate(raw)
    validator.validate({**raw, "decision": {}})
    assert not validator.is_valid({**raw, "decision": {"pries": "sirius-2020"}})


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("decision.pries=x", 'decision.pries = "x": no such key; did you mean "prices"?'),
        ("decision.zzz=1", "known: prices, price, counting, worst_failure, worst_of, readings"),
        (
            "decision.worst_failure=1",
            "decision.worst_failure = 1: neither true nor false",
        ),
        ("decision.worst_of=0", "decision.worst_of = 0: "),
        ("decision.price=7", "decision.price = 7: not a list"),
        ("decision=7", "write [decision] above its keys"),
        ("decisoin.prices=x", 'did you mean "decision"?'),
        ("prices=hydra-2013", "write decision.prices"),
    ],
)
def test_slips_are_refused_by_their_key(experiment: Path, override: str, words: str) -> None:
    with pytest.raises(ConfigError) as refused:
        config.load(experiment, [override]).resolved()
    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("decision.prices=hydra-2014", 'did you mean "hydra-2013"?'),
        ('decision.price=["switch"]', "decision.price = switch: not of the form PART=AMOUNT"),
        ('decision.price=["swich=5"]', "decision.price = swich: no such part"),
        ('decision.price=["switch=5..4"]', "decision.price = switch=5..4: ends before it begins"),
    ],
)
def test_prices_that_cannot_be_read_stop_a_comparison_before_it_runs(
    experiment: Path, tmp_path: Path, override: str, words: str
) -> None:
    for command in ("compare", "cost"):
        done = lightloom(command, experiment, "--set", override, "-o", "out", cwd=tmp_path)
        assert done.returncode == 2
        assert words in done.stderr
        assert not (tmp_path / "out").exists()


def test_flags_go_before_the_table(experiment: Path) -> None:
    raw = config.load(experiment).raw
    assert of_experiment.with_flags(raw, None, None) == raw
    added = of_experiment.with_flags(raw, None, ["grating=5", "switch=7"])
    book = of_experiment.book(added)
    assert book is not None
    assert (book.name, book.price("grating").low, book.price("switch").high) == ("own", 5, 7)
    other = of_experiment.book(of_experiment.with_flags(raw, "sirius-2020", None))
    assert other is not None
    assert (other.name, other.price("switch").low) == ("sirius-2020", 5000)


def test_results_hold_what_was_in_force(experiment: Path, tmp_path: Path) -> None:
    done = lightloom(
        "compare", "--verbose", experiment, "--price", "switch=300", "-o", "out", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    saved = tmp_path / "out" / "experiment.toml"
    held = config.read_toml(saved)
    assert held["decision"]["prices"] == "../own.toml"
    assert held["decision"]["price"] == ["switch=100..200", "switch=300"]
    one = config.read_toml(tmp_path / "out" / "clos" / "experiment.toml")
    assert "decision" not in one
    assert "inputs" not in one
    before = (tmp_path / "out" / "costs.json").read_text()
    assert '"book": "own"' in before
    (tmp_path / "own.toml").write_text(BOOK + "[part.switch]\n" + SWITCH)
    refused = lightloom("cost", saved, cwd=tmp_path)
    assert refused.returncode == 2
    assert "decision.prices" in refused.stderr
    renamed = lightloom("cost", saved, "--prices", tmp_path / "own.toml", "--json", cwd=tmp_path)
    assert renamed.returncode == 0, renamed.stderr


SWITCH = 'ports = 64\nrate = "400 Gb/s"\nprice = 1\npower = 1\nsource = "us"\nyear = 2026\n'


def test_other_commands_take_no_notice(experiment: Path, tmp_path: Path) -> None:
    (tmp_path / "own.toml").unlink()
    done = lightloom("run", experiment, "--fabric", "clos", "-o", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
