"""Price books: their contents, and errors in books that users write."""

import doctest
from fractions import Fraction
from importlib import import_module
from pathlib import Path

import pytest
from economics_support import book, experiment

from lightloom import ConfigError
from lightloom import costs as economics
from lightloom.config import price_books
from lightloom.costs import book as books
from lightloom.costs import readings
from lightloom.costs.amounts import Range

HEAD = 'schema = 1\ncurrency = "USD"\nyear = 2020\n'
CABLE = '[part.cable]\nsource = "me"\nyear = 2020\nprice = { value = 1, per = "PER" }\n'
SWITCH = '[part.switch]\nports = 64\nrate = "10 Gb/s"\nsource = "me"\nyear = 2020\n'


def read(tmp_path: Path, text: str) -> books.Book:
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return books.load(path)


@pytest.mark.parametrize("name", price_books.names())
def test_every_number_of_the_package_has_its_source_and_year(name: str) -> None:
    book = books.load(name)
    for part in book.parts.values():
        if part.same_as or part.excluded is not None:
            assert part.excluded is None or part.excluded.strip()
            continue
        assert part.price is not None
        for figure in (part.price, part.power):
            if figure is not None and (figure.range or figure.share):
                assert figure.source
                assert 2000 <= figure.year <= 2026


def test_the_books_of_the_package() -> None:
    assert price_books.names() == ["ai-cluster-2026", "cthrough-2010", "hydra-2013", "sirius-2020"]
    assert {books.load(name).currency for name in price_books.names()} == {"USD"}


def test_prices_by_the_port_and_by_the_gigabit() -> None:
    assert books.load("sirius-2020").price("transceiver") == Range.of(400)
    assert books.load("cthrough-2010").price("circuit-switch") == Range.of(16_000, 56_000)
    assert books.load("sirius-2020").price("grating") == Range.of(0, 1250)
    assert books.load("ai-cluster-2026").price("circuit-switch") is None


def test_decimals_are_exact(tmp_path: Path) -> None:
    found = read(tmp_path, HEAD + SWITCH + "price = 0.1\n").price("switch")
    assert found == Range.of(Fraction(1, 10))


def test_a_book_of_ones_own_extends_another(tmp_path: Path) -> None:
    text = 'schema = 1\nextends = "hydra-2013"\n[part.circuit-switch]\nports = 320\n'
    book = read(tmp_path, text + 'price = [90_000, 100_000]\nsource = "a quotation"\nyear = 2026\n')
    assert book.name == "mine"
    assert book.title == "Own prices over hydra-2013"
    assert all(note.startswith("hydra-2013: ") for note in book.notes)
    assert book.price("circuit-switch") == Range.of(90_000, 100_000)
    assert book.price("switch") == Range.of(30_000)


