"""Refusals in users' words."""

import tomllib

import pytest
from cli_support import CLOS, ROOT, SMALL

import lightloom
from lightloom.errors import refusal
from lightloom.words import reworded

EXPERIMENT = lightloom.load(ROOT / "examples" / "sirius.toml")


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
            "fabric.uplinks = -3: must be a whole number from 0 to 4,294,967,295;"
            " correct the value",
        ),
        ("fabric.label=3", "fabric[0].label = 3: must be text; correct the value"),
        ("cluster=7", "cluster = 7: must be a table; correct the value"),
        # These are in words already.
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
    ("limit", "words"),
    [
        ("invalid value: integer `300`, expected u8", "must be a whole number from 0 to 255"),
        ("invalid value: integer `-129`, expected i8", "must be a whole number from -128 to 127"),
        ("invalid type: sequence, expected usize", "must be a whole number"),
        ('invalid type: string "a, expected u8", expected a boolean', "must be true or false"),
        ("invalid type: null, expected a sequence", "must be a list"),
        ("invalid type: integer `7`, expected pattern: a name", None),
        ("must be at least 4 B", None),
    ],
)
def test_types_in_words(limit: str, words: str | None) -> None:
    problem = refusal("a.b", "v", limit, "correct it")
    assert str(reworded(problem)) == f"a.b = v: {words or limit}; correct it"


def test_the_case_keeps_its_name() -> None:
    text = SMALL + CLOS + '[[compare.case]]\nlabel = "odd"\nset = { "workload.load" = "x" }\n'
    with pytest.raises(lightloom.ConfigError) as refused:
        lightloom.load(tomllib.loads(text)).cases()
    assert str(refused.value).startswith('case "odd": workload.load = "x": must be a number')
