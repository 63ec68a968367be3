"""The policies, and the options that `plan` takes for each.

What a policy's options are called, what they may be and what they are unless given is
read from the JSON Schema of its configuration type: nothing of it is written twice.
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
"""What an option is about: the switch, the policy's own table, or what the demand says."""

RENAMED = {"hysteresis": "bonus"}
"""What an option is called here, where the policy's own table calls it otherwise."""
RETIRED = {
    "without_ports": (
        "retired: hydra goes on over circuits with room unless told otherwise",
        "leave it out, or give stop_at_ports for the opposite",
    )
}
"""Options that were, and what is to be said of them."""
UP = {
    "symmetric": "Whether entries are weights of undirected circuits. Default false: both "
    "directions are added.",
    "up": "Circuits that are lit, to be kept among equals. Default none.",
}
"""Options of policies that match racks (the registry says which), in no table."""


@dataclass(frozen=True)
class Option:
    """An option of `plan`."""

    key: str
    """Its name, as an argument of `plan`."""
    where: Where
    """What it is about."""
    schema: dict[str, Any]
    """JSON Schema of its values, references resolved."""

    @property
    def description(self) -> str:
        """What it means, and at its end what it is unless given."""
        return " ".join(self.schema.get("description", "").split())


@dataclass(frozen=True)
class Policy:
    """A policy of the registry."""

    kind: str
    """Its name."""
    aliases: tuple[str, ...]
    """The names of its algorithm, if it goes by those, too."""
    source: str
    """The paper that it is taken from."""
    summary: str
    """What it decides."""
    options: dict[str, Option]
    """What `plan` takes for it, by name."""

    @property
    def names(self) -> list[str]:
        """All that it goes by."""
        return [self.kind, *self.aliases]

    def check(self, name: str, given: Mapping[str, Any]) -> None:
        """Refuses options that it does not have, calling it by `name`."""
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
        """What is given about the switch, or for the policy, as JSON."""
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
    """A policy in a user's file: what is about neither the switch nor the demand are
    options of its own."""

    def check(self, name: str, given: Mapping[str, Any]) -> None:
        """Whether it has an option is found out when it is made."""

    def table(self, given: Mapping[str, Any], where: Where) -> str:
        """What is given about the switch, or for the policy, as JSON."""
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
    """The policies by all names that they go by."""
    return {name: policy for policy in registry().values() for name in policy.names}


def find(name: str) -> Policy:
    """The policy of that name, or in a file, `PATH:CLASS`.

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
    """It receives all that any policy receives about the switch."""
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
    aliases = tuple(entry["aliases"])
    return Policy(entry["kind"], aliases, entry["source"], entry["summary"], options)


def _options(schema: Mapping[str, Any], where: Where) -> list[Option]:
    renamed = RENAMED if where == "policy" else {}
    properties = schema.get("properties", {})
    return [
        Option(renamed.get(key, key), where, _resolved(value, schema))
        for key, value in properties.items()
    ]


def _resolved(value: Mapping[str, Any], root: Mapping[str, Any]) -> dict[str, Any]:
    """Without references; what stands beside one goes before what it names."""
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
    """NumPy's numbers and arrays as Python's."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{value!r} is no number and no text")