@pytest.mark.parametrize(
    ("text", "key", "words"),
    [
        (HEAD + SWITCH + "price = -5\n", "part.switch.price", "below 0"),
        (HEAD + SWITCH, "part.switch.price", "a part has a price"),
        (HEAD + SWITCH + 'price = "5"\n', "part.switch.price", "not a number"),
        (HEAD + SWITCH + "price = nan\n", "part.switch.price", "not a finite number"),
        (HEAD + SWITCH + "price = [7, 5]\n", "part.switch.price", "ends before it begins"),
        (HEAD + SWITCH + "price = [7]\n", "part.switch.price", "two ends"),
        (HEAD + SWITCH + "price = 1e16\n", "part.switch.price", "more than 10^15"),
        (HEAD + SWITCH + "price = 1e999999999\n", "part.switch.price", "more than 10^15"),
        (HEAD + SWITCH + "price = 1e-999999999\n", "part.switch.price", "more than 30 digits"),
        (HEAD + SWITCH + "price = { value = 5, low = 1, high = 2 }\n", "part.switch.price", "value and low"),  # noqa: E501
        (HEAD + SWITCH + 'price = { value = 5, unknown = "x" }\n', "part.switch.price", "value and unknown"),  # noqa: E501
        (HEAD + SWITCH + 'price = { high = 5, of = "cable" }\n', "part.switch.price", "high and of"),  # noqa: E501
        (HEAD + SWITCH + 'price = 5\nexcluded = "x"\n', "part.switch.price", "draws nothing"),
        (HEAD + SWITCH + "price = 5\n[part.cable]\nsame_as = 'switch'\nprice = 3\n", "part.cable.price", "nothing of its own"),  # noqa: E501
        (HEAD + SWITCH + "price = 5\npower = -1\n", "part.switch.power", "below 0"),
        (HEAD + SWITCH + "price = 5\nprise = 5\n", "part.switch.prise", "did you mean"),
        (HEAD + SWITCH.replace("ports = 64\n", "") + "price = 5\n", "part.switch.ports", "ports = 64"),  # noqa: E501
        (HEAD + SWITCH.replace('source = "me"\n', "") + "price = 5\n", "part.switch.price.source", "source"),  # noqa: E501
        (HEAD + SWITCH.replace("year = 2020\n", "") + "price = 5\n", "part.switch.price.year", "year"),  # noqa: E501
        (HEAD + SWITCH + 'price = { value = 5, per = "pound" }\n', "part.switch.price.per", "unit"),
        (HEAD + CABLE.replace("PER", "Gb/s"), "part.cable.rate", "it is priced by it; write rate"),
        (HEAD + CABLE.replace("PER", "port"), "part.cable.ports", "by it; write ports"),
        (HEAD + "[part.swich]\nprice = 5\n", "part.swich", 'did you mean "switch"'),
        (HEAD + SWITCH + 'price = { value = 5, currency = "EUR" }\n', "part.switch.price.currency", "one currency"),  # noqa: E501
        (HEAD + SWITCH + 'price = { share = [], of = "switch" }\n', "part.switch.price", "two ends"),  # noqa: E501
        (HEAD + SWITCH.replace("10 Gb/s", "0 Gb/s") + "price = 5\n", "part.switch.rate", "Gb/s"),
        (HEAD + 'notes = "x"\n' + SWITCH + "price = 5\n", "notes", "list of sentences"),
        (HEAD + '[part.cable]\nsame_as = "switch"\n', "part.cable", "no such part in the book"),
        (HEAD.replace("schema = 1", "schema = 2") + SWITCH + "price = 5\n", "schema", "schema 1"),
        (HEAD.replace("schema = 1\n", "") + SWITCH + "price = 5\n", "schema", "schema 1"),
        (HEAD.replace('"USD"', '"dollars"') + SWITCH + "price = 5\n", "currency", "USD"),
        (HEAD, "part", "prices nothing"),
        (HEAD + 'counting = "half"\n' + SWITCH + "price = 5\n", "counting", "whole or share"),
        (HEAD + 'extends = "nobody"\n' + SWITCH + "price = 5\n", "extends", "sirius-2020"),
        (
            HEAD.replace("USD", "EUR") + 'extends = "sirius-2020"\n' + SWITCH + "price = 5\n",
            "currency",
            "convert",
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_book_is_said(tmp_path: Path, text: str, key: str, words: str) -> None:
    with pytest.raises(ConfigError) as refused:
        read(tmp_path, text)
    assert refused.value.key == key
    assert words in str(refused.value)
    assert "mine.toml" in str(refused.value)


def test_a_book_that_is_no_toml_is_refused_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"mine\.toml:1:10: "):
        read(tmp_path, "schema = \n")


def test_an_exponent_that_no_computer_holds_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"mine\.toml: a number has"):
        read(tmp_path, HEAD + SWITCH + "price = 1e9999999999999999999\n")


def test_zero_is_a_price_however_it_is_written(tmp_path: Path) -> None:
    assert read(tmp_path, HEAD + SWITCH + "price = 0e-999999999\n").price("switch") == Range.of(0)


def test_a_book_that_is_not_there_is_refused_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match='did you mean "hydra-2013"'):
        books.load("hydra-2012")


def test_a_part_without_a_price_leaves_no_total_and_is_named() -> None:
    costs = economics.cost(experiment("hybrid"), "ai-cluster-2026")
    cost = costs.fabrics["hybrid"]
    assert cost.capital is None
    assert cost.unpriced == ["circuit-switch"]
    assert cost.known_capital.low > 0
    (row,) = costs.rows()
    assert row["capital_low"] is None
    assert row["per_gbps_high"] is None


def test_parts_that_are_the_same_have_one_price(tmp_path: Path) -> None:
    text = book(16, cable='same_as = "switch"').replace(
        '[part.cable]\nsource = "a test"\nyear = 2020\n', "[part.cable]\n"
    )
    made = read(tmp_path, text)
    assert made.variable("cable") == "switch"
    assert made.price("cable") == made.price("switch")


