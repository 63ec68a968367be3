"""The policies, and the options of `plan` for each.

Names, ranges and defaults of a policy's options are read from the JSON Schema of its configuration
type, so that nothing is written twice.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from lightloom import _core
from lightloom.errors import ConfigError, refusal
from lightloom.policies.files import is_file

Where = Literal["switch", "policy", "demand"]
"""The subject of an option: the switch, the policy, or the demand."""

Decides = Literal["circuits", "directed", "schedule"]
"""The form of a decision: circuits in both directions, directed circuits, or a schedule of slots
with directed circuits."""

RENAMED = {"hysteresis": "bonus"}
"""Key in the policy's own table → name of the option."""
RETIRED = {
    "without_ports": (
        "retired: hydra also uses circuits with spare capacity by default",
        "leave it out, or give stop_at_ports for the opposite",
    )
}
"""Removed option → limit and remedy of its error message."""
UP = {
    "symmetric": "Whether entries are weights of undirected circuits. Default false: both "
    "directions are added.",
    "up": "Lit circuits, which are kept if others are no better. Default none.",
}
"""Options of policies that match racks, as the registry marks them; they are in no table."""


@dataclass(frozen=True)
class Option:
    """An option of `plan`."""

    key: str
    """Its name as an argument of `plan`."""
    where: Where
    """The subject of the option."""
    schema: dict[str, Any]
    """The JSON Schema of its values, with references resolved."""

    @property
    def description(self) -> str:
        """The meaning of the option, and its default at the end."""
        return " ".join(self.schema.get("description", "").split())


@dataclass(frozen=True)
class Policy:
    """A policy of the registry."""

    kind: str
    """Its name in the registry."""
    aliases: tuple[str, ...]
    """The names of its algorithm that also select it."""
    source: str
    """The paper that describes it."""
    summary: str
    """A summary of the policy's decisions."""
    options: dict[str, Option]
    """Name → option of `plan`."""
    decides: Decides = "circuits"
    """The form of its decisions, unless it is given a schedule."""
    obeys_rules: bool = False
    """Whether it obeys rules itself: its paths use pinned circuits and avoid pairs that are kept
    apart."""

    @property
    def names(self) -> list[str]:
        """All names that select it."""
        return [self.kind, *self.aliases]

    @property
    def one_way(self) -> bool:
        """Whether its circuits are directed, those of a schedule included."""
        return self.decides != "circuits"

    def makes_schedule(self, given: Mapping[str, Any]) -> bool:
        """Whether its decision is a schedule of slots if it is given these options."""
        return self.decides == "schedule" or ("schedule" in self.options and "schedule" in given)

    def check(self, name: str, given: Mapping[str, Any]) -> None:
        """Raises an error for options that it does not have; the error calls it `name`."""
        for key, value in given.items():
            if key in RETIRED:
                raise refusal(key, value, *RETIRED[key])
            if key not in self.options:
                others = [policy.kind for policy in registry().values() if key in policy.options]
                remedy = (
                    f"leave it out; it is for {', '.join(others)}" if others else "leave it out"
                )
                raise refusal(key, value, f"{name} has no such option", remedy)

    def table(self, given: Mapping[str, Any], where: Where) -> str:
        """Returns the given options about the switch or for the policy, as JSON."""
        own = {v: k for k, v in RENAMED.items()} if where == "policy" else {}
        kind = {"kind": self.kind} if where == "policy" else {}
        chosen = {
            own.get(key, key): value
            for key, value in given.items()
            if self.options[key].where == where
        }
        try:
            return json.dumps({**kind, **chosen}, default=_plain, allow_nan=False)
        except (TypeError, ValueError) as problem:
            raise ConfigError(f"options of {self.kind}: {problem}; give numbers or text") from None


@dataclass(frozen=True)
class PolicyInFile(Policy):
    """A policy in a user's file. Options about neither the switch nor the demand are arguments of
    its constructor."""

    def check(self, name: str, given: Mapping[str, Any]) -> None:
        """Accepts all options; they are checked when the policy is constructed."""

    def table(self, given: Mapping[str, Any], where: Where) -> str:
        """Returns the given options about the switch or for the policy, as JSON."""
        if where == "switch":
            known = {key: value for key, value in given.items() if key in self.options}
            return super().table(known, where)
        own = {key: value for key, value in given.items() if key not in self.options}
        return json.dumps({"file": self.kind, **own}, default=_plain)


@cache
def registry() -> dict[str, Policy]:
    """The policies by kind."""
    return {entry["kind"]: _policy(entry) for entry in json.loads(_core.policies())}


@cache
def by_name() -> dict[str, Policy]:
    """The policies by every name that selects them."""
    return {name: policy for policy in registry().values() for name in policy.names}


def find(name: str) -> Policy:
    """Returns the policy of that name, or the one in a file `PATH:CLASS`.

    Raises:
        ConfigError: if there is none.
    """
    if is_file(name):
        return _in_file(name)
    known = by_name()
    if name not in known:
        near = difflib.get_close_matches(name, known, 1)
        remedy = f'did you mean "{near[0]}"?' if near else f"use one of {', '.join(known)}"
        raise refusal("algorithm", name, "no such algorithm", remedy)
    return known[name]


def _in_file(name: str) -> Policy:
    """Returns a policy in a file, with the options about the switch of all policies."""
    switch = {
        key: option
        for policy in registry().values()
        for key, option in policy.options.items()
        if option.where == "switch"
    }
    up = Option("up", "demand", {"description": UP["up"]})
    return PolicyInFile(name, (), name, "a policy of your own", {**switch, "up": up})


def _policy(entry: Mapping[str, Any]) -> Policy:
    found = [
        *_options(entry["switch"], "switch"),
        *_options(entry["schema"], "policy"),
    ]
    if entry["matches"]:
        found += [Option(key, "demand", {"description": about}) for key, about in UP.items()]
    options = {option.key: option for option in found}
    return Policy(
        entry["kind"],
        tuple(entry["aliases"]),
        entry["source"],
        entry["summary"],
        options,
        entry["decides"],
        entry["obeys_rules"],
    )


def _options(schema: Mapping[str, Any], where: Where) -> list[Option]:
    renamed = RENAMED if where == "policy" else {}
    properties = schema.get("properties", {})
    return [
        Option(renamed.get(key, key), where, _resolved(value, schema))
        for key, value in properties.items()
    ]


def _resolved(value: Mapping[str, Any], root: Mapping[str, Any]) -> dict[str, Any]:
    """Resolves references; keys beside a reference override those of its target."""
    found = dict(value)
    while "$ref" in found:
        named = root["$defs"][found.pop("$ref").removeprefix("#/$defs/")]
        found = {**named, **found}
    options = [option for option in found.get("anyOf", []) if option.get("type") != "null"]
    if len(options) == 1:
        del found["anyOf"]
        found = {**_resolved(options[0], root), **found}
    return found


def _plain(value: Any) -> Any:
    """Converts NumPy numbers and arrays to Python values."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{value!r} is no number and no text")
