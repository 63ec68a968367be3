"""Errors use the users' terms."""

import json
import re
import tomllib
from pathlib import Path

import pytest
from cli_support import CLOS, ROOT, SMALL, write
from typer.testing import CliRunner

import lightloom
from lightloom import _core
from lightloom.cli import app
from lightloom.config.refusal_text import PLANNED, missed_end, reworded
from lightloom.errors import refusal

EXPERIMENT = lightloom.load(ROOT / "examples" / "sirius.toml")


def test_one_of_several_fabrics_is_named_throughout_a_refusal() -> None:
    """The refusal names the label in the key and in the keys of limit and remedy; tables in
    brackets stay."""
    leaky = {"kind": "sirius", "label": "my.leaky", "devices": {"slot": "1 ns"}}
    two = {**EXPERIMENT.raw, "fabric": [{"kind": "clos"}, leaky]}
    with pytest.raises(lightloom.ConfigError) as refused:
        lightloom.load(two).resolved()
    told = str(refused.value)
    assert told.startswith('fabric."my.leaky".devices.slot = 1 ns: ')
    assert told.endswith('or change fabric."my.leaky".devices.cdr.kind')
    said = "fabric[b].slot = 1: a fabric.x, [fabric.y], my.fabric.z, fabric. That; see fabric.b1"
    key, _, rest = said.partition(" = ")
    found = reworded(refusal(key, *re.split(": |; ", rest)))
    assert str(found) == (
        "fabric.b.slot = 1: a fabric.b.x, [fabric.y], my.fabric.z, fabric. That; see fabric.b.b1"
    )


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("workload.load=x", 'workload.load = "x": must be a number; correct the value'),
        (
            'workload.sizes={kind="pareto",shape="x",mean="1 KB"}',
            'workload.sizes.shape = "x": must be a number; correct the value',
        ),
        ("workload.flows=2.5", "workload.flows = 2.5: must be a whole number; correct the value"),
        ("cluster.racks=true", "cluster.racks = true: must be a whole number; correct the value"),
        (
            "fabric.uplinks=-3",
            "fabric.uplinks = -3: must be from 1 to the 128 nodes: "
            "a pair meets at most once a slot",
        ),
        (
            "fabric.uplinks=99999999999",
            "fabric.uplinks = 99999999999: must be from 1 to the 128 nodes: a pair meets",
        ),
        ("fabric.queue=-1", "fabric.queue = -1: must be from 2 to 64 (below 2, "),
        ("fabric.queue=99999999999", "fabric.queue = 99999999999: must be from 2 to 64; lower"),
        ("fabric.epoch_slots=-3", "fabric.epoch_slots = -3: must be a whole number from 11, "),
        ("cluster.racks=-1", "cluster.racks = -1: a network connects at least 2; raise it"),
        # Any integer in the range of the type is a seed.
        ("run.seed=-1", "run.seed = -1: must be a whole number, at least 0; correct the value"),
        ("fabric.label=3", "fabric[0].label = 3: must be text; correct the value"),
        ("cluster=7", "cluster = 7: must be a table; correct the value"),
        ("fabric.mode=[1]", "fabric.mode = [1]: must be text; correct the value"),
        ("cluster.nic=true", "cluster.nic = true: must be a word, or a quantity with its unit; "),
        ("fabric.slot=[1]", "fabric.slot = [1]: must be a duration with its unit, like "),
        # These messages are already in words.
        ("run.sample=7", "run.sample = 7: `7` has no unit"),
        ("run.sed=7", 'run.sed = 7: no such key; did you mean "seed"?'),
    ],
)
def test_types_are_told_in_words(override: str, message: str) -> None:
    with pytest.raises(lightloom.ConfigError) as refused:
        EXPERIMENT.with_overrides([override]).resolved()
    assert str(refused.value).startswith(message)
    assert refused.value.key == message.split(" = ")[0]


@pytest.mark.parametrize(
    ("limit", "end"),
    [
        ("must be a whole number, at most 255", 255),
        ("must be a whole number, at least -128", -128),
        ("must be a whole number, at most 18,446,744,073,709,551,615", 2**64 - 1),
        ("must be a whole number", None),
        ("must be a whole number, at most 4 of them", None),
        ("must be at least 4 B", None),
    ],
)
def test_the_end_that_was_missed(limit: str, end: int | None) -> None:
    assert missed_end(refusal("a.b", "v", limit, "correct it")) == end


def test_a_label_does_not_hide_the_range() -> None:
    raw = {**EXPERIMENT.raw, "fabric": [{"kind": "sirius"}, {"kind": "clos", "label": "my.clos"}]}
    two = lightloom.load(raw, ['fabric."my.clos".flow_buffer=-7'])
    with pytest.raises(lightloom.ConfigError) as refused:
        two.resolved()
    assert (refused.value.key, refused.value.value) == ('fabric."my.clos".flow_buffer', "-7")
    assert " 1 to 1,048,576 packets" in refused.value.limit


BIG = 10**23


