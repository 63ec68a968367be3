"""Texts about the physics that all fabrics of an experiment share, and about idealised fabrics.

The core defines what each key means, which fabrics obey it, by which keys of their own they replace
it, and what their models omit.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from lightloom import _core
from lightloom.config.experiment import Experiment
from lightloom.config.overrides import plain
from lightloom.config.own_tables import of_core
from lightloom.errors import ConfigError, refusal

Table = Mapping[str, Any]
#: Key of each physical term → text that describes it.
TERMS = (
    ("propagation", "{} from rack to rack"),
    ("switch_latency", "{} a switch"),
    ("fec_latency", "{} of error correction a link"),
    ("header", "{} of header a packet"),
    ("gap", "{} of gap a packet"),
)


def presets() -> list[str]:
    """The names of the presets of `[physics]`."""
    kinds = json.loads(_core.schema())["$defs"]["PhysicsPreset"]["oneOf"]
    return [str(kind["const"]) for kind in kinds]


def variants(experiment: Experiment, wanted: Sequence[str]) -> list[Experiment]:
    """Returns the experiment with each of these presets in place of its own `[physics]`; the name
    of the preset is added to the experiment's name.

    Raises:
        ConfigError: if a preset does not exist, or is given twice.
    """
    known = presets()
    for preset in wanted:
        if preset not in known:
            remedy = f"choose from {', '.join(known)}"
            raise refusal("--physics", preset, "no such preset", remedy)
        if wanted.count(preset) > 1:
            raise refusal("--physics", preset, "is there twice", "name each preset once")
    return [
        replace(
            experiment,
            raw={**experiment.raw, "physics": {"preset": p}, "name": f"{experiment.name}, {p}"},
        )
        for p in wanted
    ]


def line(physics: Table | None) -> str | None:
    """Describes a resolved `[physics]`; None if the experiment does not have it.

    >>> line({"preset": "realistic", "propagation": "500 ns", "header": "18 B"})
    'realistic: 500 ns from rack to rack, 18 B of header a packet'
    >>> line({"preset": "ideal"})
    'ideal: each fabric as its paper compares it'
    """
    if physics is None:
        return None
    preset = physics.get("preset")
    terms = [words.format(physics[key]) for key, words in TERMS if key in physics]
    said = ", ".join(terms) or "each fabric as its paper compares it"
    return f"{preset}: {said}" if preset else said


def assumptions(resolved: Table) -> list[dict[str, Any]]:
    """Returns, for each fabric of a resolved experiment, its label; its idealisations (`ideal`);
    the shared terms that its model omits (`missing`); the keys of its own that replace shared terms
    (`own`); what its model takes for granted about failures (`failures`); the keys of the numbers
    of switches in its tiers (`switch_tiers`); and values of its table that limit its results
    (`findings`). Terms are named by their keys. Empty for a result of another version whose
    tables this version cannot read."""
    try:
        found: list[dict[str, Any]] = json.loads(
            _core.assumptions(json.dumps(plain(of_core(resolved), "")))
        )
    except ConfigError:
        return []
    return found


def assumptions_of(resolved: Table, label: str) -> dict[str, Any]:
    """Returns the entry of `assumptions` for one fabric."""
    return next(found for found in assumptions(resolved) if found["label"] == label)


def ideal(resolved: Table) -> Iterator[str]:
    """Lists the idealisations of each fabric, with one line for fabrics that are alike."""
    alike: dict[str, list[str]] = {}
    for fabric in assumptions(resolved):
        alike.setdefault(", ".join(fabric["ideal"]), []).append(fabric["label"])
    for words, labels in alike.items():
        yield f"{', '.join(labels)}: {words or 'nothing of it'}"


def notes(resolved: Table) -> Iterator[str]:
    """States which terms of the physics, or the cluster's oversubscription, a fabric does not obey,
    and why; then the values of its table that limit its results, with their remedy."""
    yield from disobeyed(resolved)
    yield from findings(resolved)


def disobeyed(resolved: Table) -> Iterator[str]:
    """States which terms of the physics, or the cluster's oversubscription, a fabric does not
    obey."""
    for fabric in assumptions(resolved):
        label = fabric["label"]
        for missing in fabric["missing"]:
            why = "" if missing["why"] == "not modelled" else f" ({missing['why']})"
            yield f"{label}: {missing['term']} is not modelled{why}"
        for own in fabric["own"]:
            value = own["value"] or "nothing"
            value = f"{value:g}" if isinstance(value, float) else value
            yield (
                f"{label}: its own {own['key']}, {value}, overrides {own['term']}, from "
                "its table or its preset"
            )


def findings(resolved: Table) -> Iterator[str]:
    """States values of a fabric's table that limit its results, with their remedy."""
    for fabric in assumptions(resolved):
        label = fabric["label"]
        for finding in fabric["findings"]:
            yield (
                f"{label}: fabric.{finding['parameter']} = {finding['value']}: "
                f"{finding['effect']}; {finding['remedy']}"
            )