def test_a_reading_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    body = (
        'schema = 1\n[reading.mine]\nwhat = "x"\nesn = { switches = 7, transceivers = 14 }\n'
        "sirius = { switches = 1, transceivers = 3, gratings = 3 }\n"
        'laser_power = 0.1\nlaser_cost = 0.16\nkept = "2/7"\n'
    )
    path.write_text(body)
    mine, parts = readings.load(path), readings.components(books.load("sirius-2020"))
    assert readings.figures(mine, *parts) == readings.figures(readings.load("F"), *parts)
    path.write_text(body.replace("laser_cost = 0.16\n", ""))
    with pytest.raises(ConfigError, match=r"reading\.mine\.laser_cost = \(missing\)"):
        readings.load(path)
    with pytest.raises(ConfigError, match="A, F, G, H"):
        readings.load("Z")


def test_counted_by_a_reading_the_ratio_is_that_of_fig_6() -> None:
    table = experiment("sirius")
    table["fabric"].append({"kind": "clos"})
    costs = economics.cost(table, "sirius-2020", reading="H").fabrics
    clos, power = costs["clos"], costs["sirius"].power
    assert clos.power is not None
    assert power is not None
    found = [100 * float(end / clos.power.low) for end in (power.low, power.high)]
    assert found == pytest.approx([23.06, 25.67], abs=0.01)


def test_a_part_that_is_the_same_as_another_has_no_price_of_its_own() -> None:
    with pytest.raises(ConfigError, match="set switch"):
        books.load("ai-cluster-2026").with_price("tree-switch", Range.of(1))


@pytest.mark.parametrize(
    "module", ["amounts", "equal", "needs", "wording", "bills.electrical", "papers.sirius"]
)
def test_the_examples_in_docstrings_work(module: str) -> None:
    outcome = doctest.testmod(import_module(f"lightloom.costs.{module}"))
    assert outcome.attempted > 0
    assert outcome.failed == 0


READING = (
    'schema = 1\n[reading.x]\nwhat = "x"\nesn = { switches = 7, transceivers = 14 }\n'
    "sirius = { switches = 1, transceivers = 3, gratings = 3 }\n"
    'laser_power = 0.1\nlaser_cost = 0.16\nkept = "2/7"\n'
)


@pytest.mark.parametrize(
    ("old", "new", "key", "words"),
    [
        ("[reading.x]", "reading = 3\n[x]", "reading", "not a table of readings"),
        ("[reading.x]", "[reading]\nx = 3\n[y]", "reading.x", "not a table"),
        ("esn = { switches = 7, transceivers = 14 }", "esn = 3", "reading.x.esn", "not a table"),
        ("esn = { switches = 7, transceivers = 14 }\n", "", "reading.x.esn", "(missing)"),
        ("switches = 7", "switchez = 7", "reading.x.esn.switchez", "switches"),
        ("switches = 7, transceivers = 14", "switches = 0, transceivers = 0", "reading.x.esn", "at least one part"),  # noqa: E501
        ("switches = 7", "switches = 1e999999999", "reading.x.esn.switches", "more than 10^15"),
        ("switches = 7", 'switches = "1e999999999"', "reading.x.esn.switches", "more than 10^15"),
        ("switches = 7", 'switches = "1/0"', "reading.x.esn.switches", "not a number"),
        ("switches = 7", "switches = -7", "reading.x.esn.switches", "below 0"),
        ("laser_cost = 0.16", "laser_cost = 1.6", "reading.x.laser_cost", "at most 1"),
        ('what = "x"', 'basis = "magic"', "reading.x.basis", "published, fitted, assumed"),
        ("schema = 1", "schema = 2", "schema", "schema 1"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_reading_is_said(
    tmp_path: Path, old: str, new: str, key: str, words: str
) -> None:
    assert old in READING
    path = tmp_path / "mine.toml"
    path.write_text(READING.replace(old, new))
    with pytest.raises(ConfigError) as refused:
        readings.load(path)
    assert refused.value.key == key
    assert words in str(refused.value)


def test_a_file_of_readings_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(READING.encode() + b"\xff")
    with pytest.raises(ConfigError, match="UTF-8"):
        readings.load(path)
