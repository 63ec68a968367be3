"""Options of `plan` that belong to policies, from their schemas.

The name of an option is the key with dashes; its help is the first sentence of the key's
description, and its default is in the last sentence. The help begins with the policies that have
the option, unless all policies of its panel do.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from lightloom.policies.registry import RETIRED, Option, Policy, registry

FLAGGED = {"up": "hysteresis"}
"""Option of the Python function → its name here."""
FILES = {
    "up": (
        "CURRENT",
        "lit circuits, which are kept if others are no better: what --diff reads, as in "
        '[[0, 1], [2, 3]] or [["a", "b"]]; nodes are found by name (none)',
    ),
    "circuits": (
        "LIST",
        "the circuits: what --diff reads, or a list like [[0, 1], [2, 3]], with or without planes",
    ),
    "schedule": ("PLAN.json", "or a plan, whose schedule is followed; nodes are found by name"),
}
"""Options that name a file here: placeholder, and contents of the file."""
METAVARS = {"a duration": "TIME", "a data rate": "RATE", "an amount of data": "BYTES"}
HELP_WIDTH = 78
"""Width [characters] of lines that are not wrapped."""
Command = Callable[..., None]


def flag_of(key: str) -> str:
    """Returns the name of an option on the command line."""
    return "--" + FLAGGED.get(key, key).replace("_", "-")


def typed(key: str, value: str) -> tuple[str, str]:
    """Returns an option and its value as typed; flags have no value."""
    flag = flag_of(key)
    flags = {"True": flag, "False": f"--no-{flag[2:]}"}
    return (flags[value], "(given)") if value in flags else (flag, value)


def in_flags(text: str) -> str:
    """Replaces names of options in a text by those of the command line, except names that are
    ordinary words."""
    keys = sorted((key for key in FLAGS if "_" in key), key=len, reverse=True)
    return re.sub(rf"\b({'|'.join(keys)})\b", lambda found: flag_of(found[1]), text)


def with_options(command: Command) -> Command:
    """Returns the command with an option for each that a policy has, instead of `**given`, and with
    the policies in its help."""
    signature = inspect.signature(command, eval_str=True)
    own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    found = [*own, *_parameters(), *map(_retired, RETIRED)]
    command.__signature__ = signature.replace(parameters=found)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in found}
    about = inspect.cleandoc(command.__doc__ or "")
    command.__doc__ = about.replace("POLICIES", "\b\n" + "\n".join(_policies()))
    return command


def _policies() -> Iterator[str]:
    """One or two lines for each policy: its names, and its decision in a clause."""
    names = {" ".join(_named(policy)): policy for policy in registry().values()}
    width = max(map(len, names)) + 2
    for name, policy in names.items():
        clause = re.split(r"[.;:]", policy.summary)[0]
        text = f"{name:{width}}{clause[:1].lower()}{clause[1:]}"
        yield from textwrap.wrap(text, HELP_WIDTH, subsequent_indent=" " * width)


def _named(policy: Policy) -> list[str]:
    return [policy.kind, *([f"({', '.join(policy.aliases)})"] if policy.aliases else [])]


def having() -> dict[str, list[Policy]]:
    """The policies that have each option, in the order of the registry."""
    found: dict[str, list[Policy]] = {}
    for policy in registry().values():
        for key in policy.options:
            found.setdefault(key, []).append(policy)
    return found


WRITING = {"as", "switch_size", "plane", "slot", "save", "undo", "port_columns"}
READING = {"unit", "format", "map", "columns", "estimate"}
OPERATOR = {"pin", "forbid", "down", "dark", "over"}
FLAGS = {"algorithm", *READING, *WRITING, *OPERATOR, *having(), *RETIRED}
"""Names of arguments that are options on the command line."""


def _parameters() -> Iterator[inspect.Parameter]:
    """The options of the switch, then those of each policy, then those of several policies."""
    order = {panel: at for at, panel in enumerate(("Switch", *registry(), "Schedules"))}
    found = having()
    for key in sorted(found, key=lambda key: order[_panel(key, found[key])]):
        yield _parameter(key, found[key])


def _parameter(key: str, policies: list[Policy]) -> inspect.Parameter:
    schema = policies[0].options[key].schema
    takes: Any = _type(schema) if key not in FILES else Path
    names = [flag_of(key)]
    if takes is bool:
        names = [f"{names[0]}/--no-{names[0][2:]}"] if schema.get("default") else names
    option = typer.Option(
        *names,
        metavar=None if takes is bool else _metavar(key, schema),
        help=_help(key, policies),
        rich_help_panel=_panel(key, policies),
        show_default=False,
    )
    return _optional(key, takes, option)


def _retired(key: str) -> inspect.Parameter:
    return _optional(key, bool, typer.Option(flag_of(key), hidden=True))


def _optional(key: str, takes: Any, option: Any) -> inspect.Parameter:
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(key, kind, default=None, annotation=Annotated[takes | None, option])


def _type(schema: dict[str, Any]) -> Any:
    kinds = schema.get("type", "string")
    kind = kinds[0] if isinstance(kinds, list) else kinds
    if "Whether" in schema.get("description", "")[:7]:
        return bool
    return {"integer": int, "number": float, "boolean": bool}.get(kind, str)


def _metavar(key: str, schema: dict[str, Any]) -> str:
    if key in FILES:
        return FILES[key][0]
    if "oneOf" in schema or "enum" in schema:
        values = schema.get("enum") or [choice["const"] for choice in schema["oneOf"]]
        return "|".join(values)
    if "format" in schema and schema["format"] in METAVARS:
        return METAVARS[schema["format"]]
    return "FLOAT" if _type(schema) is float else "N"


def _panel(key: str, policies: list[Policy]) -> str:
    """The heading of an option."""
    if any(policy.options[key].where == "switch" for policy in policies):
        return "Switch"
    if all("night" in policy.options for policy in policies):
        return "Schedules"
    return policies[0].kind


def _help(key: str, policies: list[Policy]) -> str:
    """The meaning and the default of an option, for each policy if they differ."""
    if key in FILES:
        return FILES[key][1]
    meant: dict[str, list[Policy]] = {}
    for policy in policies:
        meant.setdefault(_meaning(policy.options[key]), []).append(policy)
    parts = []
    for text, several in meant.items():
        who = ", ".join(policy.kind for policy in several)
        told = f"{who}: " if _panel(key, policies) != who else ""
        unless = {policy.kind: _default(policy.options[key]) for policy in several}
        parts.append(told + text + _defaults(unless))
    return "; ".join(parts) + "."


def _defaults(unless: dict[str, str]) -> str:
    if len({*unless.values()}) == 1:
        default = next(iter(unless.values()))
        return f" ({default})" if default else ""
    return f" ({'; '.join(f'{kind} {default}' for kind, default in unless.items())})"


def _meaning(option: Option) -> str:
    """The first sentence of the description, without its unit."""
    words = re.sub(r" \[[^\]]*\]| \([^)]*\)|^[A-Z]: ", "", option.description)
    first = re.split(r"[.;](?:\s|$)", words)[0]
    return first if first[1:2].isupper() else first[:1].lower() + first[1:]


def _default(option: Option) -> str:
    """The default in the description or the schema."""
    said = re.search(r"Default:? (.*?)\.?(?: At most [^.]*\.)?$", option.description)
    if said is not None:
        return re.split(r"[:;.](?:\s|$)", said[1])[0] if said[1][0].isdigit() else said[1]
    default = option.schema.get("default")
    return "" if default is None else str(default)