@pytest.mark.parametrize(
    ("override", "message"),
    [
        (f"run.seed={BIG}", f"{BIG}: must be a whole number, at most {2**64 - 1:,}; correct"),
        (f"run.seed={2**64}", f"{2**64}: must be a whole number, at most {2**64 - 1:,}; correct"),
        (f"run.seed={-BIG}", f"-{BIG}: must be a whole number, at least 0; correct"),
        (f"cluster.racks={BIG}", f"{BIG}: must be a whole number, at most {2**32 - 1:,}; correct"),
        (f"fabric.queue={BIG}", f"{BIG}: must be from 2 to 64; lower it"),
        (f"workload.load={BIG}", f"{BIG}: must be at most 10, "),
        (f"workload.sizes.mean={BIG}", f"{BIG}: `{BIG}` has no unit: "),
        (f"run.sed={BIG}", f'{BIG}: no such key; did you mean "seed"?'),
    ],
)
def test_numbers_beyond_all_integers_are_shown_as_written(override: str, message: str) -> None:
    """Not as the nearest float, 1e+23, nor as the largest integer."""
    with pytest.raises(lightloom.ConfigError) as refused:
        EXPERIMENT.with_overrides([override]).resolved()
    key = override.partition("=")[0]
    assert refused.value.key == key
    assert str(refused.value).startswith(f"{key} = {message}")


def test_of_several_fabrics_and_in_lists_as_well() -> None:
    fabrics = [{"kind": "sirius"}, {"kind": "clos", "label": "my.clos", "flow_buffer": BIG}]
    refused = (
        ({"fabric": fabrics}, 'fabric."my.clos".flow_buffer', "must be from 1 to 1,048,576"),
        ({"fault": [{"at": "1 us", "element": "node", "node": BIG}]}, "fault[0].node", "the clu"),
    )
    for changes, key, limit in refused:
        with pytest.raises(lightloom.ConfigError) as problem:
            lightloom.load({**EXPERIMENT.raw, **changes}).resolved()
        assert str(problem.value).startswith(f"{key} = {BIG}: {limit}")
    with pytest.raises(lightloom.ConfigError) as problem:
        lightloom.load({**EXPERIMENT.raw, "run": {"seed": BIG}, "name": "x"}).cases()[0].resolved()
    assert str(problem.value).startswith(f"run.seed = {BIG}: ")


def test_a_number_of_thousands_of_digits_ends_in_a_message(tmp_path: Path) -> None:
    file = write(tmp_path / "e.toml", SMALL.replace("seed = 3", f"seed = {'9' * 5000}"), CLOS)
    with pytest.raises(lightloom.ConfigError, match=r"e\.toml: a number has"):
        lightloom.load(file)


def test_keys_can_be_given_as_messages_show_them() -> None:
    raw = {
        **EXPERIMENT.raw,
        "fabric": [{"kind": "sirius"}, {"kind": "clos", "label": "my.clos"}],
        "fault": [{"at": "1 us", "element": "node", "node": 1}],
    }
    for key, value in (
        ("fabric[my.clos].flow_buffer", -7),
        ('fabric."my.clos".flow_buffer', -7),
        ("fabric[sirius].queue", 1),
        ("fabric.sirius.queue", 1),
        ("fault[0].node", 999),
        ("fault.0.node", 999),
    ):
        with pytest.raises(lightloom.ConfigError) as refused:
            lightloom.load(raw, [f"{key}={value}"]).resolved()
        shown = str(refused.value.key)
        assert shown.rpartition(".")[2] == key.rpartition(".")[2]
        assert str(refused.value).startswith(f"{shown} = {value}: ")
        with pytest.raises(lightloom.ConfigError) as again:
            lightloom.load(raw, [f"{shown}={value}"]).resolved()
        assert str(again.value) == str(refused.value)
    for key in ("fault[0", "fault[].node", "[0]", "a[b]c"):
        with pytest.raises(lightloom.ConfigError, match="is not a key"):
            lightloom.load(raw, [f"{key}=1"])


def test_the_case_keeps_its_name() -> None:
    text = SMALL + CLOS + '[[compare.case]]\nlabel = "odd"\nset = { "workload.load" = "x" }\n'
    with pytest.raises(lightloom.ConfigError) as refused:
        lightloom.load(tomllib.loads(text)).cases()
    assert (refused.value.key, refused.value.value) == ('case "odd": workload.load', '"x"')


def test_planned_fabrics_are_those_of_the_page_and_not_in_the_registry() -> None:
    def planned(page: str) -> set[str]:
        rows = (ROOT / page).read_text(encoding="utf-8").splitlines()
        found = (re.fullmatch(r"\| `?([\w-]+)`? \|.*\| planned \|", row) for row in rows)
        return {match[1].lower() for match in found if match}

    assert set(PLANNED) == planned("docs/fabrics/index.md")
    assert not set(PLANNED) & {entry["kind"] for entry in json.loads(_core.registry())}


def test_a_fabric_that_is_planned_is_told_from_none(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = "planned-one"
    monkeypatch.setitem(PLANNED, kind, "a fabric (Somebody, 2030)")
    kinds = ", ".join(f'"{entry["kind"]}"' for entry in json.loads(_core.registry()))
    told = f"planned, not here yet; here: {kinds}"
    assert '"sirius", "clos"' in told
    with pytest.raises(lightloom.ConfigError) as refused:
        EXPERIMENT.with_overrides([f"fabric.kind={kind}"]).resolved()
    assert str(refused.value) == f'fabric.kind = "{kind}": {told}'
    with pytest.raises(lightloom.ConfigError, match="no such fabric"):
        EXPERIMENT.with_overrides([f"fabric.kind={kind}x"]).resolved()
    explained = CliRunner().invoke(app, ["explain", kind])
    assert explained.exit_code == 2
    assert f"NAME = {kind}: {told}" in explained.output
    listed = CliRunner().invoke(app, ["fabrics"], env={"COLUMNS": "80"}).output
    assert f"{kind}: planned, not here yet" in listed
