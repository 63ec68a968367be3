"""The golden file of refusals; other tests check their keys, values and limits."""

from __future__ import annotations

import tomllib

import pytest
from cli_support import CLOS, SIRIUS, SMALL
from golden_support import golden

import lightloom
from lightloom.errors import ConfigError

OVERRIDES = (
    "workload.load=12",
    "workload.flows=0",
    "workload.lod=1",
    "workload.sizes.load=0.5",
    "run.sed=1",
    "run.repeat=0",
    "run.stop=soon",
    "cluster.racks=0",
    "cluster.oversubscription=0.5",
    "fabric.sirus.queue=3",
    "fabric.oversubscripton=3",
    "fabric.sirius.queue=-1",
    "fabric.clos.kind=close",
    "physics.fibre=far",
)


def refusal(override: str) -> str:
    """Returns the message that refuses an override."""
    table = tomllib.loads(SMALL + SIRIUS + CLOS)
    with pytest.raises(ConfigError) as refused:
        lightloom.load(table, [override]).resolved()
    return str(refused.value)


def test_refusals_are_those_of_the_golden_file() -> None:
    """To bless a change: LIGHTLOOM_BLESS=1, and look at the difference."""
    golden("refusals.txt", map(refusal, OVERRIDES))
